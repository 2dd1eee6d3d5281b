"""Were the weeks of the trial like other weeks? The check against homes without a treatment.

Source: Klatsky 2016, "How did we analyze the data?": verified with two external data sets that the three
weeks were similar to others. Here: mean percent deltas of each pair of weeks in the external data are
equivalent within a margin (two one-sided t tests over homes, scipy).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from sojourn.field.libraries import scipy_stats

MARGIN = 3.0
"""Percentage points; chosen: the smallest effect that the talk calls one (its downloads)."""

LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two weeks of homes that were not treated."""

    first: int
    second: int
    probes: int
    difference: float
    """Mean delta of the second less that of the first, percentage points."""
    low: float
    high: float
    """90 % interval: inside the margin exactly if both one-sided tests reject at 5 %."""
    p: float
    """The larger of the two one-sided p values."""

    @property
    def equivalent(self) -> bool:
        """True if the weeks are alike within the margin."""
        return self.p < LEVEL


def compare_weeks(rows: pl.DataFrame, margin: float = MARGIN) -> list[Comparison]:
    """Compare every pair of weeks.

    Parameters
    ----------
    rows
        Columns `probe`, `week`, `delta` of homes without a treatment.
    margin
        Largest difference that counts as none, percentage points.
    """
    stats = scipy_stats()

    weekly = rows.group_by("probe", "week").agg(pl.col("delta").mean())
    table = weekly.pivot(on="week", index="probe", values="delta")
    weeks = sorted(int(name) for name in table.columns if name != "probe")
    found: list[Comparison] = []
    for first, second in combinations(weeks, 2):
        both = table.select(str(first), str(second)).drop_nulls()
        difference = (both[str(second)] - both[str(first)]).to_numpy()
        n = len(difference)
        if n < 2:
            found.append(Comparison(first, second, n, math.nan, math.nan, math.nan, math.nan))
            continue
        mean, error = float(difference.mean()), float(np.std(difference, ddof=1)) / math.sqrt(n)
        half = float(stats.t.ppf(1 - LEVEL, n - 1)) * error
        if error > 0:
            above = float(stats.t.sf((mean + margin) / error, n - 1))
            below = float(stats.t.cdf((mean - margin) / error, n - 1))
            p = max(above, below)
        else:
            p = 0.0 if abs(mean) < margin else 1.0
        found.append(Comparison(first, second, n, mean, mean - half, mean + half, p))
    return found
