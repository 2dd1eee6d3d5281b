"""One measure against another: a mark per competitor, with the ellipse that holds two thirds of its runs.

Source: ellipses of one standard deviation, as K. Winstein and H. Balakrishnan draw throughput against delay ("TCP ex
Machina", SIGCOMM 2013); a run is a seed.
Deviations: the ellipse of few seeds is as wide as their covariance says, which is uncertain itself.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sojourn.answers.asking import Ask
from sojourn.answers.figure import Figure
from sojourn.answers.figures.common import axis_of, caption_of, facets_of, look_of
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.view import NotRecorded
from sojourn.declarations.base import Where
from sojourn.declarations.figures import TradeoffFigure
from sojourn.plots.spec import Axis, Dots, Line, Panel, PlotSpec

LEAST_RUNS = 3
"""Runs from which an ellipse is drawn. chosen: two lie on a line."""

TWO_THIRDS = math.sqrt(2 * math.log(3))
"""Half axes of the ellipse that holds two thirds of a bivariate normal distribution, in standard deviations."""


def figure(study: OpenStudy, ask: Ask, definition: TradeoffFigure) -> Figure:
    """Draw a panel per facet.

    Raises `NotRecorded` if no run has both measures.
    """
    x, y = (ask.measures[name] for name in (definition.x, definition.y))
    drawn = [
        (title, marks)
        for where, title in facets_of(study, definition)
        if (marks := _marks(study, ask, definition, where))
    ]
    columns = definition.columns or max(1, min(3, len(drawn)))
    if not drawn:
        message = f"needs runs with {definition.x} and {definition.y}"
        raise NotRecorded(message)
    every = [mark for _, marks in drawn for mark in marks]
    is_shared = definition.scales == "shared"
    panels: list[Panel] = []
    for place, (title, marks) in enumerate(drawn):
        seen = every if is_shared else marks
        across = _around(axis_of(definition.x, x, scale=definition.scale), [one.x for one in seen])
        up = _around(axis_of(definition.y, y), [one.y for one in seen])
        if place % columns:
            up = replace(up, quantity="", unit="")
        panels.append(Panel(across, up, marks, title))
    lines = -(-len(panels) // columns)
    plot = PlotSpec(
        name=definition.item,
        title=definition.title,
        panels=tuple(panels),
        columns=columns,
        width=float(definition.width if columns > 1 else min(definition.width, 120)),
        height=float(definition.height or 68 * lines + 14),
        share_x=is_shared,
        share_y=is_shared,
        legend="below",
        description=definition.description or f"{definition.y} over {definition.x} by {definition.lanes}.",
    )
    better = {"less": ("left", "down"), "more": ("right", "up")}
    words = f"{better[y.better][1]} and {better[x.better][0]} is better"
    caption = definition.caption or (
        f"Means over seeds; {words}. Ellipses hold two thirds of the runs, small marks are runs."
    )
    points = study.points.select(definition.where)
    return Figure(
        definition.item,
        plot,
        caption_of(study, ask, caption, points, what="Ellipses", figure=definition),
        definition.group,
    )


def _around(axis: Axis, values: list[np.ndarray]) -> Axis:
    """Return an axis that holds all values with some air, the same in all panels."""
    known = np.concatenate(values)
    low, high = float(known.min()), float(known.max())
    if axis.scale == "log":
        air = (high / low) ** 0.06 if high > low else 1.5
        return replace(axis, low=low / air, high=high * air)
    air = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    return replace(axis, low=low - air, high=high + air)


def _marks(study: OpenStudy, ask: Ask, definition: TradeoffFigure, where: Where) -> tuple[Line | Dots, ...]:
    marks: list[Line | Dots] = []
    for value in study.points.values(definition.lanes, where):
        points = study.points.select({**where, definition.lanes: value})
        run = [point for point in points if point.name in ask.view.points]
        try:
            sides = [ask.by_seed(ask.measures[name], run) for name in (definition.x, definition.y)]
        except NotRecorded:
            continue
        seeds = [seed for seed in sides[0] if seed in sides[1]]
        both = np.array([[side[seed] for seed in seeds] for side in sides])
        both = both[:, np.isfinite(both).all(axis=0)]
        if not both.size:
            continue
        look, name = (look_of(study, definition.lanes, value), study.points.short(definition.lanes, value))
        if both.shape[1] >= LEAST_RUNS:
            marks.append(Line(*ellipse(both, logarithmic=definition.scale == "log"), look, solid=True))
        if both.shape[1] > 1:
            marks.append(Dots(both[0], both[1], look, filled=False, small=True))
        centre = both.mean(axis=1)
        if definition.scale == "log":
            centre[0] = math.exp(np.log(both[0]).mean())
        marks.append(Dots(centre[:1], centre[1:], look, name))
    return tuple(marks)


def ellipse(both: np.ndarray, *, logarithmic: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return the ellipse that holds two thirds of a normal distribution with the covariance of these runs.

    Parameters
    ----------
    both
        Two rows: x and y of each run.
    logarithmic
        Whether x is taken by its logarithm, as the axis shows it.
    """
    shown = np.vstack((np.log(both[0]), both[1])) if logarithmic else both
    values, vectors = np.linalg.eigh(np.cov(shown))
    turn = np.linspace(0.0, 2 * math.pi, 73)
    circle = np.vstack((np.cos(turn), np.sin(turn)))
    found = shown.mean(axis=1)[:, None] + TWO_THIRDS * vectors @ (np.sqrt(np.maximum(values, 0.0))[:, None] * circle)
    return (np.exp(found[0]) if logarithmic else found[0]), found[1]
