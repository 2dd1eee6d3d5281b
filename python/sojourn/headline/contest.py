"""Claims on competing settings: the affected application, the best setting over all conditions, and its cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from sojourn.headline.applications import GRADES, LOSS_LIMITS
from sojourn.headline.board import Board, Bout, Listener, Value, transfers
from sojourn.headline.ranges import Range
from sojourn.headline.said import Cell, Claim, Point, amount, together
from sojourn.headline.wording import HARDLY, SCORES, condition

LEAST_COST = 0.02
"""Share of a transfer's rate from which on a cost is named. chosen: less is within the variation of runs."""

BASELINES = ("today", "drop-tail", "before")
"""Usual baselines."""

FEW = 3
"""Conditions that a sentence goes through one by one, and rivals that it names. chosen: what one reads in one breath."""

MOST_PAYERS = 2
"""Transfers whose cost is named one by one. chosen: one each way."""


@dataclass
class Contest:
    """Several settings, and an application that feels the difference.

    Attributes
    ----------
    board
        All points.
    noun, baseline, own
        As in `headline_of`.
    kind, winner, runner_up, first
        Found with the claims: form of the sentence, settings that nothing beats, the best of the others, first value.
    """

    board: Board
    noun: str
    baseline: str
    own: Sequence[str] = ()
    kind: str = ""
    winner: tuple[str, ...] = ()
    runner_up: str = ""
    first: Value | None = None

    @cached_property
    def bouts(self) -> list[Bout]:
        """The bouts of the measure that speaks, one per condition."""

        def weight(bouts: list[Bout]) -> tuple[bool, int, float, int]:
            listener = bouts[0].listener
            apart = any(bout.tells_apart for bout in bouts)
            return apart, self.board.spread(listener), max(bout.width for bout in bouts), -listener.order

        found: list[list[Bout]] = []
        for listener in self.board.leading([bout.listener for bout in self.board.bouts]):
            measures = [
                bouts
                for measure in listener.application.all_measures
                if (bouts := [b for b in self.board.bouts if b.listener is listener and b.measure is measure])
            ]
            apart = [bouts for bouts in measures if any(one.tells_apart for one in bouts)]
            found += (apart or measures)[:1]
        return max(found, key=weight)

    @property
    def listener(self) -> Listener:
        """Whose measure speaks."""
        return self.bouts[0].listener

    @cached_property
    def chance(self) -> int:
        """Zero if chance can be judged, else one for a single condition and two for more."""
        return (1 if len(self.bouts) == 1 else 2) if all(bout.rests_on_one_seed for bout in self.bouts) else 0

    @cached_property
    def settings(self) -> list[str]:
        """Settings that have the measure, in order."""
        return [name for name in self.board.settings if any(name in bout.values for bout in self.bouts)]

    def claims(self) -> list[Claim]:
        """Return all claims, in the order of the sentence."""
        apart = any(bout.tells_apart for bout in self.bouts)
        own = [name for name in self.settings if name in self.own]
        group = [n for n in self.settings if all(n in b.leading for b in self.bouts if n in b.values)]
        if self.listener.application.is_graded and all(map(self._is_useless, self.bouts)):
            return list(self._none())
        if not apart:
            found = list(self._tie())
        elif own and (len(self.settings) > 2 or own[0] not in group):
            found = list(self._own(own[0], group))
        elif not group or (self.chance and len(self._closest(group)) == 0):
            found = list(self._turns())
        else:
            found = list(self._won(self._closest(group) if self.chance else group))
        return [*found, Claim(self.listener.words, "cannot_tell", chance=self.chance)] if self.chance else found

    def _closest(self, group: Sequence[str]) -> list[str]:
        """Return the setting whose mean is best in each condition, if one is."""
        first = {bout.sorted(list(bout.values))[0] for bout in self.bouts}
        return [name for name in group if first == {name}]

    def _is_useless(self, bout: Bout) -> bool:
        return all(
            self.board.place(self._point(setting, bout.condition), bout.listener) == len(GRADES) - 1
            for setting in bout.values
        )

    def _point(self, setting: str, where: str) -> Point:
        return next(one for one in self.board.points if one.setting == setting and one.condition == where)

    def _of(self, *names: str, bouts: Sequence[Bout] = ()) -> list[Value]:
        """Return the values of settings under all conditions."""
        return [bout.values[name] for bout in bouts or self.bouts for name in names if name in bout.values]

    def _at(self, *names: str) -> Range:
        return Range(self._of(*names))

    def _order(self, names: Sequence[str]) -> list[str]:
        """Return settings by their mean over conditions, the best first; scores go down."""
        sign = -1.0 if self.bouts[0].measure.more_is_better else 1.0

        def mean(name: str) -> float:
            values = self._of(name)
            return sign * sum(value.mean for value in values) / len(values)

        return sorted(names, key=mean)

    def _none(self) -> Iterator[Claim]:
        listener = self.listener
        delays = [b for b in self.board.bouts if b.listener is listener and b.measure.way != "score"]
        measure = (delays or self.bouts)[0].measure
        bouts = [bout for bout in delays or self.bouts if bout.measure is measure]
        best = [bout.values[bout.sorted(list(bout.values))[0]] for bout in bouts]
        self.kind, self.first = "none", min(best, key=lambda one: one.mean)
        names = {value.setting for value in best}
        count = max(len(bout.values) for bout in bouts)
        name = names.pop() if len(names) == 1 else ""
        yield Claim(listener.words, "none_usable", _cells(best), of=count, best=name, at=Range(best))

    def _tie(self) -> Iterator[Claim]:
        self.kind = "tie"
        values = self._of(*self.settings)
        self.first = max(values, key=lambda one: one.mean)
        # Beyond a grade or what people notice the runs are too few to tell, and do not show that nothing differs.
        is_felt = any(
            len({value.place for value in bout.values.values()}) > 1
            if self.listener.application.is_graded
            else bout.width >= math.log(HARDLY)
            for bout in self.bouts
        )
        yield Claim(
            self.listener.words,
            "cannot_tell",
            _cells(values),
            settings=self.settings,
            at=self._at(*self.settings),
            runs=min(len(value.by_seed) for value in values) if is_felt and not self.chance else 0,
            chance=self.chance,
        )

    def _turns(self) -> Iterator[Claim]:
        self.kind = "turns"
        apart = [bout for bout in self.bouts if bout.tells_apart]
        self.first = apart[0].values[apart[0].sorted(list(apart[0].values))[0]]
        if len(apart) > FEW:
            counts = {name: sum(name in bout.standing.best for bout in apart) for name in self.settings}
            told = [name for name in sorted(self.settings, key=lambda name: -counts[name]) if counts[name]][:FEW]
            cells = _cells(self._of(*told, bouts=apart))
            told_counts = [(name, counts[name]) for name in told]
            yield Claim(self.listener.words, "turns_at", cells, counts=told_counts, of=len(apart))
            return
        for bout in apart:
            order, rest = bout.leading, bout.sorted([name for name in bout.values if name in bout.standing.beaten])
            best, other = [bout.values[name] for name in order], bout.values[rest[0]]
            yield Claim(
                self.listener.words,
                "turns_at",
                _cells([*best, other]),
                condition=bout.condition,
                settings=order,
                at=Range(best),
                than=rest[0],
                theirs=Range([other]),
                chance=self.chance,
            )

    def _own(self, name: str, group: Sequence[str]) -> Iterator[Claim]:
        """Make the reader's own setting the subject, whether it is best or not; the others follow, the best first."""
        others = self._order([one for one in self.settings if one != name])
        base = self._measured_by([name])
        told = others if len(others) <= FEW + 1 else [*[one for one in others if one != base][:FEW], base]
        self.kind, self.winner, self.runner_up = "where", () if self.chance else tuple(group), others[0]
        self.first = self._of(name)[0]
        yield self._keeps([name])
        yield self._compared(told[0], [(one, self._at(one)) for one in told[1:]])
        yield from self._price([name])

    def _won(self, group: list[str]) -> Iterator[Claim]:
        names = self._narrowed(group)
        base = self._measured_by(names)
        self.first = self._of(names[0])[0]
        rest = self._order([name for name in self.settings if name not in names])
        self.runner_up = rest[0] if rest else ""
        self.winner = () if self.chance else tuple(self._richest(names))
        measure = self.bouts[0].measure
        self.kind = "where" if self.chance else "good" if measure.way == "score" else "winner"
        yield self._keeps(names)
        words: Sequence[str] = ()
        factor: Sequence[float] = ()
        if measure.way == "score" and not self.chance:
            words = self._words(names, base)
        elif not self.chance:
            factor = self._factors(names, base)
        gains = self._gains(names)
        if gains is not None and len(self.settings) == 2 and len(names) == 1:
            factor = ()  # both are named with all their values
        yield self._compared(base, words=words, factor=factor)
        if gains is not None:
            self.kind = "trade"
            yield gains
        yield from self._price(names, gains)
        if len(self.bouts) > 1 and not self.chance:
            ties = not all(bout.tells_apart and bout.standing.best <= set(bout.leading) for bout in self.bouts)
            cells = _cells(self._of(*self.settings))
            yield Claim(self.listener.words, "best", cells, settings=names, conditions=len(self.bouts), ties=ties)

    def _words(self, names: Sequence[str], base: str) -> list[str]:
        """Return the words for scores if they differ, and each setting has its own in all conditions and as its grade."""
        words = [
            {SCORES[GRADES[value.place]] for value in self._of(*side)}
            | {SCORES[letter] for name in side for letter in self.board.grades[name].split(" to ")}
            for side in (names, [base])
        ]
        (first, *more), (other, *others) = words
        return [] if more or others or first == other else [first, other]

    def _keeps(self, names: Sequence[str]) -> Claim:
        values = self._of(*names)
        lost = self._lost(names)
        cells = _cells([*values, *lost])
        return Claim(
            self.listener.words,
            "keeps_at",
            cells,
            settings=list(names),
            noun=self.noun,
            at=Range(values),
            lost=Range(lost) if lost else None,
            beside=self._beside(),
            chance=self.chance,
        )

    def _compared(
        self,
        than: str,
        others: Sequence[tuple[str, Range]] = (),
        *,
        words: Sequence[str] = (),
        factor: Sequence[float] = (),
    ) -> Claim:
        cells = _cells(self._of(than, *(name for name, _ in others)))
        return Claim(
            self.listener.words,
            "better_by",
            cells,
            of=len(self.settings),
            than=than,
            theirs=self._at(than),
            others=list(others),
            words=list(words),
            factor=list(factor),
        )

    def _factors(self, names: Sequence[str], base: str) -> list[float]:
        """Return the least and the largest ratio of the baseline to the worst of the best, over all conditions."""
        found: list[float] = []
        for bout in self.bouts:
            here = [bout.values[name] for name in names if name in bout.values]
            if not here or base not in bout.values:
                continue
            worst = here[-1] if len(here) == 1 else bout.values[bout.sorted([one.setting for one in here])[-1]]
            found.append(times(bout.values[base], worst))
        return [min(found), max(found)] if found else []

    def _lost(self, names: Sequence[str]) -> list[Value]:
        """Return the shares of packets that come not at all or too late, if they are large enough to name."""
        measure = self.listener.application.loss
        if measure is None or self.bouts[0].measure is measure:
            return []
        points = (self._point(name, bout.condition) for bout in self.bouts for name in names if name in bout.values)
        found = [value for point in points if (value := self.board.value(point, self.listener, measure)) is not None]
        return found if any(value.mean >= LOSS_LIMITS[0] for value in found) else []

    def _beside(self) -> dict[str, int]:
        """Return how many uploads and downloads there are, if all conditions have as many."""
        if self.board.is_of_rates:
            return {}
        found: list[dict[str, int]] = []
        for bout in self.bouts:
            ways = list(self.board.active(bout.condition).values())
            counts = {"upload": ways.count("goodput"), "download": ways.count("goodput_downstream")}
            found.append({noun: count for noun, count in counts.items() if count})
        return found[0] if all(one == found[0] for one in found) else {}

    def _measured_by(self, best: Sequence[str]) -> str:
        """Return what a winner is compared with: the declared or a usual baseline, or the worst."""
        rest = [name for name in self.settings if name not in best]
        if self.baseline in rest:
            return self.baseline
        usual = [name for name in rest if name.lower() in BASELINES]
        if not usual and self.settings[0] in rest and not amount(rest[0]):
            usual = [self.settings[0]]
        return self._order(usual or rest)[-1]

    def _narrowed(self, group: list[str]) -> list[str]:
        """Return those of a group that are best for most of the others, too."""
        counts = dict.fromkeys(group, 0)
        for listener in self.board.listeners:
            if listener is self.listener:
                continue
            apart = [one for one in self.board.bouts if one.listener is listener and one.tells_apart]
            for name in group:
                counts[name] += all(name in one.standing.best for one in apart)
        most = max(counts.values())
        return [name for name in group if counts[name] == most]

    def _richest(self, names: list[str]) -> list[str]:
        """Return those of several whose transfers get most in each condition, as far as the runs decide it."""
        left = list(names)
        for bout in self.bouts:
            for subject, metric in self.board.active(bout.condition).items():
                rates = self.board.rates(bout.condition, subject, metric)
                rates.values = {name: value for name, value in rates.values.items() if name in left}
                if len(rates.values) > 1 and rates.tells_apart:
                    left = [name for name in left if name in rates.standing.best]
        return left

    def _gains(self, names: Sequence[str]) -> Claim | None:
        """Return the other application that gains most by another setting, in the condition where it does."""
        found: list[tuple[int, float, Bout]] = []
        for other, losing in self._worse(names):
            best, own = other.values[other.sorted(list(other.values))[0]], other.values[losing]
            if own.place > best.place:
                found.append((own.place - best.place, times(own, best), other))
        if not found:
            return None
        *_, bout = max(found, key=lambda one: one[:2])
        gaining = bout.sorted([name for name in bout.values if name in bout.standing.best])[0]
        best, own = bout.values[gaining], bout.values[next(n for n in names if n in bout.standing.beaten)]
        where = bout.condition if len(self.board.conditions) > 1 else ""
        at, theirs = Range([best]), Range([own])
        who, cells = bout.listener.words, _cells([best, own])
        return Claim(who, "gains", cells, settings=[gaining], at=at, theirs=theirs, condition=where)

    def _worse(self, names: Sequence[str]) -> Iterator[tuple[Bout, str]]:
        """Yield bouts of the other applications in which one of the best settings is beaten by what can be felt."""
        for other in self.board.bouts:
            if other.listener is self.listener or other.rests_on_one_seed or other.measure.way in ("loss", "rate"):
                continue
            losing = next((name for name in names if name in other.standing.beaten), "")
            if losing and times(other.values[losing], other.values[other.sorted(list(other.values))[0]]) >= HARDLY:
                yield other, losing

    def _price(self, names: Sequence[str], gains: Claim | None = None) -> Iterator[Claim]:
        """Say what the transfers lose over all conditions, and count what is not told."""
        if self.board.is_of_rates:
            return
        payers = {s: metric for bout in self.bouts for s, metric in self.board.active(bout.condition).items()}
        called = transfers(payers)
        changes = {name: {s: self._changes(name, s, metric) for s, metric in payers.items()} for name in names}
        losing = [s for s in payers if any(changes[name][s].is_told for name in names)]
        losing.sort(key=lambda s: -max(changes[name][s].high for name in names))
        told = losing[:MOST_PAYERS]
        told = [s for s in payers if s in told]
        free = [s for s in payers if all(changes[name][s].is_free for name in names)]
        if len(names) == 1:
            yield from (self._loss(called[s], changes[names[0]][s]) for s in told)
            if free and len(free) == len(payers):
                cells = [cell for s in free for cell in changes[names[0]][s].cells]
                who = together([called[s] for s in free]) if len(free) <= FEW else "any transfer"
                yield Claim(who, "costs_nothing", cells, setting="")
        elif told:
            for name in names:
                here = [s for s in told if changes[name][s].is_told]
                yield from (self._loss(called[s], changes[name][s], name, len(told)) for s in here)
                if not here and all(changes[name][s].is_free for s in told):
                    cells = [cell for s in told for cell in changes[name][s].cells]
                    yield Claim(together([called[s] for s in told]), "costs_nothing", cells, setting=name)
        worse = {bout.listener.words for bout, _ in self._worse(names)} - ({gains.subject} if gains else set[str]())
        untold = len(worse) + len(losing) - len(told)
        if untold and not self.chance:
            of = len(self.board.listeners) + len(payers)
            yield Claim("", "untold", count=untold, of=of)
        # An application that every setting leaves useless would else be hidden behind the one that speaks.
        last = len(GRADES) - 1
        for other in self.board.listeners:
            if other is not self.listener and all(self.board.place(one, other) == last for one in self.board.points):
                yield Claim(other.words, "none_usable", of=len(self.settings), best="", at=None)

    @staticmethod
    def _loss(who: str, change: _Change, setting: str = "", payers: int = 1) -> Claim:
        low, high = max(100 * change.low, 0.0), 100 * change.high
        return Claim(who, "loses", change.cells, low=low, high=high, most=change.most, setting=setting, payers=payers)

    def _changes(self, name: str, subject: str, metric: str) -> _Change:
        """Return the share that a transfer loses against the setting that gives it most, over all conditions."""
        shares: list[tuple[float, bool, bool, str, list[Cell]]] = []
        for bout in self.bouts:
            values = self.board.rates(bout.condition, subject, metric).values
            most = max(values.values(), key=lambda value: value.mean, default=None)
            if most is not None and most.mean and name in values:
                cells = [values[name].cell, most.cell]
                shares.append((*_change(values[name], most), bout.condition, cells))
        if not shares:
            return _Change(0.0, 0.0, "", is_told=False, is_free=True, cells=[])
        low, high = min(shares, key=lambda one: one[0]), max(shares, key=lambda one: one[0])
        return _Change(
            low[0],
            high[0],
            condition(high[3]) if len(shares) > 1 else "",
            is_told=any(share >= LEAST_COST and is_clear for share, is_clear, *_ in shares),
            is_free=all(is_free for _, _, is_free, *_ in shares),
            cells=[cell for *_, cells in shares for cell in cells],
        )


