"""Results of `irtt client -o`: round-trip times without throughput.

Source: irtt's JSON output (`stats.rtt` in nanoseconds, `stats.start_time`; `lost` of each round trip). Packets leave at even
times, so irtt's mean over packets is one over time.
Deviations: a round trip below zero, as coarse clocks of Windows give (irtt issue 13), is one of 0 ms that came back: `lost` says
what was lost, and no value does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC
from typing import Any, cast

import numpy as np
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from sojourn.field.flent import FEW
from sojourn.field.labels import labels_of
from sojourn.field.reading import Unreadable, first_problem
from sojourn.field.records import Direction, FieldTest
from sojourn.field.samples import blackout_flag, is_coarse

MOST_PACKETS = 2**53
"""chosen: beyond it, numbers are no counts any more."""


class _Duration(BaseModel):
    model_config = ConfigDict(extra="ignore")

    n: int = Field(ge=0, le=MOST_PACKETS)
    mean: float | None = Field(None, allow_inf_nan=False)
    median: float | None = Field(None, allow_inf_nan=False)


class _Stats(BaseModel):
    model_config = ConfigDict(extra="ignore")

    start_time: AwareDatetime
    rtt: _Duration
    packets_sent: int = Field(ge=0, le=MOST_PACKETS)


class _SystemInfo(BaseModel):
    model_config = ConfigDict(extra="ignore")

    hostname: str = ""


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore")

    stats: _Stats
    system_info: _SystemInfo = _SystemInfo()


def looks_like_irtt(document: dict[str, Any]) -> bool:
    """Return whether a JSON object has the keys of an irtt result."""
    return {"stats", "config", "round_trips"} <= document.keys()


def read_irtt(document: dict[str, Any], file: str) -> list[FieldTest]:
    """Return the test in an irtt result; a file name with `upload` or `download` says under which load.

    Raises `Unreadable` if something that must be there is missing or of another kind.
    """
    try:
        content = _File.model_validate(document)
        time = content.stats.start_time.astimezone(UTC)
    except ValidationError as error:
        raise Unreadable(f"is no complete irtt result: {first_problem(error)}") from error
    except OverflowError as error:
        raise Unreadable("is of a year that no calendar has") from error
    stats = content.stats
    labels = labels_of(file, "", content.system_info.hostname)
    direction: Direction = "up" if "upload" in file else "down" if "download" in file else "none"
    mean, median = (
        None if value is None or not stats.rtt.n else max(value, 0.0) / 1e6
        for value in (stats.rtt.mean, stats.rtt.median)
    )
    echoes = irtt_echoes(document)
    came = echoes.rtt_ms[np.isfinite(echoes.rtt_ms)]
    flags = ["few-samples"] if stats.rtt.n < FEW * stats.packets_sent else []
    flags += blackout_flag(echoes.sent_s, echoes.rtt_ms)
    flags += ["coarse-clock"] if is_coarse(came) else []
    return [
        FieldTest(
            probe=labels.probe or "unknown",
            time=time,
            direction=direction,
            throughput_mbps=None,
            latency_ms=mean,
            latency_median_ms=median,
            latency_p99_ms=float(np.quantile(came, 0.99)) if len(came) else None,
            latency_kind="UDP",
            latency_loaded_ms=mean if direction != "none" else None,
            latency_idle_ms=mean if direction == "none" else None,
            samples=stats.rtt.n,
            expected_samples=stats.packets_sent,
            loss=1.0 - len(came) / len(echoes.rtt_ms) if len(echoes.rtt_ms) else None,
            treatment=labels.treatment,
            week=labels.week,
            zone=labels.zone,
            flags=" ".join(flags),
            test="irtt",
            tool="irtt",
            file=file,
        )
    ]


@dataclass(frozen=True)
class Echoes:
    """The echoes that irtt sent.

    Attributes
    ----------
    sent_s
        By the clock of the client that all of them have; NaN if they have none in common.
    rtt_ms
        Infinite where nothing came back.
    """

    sent_s: np.ndarray
    rtt_ms: np.ndarray


def irtt_echoes(document: dict[str, Any]) -> Echoes:
    """Return the echoes of an irtt result, in the order of the file.

    Raises `Unreadable` if an echo is called not lost and has no round trip.
    """
    entries: Any = document["round_trips"]
    listed = cast("list[Any]", entries) if isinstance(entries, list) else []
    echoes = [cast("dict[str, Any]", one) for one in listed if isinstance(one, dict)]
    trips: list[float] = []
    for number, echo in enumerate(echoes):
        took, lost = _number(echo, "delay", "rtt"), echo.get("lost")
        if took is None and lost == "false":
            raise Unreadable(f"says that echo {number} was not lost, and has no round trip of it")
        was_lost = took is None or (isinstance(lost, str) and lost != "false")
        trips.append(math.inf if was_lost or took is None else max(took / 1e6, 0.0))
    clocks = ([_number(echo, "timestamps", "client", "send", clock) for echo in echoes] for clock in _CLOCKS)
    sent = next((times for times in clocks if times and None not in times), None)
    times = [math.nan] * len(trips) if sent is None else [(time or 0.0) / 1e9 for time in sent]
    return Echoes(np.array(times), np.array(trips))


_CLOCKS = ("monotonic", "wall")
"""Clocks of the client, the one that is never set first."""


def _number(value: Any, *keys: str) -> float | None:  # noqa: ANN401 - any JSON
    """Return a number of nanoseconds at a path of keys; `None` if there is none."""
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = cast("dict[str, Any]", value).get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < LARGEST_TIME:
        return None
    return float(value)


LARGEST_TIME = 1e19
"""Nanoseconds. chosen: since 1970 they are 1.8e18."""
