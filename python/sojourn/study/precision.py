"""Precision instead of a number of seeds: which points of a study need more runs.

Points get seeds in rounds, at the looks of `sojourn.stats.precision`, until the numbers that the study names are as precise
as it says, or the most seeds are used up. Seeds are consecutive, so a point's runs depend on no other point.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from sojourn.base.errors import Problem, UsageError, nearest, plain
from sojourn.base.metrics import metrics
from sojourn.declarations.answers import Measure
from sojourn.declarations.base import LabelValue, Strict
from sojourn.headline.applications import APPLICATIONS, application_of
from sojourn.headline.kinds import kinds_in
from sojourn.stats.precision import (
    LEAST,
    MOST,
    Goal,
    affordable,
    fewest_for_quantile,
    judged,
    least_seeds,
    looks,
    paired_excess,
    quantile_excess,
    seeds_to_meet,
)
from sojourn.stats.quantity import quantity_of

if TYPE_CHECKING:
    import polars as pl  # who counts points has no time to load it

_NUMBER = r"(\d+(?:\.\d*)?|\.\d+)"
_PERCENT = re.compile(rf"^\s*{_NUMBER}\s*%\s*$")
_WITH_UNIT = re.compile(rf"^\s*{_NUMBER}\s*(\S*)\s*$")


class PrecisionGoal(Strict):
    """How precise a measure has to be: the larger of both is enough."""

    measure: str
    """Of `[measures]`, with a `metric`."""
    relative: str = ""
    """Half width of the 95 % interval as a share of the value, such as `"5 %"`."""
    absolute: str = ""
    """The same in the unit of the measure, such as `"1 ms"`."""
    quantile: Annotated[float | None, Field(gt=0, lt=1)] = None
    """Of this quantile over seeds instead of the mean: 0.9 for what one run in ten exceeds."""

    @property
    def words(self) -> str:
        """Precision as a report names it."""
        if self.quantile is None:
            return self.measure
        return f"{self.measure}, {100 * self.quantile:g} % of seeds"


class PreciseSeeds(Strict):
    """Seeds of each point, consecutive from the first of the study."""

    least: Annotated[int | None, Field(ge=LEAST, le=1_000_000)] = None
    """Before the first look; by what is asked if left out: 40 for 10 % and more, 82 for 5 %, 208 for 2 % and less."""
    """Seeds of a first look."""
    most: Annotated[int, Field(ge=LEAST, le=1_000_000)] = MOST
    """Seeds after which it stops."""


class PrecisionPairs(Strict):
    """Differences are to be precise instead of values: of each point against the one that differs in this label alone."""

    by: str
    """A label."""
    against: LabelValue
    """Its value that the others are compared with."""


class Precision(Strict):
    """Each point gets seeds until these measures are as precise as this says."""

    of: Annotated[list[PrecisionGoal], Field(min_length=1, max_length=100)]
    """Measures that have to be precise."""
    pairs: PrecisionPairs | None = None
    """Of differences, if given."""
    seeds: PreciseSeeds = PreciseSeeds()
    """Least and most seeds of a point."""
    rule: Literal["looks", "anytime"] = "looks"
    """Intervals hold at the looks alone, or at every number of runs for twice the runs."""
    runs: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    """Runs at most, over all points; if they are too few, all points get the same multiple of what is asked."""

    @property
    def least(self) -> int:
        """Seeds before the first look."""
        if self.seeds.least is not None:
            return self.seeds.least
        shares = [_share(goal) for goal in self.of if goal.quantile is None]
        return min(self.seeds.most, max(map(least_seeds, shares), default=LEAST))

    def problems(self, measures: Mapping[str, Measure], file: str) -> list[Problem]:
        """Return what is wrong with it in a study with these measures."""
        found: list[Problem] = []
        for number, one in enumerate(self.of, 1):
            place = f"precision.of[{number}]"
            measure = measures.get(one.measure)
            if measure is None:
                hint = nearest(one.measure, measures)
                message = f'unknown measure "{one.measure}"'
                found.append(Problem(f"{place}.measure", message, hint, file=file))
            elif not is_plain(measure):
                message = f"{one.measure} is no metric of a run"
                hint = "a measure with `metric` alone: no ratio, samples or function"
                found.append(Problem(f"{place}.measure", message, hint, file=file))
            else:
                found += _unread(one, measure, place, file)
                found += self._unquantiled(one, place, file)
        if self.seeds.least is not None and self.seeds.most < self.seeds.least:
            found.append(Problem("precision.seeds.most", "is less than the least", file=file))
        return found

    def _unquantiled(self, goal: PrecisionGoal, place: str, file: str) -> list[Problem]:
        """Return why a quantile cannot be precise."""
        if goal.quantile is None:
            return []
        place = f"{place}.quantile"
        if self.pairs is not None or self.rule == "anytime":
            other = "pairs" if self.pairs is not None else 'rule = "anytime"'
            hint = "a study of its own for each"
            return [Problem(place, f"excludes {other}", hint, file=file)]
        least = fewest_for_quantile(goal.quantile)
        if self.seeds.most >= least:
            return []
        message = f"has no interval below {least} seeds, and there are {self.seeds.most} at most"
        return [Problem(place, message, f"seeds = {{ most = {least} }}, or more", file=file)]


def is_plain(measure: Measure) -> bool:
    """Return whether a measure is a metric of a run as it is."""
    others = (measure.per, measure.per_subject, measure.capacity, measure.jain)
    return bool(measure.metric and measure.subject) and not any(others)


def _unit(measure: Measure) -> str:
    declared = metrics().get(measure.metric)
    return measure.unit or (declared.unit if declared is not None else "")


def _unread(goal: PrecisionGoal, measure: Measure, place: str, file: str) -> list[Problem]:
    """Return what of a goal cannot be read."""
    found: list[Problem] = []
    if not goal.relative and not goal.absolute:
        hint = 'relative = "5 %", or absolute, or both'
        found.append(Problem(place, "says nothing about a width", hint, file=file))
    if goal.relative and not _PERCENT.match(goal.relative):
        message = f'"{goal.relative}" is no share'
        found.append(Problem(f"{place}.relative", message, "such as 5 %", file=file))
    if goal.absolute:
        match, unit = _WITH_UNIT.match(goal.absolute), _unit(measure)
        if match is None or match[2] != unit:
            hint = f"a number in the unit of {goal.measure}: 1 {unit}".rstrip()
            message = f'"{goal.absolute}" is no width'
            found.append(Problem(f"{place}.absolute", message, hint, file=file))
    return found


def felt_measures(documents: Iterable[Mapping[str, Any]]) -> dict[str, Measure]:
    """Return what a headline would be about in scenarios: what is felt first of each application, or else goodputs.

    Parameters
    ----------
    documents
        Scenario files, as tables.
    """
    kinds = kinds_in(*documents)
    found: dict[str, Measure] = {}
    for entry, kind in kinds.items():
        noun = application_of(["pages_completed"] if kind.startswith("web") else [], kind)
        for metric, _ in APPLICATIONS[noun].measures[0].names if noun else ():
            found[f"{entry}: {metric}"] = Measure(subject=entry, metric=metric)
    return found or {f"{entry}: goodput": Measure(subject=entry, metric="goodput") for entry in kinds}


def precision_of_words(said: str, measures: Mapping[str, Measure], own: Precision | None) -> Precision:
    """Return the precision that `--precision` asks for: `5 %` of all measures, or `delay: 5 % or 1 ms` of one.

    Raises `UsageError` if it cannot be read.
    """
    name, colon, widths = said.rpartition(":")
    words = [word.strip() for word in widths.split(" or ")]
    relative = next((word for word in words if _PERCENT.match(word)), "")
    absolute = next((word for word in words if word != relative), "")
    chosen = [name.strip()] if colon else [n for n, one in measures.items() if is_plain(one)]
    goals = [PrecisionGoal(measure=one, relative=relative, absolute=absolute) for one in chosen]
    if not goals:
        raise UsageError(
            "neither the study nor its traffic has a measure that could be precise",
            "[measures.delay] with subject and metric, in the study file",
        )
    precision = own.model_copy(update={"of": goals}) if own is not None else Precision(of=goals)
    problems = precision.problems(measures, "")
    if problems or len(words) > 2:
        message = problems[0].message if problems else f'"{said}" is too long'
        hint = problems[0].hint if problems else ""
        raise UsageError(f"--precision: {message}", hint or "such as '5 %' or 'delay: 5 % or 1 ms'")
    return precision


@dataclass(frozen=True)
class Stop:
    """State of a point after a number of seeds.

    Attributes
    ----------
    seeds
        Runs that it has.
    excess
        Half width of its widest interval over what is enough; 1 or less is enough, and `None` where there is no interval.
    measure
        The one that is widest.
    words
        What is to be said of its runs: that some are of another kind; empty if they are not.
    """

    seeds: int
    excess: float | None
    measure: str
    words: str = ""

    @property
    def is_enough(self) -> bool:
        """True if no measure needs more runs."""
        return self.excess is not None and self.excess <= 1

    def as_json(self) -> dict[str, float | str | None]:
        """Return what the manifest keeps beside the runs."""
        said: dict[str, float | str | None] = {"excess": self.excess, "measure": self.measure}
        return {**said, "words": self.words} if self.words else said

    @classmethod
    def from_json(cls, seeds: int, said: Mapping[str, int | float | str | None]) -> Stop:
        """Read a manifest's entry, which is not trusted."""
        excess, measure, words = said.get("excess"), said.get("measure"), said.get("words")
        return cls(
            seeds,
            float(excess) if isinstance(excess, int | float) else None,
            plain(measure) if isinstance(measure, str) else "",
            plain(words) if isinstance(words, str) else "",
        )


