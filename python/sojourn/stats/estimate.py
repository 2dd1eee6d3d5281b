"""Estimate of a metric from several runs of one point: a central value and its 95 % interval.

Source: Student's t interval over runs with different seeds (Gosset 1908); the run is the unit of
replication, packets and pages within a run are not independent. Positive, skewed metrics are
treated on the log scale. Shares and scores get Wilson's interval (JASA 22, 1927) with the effective
number of trials that the spread between runs implies (Korn and Graubard, Survey Methodology 24,
1998; Dean and Pagano, Journal of Survey Statistics and Methodology 3, 2015).
Deviations: none known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sojourn.stats.anytime import anytime_factor
from sojourn.stats.level import confidence, is_anytime, is_stopped
from sojourn.stats.quantity import Quantity


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
        """True if there is a number, or at least a lower bound."""
        return self.value is not None or self.above is not None

    def within(self, least: float, most: float) -> Estimate:
        """End the interval at bounds that no value can pass; a value beyond them shows that they are none.

        Examples
        --------
        >>> Estimate(142.0, 83.0, 244.0, 3).within(0.0, 200.0)
        Estimate(value=142.0, low=83.0, high=200.0, count=3, above=None)
        """
        if self.value is None or self.low is None or self.high is None or not least <= self.value <= most:
            return self
        return Estimate(self.value, max(self.low, least), min(self.high, most), self.count, self.above)

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


NOTHING = Estimate(None)
"""Nothing was measured."""


def t_quantile(degrees: int) -> float:
    """Two-sided quantile of Student's t, at 95 % if nothing else is said.

    Examples
    --------
    >>> round(t_quantile(4), 3)
    2.776
    """
    from sojourn.stats.special import stdtrit

    return float(stdtrit(degrees, 0.5 + confidence() / 2))


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
        return Estimate(centre, count=int(data.size))
    return Estimate(centre, centre - half, centre + half, int(data.size))


def bounded_mean_of(values: Sequence[float] | np.ndarray, quantity: Quantity) -> Estimate:
    """Mean over runs with an interval that stays within the bounds of the quantity.

    See `interval_within` for how. Runs without a value (NaN) are left out.

    Examples
    --------
    >>> late = bounded_mean_of([0.0, 0.0, 0.0, 0.0, 0.5], Quantity(0.0, 100.0))
    >>> round(late.value, 3), round(late.low, 3), round(late.high, 3)
    (0.1, 0.01, 0.954)
    """
    data = _finite(values)
    if data.size == 0:
        return NOTHING
    centre = float(np.mean(data))
    if data.size == 1:
        return Estimate(centre, count=1)
    spread = float(np.std(data, ddof=1))
    ends = interval_within(np.array([centre]), np.array([spread]), np.array([data.size]), quantity)
    low, high = (None if math.isnan(end[0]) else float(end[0]) for end in ends)
    return Estimate(centre, low, high, int(data.size))


def interval_within(
    mean: np.ndarray, deviation: np.ndarray, count: np.ndarray, quantity: Quantity
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the 95 % intervals of means over runs, within the quantity's bounds.

    - Without bounds: Student's t interval.
    - With a lower bound, such as a delay's: the t interval of the logarithm of the mean (delta method),
      so that the interval is a factor up and down, and zero in some runs does no harm.
    - With both, such as a share's: Wilson's score interval. Its number of trials is what the variance
      between runs implies, since packets are not independent, and Student's quantile takes the
      place of the normal one. Where runs stopped because of the interval, its degrees of freedom are those that the
      variance is known by: few if shares are near a bound, since the rare run with many losses makes it.

    Parameters
    ----------
    mean, deviation, count
        Mean and standard deviation over runs, and the number of runs; one element per interval.
    quantity
        The bounds.

    Returns
    -------
    tuple
        Lower and upper ends; NaN where they are unknown: with fewer than two runs, and for the far end
        where all runs lie on a bound (that no run lost a packet does not say how rare losses are).
    """
    from sojourn.stats.special import stdtrit

    mean = np.asarray(mean, dtype=float)
    count = np.asarray(count, dtype=float)
    enough = count >= 2
    error = np.where(enough, deviation, 0.0) / np.sqrt(np.maximum(count, 1))
    # Equal floats may vary in the last bit; that is no variance.
    error = np.where(error <= 1e-12 * np.abs(mean), 0.0, error)
    if is_anytime():
        quantile = anytime_factor(np.maximum(count, 2))
    else:
        degrees = np.maximum(count - 1, 1)
        if quantity.is_share and is_stopped():
            degrees = np.minimum(degrees, _known_by(mean, deviation, count, quantity))
        quantile = stdtrit(degrees, 0.5 + confidence() / 2)
    enough &= np.isfinite(quantile)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if quantity.is_share:
            low, high = _score_interval(mean, error, quantile, quantity)
        elif math.isfinite(quantity.low):
            above = mean - quantity.low
            factor = np.exp(quantile * error / above)
            low, high = quantity.low + above / factor, quantity.low + above * factor
        else:
            low, high = mean - quantile * error, mean + quantile * error
    equal = error == 0
    low, high = np.where(equal, mean, low), np.where(equal, mean, high)
    # All runs lie on a bound.
    low = np.where(mean >= quantity.high, np.nan, low)
    high = np.where(mean <= quantity.low, np.nan, high)
    return np.where(enough, low, np.nan), np.where(enough, high, np.nan)


def _score_interval(
    mean: np.ndarray, error: np.ndarray, quantile: np.ndarray, quantity: Quantity
) -> tuple[np.ndarray, np.ndarray]:
    width = quantity.high - quantity.low
    share = np.clip((mean - quantity.low) / width, 0.0, 1.0)
    trials = share * (1 - share) / (error / width) ** 2
    weight = quantile**2 / trials
    centre = (share + weight / 2) / (1 + weight)
    half = np.sqrt(quantile**2 * (error / width) ** 2 + weight**2 / 4) / (1 + weight)
    low, high = np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)
    return quantity.low + width * low, quantity.low + width * high