@dataclass(frozen=True)
class _Change:
    """The share of its rate that a transfer loses: the ends over all conditions, and the condition of the larger."""

    low: float
    high: float
    most: str
    is_told: bool
    is_free: bool
    cells: list[Cell]


def times(worse: Value, better: Value) -> float:
    """Return by what factor a value is worse than another."""
    high, low = worse.mean, better.mean
    if worse.measure.more_is_better:
        high, low = low, high
    if low <= 0:
        return math.inf if high > 0 else 1.0
    return high / low


def _cells(values: Sequence[Value]) -> list[Cell]:
    return [value.cell for value in values]


def _change(value: Value, most: Value) -> tuple[float, bool, bool]:
    """Return the share lost, whether that is clear, and whether it is clear that nothing to speak of is lost."""
    if value is most or value.by_seed == most.by_seed:
        return 0.0, True, True
    seeds = [seed for seed in value.by_seed if seed in most.by_seed]
    share = 1.0 - value.mean / most.mean
    if len(seeds) < 2:
        return share, False, False
    import numpy as np

    from sojourn.stats.estimate import paired_ratio

    ratio = paired_ratio(
        np.array([value.by_seed[seed] for seed in seeds]), np.array([most.by_seed[seed] for seed in seeds])
    )
    if ratio.low is None or ratio.high is None:
        return share, share >= LEAST_COST and value.mean == 0.0, False
    return share, ratio.high < 1.0, ratio.low > 1.0 - LEAST_COST
