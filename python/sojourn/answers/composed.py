"""Measures that are made of other measures, run by run: chosen by a label, compared, or judged by the order they give.

Units and ranges: each has one number per seed of the point that is asked; a run of which one part is unknown has none.
Deviations: none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Protocol

import numpy as np

from sojourn.answers.selection import LabelledPoint, Points
from sojourn.answers.view import NotRecorded, StudyView
from sojourn.declarations.answers import Measure
from sojourn.declarations.base import Where


class Asked(Protocol):
    """Source of the parts."""

    view: StudyView
    points: Points
    measures: Mapping[str, Measure]

    def per_seed(self, measure: Measure, point: str) -> np.ndarray:
        """Return one number per seed of a point."""
        ...


COMPARED = ("difference", "ratio", "distance")
"""Keys of a measure that compares two others."""


def parts_of(measure: Measure) -> list[str]:
    """Return the measures that one is made of; empty if it is made of what runs recorded."""
    named = [name for choices in measure.by_label.values() for name in choices.values()]
    named += measure.order
    for key in COMPARED:
        named += [one for one in getattr(measure, key) if isinstance(one, str)]
    return named


def composed(ask: Asked, measure: Measure, point: str) -> np.ndarray | None:
    """Return one number per seed of a point, or nothing if the measure is made of what runs recorded.

    Raises `NotRecorded` if a part was not recorded, or the measure is not for this point.
    """
    for label, choices in measure.by_label.items():
        value = str(ask.points.point(point).labels.get(label))
        if value not in choices:
            raise NotRecorded(f"is not for {label} {value}")
        return ask.per_seed(ask.measures[choices[value]], point)
    if measure.order:
        return _in_order(ask, measure, point)
    for key in COMPARED:
        sides: Sequence[str | int | float] = getattr(measure, key)
        if sides:
            first, second = _sides(ask, sides, point)
            with np.errstate(divide="ignore", invalid="ignore"):
                if key == "difference":
                    return first - second
                return first / second if key == "ratio" else np.abs(first - second) / second
    return None


def _sides(ask: Asked, sides: Sequence[str | int | float], point: str) -> tuple[np.ndarray, np.ndarray]:
    """Return both sides of a comparison, a number per seed of the point."""
    count = len(ask.view.seeds(point))
    first, second = (
        ask.per_seed(ask.measures[side], point) if isinstance(side, str) else np.full(count, float(side))
        for side in sides
    )
    return first, second


def other_point(ask: Asked, at: Where, point: str) -> str:
    """Return the point that differs from one in these labels alone.

    Raises `NotRecorded` if there is none, or more than one.
    """
    labels: Where = {**ask.points.point(point).labels, **at}
    found = ask.points.select(labels)
    if len(found) != 1:
        raise NotRecorded(f"{point} has no one other point that differs in {', '.join(at)} alone")
    return found[0].name


def _in_order(ask: Asked, measure: Measure, point: str) -> np.ndarray:
    """Return for each seed the share of pairs of points that the first measure orders as the second does over all runs."""
    own = ask.points.point(point)
    fixed: Where = {k: v for k, v in own.labels.items() if k not in measure.among}
    points = [one for one in ask.points.select(fixed) if len(one.labels) == len(own.labels)]
    first, second = (ask.measures[name] for name in measure.order)
    seeds = ask.view.seeds(point)
    tests = np.array([_by_seed(ask, first, one, seeds) for one in points])
    truth = np.array([np.mean(ask.per_seed(second, one.name)) for one in points])
    sign = 1.0 if first.better == second.better else -1.0
    within = float(second.relative), float(second.absolute)
    return share_in_order(sign * tests, truth, *within)


def _by_seed(ask: Asked, measure: Measure, point: LabelledPoint, seeds: Sequence[int]) -> list[float]:
    known: Mapping[int, float] = dict(
        zip(ask.view.seeds(point.name), ask.per_seed(measure, point.name).tolist(), strict=True)
    )
    return [known.get(seed, math.nan) for seed in seeds]


def share_in_order(tests: np.ndarray, truth: np.ndarray, relative: float = 0.0, absolute: float = 0.0) -> np.ndarray:
    """Return for each column of tests the share of pairs of rows that it orders as the truth does; a tie is half right.

    Examples
    --------
    >>> share_in_order(np.array([[1.0, 5.0], [2.0, 4.0], [3.0, 4.0]]), np.array([10.0, 20.0, 30.0]))
    array([1.        , 0.16666667])
    """
    right: np.ndarray = np.zeros(len(tests[0]))
    pairs = 0
    for one, other in combinations(range(len(truth)), 2):
        apart = truth[one] - truth[other]
        nothing = max(absolute, relative * min(abs(truth[one]), abs(truth[other])))
        if abs(apart) > nothing:
            agreed: np.ndarray = np.sign(tests[one] - tests[other]) * np.sign(apart)
            right = right + 0.5 * (1 + agreed)
            pairs += 1
    return right / (pairs or math.nan)
