"""How many homes, for how many weeks: the size of a trial that can see an effect.

A trial compares two treatments within each home. The variance of a home's difference has two parts: what
the treatment does differently in different homes, and the noise of its tests, which more weeks average
out. Both are estimated from a trial that was run; statsmodels solves for the number of homes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl

from sojourn.field.libraries import scipy_stats

TESTS_PER_WEEK = 21
"""Three a day, as in the talk."""

EFFECT = 0.10
POWER = 0.80
LEVEL = 0.05
WEEKS = (1, 2, 3, 4)
"""Weeks per treatment that a table shows."""

MOST_PROBES = 100_000


@dataclass(frozen=True, slots=True)
class VarianceParts:
    """Variances of logarithms."""

    between_homes: float
    """Of a treatment's effect."""
    within_home: float
    """Of single tests."""


@dataclass(frozen=True, slots=True)
class PowerRow:
    """A design that sees the effect with the wanted power."""

    weeks: int
    tests_per_arm: int
    probes: int | None
    """`None` if no reasonable number does."""


def variance_parts(rows: pl.DataFrame, factor: str) -> VarianceParts | None:
    """Estimate both variances from a trial; `None` if it has fewer than two homes with two levels.

    Parameters
    ----------
    rows
        Columns `probe`, `value` (positive) and the factor's.
    factor
        Column that names the treatment.
    """
    cells = (
        rows.with_columns(log_value=pl.col("value").log())
        .group_by("probe", factor)
        .agg(mean=pl.col("log_value").mean(), sum_squares=pl.col("log_value").var() * (pl.len() - 1), n=pl.len())
    )
    spare = int((cells["n"] - 1).sum())
    if spare < 1:
        return None
    within = float(cells["sum_squares"].fill_null(0.0).sum()) / spare
    means = cells.pivot(on=factor, index="probe", values="mean").drop("probe")
    counts = cells.pivot(on=factor, index="probe", values="n").drop("probe")
    found: list[float] = []
    for k, one in enumerate(means.columns):
        for other in means.columns[k + 1 :]:
            difference = (means[one] - means[other]).drop_nulls().to_numpy()
            if len(difference) < 2:
                continue
            both = counts.select(one, other).drop_nulls()
            noise = within * float((1 / both[one] + 1 / both[other]).mean())  # type: ignore[arg-type]
            found.append(float(np.var(difference, ddof=1)) - noise)
    if not found:
        return None
    return VarianceParts(max(0.0, float(np.mean(found))), within)


def power_table(
    parts: VarianceParts,
    effect: float = EFFECT,
    *,
    power: float = POWER,
    level: float = LEVEL,
    tests_per_week: int = TESTS_PER_WEEK,
) -> list[PowerRow]:
    """Return how many homes are needed for each number of weeks per treatment.

    Parameters
    ----------
    parts
        Variances of logarithms.
    effect
        Relative change that shall be seen, such as 0.1 for 10 %.
    power, level
        Probability of seeing it; of seeing one that is not there.
    tests_per_week
        Tests of a home in a week.

    Notes
    -----
    Two-sided paired t test of the homes' differences, on logarithms.
    """
    table: list[PowerRow] = []
    for weeks in WEEKS:
        tests = weeks * tests_per_week
        deviation = math.sqrt(parts.between_homes + 2.0 * parts.within_home / tests)
        table.append(PowerRow(weeks, tests, _probes(math.log1p(effect), deviation, power, level)))
    return table


def _probes(difference: float, deviation: float, power: float, level: float) -> int | None:
    stats = scipy_stats()

    size = difference / deviation if deviation > 0 else math.inf
    if not math.isfinite(size):
        return 2

    def reached(n: int) -> float:
        critical = stats.t.ppf(1 - level / 2, n - 1)
        shift = size * math.sqrt(n)
        return float(1 - stats.nct.cdf(critical, n - 1, shift) + stats.nct.cdf(-critical, n - 1, shift))

    low, high = 2, 2
    while reached(high) < power:
        low, high = high, 2 * high
        if high > MOST_PROBES:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) >= power else (middle, high)
    return high if reached(low) < power else low