def stops(
    precision: Precision,
    measures: Mapping[str, Measure],
    labels: Mapping[str, Mapping[str, LabelValue]],
    values: pl.DataFrame,
) -> dict[str, Stop]:
    """Return where each point stands.

    Parameters
    ----------
    precision, measures
        What the study says.
    labels
        Labels of each point.
    values
        `point, seed, subject, metric, value, unit` of all runs; a point without a measure's metric does not have that measure.
    """
    import polars as pl

    counts = dict(values.group_by("point").agg(pl.col("seed").n_unique()).iter_rows())
    numbers = _Numbers(precision, measures, values)
    references = _references(precision.pairs, labels)
    found: dict[str, tuple[float, str]] = dict.fromkeys(labels, (0.0, ""))
    words: dict[str, str] = {}
    kinds: dict[str, list[tuple[str, int, int]]] = {}
    for point, own in labels.items():
        reference = references.get(point)
        for goal in precision.of:
            measure = measures[goal.measure]
            there = numbers.of(point, measure) if _fits(own, measure) else None
            if there is None:
                continue
            unit, ours = there
            quantity, width = quantity_of(measure.metric, unit), _goal(goal, measure)
            anytime = precision.rule == "anytime"
            if goal.quantile is not None:
                beyond = quantile_excess(list(ours.values()), goal.quantile, width)
                found[point] = max(found[point], (beyond, goal.words), key=lambda item: item[0])
                continue
            other = numbers.of(reference, measure) if reference is not None else None
            if other is None:
                if point in references.values():
                    continue  # it is judged by those that are compared with it
                known = judged(list(ours.values()), quantity, width, anytime=anytime)
                named = f"{goal.measure}, median" if known.is_median else goal.measure
                found[point] = max(found[point], (known.excess, named), key=lambda item: item[0])
                kinds.setdefault(goal.measure, []).append((point, len(ours), known.rarer))
                if known.words:
                    words[point] = "; ".join(filter(None, (words.get(point), f"{goal.measure}: {known.words}")))
                continue
            theirs = other[1]
            seeds = [seed for seed in ours if seed in theirs]
            beyond = paired_excess(
                [ours[seed] for seed in seeds], [theirs[seed] for seed in seeds], quantity, width, anytime=anytime
            )
            # Both of a pair are open or closed together, as far as no other pair keeps one open.
            for one in (point, reference):
                if one is not None:
                    found[one] = max(found[one], (beyond, goal.measure), key=lambda item: item[0])
    for name, seen in kinds.items():
        # A kind of run that some points have shown is sought at the others.
        least = min(precision.seeds.most, seeds_to_meet(sum(rarer for *_, rarer in seen), sum(n for _, n, _ in seen)))
        for point, count, rarer in seen:
            if not rarer and count < least:
                beyond = (math.sqrt(least / count), f"{name}: a kind of run that other points have")
                found[point] = max(found[point], beyond, key=lambda item: item[0])
    return {
        point: Stop(int(counts.get(point, 0)), beyond if math.isfinite(beyond) else None, measure, words.get(point, ""))
        for point, (beyond, measure) in found.items()
    }


