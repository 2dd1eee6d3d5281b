"""Agreement of two simulators: means over repetitions, their difference, and what chance makes of it."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["METRICS", "Comparison", "Estimate", "compare", "estimate"]

CONFIDENCE = 0.95

DECIDES = 0.05
"""How far from zero an interval that holds it may reach, as a fraction of the peer's mean.

chosen: 5 %, a difference that would not change any conclusion about a queue manager. An interval that reaches
further shows no difference, but does not rule one out either.
"""

METRICS = {"throughput_mbps": "throughput, Mb/s", "delay_mean_ms": "mean delay, ms", "delay_p95_ms": "P95 of delay, ms"}
"""Compared metrics, and their names in tables; `delay` is the stream's wait in front of the line."""


@dataclass(frozen=True)
class Estimate:
    """A mean with half the width of its 95 % interval."""

    mean: float
    half_width: float


@dataclass(frozen=True)
class Comparison:
    """One quantity of one world in two simulators."""

    ours: Estimate
    theirs: Estimate
    low: float
    """Lower end of the 95 % interval of our mean minus theirs."""
    high: float

    @property
    def differs(self) -> bool:
        """Return whether chance would not explain the difference."""
        return not self.low <= 0.0 <= self.high

    @property
    def agrees(self) -> bool:
        """Return whether there is no such difference, and the interval is narrow enough to say so."""
        reach = max(abs(self.low), abs(self.high))
        return not self.differs and reach <= DECIDES * abs(self.theirs.mean)

    @property
    def relative(self) -> float:
        """Return the difference as a fraction of their mean."""
        difference = self.ours.mean - self.theirs.mean
        if difference == 0.0:
            return 0.0
        return difference / self.theirs.mean if self.theirs.mean else math.inf


def t_quantile(degrees: float) -> float:
    """Return the two-sided 95 % quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.5 + CONFIDENCE / 2))


def estimate(values: Sequence[float]) -> Estimate:
    """Return the mean with its t interval.

    Raises
    ------
    ValueError
        With fewer than two values, from which nothing can be said about chance.
    """
    if len(values) < 2:
        raise ValueError(f"a mean with an interval needs two repetitions or more, not {len(values)}")
    width = t_quantile(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return Estimate(statistics.fmean(values), width)


def compare(ours: Sequence[float], theirs: Sequence[float]) -> Comparison:
    """Compare two sets of repetitions with Welch's interval: spreads may differ.

    Source: Welch 1947, with the degrees of freedom of Satterthwaite 1946.
    """
    first, second = estimate(ours), estimate(theirs)
    errors = [statistics.variance(values) / len(values) for values in (ours, theirs)]
    total = sum(errors)
    difference = first.mean - second.mean
    if total == 0.0:
        return Comparison(first, second, difference, difference)
    counts = (len(ours), len(theirs))
    parts = [error**2 / (count - 1) for error, count in zip(errors, counts, strict=True)]
    width = t_quantile(total**2 / sum(parts)) * math.sqrt(total)
    return Comparison(first, second, difference - width, difference + width)


def compare_all(ours: Sequence[Mapping[str, float]], theirs: Sequence[Mapping[str, float]]) -> dict[str, Comparison]:
    """Compare every quantity of `METRICS` over the repetitions of a world."""
    return {metric: compare([run[metric] for run in ours], [run[metric] for run in theirs]) for metric in METRICS}
