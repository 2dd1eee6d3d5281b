"""How many times a baseline's: each competitor by its paired ratio, with the interval over pairs of runs."""

from __future__ import annotations

import math

import numpy as np

from sojourn.answers.asking import Ask
from sojourn.answers.figure import Figure
from sojourn.answers.figures.common import caption_of, look_of, value_words
from sojourn.answers.figures.dots import height_of
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.selection import LabelledPoint
from sojourn.answers.view import NotRecorded
from sojourn.base.metrics import words_of
from sojourn.declarations.answers import Measure
from sojourn.declarations.figures import RatioFigure
from sojourn.plots.dots import DotRow, dot_panel
from sojourn.plots.spec import Panel, PlotSpec, Rule, log_ticks
from sojourn.stats.estimate import NOTHING, Estimate, paired_ratio


def figure(study: OpenStudy, ask: Ask, definition: RatioFigure) -> Figure:
    """Draw a panel per measure.

    Raises `NotRecorded` if no pair of runs has any of the measures.
    """
    label, base = definition.lanes, definition.against
    lanes = [one for one in study.points.values(label, definition.where) if one != base]
    template = "\n".join(f"{{{one}}}" for one in definition.rows)
    groups = {
        "\n".join(value_words(study, one, points[0].labels[one]) for one in definition.rows): points
        for points in study.points.groups(definition.where, definition.rows, template).values()
    }
    panels: list[Panel] = []
    for name in definition.measures:
        entries = [
            DotRow(row, lane, look_of(study, label, value), _ratio(ask, ask.measures[name], points, label, value, base))
            for row, points in enumerate(groups.values())
            for lane, value in enumerate(lanes)
        ]
        if any(entry.ours.is_known for entry in entries):
            panels.append(_panel(study, definition, ask.measures[name], list(groups), entries, lanes, first=not panels))
    if not panels:
        message = f"needs pairs of runs with {base} and another {label}"
        raise NotRecorded(message)
    words = study.points.short(label, base)
    plot = PlotSpec(
        name=definition.item,
        title=definition.title or f"Against {words}",
        panels=tuple(panels),
        columns=definition.columns or len(panels),
        width=float(definition.width),
        height=float(definition.height or height_of(list(groups), len(lanes))),
        legend="below",
        description=definition.description or f"Ratios to {words} by {', '.join(definition.rows)}.",
    )
    caption = definition.caption or f"How many times that of {words}, in pairs of runs with the same seed. {{spread}}"
    points = study.points.select(definition.where)
    return Figure(definition.item, plot, caption_of(study, ask, caption, points, what="Lines"), definition.group)


def _panel(
    study: OpenStudy,
    definition: RatioFigure,
    measure: Measure,
    rows: list[str],
    entries: list[DotRow],
    lanes: list[str],
    *,
    first: bool,
) -> Panel:
    known = [entry.ours for entry in entries if entry.ours.value is not None]
    ends = [end for one in known for end in (one.value, one.low, one.high) if end is not None]
    # The axis holds 1, as far as twice away at least.
    low, high = min(0.5, *ends) / 1.1, max(2.0, *ends) * 1.1
    label = definition.lanes
    return dot_panel(
        rows,
        entries,
        lanes=len(lanes),
        quantity=f"times that of {study.points.short(label, definition.against)}",
        unit="",
        title=measure.title or words_of(measure.metric),
        scale="log",
        low=low,
        high=high,
        ticks=log_ticks(low, high, 6),
        with_labels=first,
        labels={look_of(study, label, one): study.points.short(label, one) for one in lanes},
        extras=(Rule(1.0, "x"),),
    )


def _ratio(ask: Ask, measure: Measure, points: list[LabelledPoint], label: str, value: str, base: str) -> Estimate:
    sides: list[dict[int, float]] = []
    for wanted in (value, base):
        chosen = [point for point in points if str(point.labels[label]) == wanted]
        try:
            sides.append(ask.by_seed(measure, chosen))
        except NotRecorded:
            return NOTHING
    ours, theirs = sides
    seeds = [seed for seed in ours if seed in theirs and math.isfinite(ours[seed] + theirs[seed])]
    return paired_ratio(*(np.array([side[seed] for seed in seeds]) for side in (ours, theirs)))