class _Numbers:
    """Values of those metrics that are to be precise, by point."""

    def __init__(self, precision: Precision, measures: Mapping[str, Measure], values: pl.DataFrame) -> None:
        import polars as pl

        wanted = {(measures[one.measure].subject, measures[one.measure].metric) for one in precision.of}
        kept = values.filter(
            pl.struct("subject", "metric").is_in([{"subject": s, "metric": m} for s, m in sorted(wanted)])
        )
        grouped = kept.group_by("point", "subject", "metric", "unit", maintain_order=True)
        self._of = {
            (point, subject, metric): (unit, dict(zip(seeds, numbers, strict=True)))
            for point, subject, metric, unit, seeds, numbers in grouped.agg("seed", "value").iter_rows()
        }

    def of(self, point: str, measure: Measure) -> tuple[str, dict[int, float]] | None:
        """Return the unit and the values by seed; nothing if the point does not have that measure."""
        return self._of.get((point, measure.subject, measure.metric))


def _references(pairs: PrecisionPairs | None, labels: Mapping[str, Mapping[str, LabelValue]]) -> dict[str, str]:
    """Return with which point each is compared; those that have none are left out."""
    if pairs is None:
        return {}

    def others(own: Mapping[str, LabelValue]) -> frozenset[tuple[str, LabelValue]]:
        return frozenset((name, value) for name, value in own.items() if name != pairs.by)

    against = {others(own): point for point, own in labels.items() if own.get(pairs.by) == pairs.against}
    return {
        point: against[others(own)]
        for point, own in labels.items()
        if pairs.by in own and own[pairs.by] != pairs.against and others(own) in against
    }


