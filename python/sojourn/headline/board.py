"""The settings and conditions of a result: what each gives to each application, and which differences are more than chance."""

from __future__ import annotations

import math
from functools import cached_property

from sojourn.headline.applications import APPLICATIONS, GRADES, STREAM, Application, Measure, application_of, transfer
from sojourn.headline.said import Cell, Point, number

TYPE_CHECKING = False  # as type checkers read it; the modules typing and dataclasses would take their time
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sojourn.stats.estimate import Estimate
    from sojourn.stats.pairs import Standing

LEAST_RATE = 0.05
"""Mb/s from which on a transfer is one that others are beside. chosen: acknowledgements and questions stay below."""


class Value:
    """Value of a setting for a listener: a measure in the direction in which it is worst."""

    def __init__(
        self,
        measure: Measure,
        metric: str,
        direction: str,
        by_seed: Mapping[int, float],
        subject: str,
        setting: str,
        condition: str,
    ) -> None:
        self.measure, self.metric, self.direction, self.by_seed = (measure, metric, direction, by_seed)
        self.subject, self.setting, self.condition = subject, setting, condition

    @cached_property
    def mean(self) -> float:
        """Mean over seeds, as in `summary.csv`."""
        return mean(self.by_seed)

    @cached_property
    def estimate(self) -> Estimate:
        """Mean with its interval, as in `summary.csv`."""
        from sojourn.stats.estimate import bounded_mean_of
        from sojourn.stats.quantity import quantity_of

        return bounded_mean_of(list(self.by_seed.values()), quantity_of(self.metric, self.measure.unit))

    @property
    def place(self) -> int:
        """Place of the grade of the mean."""
        return self.measure.grade(self.mean)

    @cached_property
    def places(self) -> tuple[int, int]:
        """Best and worst grade: of the seeds, and A where the interval reaches into it."""
        found = sorted(self.measure.grade(value) for value in self.by_seed.values())
        best, worst = found[0], found[-1]
        if best > 0 and len(found) > 1 and math.isfinite(self.mean):
            end = self.estimate.high if self.measure.more_is_better else self.estimate.low
            if end is not None and self.measure.grade(end) == 0:
                best = 0
        return best, worst

    @cached_property
    def text(self) -> str:
        """The number of a sentence, without its unit."""
        half = None
        if len(self.by_seed) > 1 and math.isfinite(self.mean) and self.mean >= 100:
            low, high = self.estimate.low, self.estimate.high
            half = None if low is None or high is None else 0.5 * (high - low)
        return number(self.mean, half)

    def of_seed(self, seed: int, value: float) -> Value:
        """Return the same of one run."""
        return Value(
            self.measure, self.metric, self.direction, {seed: value}, self.subject, self.setting, self.condition
        )

    @property
    def cell(self) -> Cell:
        """Place of the number in `summary.csv`."""
        return Cell(self.setting, self.condition, self.subject, self.metric, self.mean, self.text)


def mean(by_seed: Mapping[int, float]) -> float:
    """Return the mean over seeds."""
    return sum(by_seed.values()) / len(by_seed)


class Listener:
    """A traffic entry that a sentence may be about, and what sentences call it: `the game`, `the game marked`."""

    __slots__ = ("application", "subject", "words")

    def __init__(self, subject: str, application: Application, words: str) -> None:
        self.subject, self.application, self.words = subject, application, words

    @property
    def order(self) -> int:
        """Place among applications that are felt alike."""
        nouns = list(APPLICATIONS)
        return nouns.index(self.application.noun) if self.application.noun in nouns else len(nouns)


