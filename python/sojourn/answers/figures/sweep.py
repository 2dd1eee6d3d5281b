"""Sweeps: measures over the values of a label, in equal steps, with their intervals."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sojourn.answers.asking import Ask
from sojourn.answers.figure import Figure
from sojourn.answers.figures.common import (
    caption_of,
    condition_words,
    facets_of,
    look_of,
    number_or_none,
    rules_of,
    ticks_of,
    unit_of,
)
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.selection import LabelledPoint
from sojourn.answers.view import NotRecorded
from sojourn.base.metrics import words_of
from sojourn.declarations.base import Where
from sojourn.declarations.figures import SweepFigure, SweepLine, SweepPanel
from sojourn.plots.scales import on_one_scale
from sojourn.plots.spec import Axis, Band, Dots, Line, Mark, Panel, PlotSpec, Rule
from sojourn.stats.estimate import Estimate

MOST_COLUMNS = 5
"""More facets than these wrap. chosen: what stood beside each other could be read."""


def figure(study: OpenStudy, ask: Ask, definition: SweepFigure) -> Figure:
    """Draw rows of panels, a column per facet, with a curve per lane or measure.

    Raises `NotRecorded` if no point was run.
    """
    values = study.points.values(definition.over, definition.where)
    run = [p for p in study.points.select(definition.where) if p.name in ask.view.points]
    facets = [
        (where, title) for where, title in facets_of(study, definition) if not title or study.points.within(where, run)
    ]
    columns = definition.columns or (len(facets) if len(facets) <= MOST_COLUMNS else 3)
    titled = any(panel.title for panel in definition.panels)
    panels: list[Panel] = []
    for place, panel in enumerate(definition.panels):
        # Panels stand below those of the same facet, if each facet has a column of its own.
        with_title = panel.title or columns != len(facets) or not (titled or place)
        drawn = [
            _panel(study, ask, definition, panel, run, values, facet, title if with_title else "")
            for facet, title in facets
        ]
        known = [one for one in drawn if one is not None]
        panels += on_one_scale(known) if definition.scales == "shared" else known
    if not panels:
        message = f"needs points with other values of {definition.over}"
        raise NotRecorded(message)
    plot = PlotSpec(
        name=definition.item,
        title=definition.title,
        panels=tuple(panels),
        columns=columns,
        width=float(min(180, 90 * columns)),
        height=float(definition.height or 62 * -(-len(panels) // columns) + 12),
        share_x=True,
        legend="below",
        description=definition.description,
    )
    caption = caption_of(study, ask, definition.caption, run, what="Bands", figure=definition)
    return Figure(definition.item, plot, caption, definition.group)


def _panel(
    study: OpenStudy,
    ask: Ask,
    definition: SweepFigure,
    panel: SweepPanel,
    run: list[LabelledPoint],
    values: list[str],
    facet: Where,
    title: str,
) -> Panel | None:
    marks: list[Mark] = [*rules_of(panel)]
    if definition.mark:
        marks.append(Rule(float(values.index(definition.mark)), "x"))
    rules = len(marks)
    for line, where, look, label in _lines(study, ask, definition, panel):
        meant = {**facet, **where}
        wanted = {point.name for point in study.points.select(meant)}
        chosen = [point for point in run if point.name in wanted]
        marks += _curve(ask, definition, panel, line.measure, look, label, chosen, values)
    if len(marks) == rules:
        return None
    first = ask.measures[panel.lines[0].measure]
    names = [study.points.name(definition.over, value) for value in values]
    over = definition.over
    return Panel(
        x=Axis(
            definition.quantity or over.replace("_", " "),
            "" if definition.quantity else study.definition.label_units().get(over, ""),
            low=-0.5,
            high=len(values) - 0.5,
            ticks=tuple((float(place), name) for place, name in enumerate(names)),
        ),
        y=Axis(
            panel.quantity or first.title or words_of(first.metric),
            unit_of(first) if panel.unit is None else panel.unit,
            scale=panel.scale,
            low=number_or_none(panel.low),
            high=number_or_none(panel.high),
            ticks=ticks_of(panel),
        ),
        marks=tuple(marks),
        title=title,
    )


def _lines(
    study: OpenStudy, ask: Ask, definition: SweepFigure, panel: SweepPanel
) -> Iterator[tuple[SweepLine, Where, str, str]]:
    """Yield what each curve shows: its measure, its points by label, its look and its name in the legend."""
    lanes = definition.lanes
    if lanes:
        (line,) = panel.lines
        for value in study.points.values(lanes, definition.where):
            name = condition_words(study, lanes, value, short=True)
            yield line, {lanes: value}, look_of(study, lanes, value), name
        return
    for number, line in enumerate(panel.lines):
        measure = ask.measures[line.measure]
        name = line.label or (measure.title or line.measure if len(panel.lines) > 1 else "")
        yield line, {}, line.look or f"cycle-{number}", name


def _curve(
    ask: Ask,
    definition: SweepFigure,
    panel: SweepPanel,
    name: str,
    look: str,
    label: str,
    points: list[LabelledPoint],
    values: list[str],
) -> list[Mark]:
    """One curve with a mark at each value; nothing if the measure is not there."""
    measure = ask.measures[name]
    points = ask.points.meant(measure.where, definition.where, points)
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
    marks: list[Mark] = [Line(x, shown, look), Dots(x, shown, look, label)]
    if all(estimate.low is not None for _, estimate in found):
        low = np.array([estimate.low for _, estimate in found], dtype=float)
        high = np.array([estimate.high for _, estimate in found], dtype=float)
        if panel.scale == "log":  # as large a factor up as down, see `interval_within`
            with np.errstate(divide="ignore", invalid="ignore"):
                factor = np.exp((high - y) / y)
            low, high = y / factor, y * factor
        marks.insert(0, Band(x, np.maximum(low, floor or 0.0), high, look, step=False))
    return marks
