"""Flent's result files, all versions of the format that Flent itself reads (1 to 4).

Source: Flent's page on its data format. Throughput is the mean over the load of the average stream as Flent's own
summary prints it (`MEAN_VALUE`: what netperf received over the time that it took), latency the mean round-trip
time of the raw samples of the UDP pings (Klatsky 2016, "What metrics did we look at?").
Deviations: a test without UDP pings (all `tcp_*` tests) has the latency of its ICMP ping, and says so. Samples that
last for some time, as netperf's, count for as long as they lasted; Flent's summary gives their mean over
transactions, of which there are more while answers come fast. Files without raw samples are read from their grid.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, cast

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sojourn.field.labels import labels_of
from sojourn.field.reading import Unreadable, first_problem
from sojourn.field.records import Direction, FieldTest
from sojourn.field.samples import LARGEST, Samples, blackout_flag, is_coarse, pooled_mean, pooled_quantile, samples_of

NEWEST_VERSION = 4
"""Of the file format (Flent 2.1)."""

DELAY = 5.0
"""Seconds before and after the load in which only pings run (Flent's setting DELAY)."""

MOST_LOST = 10
"""How many times what came back may be missing. chosen: numbers with larger gaps are none of pings."""

FEW = 0.5
"""Share of expected samples below which a test is doubtful; metrics of the talk do not say, chosen."""

PING = "Ping (ms) "
"""How series of round trips begin."""

WORDS: dict[Direction, str] = {"up": "upload", "down": "download"}
"""Directions of load, and Flent's words for them."""

_LOAD = re.compile(r"TCP (upload|download)(?![a-z])(.*)", re.DOTALL)
"""Series of a load, whatever a test calls its streams: `TCP upload`, `TCP upload BE::1`, `TCP upload Torrent::2`, `TCP download::1 (CS0)`."""

COMPUTED = ("avg", "sum", "fairness")
"""Last words of series that Flent computes of others. Source: Flent's tests, runners `average`, `sum` and `fairness`."""

_PING = re.compile(r"Ping \(ms\)(?: |::)(UDP|ICMP)(?![a-z]).*", re.DOTALL)

UNLIKE = 0.2
"""Share by which the mean of a direction may differ from that of its grid unsaid. chosen: a stalled sender's grid reads 5 % high."""


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
    SERIES_META: dict[str, dict[str, Any]] = {}


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore")

    version: int = 1
    metadata: _Metadata
    x_values: list[Annotated[float, Field(ge=0, le=1e6)]]
    results: dict[str, list[float | None]]


@dataclass(frozen=True)
class FlentSeries:
    """One stream or ping of a result.

    Attributes
    ----------
    name
        As Flent calls it, such as `TCP upload BE`.
    samples
        What the tool printed one by one, in seconds since the test's first sample; the points of the grid if the file
        holds nothing else.
    grid
        The points of the grid.
    tool_mean
        What the tool itself gave as the mean over its whole run; `None` if it did not.
    is_raw
        Whether samples are the tool's own.
    """

    name: str
    samples: Samples
    grid: Samples
    tool_mean: float | None
    is_raw: bool

    @property
    def mean(self) -> float | None:
        """Rate that the tool received over its whole run, or else the mean of its samples, Mb/s."""
        return self.samples.mean() if self.tool_mean is None else self.tool_mean


def stream_direction(name: str, *, is_raw: bool) -> Literal["up", "down"] | None:
    """Return the direction of a stream of a load; `None` if a series is none.

    Parameters
    ----------
    name
        Of the series.
    is_raw
        Whether it has samples of a tool; what Flent computes has none.

    Examples
    --------
    >>> [stream_direction(name, is_raw=False) for name in ("TCP upload BE::1", "TCP download avg", "TCP totals")]
    ['up', None, None]
    """
    match = _LOAD.fullmatch(name)
    if match is None or (not is_raw and _is_computed(name)):
        return None
    return "up" if match[1] == "upload" else "down"


def _is_computed(name: str) -> bool:
    return name.rpartition(" ")[2] in COMPUTED


def _is_child(name: str, every: Container[str]) -> bool:
    """Return whether a series describes another one, such as its window: its name is the other's, `::` and a word."""
    parent, _, own = name.rpartition("::")
    return parent in every or own.startswith("tcp_")


def ping_kind(name: str) -> str:
    """Return `UDP` or `ICMP` of a series of pings; empty if it is none."""
    match = _PING.fullmatch(name)
    return match[1] if match and not _is_computed(name) else ""


def is_series(name: str) -> bool:
    """Return whether a series is a stream, the average of all streams or a ping."""
    is_average = name in {f"TCP {word} avg" for word in WORDS.values()}
    return is_average or stream_direction(name, is_raw=False) is not None or bool(ping_kind(name))


def looks_like_flent(document: dict[str, Any]) -> bool:
    """Return whether a JSON object has the keys of a Flent result."""
    return {"metadata", "results", "x_values"} <= document.keys()


def read_flent(document: dict[str, Any], file: str) -> list[FieldTest]:
    """Return the tests in a Flent result: one, or one per direction of a bidirectional test.

    Raises `Unreadable` if something that must be there is missing or of another kind.

    Parameters
    ----------
    document
        The JSON object.
    file
        Its name, for labels and messages.
    """
    content = _content(document)
    series = _series(content, document)
    loads = [match[1] for one in series if (match := _LOAD.fullmatch(one.name))]
    directions: list[Direction] = [direction for direction, word in WORDS.items() if word in loads]
    return [_test(content, document, file, direction, series) for direction in directions or ("none",)]


def flent_series(document: dict[str, Any]) -> list[FlentSeries]:
    """Return the streams and pings of a Flent result.

    Raises `Unreadable` if something that must be there is missing or of another kind.
    """
    return _series(_content(document), document)


def flent_load(document: dict[str, Any]) -> tuple[float, float] | None:
    """Return from when to when a Flent result has a load, in seconds since its first ping; `None` without streams.

    Raises `Unreadable` if something that must be there is missing or of another kind.
    """
    content = _content(document)
    if not any(name.startswith("TCP ") for name in content.results):
        return None
    began = _delay_before_load(content.metadata)
    return began, began + content.metadata.LENGTH


def lost_pings(document: dict[str, Any], name: str, sent: np.ndarray) -> np.ndarray | None:
    """Return when pings were sent that never came back, by their numbers; `None` if they have none."""
    raw: Any = document.get("raw_values")
    entries: Any = cast("dict[str, Any]", raw).get(name) if isinstance(raw, dict) else None
    if not isinstance(entries, list) or len(cast("list[Any]", entries)) != len(sent):
        return None
    numbers: list[int] = []
    for entry in cast("list[Any]", entries):
        number = cast("dict[str, Any]", entry).get("seq") if isinstance(entry, dict) else None
        if isinstance(number, bool) or not isinstance(number, int | float):
            return None
        if not 0 <= number < 1e9 or number != int(number):
            return None
        numbers.append(int(number))
    if not numbers or max(numbers) - min(numbers) >= MOST_LOST * len(numbers):
        return None
    known = set(numbers)
    lost = [number for number in range(min(numbers), max(numbers) + 1) if number not in known]
    order = np.argsort(numbers)
    return np.interp(np.array(lost, dtype=float), np.array(numbers, dtype=float)[order], sent[order])


def _content(document: dict[str, Any]) -> _File:
    try:
        content = _File.model_validate(document)
    except ValidationError as error:
        raise Unreadable(f"is no complete Flent result: {first_problem(error)}") from error
    if not 1 <= content.version <= NEWEST_VERSION:
        raise Unreadable(f"has version {content.version} of Flent's format; known are 1 to {NEWEST_VERSION}")
    count = len(content.x_values)
    for name, values in content.results.items():
        if len(values) != count:
            raise Unreadable(f'has {len(values)} values in the series "{name}" and {count} times')
    if not count:
        raise Unreadable("has no samples")
    return content


def _series(content: _File, document: dict[str, Any]) -> list[FlentSeries]:
    """Return streams, their averages and pings, in the order of the file."""
    raw = {
        name: _raw_samples(content, document, name)
        for name in content.results
        if (is_series(name) or _LOAD.fullmatch(name)) and not _is_child(name, content.results)
    }
    names = [name for name, samples in raw.items() if is_series(name) or len(samples)]
    first = min((float(one.at.min()) for one in raw.values() if len(one)), default=0.0)
    x = np.asarray(content.x_values, dtype=float)
    found: list[FlentSeries] = []
    for name in names:
        values = np.asarray(content.results[name], dtype=float)
        values = np.maximum(values, 0.0) if name.startswith(PING) else values
        known = (values >= 0) & (values <= LARGEST)
        grid = Samples(x[known], values[known])
        own = raw[name]
        samples = Samples(own.at - first, own.values, own.durations) if len(own) else grid
        found.append(FlentSeries(name, samples, grid, _tool_mean(content, name), bool(len(own))))
    return found


def _raw_samples(content: _File, document: dict[str, Any], name: str) -> Samples:
    """Return what the tool printed; version 1 kept it elsewhere, and versions below 4 transactions a second."""
    raw: Any = document.get("raw_values")
    if content.version == 1:
        raw = {name: content.metadata.SERIES_META.get(name, {}).get("RAW_VALUES")}
    entries: Any = cast("dict[str, Any]", raw).get(name) if isinstance(raw, dict) else None
    return samples_of(
        cast("list[Any]", entries) if isinstance(entries, list) else (),
        are_rates=content.version < NEWEST_VERSION and "UDP" in name,
        are_pings=name.startswith(PING),
    )


def _tool_mean(content: _File, name: str) -> float | None:
    meta = content.metadata.SERIES_META.get(name, {})
    value = meta.get("MEAN_VALUE")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    unit = 1e6 if meta.get("UNITS") == "bits/s" else 1.0
    return value / unit if 0 < value <= unit * LARGEST else None


def _test(
    content: _File, document: dict[str, Any], file: str, direction: Direction, series: Sequence[FlentSeries]
) -> FieldTest:
    metadata = content.metadata
    began = _delay_before_load(metadata)
    ended = began + metadata.LENGTH
    throughput, grid = _throughput(content, series, direction, began, ended)
    kind, measured = _pings(series)
    pings = [one.samples for one in measured]
    expected = round((metadata.TOTAL_LENGTH or content.x_values[-1]) / metadata.STEP_SIZE)
    samples = max((_count(one, metadata.STEP_SIZE) for one in pings), default=0)
    flags: list[str] = []
    if direction != "none" and not throughput:
        flags.append("no-throughput")
    if throughput and grid is not None and abs(throughput - grid) > UNLIKE * max(throughput, grid):
        flags.append("mean-unlike-grid")
    if pings and samples < FEW * expected:
        flags.append("few-samples")
    if samples and max(one.at.max() for one in pings if len(one)) < began + FEW * metadata.LENGTH:
        flags.append("pings-stop-early")
    echoes = [_echoes(document, one) for one in measured]
    known = [one for one in echoes if one is not None]
    loss = float(np.mean(~np.isfinite(np.concatenate([trips for _, trips in known])))) if known else None
    flags += ["blackout"] if any(blackout_flag(*one) for one in known) else []
    flags += ["coarse-clock"] if any(is_coarse(one.values) for one in pings) else []
    labels = labels_of(file, metadata.TITLE or "", metadata.LOCAL_HOST or "")
    return FieldTest(
        probe=labels.probe or "unknown",
        time=_time(metadata.TIME, document),
        direction=direction,
        throughput_mbps=throughput,
        throughput_grid_mbps=grid,
        latency_ms=pooled_mean(pings),
        latency_median_ms=pooled_quantile(pings, 0.5),
        latency_p99_ms=pooled_quantile(pings, 0.99),
        latency_kind=kind,
        latency_loaded_ms=pooled_mean(one.where((one.at >= began) & (one.at <= ended)) for one in pings),
        latency_idle_ms=pooled_mean(one.where(one.at < began) for one in pings),
        samples=samples,
        expected_samples=expected,
        loss=loss if len(known) == len(echoes) else None,
        treatment=labels.treatment,
        week=labels.week,
        zone=labels.zone,
        flags=" ".join(flags),
        test=metadata.NAME.rpartition("/")[2],  # a test of a .conf file is named by its path
        tool="flent",
        file=file,
    )


def _delay_before_load(metadata: _Metadata) -> float:
    """Seconds from the first ping to the load."""
    if metadata.TOTAL_LENGTH is None:
        return DELAY
    return min(DELAY, max(0.0, (metadata.TOTAL_LENGTH - metadata.LENGTH) / 2))


def _throughput(
    content: _File, series: Sequence[FlentSeries], direction: Direction, began: float, ended: float
) -> tuple[float | None, float | None]:
    """Return the mean of the average stream, and that of its grid over the load."""
    if direction == "none":
        return None, None
    word = WORDS[direction]
    streams = [one for one in series if stream_direction(one.name, is_raw=one.is_raw) == direction]
    average = next((one for one in series if one.name == f"TCP {word} avg"), None)
    x = np.asarray(content.x_values, dtype=float)
    many = [one.name for one in streams] if average is None else [average.name]
    stack = np.array([content.results[name] for name in many], dtype=float)[:, (x >= began) & (x <= ended)]
    known = (stack >= 0) & (stack <= LARGEST)
    steps = known.any(axis=0)
    totals = np.where(known, stack, 0.0).sum(axis=0)[steps] / known.sum(axis=0)[steps]
    grid = float(totals.mean()) if len(totals) else None
    if average is not None and average.tool_mean is not None:
        return average.tool_mean, grid
    if any(one.is_raw or one.tool_mean is not None for one in streams):
        means = [mean for one in streams if (mean := one.mean) is not None]
        return float(np.mean(means)), grid
    return grid, grid


def _echoes(document: dict[str, Any], ping: FlentSeries) -> tuple[np.ndarray, np.ndarray] | None:
    """Return when pings were sent, and their round trips, infinite where nothing came back; `None` if that is not known."""
    lost = lost_pings(document, ping.name, ping.samples.at)
    if lost is None:
        return None
    trips = np.concatenate([ping.samples.values, np.full(len(lost), np.inf)])
    return np.concatenate([ping.samples.at, lost]), trips


def _pings(series: Sequence[FlentSeries]) -> tuple[str, list[FlentSeries]]:
    """Return the kind and the pings of the best kind that is there."""
    for kind in ("UDP", "ICMP"):
        found = [one for one in series if ping_kind(one.name) == kind]
        if found:
            return kind, found
    return "", []


def _count(samples: Samples, step: float) -> int:
    """Return how many steps of the test a ping has measured."""
    return len(samples) if samples.durations is None else round(samples.durations.sum() / step)


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
    series = [cast("list[Any]", many) for many in cast("dict[str, Any]", raw).values() if isinstance(many, list)]
    samples = [cast("dict[str, Any]", one) for many in series for one in many if isinstance(one, dict)]
    times = [sample.get("t") for sample in samples]
    last = 1e11  # beyond any calendar
    return min((float(t) for t in times if isinstance(t, float | int) and 0 <= t < last), default=None)
