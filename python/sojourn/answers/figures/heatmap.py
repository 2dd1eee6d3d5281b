"""A measure over two labels: a cell for each pair of values, the darker the larger, with its number."""

from __future__ import annotations

import math

from sojourn.answers.asking import Ask
from sojourn.answers.figure import Figure
from sojourn.answers.figures.common import caption_of, facets_of, unit_of
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.view import NotRecorded
from sojourn.base.digits import significant
from sojourn.base.metrics import words_of
from sojourn.declarations.base import Where
from sojourn.declarations.figures import HeatmapFigure
from sojourn.plots.spec import Axis, Cell, Cells, Panel, PlotSpec
from sojourn.stats.estimate import Estimate


def figure(study: OpenStudy, ask: Ask, definition: HeatmapFigure) -> Figure:
    """Draw a panel per facet; shades mean the same in all of them.

    Raises `NotRecorded` if no point has the measure.
    """
    by_panel = [(title, _found(study, ask, definition, where)) for where, title in facets_of(study, definition)]
    known = [one.value for _, found in by_panel for one in found.values() if one.value is not None]
    if not known:
        message = f"needs points of {definition.title or definition.item}"
        raise NotRecorded(message)
    measure = ask.measures[definition.measure]
    unit = unit_of(measure)
    xs, ys = (study.points.values(label, definition.where) for label in (definition.x, definition.y))
    ys.reverse()  # the first row stands on top
    words = measure.title or words_of(measure.metric)
    quantity = f"{words}, {unit}".rstrip(", ")
    panels = tuple(
        Panel(
            _axis(study, definition.x, xs),
            _axis(study, definition.y, ys),
            (_cells(found, xs, ys, (min(known), max(known)), unit, definition.scale, quantity),),
            title,
        )
        for title, found in by_panel
        if found
    )
    columns = definition.columns or min(3, len(panels))
    lines = -(-len(panels) // columns)
    plot = PlotSpec(
        name=definition.item,
        title=definition.title or quantity,
        panels=panels,
        columns=columns,
        legend="below",
        width=float(definition.width),
        height=float(definition.height or lines * (26 + 8 * len(ys)) + 12),
        description=definition.description or f"{words} by {definition.x} and {definition.y}.",
    )
    caption = definition.caption or f"{quantity[:1].upper()}{quantity[1:]}; the darker the more."
    points = study.points.select(definition.where)
    return Figure(
        definition.item,
        plot,
        caption_of(study, ask, caption, points, what="Cells", figure=definition),
        definition.group,
    )


def _found(study: OpenStudy, ask: Ask, definition: HeatmapFigure, where: Where) -> dict[tuple[str, str], Estimate]:
    found: dict[tuple[str, str], Estimate] = {}
    for point in study.points.select(where):
        if definition.x not in point.labels or definition.y not in point.labels:
            continue
        try:
            estimate = ask.estimate(ask.measures[definition.measure], [point], "mean")
        except NotRecorded:
            continue
        found[str(point.labels[definition.x]), str(point.labels[definition.y])] = estimate
    return found


def _axis(study: OpenStudy, label: str, values: list[str]) -> Axis:
    """Return an axis with a place for each value; numbers have the unit of their label beside its name."""
    unit = study.definition.label_units().get(label, "")
    ticks = tuple((float(place), study.points.short(label, value)) for place, value in enumerate(values))
    return Axis(label.replace("_", " "), unit, low=-0.5, high=len(values) - 0.5, ticks=ticks)


def _cells(
    found: dict[tuple[str, str], Estimate],
    xs: list[str],
    ys: list[str],
    ends: tuple[float, float],
    unit: str,
    scale: str,
    quantity: str,
) -> Cells:
    cells: list[Cell] = []
    for (x, y), estimate in found.items():
        if estimate.value is None:
            continue
        told = f"{significant(estimate.value, 3)} {unit}".strip()
        if estimate.low is not None and estimate.high is not None:
            told += f" ({significant(estimate.low, 3)} to {significant(estimate.high, 3)})"
        place = (float(xs.index(x)), float(ys.index(y)))
        shade = _shade(estimate.value, ends, scale)
        cells.append(Cell(*place, shade, significant(estimate.value, 3), told))
    return Cells(tuple(cells), "blue", quantity)


def _shade(value: float, ends: tuple[float, float], scale: str) -> float:
    """Return where a number lies between the least and the largest, from 0 to 1."""
    low, high = ends
    if scale == "log" and low > 0:
        value, low, high = math.log(value), math.log(low), math.log(high)
    return (value - low) / (high - low) if high > low else 0.5
