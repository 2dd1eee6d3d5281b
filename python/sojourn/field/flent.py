"""Flent's result files, all versions of the format that Flent itself reads (1 to 4).

Source: Flent's page on its data format; the versions differ in `raw_values`, which are used only to learn
the clock's offset, so one reader serves all. Throughput is the mean over the load of the average stream,
latency the mean round-trip time of the UDP pings (Klatsky 2016, "What metrics did we look at?").
Deviations: a test without UDP pings (all `tcp_*` tests) has the latency of its ICMP ping, and says so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, cast

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sojourn.field.labels import LabelRow, labels_of
from sojourn.field.reading import Unreadable, first_problem
from sojourn.field.records import Direction, FieldTest

__all__ = ["looks_like_flent", "read_flent"]

NEWEST_VERSION = 4
"""Of the file format (Flent 2.1)."""

DELAY = 5.0
"""Seconds before and after the load in which only pings run (Flent's setting DELAY)."""

FEW = 0.5
"""Share of expected samples below which a test is doubtful; metrics of the talk do not say, chosen."""

_STREAM = re.compile(r"TCP (upload|download)( [A-Z]+[0-9]*( \S+)?|::[0-9]+)?")
_UDP = re.compile(r"Ping \(ms\) UDP( \S+)*")
_ICMP = re.compile(r"Ping \(ms\) ICMP[0-9]*( \S+)?")


_Seconds = Annotated[float, Field(ge=1e-3, le=1e6)]
"""Bounds far outside what Flent runs: a millisecond to eleven days."""


class _Metadata(BaseModel):
    model_config = ConfigDict(extra="ignore")

    NAME: str
    TITLE: str | None = None
    TIME: str
    LOCAL_HOST: str | None = None
    LENGTH: _Seconds
    TOTAL_LENGTH: _Seconds | None = None
    STEP_SIZE: _Seconds = 0.2


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore")

    version: int = 1
    metadata: _Metadata
    x_values: list[Annotated[float, Field(allow_inf_nan=False)]]
    results: dict[str, list[float | None]]


def looks_like_flent(document: dict[str, Any]) -> bool:
    """Whether a JSON object has the keys of a Flent result."""
    return {"metadata", "results", "x_values"} <= document.keys()


def read_flent(
    document: dict[str, Any], file: str, table: Sequence[LabelRow] = ()
) -> list[FieldTest]:
    """Return the tests in a Flent result: one, or one per direction of a bidirectional test.

    Parameters
    ----------
    document
        The JSON object.
    file
        Its name, for labels and messages.
    table
        Labels given beside the files.

    Raises
    ------
    Unreadable
        If something that must be there is missing or of another kind.
    """
    try:
        content = _File.model_validate(document)
    except ValidationError as error:
        raise Unreadable(f"is no complete Flent result: {first_problem(error)}") from error
    if not 1 <= content.version <= NEWEST_VERSION:
        raise Unreadable(
            f"has version {content.version} of Flent's format; known are 1 to {NEWEST_VERSION}"
        )
    x = np.asarray(content.x_values, dtype=float)
    for name, values in content.results.items():
        if len(values) != len(x):
            raise Unreadable(f'has {len(values)} values in the series "{name}" and {len(x)} times')
    if not len(x):
        raise Unreadable("has no samples")
    streams = {
        direction: _average_stream(content.results, word)
        for direction, word in (("up", "upload"), ("down", "download"))
    }
    directions: list[Direction] = [d for d in ("up", "down") if streams[d] is not None]
    if not directions:
        directions = ["none"]
    return [_test(content, document, file, table, d, streams.get(d), x) for d in directions]


def _test(
    content: _File,
    document: dict[str, Any],
    file: str,
    table: Sequence[LabelRow],
    direction: Direction,
    stream: np.ndarray | None,
    x: np.ndarray,
) -> FieldTest:
    metadata = content.metadata
    began = _delay_before_load(metadata)
    loaded = (x >= began) & (x <= began + metadata.LENGTH)
    kind, latency = _pings(content.results)
    throughput = _mean(stream, loaded)
    expected = round((metadata.TOTAL_LENGTH or float(x[-1])) / metadata.STEP_SIZE)
    samples = 0 if latency is None else int(np.isfinite(latency).sum())
    flags: list[str] = []
    if stream is not None and not throughput:
        flags.append("no-throughput")
    if latency is not None and samples < FEW * expected:
        flags.append("few-samples")
    if (
        latency is not None
        and samples
        and x[np.isfinite(latency)][-1] < began + FEW * metadata.LENGTH
    ):
        flags.append("pings-stop-early")
    labels = labels_of(file, metadata.TITLE or "", metadata.LOCAL_HOST or "", table)
    return FieldTest(
        probe=labels.probe or "unknown",
        time=_time(metadata.TIME, document),
        direction=direction,
        throughput_mbps=throughput,
        latency_ms=_mean(latency, np.ones_like(loaded)),
        latency_kind=kind,
        latency_loaded_ms=_mean(latency, loaded),
        latency_idle_ms=_mean(latency, x < began),
        samples=samples,
        expected_samples=expected,
        treatment=labels.treatment,
        week=labels.week,
        zone=labels.zone,
        flags=" ".join(flags),
        test=metadata.NAME,
        tool="flent",
        file=file,
    )


def _delay_before_load(metadata: _Metadata) -> float:
    """Seconds from the first ping to the load."""
    if metadata.TOTAL_LENGTH is None:
        return DELAY
    return min(DELAY, max(0.0, (metadata.TOTAL_LENGTH - metadata.LENGTH) / 2))


def _average_stream(results: dict[str, list[float | None]], word: str) -> np.ndarray | None:
    """Return the mean of the streams in one direction, as Flent has stored it or over the streams."""
    stored = results.get(f"TCP {word} avg")
    if stored is not None:
        return np.asarray(stored, dtype=float)
    return _average(
        values
        for name, values in results.items()
        if (m := _STREAM.fullmatch(name)) and m[1] == word
    )


def _pings(results: dict[str, list[float | None]]) -> tuple[str, np.ndarray | None]:
    """Return the kind and the mean of the pings of the best kind that is there."""
    for kind, pattern in (("UDP", _UDP), ("ICMP", _ICMP)):
        mean = _average(values for name, values in results.items() if pattern.fullmatch(name))
        if mean is not None:
            return kind, mean
    return "", None


def _average(series: Iterable[list[float | None]]) -> np.ndarray | None:
    columns = [np.asarray(values, dtype=float) for values in series]
    if not columns:
        return None
    stack = np.vstack(columns)
    known = np.isfinite(stack).sum(axis=0)
    total = np.where(np.isfinite(stack), stack, 0.0).sum(axis=0)
    return np.where(known > 0, total / np.maximum(known, 1), math.nan)


def _mean(values: np.ndarray | None, where: np.ndarray) -> float | None:
    if values is None:
        return None
    chosen = values[where & np.isfinite(values)]
    return float(chosen.mean()) if len(chosen) else None


def _time(text: str, document: dict[str, Any]) -> datetime:
    """Return when the test began; Flent before 1.0 wrote local time, which raw samples correct."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise Unreadable(f'has "{text[:40]}" as its time') from error
    if not 1971 <= time.year <= 2200:
        raise Unreadable(f'has "{text[:40]}" as its time')
    if time.tzinfo is not None:
        return time.astimezone(UTC)
    time = time.replace(tzinfo=UTC)
    sample = _first_raw_time(document)
    if sample is None:
        return time
    quarter = 900.0  # time zones differ by quarters of an hour
    offset = round((sample - time.timestamp()) / quarter) * quarter
    return time + timedelta(seconds=offset) if abs(offset) <= 86_400 else time


def _first_raw_time(document: dict[str, Any]) -> float | None:
    """Return the earliest time of a raw sample, in seconds since 1970."""
    raw: Any = document.get("raw_values")
    if not isinstance(raw, dict):
        return None
    series = [
        cast("list[Any]", many)
        for many in cast("dict[str, Any]", raw).values()
        if isinstance(many, list)
    ]
    samples = [
        cast("dict[str, Any]", one) for many in series for one in many if isinstance(one, dict)
    ]
    times = [sample.get("t") for sample in samples]
    last = 1e11  # beyond any calendar
    return min(
        (float(t) for t in times if isinstance(t, float | int) and 0 <= t < last), default=None
    )
