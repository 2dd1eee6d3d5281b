"""From how many homes on a rule of a shared channel is broken, and which numbers of homes find it.

Thresholds are searched: numbers of homes are doubled or halved from those of the file until a rule is broken by one number and kept by
another, and halved between these. They depend on the file and the seeds alone, and not on the number that was asked about.

Source: Comcast's congestion management as published: an upstream port is near congestion above 70 % of its capacity, a downstream
port above 80 %. Cloonan et al. 2014 (ARRIS): a node needs the mean load of its homes and 1.2 times the fastest tier. The rule of
delay is chosen: where the 99th percentile is above 50 ms for more than one call in twenty, calls suffer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sojourn.stats.estimate import mean_of

MOST_HOMES = 4096
"""Homes on one channel, as in scenario files."""

CLOSE = 0.04
"""Share of its number of homes within which a threshold is searched. chosen: other seeds move it by as much."""

SHARES = (0.125, 0.25, 0.5, 0.75)
"""Numbers of homes that are tried below the first threshold, as shares of it: pictures have them, and the fewest are those with which
others are compared."""

FELT_MS, FELT_SHARE = 50, 5.0
"""A call suffers above this 99th percentile of delay, and calls suffer where more than this share of them does, %. chosen: a
third of the 150 ms that G.114 allows from mouth to ear, and one home in twenty."""

NEAR_CONGESTION, NEAR_CONGESTION_DOWN = 70.0, 80.0
"""Use of a channel upstream and downstream, %, from which a port counts as near congestion (Comcast)."""

CLOONAN = 1.2
"""Fastest tiers that the mean load has to leave of the channel (Cloonan et al. 2014)."""

FULL = 99.0
"""A channel is full where this share of MAPs has no minislot left, %: packets then wait ever longer, even if the CMTS keeps
calls from it. chosen: nearly all."""

KNEE = 2.0
"""The worst call notices its neighbours where it waits this many times as long as with the fewest homes. chosen: far beyond the
spread over seeds."""


@dataclass(frozen=True)
class Crowd:
    """The channel with a number of homes on it.

    Attributes
    ----------
    homes
        How many.
    seeds
        Metrics of the channel by seed; names of those of the other direction end in "/downstream".
    """

    homes: int
    seeds: Mapping[int, Mapping[str, float]]

    def mean(self, metric: str) -> float | None:
        """Return the mean of a metric over seeds; `None` if no run has it."""
        known = [one[metric] for one in self.seeds.values() if metric in one]
        return sum(known) / len(known) if known else None


@dataclass(frozen=True)
class Rule:
    """Criterion that a number of homes must meet.

    Attributes
    ----------
    name, definition
        In words; `{fewest}` stands for the fewest homes that were tried.
    metric
        Of the channel.
    limit
        Broken above it.
    sign
        -1 if it is broken below the limit.
    times_fewest
        Whether the limit is in values with the fewest homes.
    splits
        Whether a node is split for it.
    """

    name: str
    definition: str
    metric: str
    limit: float
    sign: int = 1
    times_fewest: bool = False
    splits: bool = False

    def margin(self, crowd: Crowd, fewest: Crowd, seed: int | None = None) -> float | None:
        """Return by how much a crowd is beyond the limit, below zero if it keeps the rule; of one seed, or of the mean."""
        of = [one.mean(self.metric) if seed is None else one.seeds[seed].get(self.metric) for one in (crowd, fewest)]
        if of[0] is None or of[1] is None:
            return None
        return self.sign * (of[0] - self.limit * (of[1] if self.times_fewest else 1.0))


_OVER = f"more than {FELT_SHARE:g} % of calls wait above {FELT_MS} ms (99th percentile"

RULES = (
    Rule("calls suffer", f"{_OVER}, upstream)", "calls_over_50ms", FELT_SHARE, splits=True),
    Rule("calls suffer downstream", f"{_OVER}, downstream)", "calls_over_50ms/downstream", FELT_SHARE, splits=True),
    Rule("the channel is full", f"{FULL:g} % of MAPs have no minislot left", "full_maps", FULL, splits=True),
    Rule("the channel is near congestion", f"more than {NEAR_CONGESTION:g} % of it is granted (Comcast)", "channel_use", NEAR_CONGESTION),
    Rule(
        "the other direction is near congestion",
        f"its channels are busy for more than {NEAR_CONGESTION_DOWN:g} % of the time (Comcast)",
        "channel_use/downstream",
        NEAR_CONGESTION_DOWN,
    ),
    Rule(
        "the worst call notices",
        "it waits twice as long as with {fewest} homes (99th percentile, upstream)",
        "calls_p99_worst",
        KNEE,
        times_fewest=True,
    ),
    Rule(
        "the rule of the fastest tier is broken",
        f"the mean load leaves less than {CLOONAN} of the fastest tier (Cloonan)",
        "quality_k",
        CLOONAN,
        sign=-1,
    ),
)  # fmt: skip
"""All that is said of a channel; the first ones split a node."""


@dataclass(frozen=True)
class Threshold:
    """From how many homes on a rule is broken, with its interval over seeds.

    Attributes
    ----------
    name, definition
        Those of the rule.
    homes
        The mean over seeds; `None` if no seed breaks it.
    low, high
        95 % interval over seeds; `None` with one seed, or if some do not break it.
    broken, seeds
        How many seeds break it, of how many.
    splits
        Whether a node is split for it.
    """

    name: str
    definition: str
    homes: int | None
    low: int | None
    high: int | None
    broken: int
    seeds: int
    splits: bool

    @property
    def told(self) -> str:
        """The number with its interval.

        Examples
        --------
        >>> Threshold("full", "no minislot", 400, 380, 420, 3, 3, True).told
        '400 (380 to 420)'
        """
        if self.homes is None:
            return "–"
        if self.broken < self.seeds:
            return f"{self.homes} ({self.broken} of {self.seeds} seeds)"
        return f"{self.homes} ({self.low} to {self.high})" if self.low is not None else f"{self.homes} (one seed)"


def thresholds_of(crowds: Sequence[Crowd]) -> list[Threshold]:
    """Return the thresholds of the rules that the crowds have metrics for, in rising order of homes; the unbroken ones last."""
    found = [one for rule in RULES if (one := _threshold(rule, crowds)) is not None]
    return sorted(found, key=lambda one: math.inf if one.homes is None else one.homes)


def _threshold(rule: Rule, crowds: Sequence[Crowd]) -> Threshold | None:
    fewest = crowds[0]
    if all(rule.margin(one, fewest) is None for one in crowds):
        return None
    seeds = [seed for seed in fewest.seeds if all(seed in one.seeds for one in crowds)]
    crossings = [_crossing(rule, crowds, seed) for seed in seeds]
    known = [one for one in crossings if one is not None]
    estimate = mean_of(known)
    is_whole = len(known) == len(seeds) and estimate.low is not None and estimate.high is not None
    return Threshold(
        rule.name,
        rule.definition.replace("{fewest}", str(fewest.homes)),
        None if estimate.value is None else round(estimate.value),
        max(round(estimate.low or 0.0), 1) if is_whole else None,
        round(estimate.high or 0.0) if is_whole else None,
        len(known),
        len(seeds),
        rule.splits,
    )


def _crossing(rule: Rule, crowds: Sequence[Crowd], seed: int) -> float | None:
    """Return from how many homes on a seed breaks a rule: straight between the numbers that were tried."""
    margins = [(one.homes, rule.margin(one, crowds[0], seed)) for one in crowds]
    known = [(homes, margin) for homes, margin in margins if margin is not None]
    if known and known[0][1] > 0:
        return float(known[0][0])
    for (few, kept), (many, broken) in pairwise(known):
        if broken > 0:
            return few - kept / (broken - kept) * (many - few)
    return None


def next_numbers(crowds: Sequence[Crowd], start: int, most: int = MOST_HOMES) -> list[int]:
    """Return the numbers of homes that are tried next; none if all thresholds are known within `CLOSE`.

    Parameters
    ----------
    crowds
        Those that were tried, by number.
    start
        Homes of the file, with which the search begins.
    most
        The most that one channel may have.
    """
    if not crowds:
        return [min(start, most)]
    tried = {one.homes for one in crowds}
    wanted: set[int] = set()
    bounds: list[int] = []
    for rule in (one for one in RULES if one.splits):
        if all(rule.margin(one, one) is None for one in crowds):
            continue
        broken = min((one.homes for one in crowds if (rule.margin(one, crowds[0]) or 0.0) > 0), default=None)
        if broken is not None:
            bounds.append(broken)
            kept = max((homes for homes in tried if homes < broken), default=0)
            if broken - kept > max(CLOSE * broken, 1.0):
                wanted.add((broken + kept) // 2)
    first = min(bounds, default=max(tried))
    if len(bounds) < sum(rule.splits and rule.margin(crowds[0], crowds[0]) is not None for rule in RULES):
        # For rules that none of them breaks; what breaks one of them four times over is not worth its time.
        wanted.add(min(2 * max(tried), most, max(BEYOND * first if bounds else most, max(tried))))
    wanted -= tried
    if not wanted:
        wanted = {max(round(share * first), 1) for share in SHARES} - tried
    return sorted(wanted)


def most_rounds_left(crowds: Sequence[Crowd]) -> int | None:
    """Return how often numbers of homes are tried at most until all thresholds are known; `None` as long as no rule is broken.

    Parameters
    ----------
    crowds
        Those that were tried, by number.
    """
    tried = [one.homes for one in crowds]
    bounds: list[int] = []
    rounds = [0]
    is_one_unbroken = False
    for rule in (one for one in RULES if one.splits):
        if not crowds or rule.margin(crowds[0], crowds[0]) is None:
            continue
        broken = min((one.homes for one in crowds if (rule.margin(one, crowds[0]) or 0.0) > 0), default=None)
        if broken is None:
            is_one_unbroken = True
            continue
        kept = max((homes for homes in tried if homes < broken), default=0)
        bounds.append(broken)
        rounds.append(_halvings(kept, broken))
    if not bounds:
        return None
    if is_one_unbroken and (beyond := min(BEYOND * min(bounds), MOST_HOMES) / max(tried)) > 1:
        # The last doubling leaves the widest space.
        doublings = math.ceil(math.log2(beyond))
        last = max(tried) * 2**doublings
        rounds.append(doublings + _halvings(last // 2, last))
    return max(rounds) + 1


def _halvings(kept: int, broken: int) -> int:
    """Return how often the space between two numbers is halved at most until it is `CLOSE`."""
    # Halves of an odd space are rounded up, so it is compared with whole numbers.
    return math.ceil(math.log2(max((broken - kept) / max(math.floor(CLOSE * kept), 1), 1.0)))


BEYOND = 4
"""How many times the homes of the first threshold are tried for the others, at most. chosen: calls that are kept from a full channel."""
