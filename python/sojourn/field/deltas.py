"""Percent deltas: each observation against the mean of its own home.

Source: Klatsky 2016, "What metrics did we look at?": the difference between an observation and the mean
over all observations of that probe, in percent of that mean. Differences between weeks of mean deltas are
therefore percentage points of the probe's mean, and no ratios between weeks.
"""

from __future__ import annotations

from datetime import datetime, time
from typing import Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import polars as pl

from sojourn.field.records import Target

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

SLOTS = {"08": time(8), "12": time(12), "17": time(17)}
"""Times of day at which the talk's probes measured, UTC."""

NEAR_MINUTES = 90
"""How far from a slot a test may begin to count for it; chosen: less than half the gap between slots."""

FEWEST_TESTS = 5
"""A probe with fewer tests in some period is left out of the analysis of complete probes; chosen."""

Weighting = Literal["tests", "periods"]
"""A probe's mean is over its tests, as in the talk, or over the means of its periods."""


def observations(tests: pl.DataFrame, target: Target, weighting: Weighting = "tests") -> pl.DataFrame:
    """Return one row per valid test of a target, with its percent delta and its factors.

    Parameters
    ----------
    tests
        Columns of `sojourn.field.records.SCHEMA`.
    target
        Metric and direction.
    weighting
        Whether a probe's mean is that of its tests or of its periods.

    Returns
    -------
    polars.DataFrame
        Columns `probe, time, value, delta, treatment, week, day, hour, zone`; `delta` in percent of the
        probe's mean, `hour` the slot in UTC or `other`, `week` counted from the first test's Monday
        where the files do not say it.
    """
    chosen = tests.filter(
        (pl.col("direction") == target.direction)
        & pl.col(target.column).is_not_null()
        & (pl.col(target.column) > 0)
        & ~pl.col("flags").str.contains("no-throughput")
    )
    if chosen.is_empty():
        return chosen.select("probe", "time").head(0)
    first = chosen["time"].dt.truncate("1w").min()
    rows = chosen.select(
        "probe",
        "time",
        value=pl.col(target.column),
        treatment=pl.col("treatment"),
        week=pl.coalesce(pl.col("week"), (pl.col("time") - pl.lit(first)).dt.total_days() // 7 + 1).cast(pl.Int64),
        day=pl.col("time").dt.weekday().replace_strict(dict(enumerate(DAYS, start=1))),
        hour=pl.col("time").map_elements(_slot, return_dtype=pl.String),
        local_hour=pl.struct("time", "zone").map_elements(_local_hour, return_dtype=pl.Int64),
    )
    if weighting == "tests":
        mean = pl.col("value").mean().over("probe")
    else:
        periods = rows.group_by("probe", "week", "treatment").agg(period=pl.col("value").mean())
        means = periods.group_by("probe").agg(probe_mean=pl.col("period").mean())
        rows = rows.join(means, on="probe", maintain_order="left")
        mean = pl.col("probe_mean")
    return rows.with_columns(delta=100.0 * (pl.col("value") - mean) / mean).drop("probe_mean", strict=False)


def weekly_ratio(difference: float, reference_mean: float) -> float:
    """Return the ratio of means that a difference of mean deltas stands for.

    Parameters
    ----------
    difference
        Mean delta of a treatment less that of the reference, percentage points.
    reference_mean
        Mean delta of the reference, percent.

    Examples
    --------
    The talk's 63 points are an increase by 90 % (balanced: mean deltas -30, -3, 33):

    >>> round(weekly_ratio(63.0, -30.0), 3)
    1.9
    """
    return 1.0 + difference / (100.0 + reference_mean)


def _slot(moment: datetime) -> str:
    minutes = moment.hour * 60 + moment.minute + moment.second / 60
    for name, at in SLOTS.items():
        if abs(minutes - (at.hour * 60 + at.minute)) <= NEAR_MINUTES:
            return name
    return "other"


def _local_hour(row: dict[str, Any]) -> int | None:
    zone = str(row["zone"])
    if not zone:
        return None
    try:
        return row["time"].astimezone(ZoneInfo(zone)).hour
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
