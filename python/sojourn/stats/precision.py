"""A point has enough seeds once its interval is narrow enough, looked at after numbers of seeds that are fixed before.

Looking after each seed and stopping at the first narrow interval keeps 87 % where 95 % is promised. Here looks are few
(8, 12, 18, 27, …), and intervals are those of `sojourn.stats.estimate` at 97 %, which keep 95 % (`LEVEL`).
Only widths decide, never a verdict. A point has as many seeds at least as it takes to meet a kind of run whose share is what is asked
(`least_seeds`), and where runs are of two kinds, or a few make the mean, that is said, and the mean is not taken as known (`judged`).

Source: the loss of coverage by stopping is classical (Anscombe, Proc. Camb. Phil. Soc. 48, 1952); level and looks are
our own, simulated by `tools/simulate-precision`.
Deviations: none known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sojourn.stats.estimate import bounded_mean_of, mean_of, quantile_of
from sojourn.stats.level import at_level
from sojourn.stats.other_kind import FEWEST, other_kind
from sojourn.stats.quantity import Quantity

LEVEL = 0.97
"""Level of intervals by which a point stops, and which are said to be of 95 %.

fitted: of 95, 96, 97, 97.5 and 98 % the least whose coverage is 95 % or more in each of 30 cells of 10,000 repetitions:
normal, lognormal and gamma runs with coefficients of variation of 0.03 to 0.3, goal 5 %.
"""

LEAST = 8
"""Seeds before the first look at least. fitted: with `LEVEL`; fewer keep less."""

RAREST, COMMONEST = 0.02, 0.1
"""Shares of runs between which a kind is one that must be met. chosen: 208 and 40 seeds; a rarer one costs more than most studies have."""

UNMET = 0.015
"""Probability that such a kind is not met. chosen: with the 3 % by which intervals at `LEVEL` miss, less than 5 %."""

MOST = 500
"""Seeds at most, where a study says nothing. chosen: a point with half the spread of its value has 5 % then."""

GROWTH = 1.5
"""Seeds of a look over those of the last. chosen: twelve looks from 8 to 500, and a third of the seeds too many at most."""


@dataclass(frozen=True)
class Goal:
    """How precise a number has to be: the larger of both is enough."""

    relative: float = 0.0
    """Half width of the interval as a share of the value."""
    absolute: float = 0.0
    """The same in the unit of the number."""

    def width(self, centre: float) -> float:
        """Return the half width that is enough at a value."""
        return max(self.relative * abs(centre), self.absolute)


def looks(least: int, most: int) -> list[int]:
    """Return after how many seeds it is looked whether a point has enough.

    Examples
    --------
    >>> looks(8, 500)
    [8, 12, 18, 27, 41, 62, 93, 140, 210, 315, 473, 500]
    """
    found = [min(least, most)]
    while found[-1] < most:
        found.append(min(most, math.ceil(GROWTH * found[-1])))
    return found


def least_seeds(relative: float) -> int:
    """Return after how many seeds a point is looked at first, by the share of the value that its half width may have.

    A kind of run with that share of runs and twice the value moves the mean by as much as is asked, so it has to be met.

    Examples
    --------
    >>> [least_seeds(relative) for relative in (0.2, 0.05, 0.02, 0.0)]
    [40, 82, 208, 40]
    """
    share = min(max(relative, RAREST), COMMONEST) if relative else COMMONEST
    return math.ceil(math.log(UNMET) / math.log1p(-share))


def seeds_to_meet(rarer: int, runs: int) -> int:
    """Return after how many seeds a point has met a kind of run with a probability of 1 - `UNMET`, by the runs of all points.

    What one point has shown may happen at the others. A kind rarer than half of `RAREST` over all of them is not sought: one run of
    thousands is no kind, and each point would get all seeds for it.

    Parameters
    ----------
    rarer, runs
        Runs of that kind, and all, over all points.

    Examples
    --------
    >>> seeds_to_meet(8, 400), seeds_to_meet(40, 400), seeds_to_meet(3, 400), seeds_to_meet(0, 400)
    (208, 40, 0, 0)
    """
    share = rarer / runs if runs else 0.0
    return least_seeds(share) if 2 * share >= RAREST else 0


@dataclass(frozen=True)
class Width:
    """How wide what is known of a number is."""

    excess: float
    """Half width of the interval over that of the goal: 1 or less is enough."""
    is_median: bool = False
    """True if the interval is the median's, since the mean has no use."""
    words: str = ""
    """Sentence about runs of several kinds; empty if they are of one."""
    rarer: int = 0
    """Runs of the rarer of two kinds; 0 where they are of one kind, or a tail."""


