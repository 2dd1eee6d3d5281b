"""A race of settings: all meet the same seeds, and who is surely worse leaves.

Source: paired differences with Student's t, at an error of 5 % that is shared out over settings and rounds (Bonferroni);
equivalence by two one-sided tests (Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987); the shares of
`ocba_shares` by Chen and others, Discrete Event Dynamic Systems 10, 2000 (recalled).
Units and ranges: losses are logarithms, so a difference of ln 1.05 is 5 %.
Deviations: none known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 0.05
"""Share of a cost that makes no difference. chosen: 5 % of a delay is not felt."""

FIRST_SEEDS, MOST_SEEDS = 4, 64
"""Seeds of the first round and of the last; each round has twice as many as the one before."""

FEWEST_SEEDS = 2
"""Seeds without which nothing can be judged."""

TOGETHER = 32
"""Runs that are asked for at a time, between two looks at the clock. chosen: two for each core of a usual machine."""


OUT_OF_TIME = "the time was up"
"""Why a race ended without a decision."""


class OutOfTime(Exception):
    """The time was up before runs had ended."""


ERROR = 0.05
"""Of wrongly dismissing the best one, over the whole race."""

Table = NDArray[np.float64]

Losses = Callable[[Sequence[int], range], Table]
"""Gives the losses of settings (rows) under seeds (columns)."""

Stop = Literal["equal", "seeds", "budget"]


@dataclass(frozen=True)
class Race:
    """Result of a race.

    Attributes
    ----------
    best
        The setting of least mean loss.
    equal
        Those that are as good as the best within the tolerance, it among them.
    undecided
        Settings without a verdict.
    out
        The round in which the others left, by setting.
    losses
        A row of each setting, a column of each seed; not a number where nothing was run.
    stop
        Why it ended: all that are left are equal, no more seeds, or no more time.
    """

    best: int
    equal: tuple[int, ...]
    undecided: tuple[int, ...]
    out: dict[int, int]
    losses: Table
    stop: Stop

    @property
    def group(self) -> tuple[int, ...]:
        """Settings that are not clearly worse than the best one, in their order."""
        return tuple(sorted({*self.equal, *self.undecided}))

    @property
    def runs(self) -> int:
        """How many runs it took."""
        return int(np.isfinite(self.losses).sum())

    def ratio(self, setting: int) -> float:
        """Return by what a setting is worse than the best one: 1.5 is half as much again."""
        both = np.isfinite(self.losses[setting]) & np.isfinite(self.losses[self.best])
        difference: Table = self.losses[setting, both] - self.losses[self.best, both]
        return math.exp(_mean(difference))


def race(
    count: int,
    losses: Losses,
    *,
    tolerance: float = TOLERANCE,
    most: int = MOST_SEEDS,
    is_out_of_time: Callable[[], bool] = lambda: False,
    sampler: Literal["all", "ocba"] = "all",
) -> Race:
    """Race settings until those that are left are equal.

    Parameters
    ----------
    count
        How many settings there are.
    losses
        What gives their losses; each seed is asked for once of each setting.
    tolerance
        What makes no difference, as a share.
    most
        Most seeds of a setting.
    is_out_of_time
        Asked before each further seed; two of each setting are always run.
    sampler
        Whether a round gives all the same number of seeds, or most to whom it is hard to tell from the best.

    Examples
    --------
    >>> quick, slow = np.log([[7.5] * 64, [60.0] * 64])
    >>> race(2, lambda alive, seeds: np.array([quick, slow])[list(alive)][:, seeds]).group
    (0,)
    """
    table = np.full((count, most), np.nan)
    alive = list(range(count))
    had = dict.fromkeys(alive, 0)
    want = dict.fromkeys(alive, min(FIRST_SEEDS, most))
    out: dict[int, int] = {}
    margin = math.log1p(tolerance)
    number = 0
    while True:
        number += 1
        is_cut = _extend(table, losses, alive, had, want, is_out_of_time)
        best, verdicts = _judge(table, alive, number, margin)
        for setting, verdict in verdicts.items():
            if verdict == "worse":
                out[setting] = number
        alive = [setting for setting in alive if setting not in out]
        equal = tuple(setting for setting in alive if verdicts[setting] == "equal")
        stop: Stop | None = None
        if len(equal) == len(alive):
            stop = "equal"
        elif min(had[setting] for setting in alive) >= most:
            stop = "seeds"
        elif is_cut or is_out_of_time():
            stop = "budget"
        if stop is not None:
            undecided = tuple(setting for setting in alive if setting not in equal)
            return Race(best, equal, undecided, out, table, stop)
        if sampler == "ocba":
            want = _spend(table, alive, best, had, most)
        else:
            want = {setting: min(2 * had[setting], most) for setting in alive}


def _extend(
    table: Table,
    losses: Losses,
    alive: Sequence[int],
    had: dict[int, int],
    want: dict[int, int],
    is_out_of_time: Callable[[], bool],
) -> bool:
    """Give each setting its seeds, one after the other; those that need the same ones get them together.

    Returns whether the time was up before all had theirs.
    """
    spans = {(had[setting], want[setting]) for setting in alive}
    for first, end in sorted(spans):
        these = [setting for setting in alive if (had[setting], want[setting]) == (first, end)]
        step = max(-(-TOGETHER // len(these)), 1)
        seed = first
        while seed < end:
            is_enough = seed >= FEWEST_SEEDS
            if is_enough and is_out_of_time():
                return True
            seeds = range(seed, min(seed + step, end) if is_enough else min(FEWEST_SEEDS, end))
            try:
                table[these, seed : seeds.stop] = losses(these, seeds)
            except OutOfTime:
                return True
            had.update(dict.fromkeys(these, seeds.stop))
            seed = seeds.stop
    return False


def _judge(table: Table, alive: Sequence[int], number: int, margin: float) -> tuple[int, dict[int, str]]:
    """Return the best setting of a round, and how each of the others stands to it."""
    from sojourn.stats.special import stdtrit

    best = min(alive, key=lambda setting: _mean(table[setting]))
    level = 1 - ERROR / (len(alive) * number)
    verdicts = {best: "equal"}
    for setting in alive:
        if setting == best:
            continue
        difference: Table = table[setting] - table[best]
        difference = difference[np.isfinite(difference)]
        pairs = len(difference)
        mean = _mean(difference)
        half = float(stdtrit(pairs - 1, level)) * _spread(difference) / math.sqrt(pairs)
        if mean - half > margin:
            verdicts[setting] = "worse"
        elif abs(mean) + half <= margin:
            verdicts[setting] = "equal"
        else:
            verdicts[setting] = "undecided"
    return best, verdicts


def _mean(values: Table) -> float:
    known: list[float] = values[np.isfinite(values)].tolist()
    return math.fsum(known) / len(known)


def _spread(values: Table) -> float:
    """Return the standard deviation; with `n - 1`."""
    known: list[float] = values[np.isfinite(values)].tolist()
    mean = math.fsum(known) / len(known)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in known) / (len(known) - 1))


def _spend(table: Table, alive: Sequence[int], best: int, had: dict[int, int], most: int) -> dict[int, int]:
    """Share out the seeds of a round by `ocba_shares`; each setting that can have more gets one at least."""
    means = [_mean(table[setting]) for setting in alive]
    spreads = [_spread(table[setting]) for setting in alive]
    shares = ocba_shares(means, spreads, list(alive).index(best))
    batch = sum(had[setting] for setting in alive)
    return {
        setting: min(had[setting] + max(1, round(share * batch)), most)
        for setting, share in zip(alive, shares, strict=True)
    }


def ocba_shares(means: Sequence[float], spreads: Sequence[float], best: int | None = None) -> list[float]:
    """Return what share of the next runs each setting should have, so that the best one is found soonest.

    Parameters
    ----------
    means, spreads
        Mean and standard deviation of each setting's losses.
    best
        Which one is best; the one of least mean if left out.

    Examples
    --------
    >>> [f"{share:.3f}" for share in ocba_shares([7.5, 8.1, 9.0, 12, 60], [0.4, 0.5, 2, 4, 8])]
    ['0.168', '0.176', '0.450', '0.200', '0.006']
    """
    if best is None:
        best = min(range(len(means)), key=lambda one: means[one])
    least = 1e-9  # of a spread or a distance, so that two copies of a setting share what there is
    spread = [max(one, least) for one in spreads]
    weights = [
        (spread[one] / max(means[one] - means[best], least)) ** 2 if one != best else 0.0 for one in range(len(means))
    ]
    others = sum((weights[one] / spread[one]) ** 2 for one in range(len(means)) if one != best)
    weights[best] = spread[best] * math.sqrt(others) if others else 1.0
    total = sum(weights)
    return [weight / total for weight in weights]
