"""Interval of an effect that counts, and its verdict.

Tests of one home are alike, so an interval is by home (CR1, t with one degree of freedom less than homes), and an
effect that one home alone shows has no verdict: its interval is over that home's tests and says nothing of others. A level with
one test does not say how much tests vary: its value is given without an interval.
Weeks, days and hours were not questions of the trial's plan; their rows share a level of 5 % (Bonferroni).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sojourn.field.analysis import Analysis, TargetAnalysis
from sojourn.field.libraries import scipy_stats
from sojourn.field.mixed import RatioEffect
from sojourn.field.power import POWER
from sojourn.field.regression import LEVEL, Coefficient

FEWEST_HOMES = 2
"""With both levels; one home does not say how much homes differ."""

FEWEST_TESTS = 2
"""Of each level; one test has no deviation."""

FEWEST_TO_BE_CLEAR = 6
"""Homes with both levels. chosen: an effect that has the same sign in each of five homes is chance in 6 % of trials
(sign test, 2 · 0.5⁵), and errors clustered over few homes collapse when these happen to agree."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Interval of an effect and its verdict."""

    low: float
    high: float
    is_by_home: bool
    among: int
    """With how many rows it shares the level."""
    homes: int
    """With both levels."""
    tests: int
    """Of that level of the two which has fewer."""

    @property
    def has_interval(self) -> bool:
        """True if the tests say how much tests vary."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def leaves_out_zero(self) -> bool:
        """True if these tests, of these homes, seldom differ as much by chance."""
        return self.low > 0 or self.high < 0

    @property
    def is_clear(self) -> bool:
        """True if homes show it, and chance would seldom."""
        return self.homes >= FEWEST_TO_BE_CLEAR and self.leaves_out_zero

    @property
    def verdict(self) -> str:
        """One or two words for a table."""
        if not self.has_interval:
            return "no interval"
        if not self.is_by_home:
            return "one home"
        if self.homes < FEWEST_TO_BE_CLEAR:
            return "few homes"
        return "clear" if self.is_clear else "may be chance"

    @property
    def doubt(self) -> str:
        """Clause that a sentence adds to an effect that is not clear; empty if it is."""
        if self.is_clear:
            return ""
        if not self.has_interval:
            return " without an interval"
        if not self.is_by_home:
            return " in one home alone"
        few = self.homes < FEWEST_TO_BE_CLEAR
        return f" in {self.homes} homes, too few to be clear" if few else ", which may be chance"

    @property
    def kind(self) -> str:
        """Unit of replication of the interval."""
        if not self.has_interval:
            return "no interval"
        return "by home" if self.is_by_home else "tests of one home"


def unasked(analysis: Analysis) -> int:
    """Return how many rows of weeks, days and hours the table of effects has."""
    return sum(c.factor != found.factor for found in analysis.targets for c in found.fit.coefficients)


def read(analysis: Analysis, found: TargetAnalysis, coefficient: Coefficient) -> Reading:
    """Return the interval of an effect that is to be read."""
    among = 1 if coefficient.factor == found.factor else unasked(analysis)
    by_home = coefficient.homes >= FEWEST_HOMES and math.isfinite(coefficient.cluster_error)
    error, degrees = (
        (coefficient.cluster_error, found.fit.probes - 1)
        if by_home
        else (coefficient.standard_error, found.fit.residual_degrees)
    )
    if coefficient.tests < FEWEST_TESTS:
        error = math.nan
    half = float(scipy_stats().t.ppf(1 - (1 - LEVEL) / 2 / among, degrees)) * error
    low, high = coefficient.estimate - half, coefficient.estimate + half
    return Reading(low, high, by_home, among, coefficient.homes, coefficient.tests)


def seen_from(analysis: Analysis, found: TargetAnalysis, coefficient: Coefficient) -> float:
    """Return the size of an effect, in points, that `POWER` of such trials would call clear; NaN with one home."""
    reading = read(analysis, found, coefficient)
    if not reading.is_by_home:
        return math.nan
    beyond = float(scipy_stats().t.ppf(POWER, found.fit.probes - 1)) * coefficient.cluster_error
    return (reading.high - reading.low) / 2 + beyond


def ratio_interval(effect: RatioEffect, among: int) -> tuple[float, float]:
    """Return the interval of a ratio that shares its level with other rows."""
    half = float(scipy_stats().norm.ppf(1 - (1 - LEVEL) / 2 / among)) * effect.log_error
    return math.exp(effect.log_estimate - half), math.exp(effect.log_estimate + half)