def judged(values: Sequence[float] | np.ndarray, quantity: Quantity, goal: Goal, *, anytime: bool = False) -> Width:
    """Return how wide what is known of a number is, and what is to be said of its runs; parameters are those of `excess`.

    Where runs are of two kinds, the mean is known once there are ten of the rarer one. Where a tail makes the mean, the
    median stands for it, unless one looks at any time. Shares have an interval that counts rare runs, and are not looked at.

    Examples
    --------
    >>> calm = [9.0, 10.0, 11.0, 10.5, 9.5, 10.2, 9.8, 10.1] * 5
    >>> judged([*calm, 100.0], Quantity(0.0), Goal(relative=0.5)).excess > 1
    True
    """
    width = excess(values, quantity, goal, anytime=anytime)
    data = np.asarray(values, dtype=float)
    data = data[np.isfinite(data)]
    found = None if quantity.is_share or data.size < LEAST else other_kind(data)
    if found is None:
        return Width(width)
    if found.is_mode:
        rarer = min(found.runs, found.count - found.runs)
        few = math.sqrt((FEWEST + 1) / (rarer + 1)) if rarer < FEWEST else 0.0
        return Width(max(width, few), words=found.words, rarer=rarer)
    if anytime:
        return Width(width, words=found.words)
    return Width(quantile_excess(data, 0.5, goal), is_median=True, words=found.words)


def excess(values: Sequence[float] | np.ndarray, quantity: Quantity, goal: Goal, *, anytime: bool = False) -> float:
    """Return how many times the half width of the mean's interval is that of the goal: 1 or less is enough.

    Parameters
    ----------
    values
        One per run; those that are not finite count as missing, and with fewer than `LEAST` nothing is enough.
    quantity
        What kind of number it is.
    goal
        What is enough.
    anytime
        Whether the interval is one that holds whenever one looks.

    Examples
    --------
    >>> excess([10.0] * 8, Quantity(0.0), Goal(relative=0.05))
    0.0
    >>> excess([10.0] * 7, Quantity(0.0), Goal(relative=0.05))
    inf
    """
    data = np.asarray(values, dtype=float)
    data = data[np.isfinite(data)]
    if data.size < LEAST:
        return math.inf
    if data.min() == data.max():
        return 0.0
    with at_level(LEVEL, anytime=anytime):
        found = bounded_mean_of(data, quantity)
    if found.value is None or found.low is None or found.high is None:
        return math.inf
    enough = goal.width(found.value)
    half = (found.high - found.low) / 2
    return half / enough if enough > 0 else math.inf


def paired_excess(
    values: Sequence[float] | np.ndarray,
    against: Sequence[float] | np.ndarray,
    quantity: Quantity,
    goal: Goal,
    *,
    anytime: bool = False,
) -> float:
    """Return how many times the half width of the interval of a difference is that of the goal: 1 or less is enough.

    Times are compared by ratios, as everywhere: the interval is that of the mean logarithm, and its half width the
    share by which the ratio is uncertain. A share of the value is one of the setting that is compared with.

    Parameters
    ----------
    values, against
        Of two settings; the same place is the same seed. Pairs of which one is not finite count as missing.
    quantity
        What kind of number it is.
    goal
        What is enough.
    anytime
        Whether the interval is one that holds whenever one looks.

    Examples
    --------
    >>> paired_excess([11.0] * 8, [10.0] * 8, Quantity(), Goal(relative=0.05))
    0.0
    """
    ours, theirs = (np.asarray(one, dtype=float) for one in (values, against))
    known = np.isfinite(ours) & np.isfinite(theirs)
    ours, theirs = ours[known], theirs[known]
    if ours.size < LEAST:
        return math.inf
    enough = goal.width(float(np.mean(theirs)))
    is_ratio = quantity.by_ratio and bool(np.all(ours > 0)) and bool(np.all(theirs > 0))
    differences = np.log(ours / theirs) if is_ratio else ours - theirs
    if differences.min() == differences.max():
        return 0.0
    with at_level(LEVEL, anytime=anytime):
        found = mean_of(differences)
    if found.low is None or found.high is None:
        return math.inf
    half = (found.high - found.low) / 2
    if is_ratio:
        half, enough = math.expm1(half), enough / float(np.mean(theirs))
    return half / enough if enough > 0 else math.inf


