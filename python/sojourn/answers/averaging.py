"""Which numbers of a study's answers would be averages over labels that no reader sees.

A mark of a figure, a cell of a table and a value of a headline are each one number. If the points that it is made of
differ in a label that is no axis, panel or curve of it, the number is an average of things that may have nothing to do
with each other. Measures say over which labels they mean to average (`cells`, `pooled`); the rest is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from sojourn.answers.selection import LabelledPoint, Points
from sojourn.declarations.answers import Measure, NumbersTable, PrintedTable, RatedTable, Where, Winners
from sojourn.declarations.figures import (
    AnyFigure,
    CdfFigure,
    DistributionFigure,
    DotsFigure,
    FacetFigure,
    HeatmapFigure,
    RatioFigure,
    ShareFigure,
    StackFigure,
    SweepFigure,
    TimelineFigure,
    TradeoffFigure,
)

POINT = "point"
"""Stands for a label where points have the same labels and differ all the same."""

Answer = AnyFigure | Winners | NumbersTable | PrintedTable | RatedTable
_Number = tuple[Measure | None, list[LabelledPoint]]
"""A number: its measure, if it is one, and the points that it is made of."""


def hidden_labels(points: Sequence[LabelledPoint], measure: Measure | None = None) -> list[str]:
    """Return the labels in which the points of one number differ, but for those over which the measure means to average.

    Examples
    --------
    >>> points = [LabelledPoint("a", {"queue": "pie"}), LabelledPoint("b", {"queue": "codel"})]
    >>> (hidden_labels(points), hidden_labels(points, Measure(pooled=["queue"])), hidden_labels(points[:1]))
    (['queue'], [], [])
    """
    if len(points) < 2:
        return []
    labels = dict.fromkeys(label for point in points for label in point.labels)
    differ = [n for n in labels if len({str(point.labels.get(n)) for point in points}) > 1]
    meant = () if measure is None else (*measure.cells, *measure.pooled)
    return [label for label in differ or [POINT] if label not in meant]


def require_visible(points: Sequence[LabelledPoint], measure: Measure | None = None) -> None:
    """Make sure that one number may be made of these points.

    Raises `ValueError` if they differ in a label over which the measure does not mean to average.
    """
    hidden = hidden_labels(points, measure)
    if hidden:
        message = f"{len(points)} points that differ in {' and '.join(hidden)} would be one number"
        raise ValueError(message)


def hidden_of(points: Points, measures: Mapping[str, Measure], answer: Answer) -> dict[str, list[str]]:
    """Return the labels that numbers of a figure or table would average over, with the values that meet in one number."""
    found: dict[str, dict[str, None]] = {}
    for measure, chosen in numbers_of(points, measures, answer):
        for label in hidden_labels(chosen, measure):
            values = (p.name if label == POINT else str(p.labels.get(label, "")) for p in chosen)
            found.setdefault(label, {}).update(dict.fromkeys(values))
    return {label: list(values) for label, values in found.items()}


def ways_out(answer: Answer, label: str, value: str) -> str:
    """Return what can be done about a label whose values a figure or table would put together."""
    if label == POINT:
        return "give points with the same labels one more that tells them apart"
    facet = f"panels ({_facet(answer, label)})"
    seen = {
        "SweepFigure": f'{facet}, curves (lanes = "{label}")',
        "DotsFigure": f"{facet}, rows or lanes",
        "DistributionFigure": "panels (in `views`), lanes",
        "StackFigure": f"{facet}, rows",
        "ShareFigure": f"{facet}, rows",
        "HeatmapFigure": facet,
        "RatioFigure": "rows",
        "TradeoffFigure": facet,
        "CdfFigure": f"{facet}, lanes",
        "Winners": "rows, columns",
        "NumbersTable": "`views`, `compare`",
    }.get(type(answer).__name__)
    fixed = f'one value (where = {{ {label} = "{value}" }})'
    return f"give it {seen}, or {fixed}" if seen else f"give it {fixed}"


def _facet(answer: Answer, label: str) -> str:
    """Return the key that makes panels of a label, beside those that are panels already."""
    known = answer.facets if isinstance(answer, FacetFigure) else []
    names = ", ".join(f'"{name}"' for name in [*known, label])
    return f"facet = [{names}]" if known else f"facet = {names}"


def numbers_of(points: Points, measures: Mapping[str, Measure], answer: Answer) -> Iterator[_Number]:
    """Return the points of which each number of a figure or table would be made, if all were run."""
    for measure, chosen in _asked(points, measures, answer):
        if measure is None:
            yield measure, chosen
        elif isinstance(answer, Winners):  # a place that the measure is not for has no value
            yield measure, points.within(measure.where, chosen)
        elif isinstance(answer, (SweepFigure, DotsFigure, DistributionFigure)):
            yield measure, points.meant(measure.where, answer.where, chosen)
        else:
            yield measure, chosen


def _asked(points: Points, measures: Mapping[str, Measure], answer: Answer) -> Iterator[_Number]:
    """Return the points that a figure or table asks for, whatever its measures are for."""
    if isinstance(answer, SweepFigure):
        labels = [answer.over, answer.lanes, *answer.facets]
        of_panels = [line.measure for panel in answer.panels for line in panel.lines]
        yield from _each(points, measures, of_panels, answer.where, labels)
    elif isinstance(answer, DotsFigure):
        own = [panel.measure for panel in answer.panels]
        lanes = [answer.lanes] if isinstance(answer.lanes, str) else []
        none: Where = {}
        within = [none] if isinstance(answer.lanes, str) else [one.where for one in answer.lanes]
        labels = [*answer.rows, *lanes, answer.facet]
        for where in within:
            yield from _each(points, measures, own, {**answer.where, **where}, labels)
    elif isinstance(answer, DistributionFigure):
        for view in answer.views:
            labels = [*view, answer.lanes]
            yield from _each(points, measures, [answer.measure], answer.where, labels)
    elif isinstance(answer, ShareFigure):
        yield from _each(points, measures, answer.of, answer.where, [answer.rows, *answer.facets])
    elif isinstance(answer, HeatmapFigure):
        labels = [answer.x, answer.y, *answer.facets]
        yield from _each(points, measures, [answer.measure], answer.where, labels)
    elif isinstance(answer, RatioFigure):
        labels = [*answer.rows, answer.lanes]
        yield from _each(points, measures, answer.measures, answer.where, labels)
    elif isinstance(answer, TradeoffFigure):
        labels = [answer.lanes, *answer.facets]
        yield from _each(points, measures, [answer.x, answer.y], answer.where, labels)
    elif isinstance(answer, CdfFigure):
        labels = [answer.lanes, *answer.facets]
        yield from _each(points, measures, [answer.measure], answer.where, labels)
    elif isinstance(answer, TimelineFigure):
        yield from _each(points, measures, [], answer.where, [answer.lanes])
    elif isinstance(answer, StackFigure):
        yield from _each(points, measures, [], answer.where, [answer.rows, *answer.facets])
    elif isinstance(answer, Winners):
        labels = [*answer.rows, answer.columns, answer.compare]
        yield from _each(points, measures, answer.measures, answer.where, labels)
    elif isinstance(answer, NumbersTable):
        own = [column.measure for column in answer.columns]
        for view in answer.views:
            labels = [*view, answer.compare]
            yield from _each(points, measures, own, answer.where, labels)
    elif isinstance(answer, PrintedTable):
        for group in answer.groups:
            own = {column.measure for column in group.columns} & set(measures)
            sides = [group.where, group.against] if group.compare else [group.where]
            for one, side in product(sorted(own), sides):
                where = {**measures[one].where, **answer.where, **side}
                yield from _each(points, measures, [one], where, [answer.rows])
    elif isinstance(answer, RatedTable):
        own = {column.measure for column in answer.columns} & set(measures)
        for one, row in product(sorted(own), answer.rows):
            where = {**measures[one].where, **answer.where, **row.where}
            yield from _each(points, measures, [one], where, [])


def _each(
    points: Points, measures: Mapping[str, Measure], names: Sequence[str], where: Where, labels: Sequence[str]
) -> Iterator[_Number]:
    """Return the groups that labels make of the points that are meant, for each measure that is known."""
    by = [label for label in labels if label]
    name = "\n".join(f"{{{label}}}" for label in by)
    known = [measures[one] for one in dict.fromkeys(names) if one in measures]
    for chosen in points.groups(where, by, name).values():
        yield from ((measure, chosen) for measure in known)
        if not known:
            yield None, chosen
