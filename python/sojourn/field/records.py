"""One row per field test: what every later stage reads.

Source: Klatsky, Taylor, Kane-Esrig 2016 ("What metrics did we look at?", "How did we do our field trial?").
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal

import polars as pl

Direction = Literal["up", "down", "none"]
"""Direction of the load, as the subscriber sees it; `none` for a ping without load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldTest:
    """One test of one probe.

    Attributes
    ----------
    probe
        The home.
    time
        When it began, UTC.
    direction
        Direction of the load.
    throughput_mbps
        Mean over the load of the average stream as the tool gives it, Mb/s; `None` without a stream.
    throughput_grid_mbps
        Mean of the points that Flent has interpolated, whatever time each sample took; it reads too high where
        samples are long because the sender waits.
    latency_ms
        Mean round-trip time over the whole test, ms; `None` without a ping.
    latency_median_ms, latency_p99_ms
        Quantiles of the same samples.
    latency_kind
        `UDP`, `ICMP` or empty.
    latency_loaded_ms, latency_idle_ms
        The same, inside and outside the load.
    samples, expected_samples
        Pings that came back, pings that were sent.
    loss
        Share of pings that never came back, from 0 to 1; `None` if the file does not say it.
    treatment, week
        What the probe was given; empty and `None` if nothing says it.
    zone
        Time zone of the home, such as `America/New_York`; empty if unknown.
    flags
        What makes the test doubtful, separated by blanks; empty if nothing does.
    test, tool, file
        Name of the test, tool that ran it, file it came from.
    """

    probe: str
    time: datetime
    direction: Direction
    throughput_mbps: float | None
    throughput_grid_mbps: float | None = None
    latency_ms: float | None
    latency_median_ms: float | None = None
    latency_p99_ms: float | None = None
    latency_kind: str
    latency_loaded_ms: float | None
    latency_idle_ms: float | None
    samples: int
    expected_samples: int
    loss: float | None = None
    treatment: str
    week: int | None
    zone: str
    flags: str
    test: str
    tool: str
    file: str


SCHEMA = pl.Schema(
    {
        "probe": pl.String(),
        "time": pl.Datetime("us", "UTC"),
        "direction": pl.String(),
        "throughput_mbps": pl.Float64(),
        "throughput_grid_mbps": pl.Float64(),
        "latency_ms": pl.Float64(),
        "latency_median_ms": pl.Float64(),
        "latency_p99_ms": pl.Float64(),
        "latency_kind": pl.String(),
        "latency_loaded_ms": pl.Float64(),
        "latency_idle_ms": pl.Float64(),
        "samples": pl.Int64(),
        "expected_samples": pl.Int64(),
        "loss": pl.Float64(),
        "treatment": pl.String(),
        "week": pl.Int64(),
        "zone": pl.String(),
        "flags": pl.String(),
        "test": pl.String(),
        "tool": pl.String(),
        "file": pl.String(),
    }
)
"""Columns of `tests.parquet`."""


@dataclass(frozen=True, slots=True)
class Target:
    """Metric that a trial judges, in one direction."""

    name: str
    direction: Direction
    column: str
    title: str
    unit: str


TARGETS = (
    Target("upload_throughput", "up", "throughput_mbps", "Upload throughput", "Mb/s"),
    Target("download_throughput", "down", "throughput_mbps", "Download throughput", "Mb/s"),
    Target("upload_latency", "up", "latency_ms", "Upload latency", "ms"),
    Target("download_latency", "down", "latency_ms", "Download latency", "ms"),
)
"""The four targets of the talk."""


def frame_of_tests(tests: Iterable[FieldTest]) -> pl.DataFrame:
    """Return tests as a frame with the columns of `SCHEMA`, ordered by probe, time and direction."""
    rows = [asdict(test) for test in tests]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row").sort("probe", "time", "direction", "file")


def tests_of(frame: pl.DataFrame) -> list[FieldTest]:
    """Return the tests of such a frame."""
    return [FieldTest(**row) for row in frame.iter_rows(named=True)]
