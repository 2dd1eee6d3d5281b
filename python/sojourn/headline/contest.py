"""Headlines of several settings, and somebody who feels the difference: who speaks, who wins, what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sojourn.headline import words
from sojourn.headline.alone import HARDLY, ONE_SEED, big_number
from sojourn.headline.board import Board, Heard, Value
from sojourn.headline.felt import GRADES, LOSS_LIMITS
from sojourn.headline.said import Cell, Headline, Point, amount, many, named, together

__all__ = ["Contest"]

LEAST_COST = 0.02
"""Share of a transfer's rate from which on a cost is told. chosen: less is within what runs vary."""

BASELINES = ("today", "drop-tail", "before")
"""What others are usually measured by."""

FEW = 3
"""Conditions that a sentence goes through one by one. chosen: what one reads in one breath."""


@dataclass(frozen=True)
class Contest:
    """Several settings, and somebody who feels the difference."""

    board: Board
    noun: str
    baseline: str
    own: Sequence[str] = ()
    """Settings of the reader's own: with one of them in, all that is beaten is named."""

    def headline(self) -> Headline:
        """Return the sentence."""
        bouts = self._speaking()
        one_seed = all(bout.rests_on_one_seed for bout in bouts)
        if all(self._is_useless(bout) for bout in bouts):
            found = self._none(bouts)
        elif not any(bout.tells_apart for bout in bouts):
            found = self._tie(bouts, one_seed=one_seed)
        elif one_seed:
            found = self._in_this_run(self._main(bouts))
        elif not (group := self._best(bouts)):
            found = self._turns(bouts)
        else:
            found = self._won(bouts, group)
        found = found.but(about=bouts[0].listener.words)
        if one_seed:
            found = found.but(winner=(), cautions=(*found.cautions, ONE_SEED))
            if found.kind != "none":
                found = found.but(sentence=f"{found.sentence} {ONE_SEED}")
        return found

    def _speaking(self) -> list[Heard]:
        """Return the bouts of the measure that speaks, one per condition."""

        def weight(bouts: list[Heard]) -> tuple[bool, int, float, int]:
            listener = bouts[0].listener
            apart = any(bout.tells_apart for bout in bouts)
            width = max(bout.width for bout in bouts)
            return apart, self.board.spread(listener), width, -listener.order

        told: list[list[Heard]] = []
        for listener in self.board.listeners:
            measures = [
                bouts
                for measure in listener.application.all_measures
                if (
                    bouts := [
                        bout for bout in self.board.bouts if bout.listener is listener and bout.measure is measure
                    ]
                )
            ]
            apart = [bouts for bouts in measures if any(one.tells_apart for one in bouts)]
            told += (apart or measures)[:1]
        return max(told, key=weight)

    def _main(self, bouts: Sequence[Heard]) -> Heard:
        """Return the condition in which settings differ most."""

        def weight(bout: Heard) -> tuple[int, float]:
            places = [value.place for value in bout.values.values()]
            return max(places) - min(places), bout.width

        return max((bout for bout in bouts if bout.tells_apart), key=weight)

    def _is_useless(self, bout: Heard) -> bool:
        return all(
            self.board.place(self._point(setting, bout.condition), bout.listener) == len(GRADES) - 1
            for setting in bout.values
        )

    def _point(self, setting: str, condition: str) -> Point:
        return next(point for point in self.board.points if point.setting == setting and point.condition == condition)

    def _best(self, bouts: Sequence[Heard]) -> list[str]:
        """Return the settings that nothing beats under any condition."""
        return [
            name
            for name in self.board.settings
            if all(name in bout.standing.best for bout in bouts if name in bout.values)
            and any(name in bout.values for bout in bouts)
        ]

    def _none(self, bouts: Sequence[Heard]) -> Headline:
        listener = bouts[0].listener
        delays = [bout for bout in self.board.bouts if bout.listener is listener and bout.measure.way != "score"]
        bout = min(delays or bouts, key=lambda one: one.values[one.sorted(list(one.values))[0]].mean)
        best = bout.sorted(list(bout.values))[0]
        value = bout.values[best]
        count = len(bout.values)
        start = "Neither of the two keeps" if count == 2 else f"None of the {many(count)} keeps"
        return Headline(
            f"{start} {listener.words} usable: the best, {best}, still {words.burden(value)}.",
            "none",
            big=big_number(listener, value),
            cells=(value.cell,),
        )

    def _tie(self, bouts: Sequence[Heard], *, one_seed: bool) -> Headline:
        listener = bouts[0].listener
        values = [value for bout in bouts for value in bout.values.values()]
        names = together([name for name in self.board.settings if name in bouts[0].values])
        start = "In this run nothing" if one_seed else "Nothing"
        worst = max(values, key=lambda one: one.mean)
        return Headline(
            f"{start} separates {names} for {listener.words}: {words.span(values)}.",
            "tie",
            big=big_number(listener, worst),
            cells=tuple(value.cell for value in values),
        )

    def _in_this_run(self, bout: Heard) -> Headline:
        order = bout.sorted(list(bout.values))
        first = bout.values[order[0]]
        last = bout.values[self._measured_by(bout, order[:1])]
        return Headline(
            f"In this run {words.where(bout.listener, order[0], first, last.setting, last)}.",
            "where",
            big=big_number(bout.listener, first),
            runner_up=order[1],
            cells=(first.cell, last.cell),
        )

    def _turns(self, bouts: Sequence[Heard]) -> Headline:
        told = [bout for bout in bouts if bout.tells_apart]
        listener = bouts[0].listener
        if len(told) > FEW:
            return self._turns_often(told)
        parts: list[str] = []
        cells: list[Cell] = []
        for bout in told:
            order = bout.sorted([name for name in bout.values if name in bout.standing.best])
            rest = bout.sorted([name for name in bout.values if name not in bout.standing.best])
            best, next_best = bout.values[order[0]], bout.values[rest[0]]
            names = together(order)
            cells += [best.cell, next_best.cell]
            pair = words.pair(best, rest[0], next_best, is_first=not parts)
            where = words.condition(bout.condition)
            if parts:
                parts.append(f"{where[0].lower()}{where[1:]} {names} ({pair})")
            else:
                verb = "is" if len(order) == 1 else "are"
                parts.append(f"{where} {names} {verb} best for {listener.words} ({pair})")
        return Headline(
            f"{', '.join(parts)}.",
            "turns",
            big=big_number(listener, told[0].values[told[0].sorted(list(told[0].values))[0]]),
            cells=tuple(cells),
        )

    def _turns_often(self, bouts: Sequence[Heard]) -> Headline:
        """Count conditions instead of naming them."""
        counts = {name: sum(name in bout.standing.best for bout in bouts) for name in self.board.settings}
        order = sorted(self.board.settings, key=lambda name: -counts[name])
        told = [name for name in order if counts[name]][:FEW]
        parts = [f"{name} in {counts[name]}" for name in told]
        listener = bouts[0].listener
        main = self._main(bouts)
        best = main.values[main.sorted(list(main.values))[0]]
        return Headline(
            f"No setting is best for {listener.words} everywhere: of {len(bouts)} conditions {together(parts)}.",
            "turns",
            big=big_number(listener, best),
        )

    def _won(self, bouts: Sequence[Heard], group: list[str]) -> Headline:
        bout = self._main(bouts)
        names = self._narrowed(bout, [name for name in group if name in bout.values])
        winner = self._richest(bout.condition, names)
        rest = bout.sorted([name for name in bout.values if name not in names])
        base = bout.values[self._measured_by(bout, names)]
        trade = self._trade(bout, names)
        cost, cost_cells = self._cost(bout.condition, names)
        values = [bout.values[name] for name in names]
        text = self._first(bout, names, base, has_trade=bool(trade))
        kind = "good" if bout.measure.way == "score" else "winner"
        beaten = [bout.values[name] for name in self._beaten(bout, names)] or [base]
        cells = [*(value.cell for value in [*values, *beaten]), *cost_cells]
        if trade:
            text, kind = f"{text}; {trade[0]}", "trade"
            cells += trade[1]
        if cost:
            text = f"{text}. {cost}" if len(names) > 1 else f"{text}{cost}"
        cautions: tuple[str, ...] = ()
        text += "."
        told = [one for one in bouts if one.tells_apart]
        if len(self.board.conditions) > 1 and bout.condition:
            where = words.condition(bout.condition)
            where = f"{where[0].lower()}{where[1:]}"
            much = "both" if len(bouts) == 2 else f"all {many(len(bouts))}"
            many_best = "Best" if len(told) == len(bouts) else "Best or as good as any"
            cautions = (f"{many_best} in {much} conditions; the numbers are those {where}.",)
            text = f"{text} {cautions[0]}"
        return Headline(
            text,
            kind,
            big=big_number(bout.listener, bout.values[names[0]]),
            winner=tuple(winner),
            runner_up=rest[0] if rest else "",
            cost=cost.strip(",; ").removesuffix("."),
            cautions=cautions,
            cells=tuple(cells),
        )

    def _first(self, bout: Heard, names: list[str], base: Value, *, has_trade: bool) -> str:
        """Return the clause on the listener that speaks."""
        values = [bout.values[name] for name in names]
        others = self._beaten(bout, names)
        if others:
            worst = bout.values[bout.sorted(names)[-1]]
            first, *more = others
            return words.where(
                bout.listener,
                named(names, self.noun),
                worst,
                first,
                bout.values[first],
                several=len(names) > 1,
                more=[(name, bout.values[name]) for name in more],
            )
        lost = self._lost(bout, names[0])
        beside = words.beside(self.board.active(bout.condition))
        if bout.measure.way == "score":
            return words.good(bout.listener, names, values, base, self.noun)
        text = words.ratio(bout.listener, names, values, base, noun=self.noun, lost=lost, beside=beside)
        only_two = len(bout.values) == 2 and has_trade and len(names) == 1
        if text is None or only_two:
            worst = bout.sorted(names)[-1]
            return words.where(
                bout.listener,
                named(names, self.noun),
                bout.values[worst],
                base.setting,
                base,
                is_tagged=not only_two,
                several=len(names) > 1,
            )
        return text

    def _beaten(self, bout: Heard, names: Sequence[str]) -> list[str]:
        """Return all that the best beat, best first, if they are named one by one."""
        others = bout.sorted([name for name in bout.values if name not in names])
        return others if len(others) > 1 and not set(self.own).isdisjoint(bout.values) else []

    def _lost(self, bout: Heard, name: str) -> str:
        measure = bout.listener.application.loss
        if measure is None or bout.measure is measure:
            return ""
        value = self.board.value(self._point(name, bout.condition), bout.listener, measure)
        if value is None or value.mean < LOSS_LIMITS[0]:
            return ""
        return f", with {value.text} % of its {words.things(value)} lost or late,"

    def _measured_by(self, bout: Heard, best: Sequence[str]) -> str:
        """Return what a winner is compared with: the declared or a usual baseline, or the worst."""
        rest = [name for name in bout.values if name not in best]
        if self.baseline in rest:
            return self.baseline
        usual = [name for name in rest if name.lower() in BASELINES]
        if not usual and next(iter(bout.values)) in rest and not amount(rest[0]):
            usual = [next(iter(bout.values))]
        return bout.sorted(usual or rest)[-1]

    def _narrowed(self, bout: Heard, group: list[str]) -> list[str]:
        """Return those of a group that are best for most of the others, too."""
        counts = dict.fromkeys(group, 0)
        for listener in self.board.listeners:
            if listener is bout.listener:
                continue
            others = [one for one in self.board.bouts if one.listener is listener]
            apart = [one for one in others if one.tells_apart]
            for name in group:
                counts[name] += all(name in one.standing.best for one in apart)
        most = max(counts.values())
        return [name for name in group if counts[name] == most]

    def _richest(self, condition: str, names: list[str]) -> list[str]:
        """Return those of several whose transfers get most, as far as that can be told."""
        left = list(names)
        for subject, metric in self.board.active(condition).items():
            bout = self.board.rates(condition, subject, metric, left)
            if bout is not None and bout.tells_apart:
                left = [name for name in left if name in bout.standing.best]
        return left

    def _trade(self, bout: Heard, names: list[str]) -> tuple[str, list[Cell]] | None:
        """Return who else gains by another setting: the one with the largest difference."""
        found: list[tuple[int, float, str, list[Cell]]] = []
        for other in self.board.bouts:
            if other.listener is bout.listener or other.condition != bout.condition:
                continue
            if other.rests_on_one_seed or other.measure.way == "loss":
                continue
            losing = [name for name in names if name in other.standing.beaten]
            gaining = other.sorted([name for name in other.values if name in other.standing.best])
            if not losing or not gaining:
                continue
            best, own = other.values[gaining[0]], other.values[losing[0]]
            ratio = words.times(own, best)
            if ratio < HARDLY or own.place <= best.place:  # nobody feels it
                continue
            text = words.gains(other.listener, gaining[0], best, own)
            found.append((own.place - best.place, ratio, text, [best.cell, own.cell]))
        if not found:
            return None
        *_, text, cells = max(found, key=lambda one: one[:2])
        return text, cells

    def _cost(self, condition: str, names: list[str]) -> tuple[str, list[Cell]]:
        """Say what the transfers lose against the setting that gives them most."""
        active = self.board.active(condition)
        called = words.transfers(active)
        lost: dict[str, dict[str, float]] = {name: {} for name in names}
        free: dict[str, list[str]] = {name: [] for name in names}
        cells: list[Cell] = []
        for subject, metric in active.items():
            values = self.board.by_setting(condition, subject, metric)
            most = max(values.values(), key=lambda value: value.mean)
            for name in names:
                if name not in values or not most.mean:
                    continue
                share, is_clear, is_free = _change(values[name], most)
                if share >= LEAST_COST and is_clear:
                    lost[name][subject] = share
                    cells += [values[name].cell, most.cell]
                elif is_free:
                    free[name].append(subject)
        if len(names) == 1:
            return _cost_of_one(called, lost[names[0]], free[names[0]]), cells
        payers = list(dict.fromkeys(subject for one in lost.values() for subject in one))
        if not payers:
            return "", []
        parts: list[str] = []
        for name in names:
            told = [f"{called[p]} {words.percent(lost[name][p])}" for p in payers if p in lost[name]]
            free_of = [p for p in payers if p in free[name]]
            if told:
                parts.append(f"{name} costs {together(told)}" if not parts else f"{name} {together(told)}")
            elif len(free_of) == len(payers):
                parts.append(f"{name} nothing" if parts else f"{name} costs {called[payers[0]]} nothing")
        if len(payers) == 1:
            words_of_payer = f" {called[payers[0]]}"
            parts = [parts[0], *(part.replace(words_of_payer, "", 1) for part in parts[1:])]
        return ", ".join(parts), cells


def _change(value: Value, most: Value) -> tuple[float, bool, bool]:
    """Return what share is lost, whether that is clear, and whether it is clear that nothing to speak of is lost."""
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


def _cost_of_one(called: Mapping[str, str], lost: Mapping[str, float], free: Sequence[str]) -> str:
    if lost:
        told = [f"{called[subject]} loses {words.percent(share)}" for subject, share in lost.items()]
        return f"; {told[0]}" + "".join(f" and {one.replace(' loses', '')}" for one in told[1:])
    if free and len(free) == len(called):
        return f", at no cost to {together([called[subject] for subject in free])}"
    return ""
