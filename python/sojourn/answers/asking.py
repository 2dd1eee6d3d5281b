"""Asking a result for the values that a study declares, or that its module asks for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sojourn.answers.averaging import require_visible
from sojourn.answers.measured import Measured
from sojourn.answers.numbers import Numbers, combined, complete, group_by_group, line, look_up, ratio, reduced, single
from sojourn.answers.selection import LabelledPoint, Points
from sojourn.answers.versus import against_others
from sojourn.answers.view import NotRecorded, StudyView
from sojourn.declarations.answers import Measure, Value, Where


class Ask(Measured):
    """Questions to one result, in the words of its study.

    Parameters
    ----------
    view, points, functions
        As of `Measured`.
    measures
        By name.
    """

    def __init__(
        self, view: StudyView, points: Points, measures: Mapping[str, Measure], functions: Mapping[str, Any]
    ) -> None:
        super().__init__(view, points, measures, functions)

    # ---- in the study's module --------------------------------------------------------------------
    # What a run did not give raises `NotRecorded`: no comparison of a module decides by a number that is unknown.

    def number(self, measure: str, *, over: str | None = None, **where: Any) -> float:  # noqa: ANN401
        """Return one number; labels given as lists are reduced by `over`."""
        value = reduced(self.numbers(measure, **where), over)
        if isinstance(value, dict):
            (value,) = value.values()
        return value

    def numbers(
        self,
        measure: str,
        *,
        by: Sequence[str] | None = None,
        name: str = "",
        across: str | None = None,
        **where: Any,  # noqa: ANN401
    ) -> dict[str, float]:
        """Return numbers by group; labels given as lists make the groups unless `by` names others."""
        definition = self.measures[measure]
        labels = _listed(where) if by is None else by
        groups = self.points.groups({**definition.where, **where}, labels, name)
        if not groups:
            raise _no_points(where)
        return {
            text: _known(
                self._number(definition, points, across, definition.seeds), f"{measure} of {text or points[0].name}"
            )
            for text, points in groups.items()
        }

    def at(self, measure: str, point: str) -> float:
        """Return the number of one point by its name."""
        definition = self.measures[measure]
        found = self._number(definition, [self.points.point(point)], None, definition.seeds)
        return _known(found, f"{measure} of {point}")

    # ---- declared values --------------------------------------------------------------------------

    def values(self, definitions: Mapping[str, Value]) -> dict[str, Numbers]:
        """Evaluate named values in their order; later ones may build on earlier ones.

        Raises `NotRecorded` if the result does not hold what one of them asks for.
        """
        found: dict[str, Numbers] = {}
        for name, definition in definitions.items():
            found[name] = self._value(definition, found)
        return found

    def _value(self, one: Value, found: Mapping[str, Numbers]) -> Numbers:
        value = self._raw(one, found)
        if one.finite and isinstance(value, dict):
            value = {name: v for name, v in value.items() if math.isfinite(v)}
        value = reduced(value, one.over)
        if one.log:
            value = group_by_group(value, 0.0, lambda v, _: math.log(v) if v > 0 else math.nan)
        if one.times != 1:
            value = group_by_group(value, float(one.times), lambda v, factor: factor * v)
        if one.plus:
            value = group_by_group(value, float(one.plus), lambda v, more: v + more)
        return group_by_group(value, 0.0, lambda v, _: abs(v)) if one.absolute else value

    def _raw(self, one: Value, found: Mapping[str, Numbers]) -> Numbers:
        if one.measure:
            return self._asked(one)
        if one.function:
            return self.functions[one.function](self)
        if one.ratio:
            first, second = (look_up(found, name) for name in one.ratio)
            return group_by_group(first, second, ratio)
        if one.difference:
            first, second = (look_up(found, name) for name in one.difference)
            return group_by_group(first, second, lambda a, b: a - b)
        if one.sum:
            total: Numbers = 0.0
            for name in one.sum:
                total = group_by_group(total, look_up(found, name), lambda a, b: a + b)
            return total
        if one.together:
            return {name: single(look_up(found, value)) for name, value in one.together.items()}
        if one.slope or one.fit:
            slope, fit = line(look_up(found, one.slope or one.fit), one.against)
            return slope if one.slope else fit
        whole = look_up(found, one.of)
        if one.only and isinstance(whole, dict):
            return {name: whole.get(name, math.nan) for name in one.only}
        return whole

    def _asked(self, one: Value) -> Numbers:
        measure = self.measures[one.measure]
        seeds = one.seeds or measure.seeds

        def asked(points: Sequence[LabelledPoint], across: str | None) -> float:
            if one.versus:
                return against_others(self, measure, one, points)
            if one.end:
                return self._end(measure, points, seeds, one.end)
            return self._number(measure, points, across, seeds)

        if one.points:
            by_name = {name: asked([self.points.point(point)], None) for name, point in one.points.items()}
            return by_name[""] if list(by_name) == [""] else by_name
        labels = _listed(one.where) if one.by is None else one.by
        groups = self.points.groups({**measure.where, **one.where}, labels, one.name)
        if not groups:
            raise _no_points(one.where)
        found = {text: asked(points, one.across) for text, points in groups.items()}
        if list(found) == [""]:
            return found[""]
        return found

    # ---- numbers ----------------------------------------------------------------------------------

    def _number(self, measure: Measure, points: Sequence[LabelledPoint], across: str | None, seeds: str) -> float:
        self.require_long(points)
        if measure.samples:
            if across is None:
                require_visible(points, measure)
            mixed = self.distributions(measure, points, strict=True)
            return combined(self.of_each(measure, mixed), seeds)
        self.view.require(*(point.name for point in points))
        if len(points) == 1:
            return combined(self.per_seed(measure, points[0].name), seeds)
        if across is None:
            message = f"{len(points)} points in one group and no `across`: {points[0].name}, …"
            raise ValueError(message)
        cells: dict[tuple[str, ...], list[float]] = {}
        for point in points:
            number = combined(self.per_seed(measure, point.name), seeds)
            labels = tuple(str(point.labels.get(label)) for label in measure.cells)
            cells.setdefault(labels, []).append(number)
        return complete([complete(numbers, across) for numbers in cells.values()], across)

    def _end(self, measure: Measure, points: Sequence[LabelledPoint], seeds: str, end: str) -> float:
        """Return an end of the interval over seeds; needs two runs or more, none of which never came."""
        self.require_long(points)
        if measure.samples:
            self.distributions(measure, points, strict=True)
        elif np.isinf(self.seed_means(measure, points)).any():
            raise NotRecorded("it never came in some runs, so there is no interval")
        estimate = self.estimate(measure, points, seeds)
        found = estimate.low if end == "low" else estimate.high
        if found is None:
            raise NotRecorded("needs two seeds or more")
        return found


def _no_points(where: Where) -> NotRecorded:
    chosen = ", ".join(f"{label} {value}" for label, value in where.items())
    return NotRecorded(f"needs points with {chosen}")


def _known(value: float, what: str) -> float:
    """Return a number that is one.

    Raises `NotRecorded` if it is unknown.
    """
    if math.isnan(value):
        raise NotRecorded(f"{what} is unknown: no run gave it")
    return value


def _listed(where: Where) -> list[str]:
    return [label for label, values in where.items() if isinstance(values, list)]
