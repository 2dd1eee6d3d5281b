"""Finds runs of another kind than the others: a second mode, or a tail that makes the mean.

Source: the skewness of a sample as a test of symmetry (Fisher, Proc. Royal Society A 130, 1930: its standard error is √(6/n)); times
are looked at as logarithms, so that a lognormal spread is none. The median and its distance scale the widest gap
(Hampel, J. American Statistical Association 69, 1974). Deviations: limits are chosen and simulated by `tools/simulate-precision`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SKEWED = 2.4
"""Standard errors of a skewness that is none. fitted: of 2.4 and 3.3 the one that finds Pareto runs of 2.2 and 1.5 in time."""

APART, APART_BELOW = 4.0, 3.0
"""Robust standard deviations of the widest gap between two kinds, above and below. chosen: neighbours of 500 normal runs are
closer; above, the farthest of Pareto runs are as far in 6 % of cases, and below nothing has such a tail."""

FEWEST = 10
"""Runs of the rarer kind for a mean to be known. chosen: the share of ten is known to a factor of two."""


@dataclass(frozen=True)
class OtherKind:
    """Runs that are not as the others.

    Attributes
    ----------
    runs, count
        Of the other kind, and all.
    times
        Their median over that of the others.
    is_mode
        Whether a gap sets them apart; else they are a tail.
    """

    runs: int
    count: int
    times: float
    is_mode: bool

    @property
    def words(self) -> str:
        """A sentence without its stop."""
        if self.is_mode:
            are = "is" if self.runs == 1 else "are"
            times = f", {self.times:.2g} times the others" if np.isfinite(self.times) else ""
            return (
                f"{self.runs} of {self.count} runs {are} of another kind{times}: one in {round(self.count / self.runs)}"
            )
        return f"a few of {self.count} runs make the mean, so the median is given: the {self.runs} farthest are {self.times:.2g} times the others"


def other_kind(values: Sequence[float] | np.ndarray) -> OtherKind | None:
    """Return what is not as the rest of some runs, if anything.

    Examples
    --------
    >>> calm = [9.0, 10.0, 11.0, 10.5, 9.5, 10.2, 9.8, 10.1]
    >>> print(other_kind([*calm, *calm, 100.0]).words)
    1 of 17 runs is of another kind, 10 times the others: one in 17
    >>> other_kind([*calm, *calm]) is None
    True
    """
    data = np.sort(np.asarray(values, dtype=float))
    if data.size < 3 or data[0] == data[-1]:
        return None
    limit = SKEWED * (6 / data.size) ** 0.5
    scaled: np.ndarray = np.log(data) if data[0] > 0 else data
    if _skewness(scaled) > limit:
        place = _widest_gap(scaled, upper=True)
    elif _skewness(data) < -limit:
        scaled, place = data, _widest_gap(data, upper=False)
    else:
        return None
    is_upper = place >= data.size / 2
    spread = 1.4826 * float(np.median(np.abs(scaled - float(np.median(scaled)))))
    is_mode = bool(scaled[place] - scaled[place - 1] > (APART if is_upper else APART_BELOW) * spread)
    if not is_mode and not is_upper:  # what is below no gap makes no mean
        return None
    if not is_mode:
        place = data.size - max(1, data.size // 10)
    ours, others = (data[place:], data[:place]) if is_upper else (data[:place], data[place:])
    centre = float(np.median(others))
    return OtherKind(int(ours.size), int(data.size), float(np.median(ours)) / centre if centre else np.inf, is_mode)


def _skewness(data: np.ndarray) -> float:
    centred: np.ndarray = data - float(np.mean(data))
    spread = float(np.mean(centred**2)) ** 0.5
    return float(np.mean(centred**3)) / spread**3 if spread > 0 else 0.0


def _widest_gap(data: np.ndarray, *, upper: bool) -> int:
    """Return the place above the widest gap in the upper or the lower half."""
    half = data.size // 2
    gaps = np.diff(data)
    return int(gaps[half:].argmax()) + half + 1 if upper else int(gaps[: max(half, 1)].argmax()) + 1
