"""What a metric is, given several runs of the same point: a central value and its 95 % interval.

Source: Student's t interval over runs with different seeds (Gosset 1908); the run is the unit of
replication, packets and pages within a run are not independent. Positive, skewed metrics are
treated on the log scale.
Deviations: none known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

#: Confidence of every interval in the reports; the field's convention.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A central value over runs, with its interval.

    Attributes
    ----------
    value
        Mean or median over runs; `None` if nothing was measured.
    low, high
        Ends of the 95 % interval; `None` with fewer than two runs.
    count
        Runs that entered.
    above
        Set if the central value is censored: it lies above this bound, and `value` is `None`.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    count: int = 0
    above: float | None = None

    @property
    def is_known(self) -> bool:
        """Whether there is a number, or at least a lower bound."""
        return self.value is not None or self.above is not None

    def map(self, function: Callable[[float], float]) -> Estimate:
        """Apply a monotonous function to value and interval.

        Examples
        --------
        >>> Estimate(2.0, 1.0, 4.0, 5).map(lambda seconds: 1000 * seconds)
        Estimate(value=2000.0, low=1000.0, high=4000.0, count=5, above=None)
        """

        def apply(number: float | None) -> float | None:
            return None if number is None else float(function(number))

        low, high = apply(self.low), apply(self.high)
        if low is not None and high is not None and low > high:
            low, high = high, low
        return Estimate(apply(self.value), low, high, self.count, apply(self.above))


#: Nothing was measured.
NOTHING = Estimate(None)


def t_quantile(degrees: int) -> float:
    """Two-sided 95 % quantile of Student's t.

    Examples
    --------
    >>> round(t_quantile(4), 3)
    2.776
    """
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.5 + CONFIDENCE / 2))


def mean_of(values: Sequence[float] | np.ndarray) -> Estimate:
    """Mean over runs with its t interval; runs without a value (NaN) are left out.

    Examples
    --------
    >>> estimate = mean_of([2.31, 2.44, 2.28, 2.52, 2.39, 2.47, 2.35, 2.41, 2.30, 2.49])
    >>> round(estimate.value, 3), round(estimate.high - estimate.value, 4)
    (2.396, 0.0603)
    """
    data = _finite(values)
    if data.size == 0:
        return NOTHING
    centre = float(np.mean(data))
    half = _half_width(data)
    if half is None:
        return Estimate(centre, count=1)
    return Estimate(centre, centre - half, centre + half, int(data.size))


def log_mean_of(values: Sequence[float] | np.ndarray) -> Estimate:
    """Geometric mean over runs with a t interval on the log scale; all values must be positive."""
    data = _finite(values)
    if data.size == 0 or bool(np.any(data <= 0)):
        return NOTHING
    return mean_of(np.log(data)).map(math.exp)


def median_of(
    values: Sequence[float] | np.ndarray, *, censored_above: float | None = None
) -> Estimate:
    """Median over runs; the interval is the log-scale t interval, widened to hold the median.

    Parameters
    ----------
    values
        One value per run; NaN means that the run gave none.
    censored_above
        If set, a run without a value lies above this bound (no page completed in the run). When
        half of the runs or more are such, the median itself is only known to lie above it.
    """
    data = np.asarray(values, dtype=float)
    missing = ~np.isfinite(data)
    if censored_above is not None and data.size and 2 * int(missing.sum()) >= data.size:
        return Estimate(None, count=int(data.size), above=censored_above)
    known = data[~missing]
    if known.size == 0:
        return NOTHING
    if censored_above is None:
        centre = float(np.median(known))
    else:
        centre = float(np.median(np.where(missing, np.inf, data)))
    spread = log_mean_of(known) if bool(np.all(known > 0)) else mean_of(known)
    if spread.low is None or spread.high is None:
        return Estimate(centre, count=int(known.size))
    return Estimate(centre, min(spread.low, centre), max(spread.high, centre), int(known.size))


def paired_ratio(numerator: np.ndarray, denominator: np.ndarray) -> Estimate:
    """Ratio of two metrics over runs with the same seeds: geometric mean, t interval of log-ratios.

    Examples
    --------
    >>> drop_tail = np.array([23.1, 24.0, 22.7, 25.2, 23.9, 24.4, 23.3, 24.8, 22.9, 24.1])
    >>> codel = np.array([3.0, 3.2, 2.9, 3.4, 3.0, 3.3, 2.9, 3.3, 2.8, 3.2])
    >>> ratio = paired_ratio(codel, drop_tail)
    >>> round(ratio.value, 4), round(ratio.low, 4), round(ratio.high, 4)
    (0.1298, 0.1265, 0.1332)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return log_mean_of(np.asarray(numerator, float) / np.asarray(denominator, float))


def paired_difference(first: np.ndarray, second: np.ndarray) -> Estimate:
    """Mean of `first - second` over runs with the same seeds."""
    return mean_of(np.asarray(first, float) - np.asarray(second, float))


def _finite(values: Sequence[float] | np.ndarray) -> np.ndarray:
    data = np.asarray(values, dtype=float)
    return data[np.isfinite(data)]


def _half_width(data: np.ndarray) -> float | None:
    if data.size < 2:
        return None
    error = float(np.std(data, ddof=1)) / math.sqrt(data.size)
    return t_quantile(int(data.size) - 1) * error