def _known_by(mean: np.ndarray, deviation: np.ndarray, count: np.ndarray, quantity: Quantity) -> np.ndarray:
    """Return the degrees of freedom of a variance over runs whose shares are beta distributed with that mean and deviation.

    Source: the variance of a sample's variance is that of the squares (kurtosis); degrees of freedom as of Satterthwaite, Biometrics
    Bulletin 2, 1946; the kurtosis of the beta distribution as in Johnson, Kotz and Balakrishnan, Continuous Univariate
    Distributions 2, 1995, section 25.3.

    Examples
    --------
    A hundred runs of a share of 1 % that spreads by 2 points are known as well as ten of a normal quantity.

    >>> one, share = np.ones(1), Quantity(0.0, 1.0)
    >>> round(float(_known_by(0.01 * one, 0.02 * one, 100 * one, share)[0]), 1)
    8.8
    """
    width = quantity.high - quantity.low
    share = np.clip((mean - quantity.low) / width, 0.0, 1.0)
    both = share * (1 - share)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.maximum(both / (deviation / width) ** 2 - 1, 0.0)
        excess = 6 * ((1 - 4 * both) * (size + 1) - both * (size + 2))
        excess /= both * (size + 2) * (size + 3)
        degrees = 2 * count / (2 + np.maximum(excess, 0.0))
    return np.where(np.isfinite(degrees), np.maximum(degrees, 1.0), 1.0)


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share, such as that of runs in which something happened.

    Examples
    --------
    >>> low, high = wilson(0, 5)
    >>> round(low, 4), round(high, 4)
    (0.0, 0.4345)
    """
    from sojourn.stats.special import ndtri

    quantile = float(ndtri(0.5 + confidence() / 2))
    share, weight = successes / trials, quantile**2 / trials
    centre = (share + weight / 2) / (1 + weight)
    half = quantile / (1 + weight) * math.sqrt(share * (1 - share) / trials + weight / trials / 4)
    return max(0.0, centre - half), min(1.0, centre + half)


def log_mean_of(values: Sequence[float] | np.ndarray) -> Estimate:
    """Geometric mean over runs with a t interval on the log scale; all values must be positive."""
    data = _finite(values)
    if data.size == 0 or bool(np.any(data <= 0)):
        return NOTHING
    return mean_of(np.log(data)).map(math.exp)


def median_of(values: Sequence[float] | np.ndarray, *, censored_above: float | None = None) -> Estimate:
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
    centre = float(np.median(known)) if censored_above is None else float(np.median(np.where(missing, np.inf, data)))
    spread = log_mean_of(known) if bool(np.all(known > 0)) else mean_of(known)
    if spread.low is None or spread.high is None:
        return Estimate(centre, count=int(known.size))
    return Estimate(centre, min(spread.low, centre), max(spread.high, centre), int(known.size))


def variation_of(groups: Sequence[Sequence[float] | np.ndarray]) -> Estimate:
    """Return the standard deviation over runs as a share of their mean, with its interval by chi-squared; pooled over groups.

    Groups are settings of which each has runs; what differs between their means does not count.

    Examples
    --------
    >>> one = variation_of([[9.0, 10.0, 11.0]])
    >>> round(one.value, 3), round(one.low, 3), round(one.high, 3)
    (0.1, 0.052, 0.628)
    """
    from sojourn.stats.special import chdtri

    known = [data for data in map(_finite, groups) if data.size > 1 and float(np.mean(data))]
    degrees = sum(int(data.size) - 1 for data in known)
    if not degrees:
        return NOTHING
    squares = [(data.size - 1) * (np.std(data, ddof=1) / np.mean(data)) ** 2 for data in known]
    centre = math.sqrt(math.fsum(map(float, squares)) / degrees)
    ends = (0.5 - confidence() / 2, 0.5 + confidence() / 2)
    low, high = (centre * math.sqrt(degrees / float(chdtri(degrees, end))) for end in ends)
    return Estimate(centre, low, high, degrees + len(known))


def quantile_of(values: Sequence[float] | np.ndarray, share: float) -> Estimate:
    """Quantile over runs, with the order statistics that hold it; the ends are unknown with too few runs.

    Source: David and Nagaraja, Order Statistics, 2003, section 7.1.

    Examples
    --------
    >>> quantile_of(range(1, 13), 0.5)
    Estimate(value=6.5, low=3.0, high=10.0, count=12, above=None)
    """
    data = np.sort(_finite(values))
    if data.size == 0:
        return NOTHING
    value = float(np.quantile(data, share))
    low, high = quantile_places(int(data.size), share)
    if low < 1 or high > data.size:
        return Estimate(value, count=int(data.size))
    return Estimate(value, float(data[low - 1]), float(data[high - 1]), int(data.size))


def quantile_places(count: int, share: float) -> tuple[int, int]:
    """Return which values, from 1 in their order, hold a quantile between them; 0 or more than there are if none does.

    Examples
    --------
    >>> quantile_places(8, 0.5), quantile_places(5, 0.5)
    ((1, 8), (0, 6))
    """
    from sojourn.stats.special import bdtr

    tail = (1 - confidence()) / 2
    cumulative = bdtr(np.arange(count + 1), count, share)
    below, above = np.searchsorted(cumulative, [tail, 1 - tail])
    return int(below), int(above) + 1


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
    if is_anytime():
        factor = float(anytime_factor(data.size))
        return factor * error if math.isfinite(factor) else None
    return t_quantile(int(data.size) - 1) * error
