"""Shares: a stacked bar of rates per setting, with Jain's index of fairness at its end."""

from __future__ import annotations

import numpy as np

from sojourn.answers.asking import Ask
from sojourn.answers.figure import Figure
from sojourn.answers.figures.common import caption_of, facets_of, unit_of
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.view import NotRecorded
from sojourn.declarations.figures import ShareFigure
from sojourn.plots.spec import Note, Panel, PlotSpec
from sojourn.plots.stack import stack_panel
from sojourn.stats.fairness import jain_index


def figure(study: OpenStudy, ask: Ask, definition: ShareFigure) -> Figure:
    """Draw a panel per facet, a bar per row.

    Raises `NotRecorded` if no point was run.
    """
    measures = [ask.measures[name] for name in definition.of]
    looks = {f"cycle-{n}": one.title or one.subject for n, one in enumerate(measures)}
    panels: list[Panel] = []
    for where, title in facets_of(study, definition):
        names: list[str] = []
        amounts: list[list[float]] = []
        for name, points in study.points.groups(where, [definition.rows]).items():
            run = [point for point in points if point.name in ask.view.points]
            if not run:
                continue
            found = [ask.estimate(one, run, "mean").value for one in measures]
            names.append(name)
            amounts.append([np.nan if value is None else value for value in found])
        if names:
            panels.append(_panel(definition, names, np.array(amounts).T, looks, title, unit_of(measures[0])))
    if not panels:
        message = f"needs points of {definition.title or definition.item}"
        raise NotRecorded(message)
    columns = definition.columns or min(3, len(panels))
    rows = max(len(panel.y.ticks) for panel in panels)
    lines = -(-len(panels) // columns)
    plot = PlotSpec(
        name=definition.item,
        title=definition.title,
        panels=tuple(panels),
        columns=columns,
        width=float(definition.width),
        height=float(definition.height or lines * (22 + 6.5 * rows) + 14),
        legend="below",
        description=definition.description or f"Shares of {', '.join(looks.values())} by {definition.rows}.",
    )
    points = study.points.select(definition.where)
    caption = definition.caption or "At the end of each bar: Jain's index of fairness, 1 if all get the same."
    return Figure(
        definition.item, plot, caption_of(study, ask, caption, points, what="Bars", figure=definition), definition.group
    )


def _panel(
    definition: ShareFigure, names: list[str], amounts: np.ndarray, looks: dict[str, str], title: str, unit: str
) -> Panel:
    total = amounts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        shown = amounts if definition.amounts else 100.0 * amounts / total
    panel = stack_panel(
        tuple(names),
        dict(zip(looks, shown, strict=True)),
        quantity="all together" if definition.amounts else "share",
        unit=unit if definition.amounts else "%",
        title=title,
        with_totals=False,
        labels=looks,
    )
    ends = shown.sum(axis=0)
    longest = float(np.nanmax(ends)) if np.isfinite(ends).any() else 1.0
    notes = [
        Note(float(end) + 0.015 * longest, float(at), f"{index:.2f}", "limit")
        for end, index, (at, _) in zip(ends, jain_index(amounts), panel.y.ticks, strict=True)
        if np.isfinite(end) and np.isfinite(index)
    ]
    return Panel(panel.x, panel.y, (*panel.marks, *notes), panel.title)
