"""Sweeps: measures over the values of a label, in equal steps, with their intervals."""

from __future__ import annotations

import numpy as np

from sojourn.answers.asking import Ask
from sojourn.answers.figure import Figure
from sojourn.answers.figures.common import caption_of, number_or_none, rules_of, ticks_of
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.selection import LabelledPoint
from sojourn.answers.view import NotRecorded
from sojourn.declarations.base import Where
from sojourn.declarations.figures import SweepFigure, SweepLine, SweepPanel
from sojourn.plots.spec import Axis, Band, Dots, Line, Mark, Panel, PlotSpec, Rule
from sojourn.stats.estimate import Estimate

__all__ = ["figure"]


def figure(study: OpenStudy, ask: Ask, definition: SweepFigure) -> Figure:
    """Draw rows of panels, a column per facet.

    Raises
    ------
    NotRecorded
        If no point was run.
    """
    values = study.points.values(definition.over, definition.where)
    facets = study.points.values(definition.facet, definition.where) if definition.facet else [""]
    run = [p for p in study.points.select(definition.where) if p.name in ask.view.points]
    facets = [
        facet
        for facet in facets
        if not facet or any(str(point.labels[definition.facet]) == facet for point in run)
    ]
    panels: list[Panel] = []
    rows = 0
    for panel in definition.panels:
        drawn = [_panel(study, ask, definition, panel, run, values, facet) for facet in facets]
        known = [one for one in drawn if one is not None]
        panels += known
        rows += bool(known)
    if not panels:
        message = f"needs points with other values of {definition.over}"
        raise NotRecorded(message)
    columns = definition.columns or len(facets)
    plot = PlotSpec(
        name=definition.item,
        title=definition.title,
        panels=tuple(panels),
        columns=columns,
        width=float(min(180, 90 * columns)),
        height=float(definition.height or 62 * rows + 12),
        share_x=True,
        legend="below",
        description=definition.description,
    )
    caption = caption_of(study, ask, definition.caption, run, what="Bands")
    return Figure(definition.item, plot, caption, definition.group)


def _panel(
    study: OpenStudy,
    ask: Ask,
    definition: SweepFigure,
    panel: SweepPanel,
    run: list[LabelledPoint],
    values: list[str],
    facet: str,
) -> Panel | None:
    marks: list[Mark] = [*rules_of(panel)]
    if definition.mark:
        marks.append(Rule(float(values.index(definition.mark)), "x"))
    rules = len(marks)
    where: Where = {definition.facet: facet} if facet else {}
    wanted = {point.name for point in study.points.select({**definition.where, **where})}
    chosen = [point for point in run if point.name in wanted]
    for number, line in enumerate(panel.lines):
        look = line.look or f"cycle-{number}"
        marks += _curve(ask, definition, panel, line, look, chosen, values)
    if len(marks) == rules:
        return None
    first = ask.measures[panel.lines[0].measure]
    names = [study.points.name(definition.over, value) for value in values]
    title = ""
    if panel.title and facet:
        name, words = (f(definition.facet, facet) for f in (study.points.name, study.points.title))
        title = name if words == name else f"{name}: {words}"
    return Panel(
        x=Axis(
            definition.quantity or definition.over,
            low=-0.5,
            high=len(values) - 0.5,
            ticks=tuple((float(place), name) for place, name in enumerate(names)),
        ),
        y=Axis(
            panel.quantity or first.title,
            first.unit if panel.unit is None else panel.unit,
            scale=panel.scale,
            low=number_or_none(panel.low),
            high=number_or_none(panel.high),
            ticks=ticks_of(panel),
        ),
        marks=tuple(marks),
        title=title,
    )


def _curve(
    ask: Ask,
    definition: SweepFigure,
    panel: SweepPanel,
    line: SweepLine,
    look: str,
    points: list[LabelledPoint],
    values: list[str],
) -> list[Mark]:
    """One curve with a mark at each value; nothing if the measure is not there."""
    measure = ask.measures[line.measure]
    found: list[tuple[int, Estimate]] = []
    for place, value in enumerate(values):
        chosen = [point for point in points if str(point.labels[definition.over]) == value]
        try:
            estimate = ask.estimate(measure, chosen, "mean")
        except NotRecorded:
            continue
        if estimate.value is not None:
            found.append((place, estimate))
    if not found:
        return []
    floor = number_or_none(panel.floor)
    x = np.array([float(place) for place, _ in found])
    y = np.array([estimate.value for _, estimate in found], dtype=float)
    shown = y if floor is None else np.maximum(y, floor)
    marks: list[Mark] = [Line(x, shown, look), Dots(x, shown, look, line.label)]
    if all(estimate.low is not None for _, estimate in found):
        low = np.array([estimate.low for _, estimate in found], dtype=float)
        high = np.array([estimate.high for _, estimate in found], dtype=float)
        if panel.scale == "log":  # as large a factor up as down, see `interval_within`
            with np.errstate(divide="ignore", invalid="ignore"):
                factor = np.exp((high - y) / y)
            low, high = y / factor, y * factor
        marks.insert(0, Band(x, np.maximum(low, floor or 0.0), high, look, step=False))
    return marks
