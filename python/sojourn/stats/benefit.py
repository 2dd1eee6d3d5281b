"""How many times smaller something is behind another queue manager, said so that chance does not flatter it.

Source: Akhtar and others 2013, "Benefit of AQM" (tail-drop less its interval, over the other with its interval); Fieller 1954 for
the interval of a ratio of means, with the covariance of runs that share a seed.
Units: those of the values, which are not negative; ratios have none.
Deviations: none known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sojourn.stats.estimate import mean_of, t_quantile


@dataclass(frozen=True)
class Benefit:
    """How two sets of runs with the same seeds compare, of a value of which less is better."""

    least_before: float
    """Mean of the first less half its 95 % interval, and not below zero."""
    most_after: float
    """Mean of the second and half its interval."""
    plain: float | None
    """Ratio of the means; None over zero."""
    low: float | None
    """Fieller's interval of that; None if it is unbounded."""
    high: float | None

    @property
    def conservative(self) -> float | None:
        """The slides' ratio; None over zero, when nothing is left to divide by.

        Examples
        --------
        >>> Benefit(2.0, 0.1, 40.0, None, None).conservative
        20.0
        """
        return self.least_before / self.most_after if self.most_after > 0 else None


def benefit_of(before: Sequence[float] | np.ndarray, after: Sequence[float] | np.ndarray) -> Benefit | None:
    """Compare runs of the same seeds; None with fewer than two of them.

    Examples
    --------
    >>> found = benefit_of([4.0, 5.0, 6.0], [0.1, 0.2, 0.3])
    >>> round(found.plain, 1), round(found.conservative, 2)
    (25.0, 5.61)
    """
    first, second = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    known = np.isfinite(first) & np.isfinite(second)
    first, second = first[known], second[known]
    runs = len(first)
    if runs < 2:
        return None
    least, most = mean_of(first).low, mean_of(second).high
    a, b = float(first.mean()), float(second.mean())
    low, high = _fieller(a, b, np.cov(first, second) / runs, t_quantile(runs - 1))
    return Benefit(max(0.0, least or 0.0), most or 0.0, a / b if b > 0 else None, low, high)


def _fieller(a: float, b: float, of_means: np.ndarray, t: float) -> tuple[float | None, float | None]:
    """Return the interval of a / b from the covariance of both means; unbounded if b may be zero."""
    square = t * t
    below = b * b - square * float(of_means[1, 1])
    if below <= 0:
        return None, None
    middle = a * b - square * float(of_means[0, 1])
    root = middle * middle - (a * a - square * float(of_means[0, 0])) * below
    half = math.sqrt(max(0.0, root))
    return (middle - half) / below, (middle + half) / below