class Bout:
    """One measure of one listener under one condition, by setting."""

    def __init__(self, measure: Measure, condition: str, values: Mapping[str, Value], listener: Listener) -> None:
        self.measure, self.condition, self.values, self.listener = measure, condition, values, listener

    @cached_property
    def standing(self) -> Standing:
        """Settings that are beaten, and those that are not."""
        from sojourn.stats.pairs import Contest, who_wins
        from sojourn.stats.quantity import quantity_of

        seeds = sorted({seed for value in self.values.values() for seed in value.by_seed})
        one = next(iter(self.values.values()))
        quantity = quantity_of(one.metric, self.measure.unit)
        best = (max if self.measure.more_is_better else min)(v.mean for v in self.values.values())
        contest = Contest(
            {name: [value.by_seed.get(seed, math.nan) for seed in seeds] for name, value in self.values.items()},
            "higher" if self.measure.more_is_better else "lower",
            quantity.indifference(best),
            quantity.by_ratio,
        )
        return who_wins([contest])[0]

    @property
    def tells_apart(self) -> bool:
        """True if a setting is worse than another."""
        return bool(self.standing.beaten)

    @property
    def rests_on_one_seed(self) -> bool:
        """True if chance cannot be judged."""
        return "chance" in self.standing.note

    def sorted(self, names: Sequence[str]) -> list[str]:
        """Return settings, the best first."""
        sign = -1.0 if self.measure.more_is_better else 1.0
        return sorted(names, key=lambda name: sign * self.values[name].mean)

    @cached_property
    def leading(self) -> list[str]:
        """Settings that nothing beats and that no beaten one surpasses, the best first: of those further back the runs are too few."""
        order = self.sorted(list(self.values))
        ahead = order[: min((order.index(name) for name in self.standing.beaten if name in order), default=len(order))]
        return ahead or [name for name in order if name in self.standing.best]

    @cached_property
    def width(self) -> float:
        """By what factor the worst differs from the best, as a logarithm."""
        means = [value.mean for value in self.values.values()]
        low, high = min(means), max(means)
        least = 1e-3  # chosen: shares below a thousandth of a percent are none
        return min(math.log(max(high, least) / max(low, least)), 50.0)


