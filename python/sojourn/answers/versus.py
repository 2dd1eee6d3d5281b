"""A measure of points against the same measure of others: by pairs of runs with the same seed, which saw the same arrivals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.answers.measured import Measured
from sojourn.answers.selection import LabelledPoint
from sojourn.answers.view import NotRecorded
from sojourn.declarations.answers import Measure, Value, Where
from sojourn.stats.estimate import paired_difference, paired_ratio
from sojourn.stats.quantity import is_compared_by_ratio


def against_others(ask: Measured, measure: Measure, value: Value, points: Sequence[LabelledPoint]) -> float:
    """Return how points compare with those of `versus`, or an end of the interval over pairs of runs.

    Several points are averaged within each seed.

    Raises `NotRecorded` if a point has no other, one was not run, or no pair of runs has both numbers.
    """
    others: list[LabelledPoint] = []
    for point in points:
        labels: Where = {**point.labels, **value.versus}
        others += ask.points.select(labels)
    if len(others) != len(points):
        raise NotRecorded("not every point has one other that differs in the labels of `versus` alone")
    ask.require_long([*points, *others])
    first, second = (ask.by_seed(measure, side, strict=True) for side in (points, others))
    seeds = [seed for seed in first if seed in second]
    ours, theirs = (np.array([side[seed] for seed in seeds]) for side in (first, second))
    if np.isinf(ours).any() or np.isinf(theirs).any():
        raise NotRecorded("it never came in some runs, which cannot be paired")
    usual = "ratio" if is_compared_by_ratio(measure.unit) else "difference"
    how = value.compared or measure.compared or usual
    found = (paired_ratio if how == "ratio" else paired_difference)(ours, theirs)
    number = {"low": found.low, "high": found.high}.get(value.end, found.value)
    if number is None:
        wanted = "two pairs" if value.end else "a pair"
        raise NotRecorded(f"needs {wanted} of runs with the same seed, above zero for a ratio")
    return number
