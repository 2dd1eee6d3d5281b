"""Results of `irtt client -o`: round-trip times without throughput.

Source: irtt's JSON output (`stats.rtt` in nanoseconds, `stats.start_time`). Packets leave at even times, so irtt's mean
over packets is one over time.
"""

from __future__ import annotations

from datetime import UTC
from typing import Any, cast

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from sojourn.field.flent import FEW
from sojourn.field.labels import labels_of
from sojourn.field.reading import Unreadable, first_problem
from sojourn.field.records import Direction, FieldTest
from sojourn.field.samples import Samples, pooled_quantile, samples_of

__all__ = ["looks_like_irtt", "read_irtt"]


MOST_PACKETS = 2**53
"""chosen: beyond it, numbers are no counts any more."""


class _Duration(BaseModel):
    model_config = ConfigDict(extra="ignore")

    n: int = Field(ge=0, le=MOST_PACKETS)
    mean: float | None = Field(None, ge=0, allow_inf_nan=False)
    median: float | None = Field(None, ge=0, allow_inf_nan=False)


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
    """Whether a JSON object has the keys of an irtt result."""
    return {"stats", "config", "round_trips"} <= document.keys()


def read_irtt(document: dict[str, Any], file: str) -> list[FieldTest]:
    """Return the test in an irtt result; a file name with `upload` or `download` says under which load.

    Raises
    ------
    Unreadable
        If something that must be there is missing or of another kind.
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
        None if value is None or not stats.rtt.n else value / 1e6 for value in (stats.rtt.mean, stats.rtt.median)
    )
    return [
        FieldTest(
            probe=labels.probe or "unknown",
            time=time,
            direction=direction,
            throughput_mbps=None,
            latency_ms=mean,
            latency_median_ms=median,
            latency_p99_ms=pooled_quantile([_round_trips(document)], 0.99),
            latency_kind="UDP",
            latency_loaded_ms=mean if direction != "none" else None,
            latency_idle_ms=mean if direction == "none" else None,
            samples=stats.rtt.n,
            expected_samples=stats.packets_sent,
            treatment=labels.treatment,
            week=labels.week,
            zone=labels.zone,
            flags="few-samples" if stats.rtt.n < FEW * stats.packets_sent else "",
            test="irtt",
            tool="irtt",
            file=file,
        )
    ]


def _round_trips(document: dict[str, Any]) -> Samples:
    """Return the round trips that came back, ms; those that are lost have no delay."""
    entries: Any = document["round_trips"]
    delays = [
        cast("dict[str, Any]", one).get("delay")
        for one in (cast("list[Any]", entries) if isinstance(entries, list) else ())
        if isinstance(one, dict)
    ]
    values = [cast("dict[str, Any]", delay).get("rtt") for delay in delays if isinstance(delay, dict)]
    return samples_of(({"t": 0.0, "val": value} for value in values), unit=1e6)