class Board:
    """All points, by setting and condition.

    Attributes
    ----------
    points
        What has run.
    declared
        All settings in order, whether they have run or not; those of the points if empty.
    kinds
        Kinds of applications in the scenario, by subject, as far as they are known.
    feels
        Nouns of applications, or traffic entries, that count alone.
    about
        Traffic entries that the scenario marks as its subject.
    """

    def __init__(
        self,
        points: Sequence[Point],
        declared: Sequence[str],
        kinds: Mapping[str, str],
        feels: Sequence[str],
        about: Sequence[str] = (),
    ) -> None:
        self.points, self.declared, self.kinds, self.feels, self.about = points, declared, kinds, feels, about

    @cached_property
    def settings(self) -> list[str]:
        """Settings that have run, in order."""
        ran = list(dict.fromkeys(point.setting for point in self.points))
        order = [name for name in self.declared if name in ran]
        return order + [name for name in ran if name not in order]

    @cached_property
    def missing(self) -> list[str]:
        """Settings that have not run."""
        return [name for name in self.declared if name not in self.settings]

    @cached_property
    def conditions(self) -> list[str]:
        """Conditions in order."""
        return list(dict.fromkeys(point.condition for point in self.points))

    @cached_property
    def _metrics(self) -> dict[str, dict[str, None]]:
        """Metrics that any point has, by subject."""
        found: dict[str, dict[str, None]] = {}
        for point in self.points:
            for subject, metric in point.values:
                found.setdefault(subject, {})[metric] = None
        return found

    @cached_property
    def _nouns(self) -> dict[str, str]:
        """Nouns of the applications of all subjects; empty for those that no person feels."""
        return {
            subject: application_of(list(metrics), self.kinds.get(subject, ""))
            for subject, metrics in self._metrics.items()
        }

    @cached_property
    def listeners(self) -> list[Listener]:
        """Traffic entries that sentences are about: applications and what the scenario marks; without any, probes; else transfers."""
        nouns = {subject: noun for subject, noun in self._nouns.items() if noun or subject in self.about}
        if any(one in (*nouns, *nouns.values()) for one in self.feels):
            nouns = {s: n for s, n in nouns.items() if s in self.feels or n in self.feels}
        if not nouns:
            nouns = {subject: "" for subject, metrics in self._metrics.items() if "rtt_mean" in metrics}
        if not nouns:
            called = transfers(self.payers)
            return [Listener(subject, transfer(metric), called[subject]) for subject, metric in self.payers.items()]
        counts = list(nouns.values())
        return [
            Listener(subject, APPLICATIONS.get(noun, STREAM), _called(subject, noun, is_only=counts.count(noun) == 1))
            for subject, noun in nouns.items()
        ]

    @property
    def is_of_rates(self) -> bool:
        """True if there are only transfers, which sentences are then about."""
        return all(one.application.measures[0].way == "rate" for one in self.listeners)

    def leading(self, listeners: Sequence[Listener]) -> list[Listener]:
        """Return those of some that the scenario is about; all of them if it is about none."""
        return [one for one in listeners if one.subject in self.about] or list(listeners)

    @cached_property
    def payers(self) -> dict[str, str]:
        """Transfers large enough to notice, with the metric of the direction of their data."""
        found: dict[str, str] = {}
        for subject, metrics in self._metrics.items():
            if self._nouns[subject] or not {"rtt_mean", "late", "lost"}.isdisjoint(metrics):
                continue
            rates = {
                metric: max(self._largest(subject, metric), 0.0)
                for metric in ("goodput", "goodput_downstream")
                if metric in metrics
            }
            metric = max(rates, key=rates.__getitem__, default="")
            if metric and rates[metric] >= LEAST_RATE:
                found[subject] = metric
        return found

    def _largest(self, subject: str, metric: str) -> float:
        values = [point.values.get((subject, metric)) for point in self.points]
        return max((mean(value) for value in values if value), default=0.0)

    def active(self, condition: str) -> dict[str, str]:
        """Return the transfers that run under a condition, with their metrics."""
        here = [point for point in self.points if point.condition == condition]
        return {
            subject: metric
            for subject, metric in self.payers.items()
            if any(mean(value) >= LEAST_RATE for point in here if (value := point.values.get((subject, metric))))
        }

    def rates(self, condition: str, subject: str, metric: str) -> Bout:
        """Return what a transfer gets under a condition, by setting."""
        listener = Listener(subject, transfer(metric), subject)
        return self._bout(condition, listener, listener.application.measures[0])

    def _bout(self, condition: str, listener: Listener, measure: Measure) -> Bout:
        points = sorted(
            (one for one in self.points if one.condition == condition), key=lambda one: self.settings.index(one.setting)
        )
        values = {p.setting: value for p in points if (value := self.value(p, listener, measure)) is not None}
        return Bout(measure, condition, values, listener)

    def value(self, point: Point, listener: Listener, measure: Measure) -> Value | None:
        """Return what a point gives to a listener, in the direction in which it is worst."""
        found: list[Value] = []
        for metric, direction in measure.names:
            by_seed = {
                seed: value
                for seed, value in point.values.get((listener.subject, metric), {}).items()
                if not math.isnan(value)
            }
            if by_seed:
                found.append(
                    Value(measure, metric, direction, by_seed, listener.subject, point.setting, point.condition)
                )
        if not found and measure.way == "load":
            return self._never(point, listener, measure)
        sign = -1.0 if measure.more_is_better else 1.0
        return max(found, key=lambda one: sign * one.mean, default=None)

    @staticmethod
    def _never(point: Point, listener: Listener, measure: Measure) -> Value | None:
        """Return what stands for pages of which none came."""
        waiting = point.values.get((listener.subject, "pages_unfinished"), {})
        if not any(waiting.values()):
            return None
        never = dict.fromkeys(waiting, math.inf)
        metric = measure.names[0][0]
        return Value(measure, metric, "", never, listener.subject, point.setting, point.condition)

    @cached_property
    def bouts(self) -> list[Bout]:
        """All measures of all listeners under all conditions in which two settings have them."""
        every = (
            self._bout(condition, listener, measure)
            for listener in self.listeners
            for measure in listener.application.all_measures
            for condition in self.conditions
        )
        return [bout for bout in every if len(bout.values) > 1]

    def places(self, point: Point, listener: Listener) -> tuple[int, int] | None:
        """Return best and worst grade of a listener: the worse of all measures."""
        found = [
            value.places
            for measure in listener.application.all_measures
            if (value := self.value(point, listener, measure)) is not None
        ]
        if not found:
            return None
        return max(best for best, _ in found), max(worst for _, worst in found)

    def place(self, point: Point, listener: Listener) -> int:
        """Return the grade of the means; the best of what has no grades."""
        if not listener.application.is_graded:
            return 0
        return max(
            (
                value.place
                for measure in listener.application.all_measures
                if (value := self.value(point, listener, measure)) is not None
            ),
            default=0,
        )

    @cached_property
    def grades(self) -> dict[str, str]:
        """By setting, the grade of what is felt worst, over all conditions."""
        found: dict[str, str] = {}
        for setting in self.settings:
            both = [
                places
                for point in self.points
                if point.setting == setting
                for listener in self.listeners
                if listener.application.is_graded and (places := self.places(point, listener)) is not None
            ]
            if both:
                best, worst = max(b for b, _ in both), max(w for _, w in both)
                letters = dict.fromkeys((GRADES[best], GRADES[worst]))
                found[setting] = " to ".join(letters)
        return found

    @cached_property
    def felt(self) -> dict[str, tuple[str, ...]]:
        """By setting, the listeners whose grade its grade is, in any condition."""
        found: dict[str, tuple[str, ...]] = {}
        for setting in self.settings:
            worst: dict[str, int] = {}
            for point in self.points:
                for listener in self.listeners if point.setting == setting else ():
                    if listener.application.is_graded and (places := self.places(point, listener)) is not None:
                        worst[listener.words] = max(worst.get(listener.words, 0), places[1])
            found[setting] = tuple(words for words, place in worst.items() if place == max(worst.values()))
        return found

    @cached_property
    def worst(self) -> dict[str, tuple[Listener, Value]]:
        """By setting below the best grade, the listener and the value that give it the worst: of the worst run if that is worse."""
        found: dict[str, tuple[Listener, Value]] = {}
        for setting in self.settings:
            every = [
                (listener, value)
                for listener in self.listeners
                if listener.application.is_graded
                for measure in listener.application.all_measures
                for point in self.points
                if point.setting == setting and (value := self.value(point, listener, measure)) is not None
            ]
            place = max((value.places[1] for _, value in every), default=0)
            if place:
                listener, first = next(one for one in every if one[1].places[1] == place)
                same = [
                    v for one, v in every if one is listener and v.measure is first.measure and v.places[1] == place
                ]
                sign = -1.0 if first.measure.more_is_better else 1.0
                found[setting] = (listener, max(same, key=lambda one: sign * one.mean))
        return found

    def spread(self, listener: Listener) -> int:
        """Return by how many grades the best and the worst setting differ for a listener."""
        widest = 0
        for condition in self.conditions:
            places = [self.place(point, listener) for point in self.points if point.condition == condition]
            widest = max(widest, max(places) - min(places))
        return widest


def transfers(active: Mapping[str, str]) -> dict[str, str]:
    """Return what sentences call transfers: `the upload` where there is one, by their names where there are more."""
    found: dict[str, str] = {}
    metrics = list(active.values())
    for subject, metric in active.items():
        noun = "download" if metric == "goodput_downstream" else "upload"
        found[subject] = f"the {noun}" if metrics.count(metric) == 1 else subject
    return found


def _called(subject: str, noun: str, *, is_only: bool) -> str:
    """Return what sentences call a traffic entry: its noun, with its name where others have the same noun."""
    if not noun:
        return f"the {subject}" if subject.isalpha() and subject.islower() else subject
    return APPLICATIONS[noun].definite + ("" if is_only else f" {subject}")
