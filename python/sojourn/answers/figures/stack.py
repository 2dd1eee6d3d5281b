"""Causes of delay as stacked bars."""

from __future__ import annotations

import numpy as np
import polars as pl

from sojourn.answers.asking import Ask
from sojourn.answers.averaging import require_visible
from sojourn.answers.figure import Figure
from sojourn.answers.figures.common import facets_left, facets_of
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.view import StudyView
from sojourn.base.metrics import delay_causes
from sojourn.declarations.figures import StackFigure
from sojourn.plots.spec import PlotSpec
from sojourn.plots.stack import stack_panel

_LONG = 100.0
"""Bars longer than this are written without decimals."""


def mean_delay_parts(view: StudyView, point: str, subject: str, direction: str) -> dict[str, float]:
    """Mean delay of a subject's packets by cause, ms, all seeds together; round trips sum both directions."""
    if direction == "round-trip":
        ways = [mean_delay_parts(view, point, subject, way) for way in ("upstream", "downstream")]
        causes = dict.fromkeys(cause for way in ways for cause in way)
        return {cause: sum(way.get(cause, 0.0) for way in ways) for cause in causes}
    rows = (
        view.table("delays", point)
        .filter((pl.col("traffic") == subject) & (pl.col("direction") == direction))
        .group_by("cause")
        .agg(pl.col("packets").sum(), pl.col("total_ns").sum())
    )
    return {
        cause: float(total) / float(packets) / 1e6 if packets else 0.0 for cause, packets, total in rows.iter_rows()
    }


def figure(study: OpenStudy, ask: Ask, definition: StackFigure) -> Figure:
    """Draw a panel per facet, a bar per row.

    Raises `NotRecorded` if a point was not run.
    """
    causes = {
        cause: words
        for cause, words in {**delay_causes(), **definition.causes}.items()
        if cause not in definition.leave_out
    }
    found: dict[str, dict[str, dict[str, float]]] = {}
    for where, title in facets_of(study, definition, short=True):
        for name, points in study.points.groups(where, [definition.rows]).items():
            require_visible(points)
            known = mean_delay_parts(ask.view, points[0].name, definition.subject, definition.direction)
            parts = {cause: value for cause, value in known.items() if cause in causes}
            found.setdefault(title, {})[name] = parts
    used = {cause for rows in found.values() for parts in rows.values() for cause, value in parts.items() if value > 0}
    panels = tuple(
        stack_panel(
            tuple(rows),
            {cause: np.array([parts.get(cause, 0.0) for parts in rows.values()]) for cause in causes if cause in used},
            quantity="mean round trip" if definition.direction == "round-trip" else "mean delay",
            unit="ms",
            title=title,
            decimals=0 if max(sum(parts.values()) for parts in rows.values()) >= _LONG else 1,
            labels=causes,
        )
        for title, rows in found.items()
    )
    columns = definition.columns or (len(panels) if len(panels) <= 4 else 3)
    lines = -(-len(panels) // columns)
    height = 34 + 6 * max(len(rows) for rows in found.values())
    plot = PlotSpec(
        name=definition.item,
        title=definition.title,
        panels=panels,
        columns=columns,
        width=float(definition.width),
        height=float(definition.height or height + (height - 12) * (lines - 1)),
        legend="below",
        description=definition.description,
    )
    caption = definition.caption + facets_left(study, definition)
    return Figure(definition.item, plot, caption, definition.group)