def quantile_excess(values: Sequence[float] | np.ndarray, share: float, goal: Goal) -> float:
    """Return how many times the half width of a quantile's interval is that of the goal: 1 or less is enough.

    Parameters
    ----------
    values
        One per run; those that are not finite count as missing.
    share
        Of runs that lie below the quantile.
    goal
        What is enough.

    Examples
    --------
    >>> quantile_excess([10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 22.0, 24.0], 0.5, Goal(absolute=7.0))
    1.0
    """
    data = np.asarray(values, dtype=float)
    data = data[np.isfinite(data)]
    if data.size < LEAST:
        return math.inf
    with at_level(LEVEL):
        found = quantile_of(data, share)
    if found.value is None or found.low is None or found.high is None:
        return math.inf
    half, enough = (found.high - found.low) / 2, goal.width(found.value)
    return 0.0 if half == 0 else half / enough if enough > 0 else math.inf


def fewest_for_quantile(share: float) -> int:
    """Return how many runs a quantile needs until two of them hold it.

    Examples
    --------
    >>> fewest_for_quantile(0.5), fewest_for_quantile(0.9), fewest_for_quantile(0.99)
    (7, 40, 418)
    """
    # All lie on one side with a probability below the tail of the level.
    return math.ceil(math.log((1 - LEVEL) / 2) / math.log(max(share, 1 - share)))


def affordable(
    seeds: Mapping[str, int], excesses: Mapping[str, float], wanted: Mapping[str, int], runs: int
) -> dict[str, int]:
    """Return the points that get more seeds if the number of runs is limited.

    A point that is e times as wide as asked needs about e² times its seeds. If that is too much for all of them, all are asked for
    the same multiple of their goals, the least that can be paid, and those that are within it get no more.

    Parameters
    ----------
    seeds
        What each point has.
    excesses
        How many times as wide as asked each is; those that are infinite come first.
    wanted
        Seeds of the next look, for points that are open.
    runs
        The most, over all points.

    Examples
    --------
    >>> affordable({"a": 8, "b": 8}, {"a": 3.0, "b": 1.1}, {"a": 12, "b": 12}, 24)
    {'a': 12, 'b': 12}
    >>> affordable({"a": 8, "b": 8}, {"a": 3.0, "b": 1.1}, {"a": 12, "b": 12}, 23)
    {'a': 12}
    """
    spent = sum(seeds.values())
    factor = _common_factor(seeds, excesses, wanted, runs)
    found: dict[str, int] = {}
    for point in sorted(wanted, key=lambda one: (-excesses[one], seeds[one])):
        cost = wanted[point] - seeds[point]
        if excesses[point] > factor and spent + cost <= runs:
            spent += cost
            found[point] = wanted[point]
    # What is left over is still worth a look.
    for point in sorted(set(wanted) - set(found), key=lambda one: (-excesses[one], seeds[one])):
        cost = wanted[point] - seeds[point]
        if spent + cost <= runs:
            spent += cost
            found[point] = wanted[point]
    return found


def _common_factor(
    seeds: Mapping[str, int], excesses: Mapping[str, float], wanted: Mapping[str, int], runs: int
) -> float:
    """Return the least multiple of all goals, 1 or more, whose forecast can be paid."""

    def forecast(factor: float) -> float:
        more = (seeds[p] * max(0.0, min(excesses[p], 1e3) ** 2 / factor**2 - 1) for p in wanted)
        return sum(seeds.values()) + sum(more)

    low, high = 1.0, 1e3
    if forecast(low) <= runs:
        return low
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if forecast(middle) <= runs else (middle, high)
    return high


def unseen_share(count: int) -> float:
    """Return the share of runs in which something may happen that has not happened in `count` of them, at 95 %.

    Examples
    --------
    >>> round(unseen_share(8), 3), round(unseen_share(29), 3)
    (0.312, 0.098)
    """
    return float(1 - 0.05 ** (1 / count))