def unpaired(precision: Precision, labels: Mapping[str, Mapping[str, LabelValue]], file: str) -> list[Problem]:
    """Return what is wrong with pairs of points that have these labels."""
    if precision.pairs is None or _references(precision.pairs, labels):
        return []
    known = sorted({name for own in labels.values() for name in own})
    by, against = precision.pairs.by, precision.pairs.against
    if by not in known:
        message = f'no point has the label "{plain(by)}"'
        return [Problem("precision.pairs.by", message, nearest(by, known), file=file)]
    values = sorted({str(own[by]) for own in labels.values() if by in own})
    message = f"no two points differ in {plain(by)} alone, one of them {plain(against)}"
    return [Problem("precision.pairs.against", message, nearest(str(against), values), file=file)]


def _share(goal: PrecisionGoal) -> float:
    """Return the share of the value that the half width may have; 0 if only a width is asked."""
    relative = _PERCENT.match(goal.relative)
    return float(relative[1]) / 100 if relative else 0.0


def _goal(goal: PrecisionGoal, measure: Measure) -> Goal:
    absolute = _WITH_UNIT.match(goal.absolute)
    return Goal(_share(goal), float(absolute[1]) / abs(measure.times) if absolute and measure.times else 0.0)


def _fits(labels: Mapping[str, LabelValue], measure: Measure) -> bool:
    """Return whether a measure is for a point with these labels."""
    return all(
        labels.get(name) in (value if isinstance(value, list) else [value]) for name, value in measure.where.items()
    )


def more_seeds(precision: Precision, stops: Mapping[str, Stop]) -> dict[str, int]:
    """Return the seeds of the next look for the points that are to have more; none if nothing follows."""
    more = {
        point: look
        for point, stop in stops.items()
        if not stop.is_enough and (look := _next_look(precision, stop.seeds)) is not None
    }
    if precision.runs is None:
        return more
    seeds = {point: stop.seeds for point, stop in stops.items()}
    wide = {p: math.inf if stop.excess is None else stop.excess for p, stop in stops.items()}
    return affordable(seeds, wide, more, precision.runs)


def _next_look(precision: Precision, seeds: int) -> int | None:
    """Return how many seeds come after these; `None` after the most."""
    later = [look for look in looks(precision.least, precision.seeds.most) if look > seeds]
    return later[0] if later else None
