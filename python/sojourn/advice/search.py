"""The search for the best setting: races of settings, the cliffs, and runs of other seeds that confirm.

chosen: upstream first, downstream with the best of it, then once more; of equals the one that
leaves most goodput is taken, then the one that changes least, then the one that stands first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from sojourn.advice.arms import AS_IS, SHARES, WAYS, Arm, Line, router_arms
from sojourn.advice.bench import LONG_S, WARM_UP_S, Bench, Clock
from sojourn.advice.cliff import FIRST_SHARES, Cliff, find_cliff
from sojourn.advice.race import FEWEST_SEEDS, FIRST_SEEDS, OUT_OF_TIME, OutOfTime, Race, Table, race
from sojourn.advice.uses import User

START_DOWN = 0.89
"""Share downstream while upstream is looked for. chosen: clear of the cliff of all lines that were tried."""

CONFIRM_SEEDS, FIRST_CONFIRMING = 5, 1000
"""How many runs confirm a setting, and their first seed, far from those of the race."""

CONFIRM_WARM_S = 20.0
"""Seconds of a confirming run that do not count, if there is time. chosen: behind 250 ms transfers recover that long from the losses of
their start; until then a line as it is seems a third slower than it is."""

CLIFF_SEEDS, CLIFF_S = 2, 60.0
"""Runs at each share while the cliff is looked for, and their length. chosen: a modem's bucket of 100 ms of the rate hides
an excess of half a per cent for 20 s."""

ALIKE = 0.01
"""Goodput that makes no difference between equals. chosen: less than runs of a minute differ by."""


@dataclass(frozen=True)
class Standing:
    """How a setting stands to the one that is taken.

    Attributes
    ----------
    arm
        The setting.
    ratio
        What it costs beside the taken one: 1.5 is half as much again.
    verdict
        `taken`, `equal`, `undecided` or `worse`.
    felt
        What the first of those who count felt with it in the race.
    """

    arm: Arm
    ratio: float
    verdict: str
    felt: float = math.nan


@dataclass(frozen=True)
class Found:
    """Result of a search.

    Attributes
    ----------
    taken
        The setting.
    standings
        All settings of the last race, the taken one first, then by what they cost.
    second
        The best one of another kind; `None` if there is none.
    cliffs
        Where the delay leaves the plateau, by direction and what is counted.
    confirmed
        Measures of the confirming runs, by setting; with other seeds than the race.
    confirm_s
        Length of such a run.
    less
        The taken setting for a router that cannot count all that the line does.
    stop
        Why the last race ended.
    """

    taken: Arm
    standings: Sequence[Standing]
    second: Standing | None
    cliffs: Sequence[Cliff]
    confirmed: Mapping[Arm, Sequence[Mapping[str, float]]]
    confirm_s: float
    less: Arm | None
    stop: str


def take(bench: Bench, group: Sequence[Arm], order: Sequence[Arm]) -> Arm:
    """Return the one of equals that is taken: most goodput, then fewest changes, then the first in order.

    Of those with the goodput of the best one, a router's higher rate counts as more of it.
    """
    goods = {arm: _goodput(bench, arm) for arm in group}
    best = max(goods.values())
    alike = [arm for arm, good in goods.items() if good >= best - ALIKE]
    kinds = list(dict.fromkeys(arm.kind for arm in order))
    return min(alike, key=lambda arm: (arm.changes, kinds.index(arm.kind), -arm.up - arm.down))


def near_best(found: Race, arms: Sequence[Arm], tolerance: float) -> list[Arm]:
    """Return those of a group that cost no more than the tolerance beside its best, by all runs so far.

    Where the time was up, a group holds settings without a verdict; of those the ones that look worse are not taken.
    """
    return [arms[one] for one in found.group if found.ratio(one) <= 1 + tolerance]


def _goodput(bench: Bench, arm: Arm) -> float:
    """Return the goodput of a setting beside that of the line as it is, both directions weighted alike."""
    seeds = [seed for seed in range(FIRST_SEEDS) if seed in bench.seeds_of(arm) & bench.seeds_of(AS_IS)]
    if not seeds:
        seeds = list(range(FEWEST_SEEDS))
    found = bench.measure([arm, AS_IS], range(seeds[0], seeds[-1] + 1), bench.screen_s)
    shares: list[float] = []
    for way in ("goodput_up", "goodput_down"):
        with_arm, as_is = (float(np.mean([found[one, seed].get(way, 0.0) for seed in seeds])) for one in (arm, AS_IS))
        if as_is > 0:
            shares.append(with_arm / as_is)
    return float(np.mean(shares)) if shares else 0.0


def search_router(
    bench: Bench,
    line: Line,
    *,
    tolerance: float,
    clock: Clock,
    stage: Callable[[str], None],
    supposed: str = "",
    otherwise: Mapping[str, Bench] = MappingProxyType({}),
    centre: Bench | None = None,
    slower: Mapping[str, float] = MappingProxyType({}),
) -> Found:
    """Look for the best setting of a router in front of the line.

    Parameters
    ----------
    bench, line
        Bench and line of the runs; of several lines that a measurement allows, the hardest one.
    tolerance
        What makes no difference.
    clock
        When to stop.
    stage
        Told what is looked for next.
    supposed
        Assumptions about unknown properties of the line, in words.
    otherwise
        Benches of what else could be, by words; they have cliffs of their own.
    centre
        Of several lines that may be it, a bench with the middle one, on which the cliff is looked for; `bench` if there is one line.
    slower
        How much slower than that the line may be, by direction; the cliff is then that of the slower one.
    """

    def run(arms: Sequence[Arm], share: float) -> Race:
        return _race(bench, arms, tolerance, clock, share)

    # The answer is made of two choices, of which each may cost half of what makes no difference.
    half = math.sqrt(1 + tolerance) - 1
    stage("managers and rates upstream")
    tried, arms = _first_arms(bench, clock, stage)
    found = run(arms, FIRST_UNTIL)
    looks = bench.takes_s(CLIFF_SEEDS * len(FIRST_SHARES), WARM_UP_S + CLIFF_S) <= clock.left_s(CLIFF_UNTIL)

    def near(tolerance: float) -> list[Arm]:
        group = near_best(found, arms, tolerance)
        return group if looks else _clear_of_cliffs(group)

    taken = take(bench, near(tolerance), arms)
    if taken.who != "router":
        return _found(bench, taken, arms, found, [], None, clock, stage)
    stage("rates downstream")
    downs = [taken.at(down=share) for share in tried]
    if bench.takes_s(FEWEST_SEEDS * len(downs)) <= clock.left_s(DOWN_UNTIL):
        arms = downs
        found = run(arms, DOWN_UNTIL)
        taken = take(bench, near(half), arms)
    down = taken.down
    cliffs: list[Cliff] = []
    if looks:
        stage("the cliff")
        cliffs = _cliffs(centre or bench, line, taken, clock, supposed)
        for words, other in otherwise.items():
            # Counting too many bytes does no harm there, counting too few does.
            cliffs += _cliffs(other, other.lines[0], taken, clock, words, ways=("upstream",), first=1)
    cliffs = [one.scaled(slower.get(one.way, 1.0)) for one in cliffs]
    down = min([down, *(one.most for one in cliffs if one.way == "downstream")])
    counted = line.overheads("upstream")[0].words
    best_up = min([one.most for one in cliffs if one.way == "upstream" and one.counted == counted], default=max(SHARES))
    ups = sorted({share for share in (*SHARES, best_up) if share <= best_up})[-4:]
    again = [*router_arms(ups, [down]), AS_IS]
    if cliffs and bench.takes_s(FEWEST_SEEDS * len(again)) <= clock.left_s(AGAIN_UNTIL):
        stage("once more")
        arms = again
        found = run(arms, AGAIN_UNTIL)
        taken = take(bench, near_best(found, arms, half), arms)
    less = None
    if len(line.overheads("upstream")) > 1 and taken.who == "router":
        second = line.overheads("upstream")[1].words
        fewer = [one.most for one in cliffs if one.way == "upstream" and one.counted == second]
        less = taken.at(up=min(fewer), overhead=1) if fewer else None
    return _found(bench, taken, arms, found, cliffs, less, clock, stage)


FIRST_UNTIL, DOWN_UNTIL, CLIFF_UNTIL, AGAIN_UNTIL = 0.45, 0.55, 0.7, 0.8
"""Shares of the time that are up after the races, after the look for the cliff and before runs confirm. chosen: so long takes each of
five runs of three settings."""


def _race(bench: Bench, arms: Sequence[Arm], tolerance: float, clock: Clock, share: float) -> Race:
    """Race settings until a share of the time is up; the fewest seeds are always run."""

    def losses(alive: Sequence[int], seeds: range) -> Table:
        bench.until = clock.part(share) if seeds.start >= FEWEST_SEEDS else math.inf
        try:
            return bench.losses([arms[one] for one in alive], seeds)
        finally:
            bench.until = math.inf

    return race(len(arms), losses, tolerance=tolerance, is_out_of_time=lambda: not clock.left_s(share))


def _clear_of_cliffs(group: Sequence[Arm]) -> list[Arm]:
    """Return of settings that cannot be told apart those that are clear of any cliff that was ever found, if there are some.

    Examples
    --------
    >>> [arm.up for arm in _clear_of_cliffs(router_arms([0.86, 0.92, 0.98], [0.89])[:3])]
    [0.86, 0.92]
    """
    clear = [arm for arm in group if arm.who != "router" or max(arm.up, arm.down) <= CLEAR]
    return clear or list(group)


CLEAR = 0.92
"""Share of the line that is taken at most where the cliff is not looked for. chosen: the lowest cliff that was found lies at 0.93 (D7); runs
of 20 s do not show it."""


def _tell_if_short(bench: Bench, clock: Clock, arms: int, stage: Callable[[str], None]) -> None:
    """Say at once how long the fewest runs take, if the budget has no room for them."""
    needed = bench.takes_s(FEWEST_SEEDS * (arms + CONFIRMED))
    if needed > clock.left_s():
        stage(f"the fewest settings, which take at least about {needed:.0f} s here")


FEWEST_SETTINGS = 4
"""Settings of a modem or an operator that race at least, beside the line as it is."""

CONFIRMED = 3
"""Settings that other seeds confirm: the taken one, the second, and the line as it is."""


def _first_arms(bench: Bench, clock: Clock, stage: Callable[[str], None]) -> tuple[Sequence[float], list[Arm]]:
    """Return the shares and the settings of the first race: as many as its part of the time has room for, and at least three."""
    probes = [AS_IS, *router_arms([START_DOWN], [START_DOWN])[:1]]
    bench.measure(probes, range(1), bench.screen_s)
    shares, arms = SHARES, list[Arm]()
    for kinds, shares in ((4, SHARES), (4, SHARES[::2]), (2, SHARES[::2]), (2, SHARES[2::3]), (1, SHARES[2::3])):
        arms = [*router_arms(shares, [START_DOWN])[: kinds * len(shares)], AS_IS]
        if bench.takes_s(FEWEST_SEEDS * len(arms)) <= clock.left_s(FIRST_UNTIL):
            return shares, arms
    _tell_if_short(bench, clock, len(arms), stage)
    return shares, arms


def search_arms(
    bench: Bench, arms: Sequence[Arm], *, tolerance: float, clock: Clock, stage: Callable[[str], None]
) -> Found:
    """Look for the best of some settings."""
    stage("settings")
    bench.measure([AS_IS, arms[0]], range(1), bench.screen_s)
    room = int(clock.left_s(AGAIN_UNTIL) / bench.takes_s(FEWEST_SEEDS))
    # Settings stand by kind: of each as many are left out.
    step = max(-(-len(arms) // max(room - 1, FEWEST_SETTINGS)), 1)
    arms = [*arms[::step], AS_IS]
    _tell_if_short(bench, clock, len(arms), stage)
    found = _race(bench, arms, tolerance, clock, AGAIN_UNTIL)
    taken = take(bench, near_best(found, arms, tolerance), arms)
    return _found(bench, taken, arms, found, [], None, clock, stage)


def _cliffs(
    bench: Bench, line: Line, taken: Arm, clock: Clock, supposed: str = "", ways: Sequence[str] = WAYS, first: int = 0
) -> list[Cliff]:
    """Return the cliffs of both directions; upstream also for a router that counts less, from the place `first` on."""
    users = [user for user in bench.users if user.use.word in ("game", "call")]
    if not users:
        return []
    found: list[Cliff] = []
    for way in ways:
        direction = "up" if way == "upstream" else "down"
        if way == "downstream" and all(user.use.word == "call" for user in users):
            continue
        overheads = line.overheads(way)
        for place, overhead in enumerate(overheads[: 2 if way == "upstream" else 1]):
            if place < first:
                continue

            def delays_of(shares: Sequence[float], place: int = place, direction: str = direction) -> list[float]:
                up = direction == "up"
                arms = [taken.at(up=share, overhead=place) if up else taken.at(down=share) for share in shares]
                return _delays(bench, users, arms, direction)

            told = supposed if way == "upstream" else ""
            if bench.takes_s(CLIFF_SEEDS * len(FIRST_SHARES), WARM_UP_S + CLIFF_S) > clock.left_s(CLIFF_UNTIL):
                continue
            is_up = lambda: bench.takes_s(CLIFF_SEEDS, WARM_UP_S + CLIFF_S) > clock.left_s(CLIFF_UNTIL)  # noqa: E731
            cliff = find_cliff(way, overhead.words, FIRST_SHARES, delays_of, is_up, told)
            if cliff.plateau_ms > 0:  # a use has packets in this direction
                found.append(cliff)
    return found


def _delays(bench: Bench, users: Sequence[User], arms: Sequence[Arm], direction: str) -> list[float]:
    """Return the 99th percentile of delay of settings in one direction: of the worst user, mean over seeds, ms."""
    seeds = range(CLIFF_SEEDS)
    measured = bench.measure(arms, seeds, CLIFF_S)
    return [
        max(
            float(np.mean([measured[arm, seed].get(f"{user.name}.delay_{direction}", 0.0) for seed in seeds]))
            for user in users
        )
        for arm in arms
    ]


def _found(
    bench: Bench,
    taken: Arm,
    arms: Sequence[Arm],
    last: Race,
    cliffs: Sequence[Cliff],
    less: Arm | None,
    clock: Clock,
    stage: Callable[[str], None],
) -> Found:
    """Put together what was found, after the runs that confirm it."""
    place = list(arms).index(taken)
    losses = last.losses
    standings: list[Standing] = []
    for number, arm in enumerate(arms):
        both = np.isfinite(losses[number]) & np.isfinite(losses[place])
        apart: list[float] = (losses[number, both] - losses[place, both]).tolist()
        ratio = math.exp(math.fsum(apart) / len(apart))
        verdict = "worse"
        if number == place:
            verdict = "taken"
        elif number in last.equal:
            verdict = "equal"
        elif number in last.undecided:
            verdict = "undecided"
        standings.append(Standing(arm, ratio, verdict, bench.felt(arm)))
    rank = {"taken": 0, "equal": 1, "undecided": 1, "worse": 2}
    standings.sort(key=lambda one: (rank[one.verdict], one.ratio))
    others = [one for one in standings if one.arm.kind != taken.kind and one.arm != AS_IS]
    second = min(others, key=lambda one: (rank[one.verdict], one.ratio), default=None)
    if second is not None and second.verdict != "worse":
        near = take(bench, [one.arm for one in others if one.verdict == second.verdict], arms)
        second = next(one for one in others if one.arm == near)
    shown: list[Arm] = [taken, *([second.arm] if second else [])]
    shown += [] if AS_IS in shown else [AS_IS]
    stage("confirming runs")
    confirmed, seconds = _confirmed(bench, shown, clock)
    return Found(taken, standings, second, cliffs, confirmed, seconds, less, _REASONS[last.stop])


def _confirmed(bench: Bench, shown: Sequence[Arm], clock: Clock) -> tuple[dict[Arm, list[Mapping[str, float]]], float]:
    """Return measures of runs of other seeds than the race, as long and as many as the time has room for, and their length."""
    affordable = bench.affordable_s(clock.left_s()) / (len(shown) * CONFIRM_SEEDS)
    length = float(round(min(CONFIRM_WARM_S + LONG_S, max(WARM_UP_S + bench.screen_s, affordable))))
    warm_s = max(min(CONFIRM_WARM_S, length - bench.screen_s), WARM_UP_S)
    seconds = length - warm_s
    bench.until = clock.part(1.0)
    found: dict[Arm, list[Mapping[str, float]]] = {arm: [] for arm in shown}
    try:
        for seed in range(FIRST_CONFIRMING, FIRST_CONFIRMING + CONFIRM_SEEDS):
            is_enough = seed >= FIRST_CONFIRMING + FEWEST_SEEDS
            if bench.takes_s(len(shown), length) > clock.left_s() and is_enough:
                break
            bench.until = clock.part(1.0) if is_enough else math.inf
            measured = bench.measure(shown, range(seed, seed + 1), seconds, warm_s)
            for arm in shown:
                found[arm].append(measured[arm, seed])
    except OutOfTime:
        pass
    finally:
        bench.until = math.inf
    return found, seconds


_REASONS = {
    "equal": "all that were left are equal",
    "seeds": "more seeds would not tell them apart",
    "budget": OUT_OF_TIME,
}
