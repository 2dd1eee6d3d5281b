"""Kind of number that a metric is: its bounds, and the direction that is better.

Intervals and comparisons ask this, so that no loss falls below zero and no score above its scale, and one page
that took minutes does not hide that all others took seconds.

"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from sojourn.base.metrics import Better, metrics


@dataclass(frozen=True)
class Quantity:
    """A kind of number.

    Attributes
    ----------
    low, high
        Bounds that no value can pass; infinite where there are none.
    better
        Which way is better for a subscriber.
    by_ratio
        Whether two of them are compared by their ratio: times, which are spread over decades.
    """

    low: float = -math.inf
    high: float = math.inf
    better: Better = ""
    by_ratio: bool = field(default=False, repr=False)

    @property
    def is_share(self) -> bool:
        """True if both ends are bounded, as of a share or a score."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def indifference(self, best: float) -> float:
        """Return the difference from the best that is too small to notice.

        chosen: 1 % of it; 0.05 points of a share in percent; a tenth of a score of a call.

        Examples
        --------
        >>> (
        ...     Quantity(0.0, 100.0).indifference(0.0),
        ...     Quantity(1.0, 4.5).indifference(4.2),
        ...     Quantity(0.0).indifference(50.0),
        ... )
        (0.05, 0.1, 0.5)
        """
        if self.high == 100.0:
            return 0.05
        if (self.low, self.high) == MOS:
            return 0.1
        return 0.01 * abs(best)


MOS = (1.0, 4.5)
"""Scale of mean opinion scores that a call can reach. Source: ITU-T G.107 Annex B."""

_TIMES = {"s": 1.0, "ms": 1e3, "us": 1e6, "µs": 1e6, "ns": 1e9}
"""Units of times. chosen: they are positive and spread over decades; shares and scores have ends, rates hardly spread.
The number is how many make a second."""


def quantity_of(metric: str, unit: str) -> Quantity:
    """Return what kind of number a metric is; a measure that no run declares is positive and never better.

    Examples
    --------
    >>> quantity_of("loss_total", "%")
    Quantity(low=0.0, high=100.0, better='lower')
    >>> quantity_of("my_own", "%")
    Quantity(low=0.0, high=100.0, better='')
    """
    by_ratio = is_compared_by_ratio(unit)
    if metric not in metrics():
        return Quantity(0.0, 100.0 if unit == "%" else math.inf, by_ratio=by_ratio)
    declared = metrics()[metric]
    return Quantity(declared.low, declared.high, declared.better, by_ratio)


def is_compared_by_ratio(unit: str) -> bool:
    """Return whether amounts of a unit are compared by their ratio rather than by their difference.

    Examples
    --------
    >>> is_compared_by_ratio("ms"), is_compared_by_ratio("Mb/s"), is_compared_by_ratio("%")
    (True, False, False)
    """
    return unit in _TIMES


def in_unit(seconds: float, unit: str) -> float:
    """Return seconds in a unit of times; without end in any other.

    Examples
    --------
    >>> [in_unit(2.0, unit) for unit in ("s", "ms", "us", "ns", "Mb/s")]
    [2.0, 2000.0, 2000000.0, 2000000000.0, inf]
    """
    return seconds * _TIMES.get(unit, math.inf)
