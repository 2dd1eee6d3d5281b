"""Tests if one setting is better than another, on runs that are paired by their seed.

With the same seed two settings see the same arrivals (common random numbers), so their differences vary less
than their values. The unit of replication is the seed.

Times are spread over decades, and one page that took minutes makes any difference of means uncertain. They are
compared by the ratio of each pair: the test is that of the logarithms, and centres are geometric means. A run in
which something never came counts as if it had come at the end of the run; it came later, so the ratio is at least that.

Source: Student's paired t test (Gosset 1908); S. Holm, "A simple sequentially rejective multiple test
procedure", Scandinavian Journal of Statistics 6 (1979); ratios as in `sojourn.stats.estimate.paired_ratio`.
Deviations: a pair of settings of which one was zero in some run has no ratios, and is compared by differences; where all differences are the same and not zero (a deterministic metric, or one that in every run
came with one setting and never with the other), the test has no variance to go by; the difference counts as
certain. With one run each, values decide alone, and the note says that chance cannot be judged.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sojourn.base.metrics import Better
from sojourn.stats.level import significance


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted by Holm's procedure, in the order given.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def paired_test(mean: float, deviation: float, count: int) -> tuple[float, float, float]:
    """Return interval and p-value of a mean difference.

    Parameters
    ----------
    mean, deviation
        Of the differences; the deviation with n − 1.
    count
        Number of pairs, at least two.
    """
    from sojourn.stats.special import stdtr, stdtrit

    error = deviation / math.sqrt(count)
    # Differences of equal floats may vary in the last bit; that is no variance.
    if error <= 1e-12 * abs(mean):
        return mean, mean, 0.0 if mean else 1.0
    half = float(stdtrit(count - 1, 1 - significance() / 2)) * error
    return mean - half, mean + half, 2 * float(stdtr(count - 1, -abs(mean) / error))


@dataclass(frozen=True)
class Contest:
    """One row of a table in which several settings meet.

    Attributes
    ----------
    values
        By setting, one value per run; the same place is the same seed, NaN where a run gave none.
    better
        Which way is better.
    indifference
        A difference up to this is no advantage, however significant.
    by_ratio
        Whether pairs are compared by their ratios, as times are.
    longest
        What stands for something that never came (an infinite value) in a ratio: the length of the run.
    """

    values: Mapping[str, Sequence[float] | np.ndarray]
    better: Better
    indifference: float = 0.0
    by_ratio: bool = False
    longest: float = math.inf


@dataclass(frozen=True)
class Standing:
    """How a contest ended.

    Attributes
    ----------
    best
        Settings that are as good as any: no other was better in the paired test, uncorrected. A correction
        would let few seeds call the worst as good as the best.
    winner
        The one that beats each of the others; empty if there is none, or if chance cannot be judged.
    note
        Why there is no best, or on what little it rests.
    """

    best: frozenset[str] = frozenset()
    winner: str = ""
    note: str = ""
    beaten: frozenset[str] = field(default=frozenset(), compare=False)
    """Settings that another was better than."""

    @property
    def marked(self) -> frozenset[str]:
        """Names that a table sets in bold: the best, if they beat another."""
        return self.best if self.beaten else frozenset()


def who_wins(contests: Sequence[Contest]) -> list[Standing]:
    """Decide all contests of a table.

    One setting beats another if the paired t test says so at 5 % after Holm's correction for all
    pairs of all contests given, and the difference is more than the indifference. To be as good as the
    best, a setting must not be worse by the test without the correction, which is the stricter demand.

    Examples
    --------
    >>> pie, codel, red = [12.0, 13.0, 11.5], [5.0, 5.9, 4.6], [5.1, 5.7, 4.7]
    >>> (standing,) = who_wins([Contest({"pie": pie, "codel": codel, "red": red}, "lower")])
    >>> sorted(standing.best), standing.winner
    (['codel', 'red'], '')
    """
    meetings = [list(_meetings(contest)) for contest in contests]
    adjusted = iter(holm([p for row in meetings for _, _, _, p in row]))
    standings: list[Standing] = []
    for contest, row in zip(contests, meetings, strict=True):
        beaten: dict[str, set[str]] = {}
        behind: set[str] = set()
        tested: set[str] = set()
        for first, second, difference, uncorrected in row:
            p = next(adjusted)
            tested |= {first, second}
            if uncorrected < significance() and abs(difference) > contest.indifference:
                first_is_better = (difference < 0) == (contest.better == "lower")
                loser, winner = (second, first) if first_is_better else (first, second)
                behind.add(loser)
                if p < significance():
                    beaten.setdefault(loser, set()).add(winner)
        standings.append(_standing(contest, tested, behind, beaten))
    return standings


def _meetings(contest: Contest) -> list[tuple[str, str, float, float]]:
    """Return the pairs that can be tested: names, difference of their centres, and p-value."""
    if not contest.better:
        return []
    found: list[tuple[str, str, float, float]] = []
    arrays = {name: np.asarray(values, dtype=float) for name, values in contest.values.items()}
    for (first, ours), (second, theirs) in itertools.combinations(arrays.items(), 2):
        known = ~(np.isnan(ours) | np.isnan(theirs))
        ours, theirs = ours[known], theirs[known]
        if ours.size < 2:
            continue
        if contest.by_ratio and min(ours.min(), theirs.min()) > 0:
            found.append((first, second, *_by_ratio(ours, theirs, contest.longest)))
        else:
            found.append((first, second, *_by_difference(ours, theirs)))
    return found


def _by_difference(ours: np.ndarray, theirs: np.ndarray) -> tuple[float, float]:
    """Return the mean difference of pairs, and its p-value."""
    with np.errstate(invalid="ignore"):  # never and never: neither is better
        differences = np.where(ours == theirs, 0.0, ours - theirs)
    mean = float(np.mean(differences))
    if not math.isfinite(mean):
        certain = bool(np.all(differences == differences[0]))
        return mean, 0.0 if certain else 1.0
    spread = float(np.std(differences, ddof=1))
    return mean, paired_test(mean, spread, differences.size)[2]


def _by_ratio(ours: np.ndarray, theirs: np.ndarray, longest: float) -> tuple[float, float]:
    """Return the difference of geometric means, and the p-value of the mean logarithm of the ratios."""
    first, second = (np.log(np.minimum(values, longest)) for values in (ours, theirs))
    mean, p = _by_difference(first, second)
    came = np.isfinite(first) & np.isfinite(second)
    if not math.isfinite(mean) or not came.any():
        return mean, p
    first, second = first[came], second[came]  # never with both says nothing of either's centre
    return float(np.exp(np.mean(first)) - np.exp(np.mean(second))), p


def _standing(contest: Contest, tested: set[str], behind: set[str], beaten: Mapping[str, set[str]]) -> Standing:
    if not contest.better:
        return Standing(note="neither way is better")
    if not tested:
        return _by_values(contest)
    best = [name for name in contest.values if name in tested and name not in behind]
    rivals = len(tested) - 1
    winners = [name for name in best if sum(name in others for others in beaten.values()) == rivals]
    return Standing(frozenset(best), winners[0] if winners else "", beaten=frozenset(behind))


def _by_values(contest: Contest) -> Standing:
    """Decide by single values, which cannot tell chance."""
    arrays = {name: np.asarray(values, dtype=float) for name, values in contest.values.items()}
    known = {name: float(np.mean(v[~np.isnan(v)])) for name, v in arrays.items() if not np.all(np.isnan(v))}
    if len(known) < 2:
        return Standing(note="nothing to compare")
    best = (min if contest.better == "lower" else max)(known.values())
    near = [name for name, v in known.items() if v == best or abs(v - best) <= contest.indifference]
    note = "fewer than two runs in common: chance cannot be judged"
    return Standing(frozenset(near), note=note, beaten=frozenset(known) - set(near))


def tally(standings: Sequence[Standing], names: Mapping[str, str]) -> str:
    """Count in a sentence how often each setting is best; empty if nothing was compared.

    Parameters
    ----------
    standings
        Of all contests of a table.
    names
        How settings are called, by setting.

    Examples
    --------
    >>> tally([Standing(frozenset({"a"}), "a"), Standing(frozenset({"a", "b"}))], {"a": "A", "b": "B"})
    'Wins or ties, of 2 comparisons in the table below: A 2, B 1.'
    """
    decided = [standing for standing in standings if standing.best]
    if not decided:
        return ""
    counts = ", ".join(f"{words} {sum(name in standing.best for standing in decided)}" for name, words in names.items())
    told = "1 comparison" if len(decided) == 1 else f"{len(decided)} comparisons"
    alone = sum("chance" in standing.note for standing in decided)
    chance = (
        ""
        if not alone
        else " One run each cannot tell chance."
        if alone == len(decided)
        else (f" {alone} of them rest on one run, which cannot tell chance.")
    )
    return f"Wins or ties, of {told} in the table below: {counts}.{chance}"
