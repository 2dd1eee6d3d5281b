"""Swarms: each competitor a row, each point a small mark, their mean a large one."""

from __future__ import annotations

import numpy as np

from sojourn.answers.asking import Ask
from sojourn.answers.figure import Figure
from sojourn.answers.figures.common import caption_of, look_of, number_or_none, rules_of, ticks_of, unit_of
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.selection import LabelledPoint
from sojourn.answers.view import NotRecorded
from sojourn.declarations.figures import SwarmFigure
from sojourn.plots.spec import Axis, Dots, Mark, Panel, PlotSpec, Rule

_STEP = 0.22
"""Height of a stratum within a row, as a share of it, and where their mean stands, below them."""

_UP = 0.12
_MEAN = -0.34


def figure(study: OpenStudy, ask: Ask, definition: SwarmFigure) -> Figure:
    """Draw a panel per facet.

    Raises `NotRecorded` if no point has the number.
    """
    points = ask.complete(definition.where, definition.lanes)
    facets = study.points.values(definition.facet, definition.where)
    panels = tuple(_panel(study, ask, definition, points, facet, with_names=facet == facets[0]) for facet in facets)
    if not any(isinstance(mark, Dots) for panel in panels for mark in panel.marks):
        message = f"needs {definition.title}"
        raise NotRecorded(message)
    plot = PlotSpec(
        name=definition.item,
        title=definition.title,
        panels=panels,
        columns=definition.columns or len(panels),
        width=float(definition.width),
        height=float(definition.height or 80),
        description=definition.description,
    )
    what = "Means over seeds"
    where = definition.where
    caption = caption_of(study, ask, definition.caption, points, what=what, where=where)
    return Figure(definition.item, plot, caption, definition.group)


def _panel(
    study: OpenStudy, ask: Ask, definition: SwarmFigure, points: list[LabelledPoint], facet: str, *, with_names: bool
) -> Panel:
    panel, label = definition.panel, definition.lanes
    measure = ask.measures[panel.measure]
    lanes = [
        value
        for value in study.points.values(label, definition.where)
        if any(str(point.labels[label]) == value for point in points)
    ]
    strata = study.points.values(definition.strata, definition.where)
    middle = (len(strata) - 1) / 2
    floor = number_or_none(panel.floor)
    marks: list[Mark] = [Rule(row + 0.5, "y", look="grid") for row in range(len(lanes) - 1)]
    marks += rules_of(panel)
    for row, lane in enumerate(reversed(lanes)):
        found: list[tuple[float, float]] = []
        for place, stratum in enumerate(strata):
            where = {label: lane, definition.facet: facet, definition.strata: stratum}
            chosen = study.points.within({**definition.where, **where}, points)
            for point in study.points.meant(measure.where, definition.where, chosen):
                try:
                    value = ask.estimate(measure, [point], panel.seeds).value
                except NotRecorded:
                    continue
                if value is not None:
                    found.append((row + _UP + _STEP * (middle - place), value))
        if not found:
            continue
        heights, values = np.array(found).T
        shown = values if floor is None else np.maximum(values, floor)
        look = look_of(study, label, lane)
        marks.append(Dots(shown, heights, look, filled=False))
        mean = max(float(values.mean()), floor or float(values.mean()))
        name = study.points.short(label, lane)
        marks.append(Dots(np.array([mean]), np.array([row + _MEAN]), look, name))
    names = [study.points.short(label, lane) for lane in reversed(lanes)]
    return Panel(
        x=Axis(
            panel.quantity or measure.title,
            unit_of(measure) if panel.unit is None else panel.unit,
            scale=panel.scale,
            low=number_or_none(panel.low),
            high=number_or_none(panel.high),
            ticks=ticks_of(panel),
        ),
        y=Axis(
            low=-0.6,
            high=len(names) - 0.4,
            ticks=tuple((float(row), name if with_names else "") for row, name in enumerate(names)),
        ),
        marks=tuple(marks),
        title=study.points.title(definition.facet, facet),
    )
