"""Figures in a few words that other kinds draw: cumulative distributions and timelines by label."""

from __future__ import annotations

from typing import Any

from sojourn.answers.asking import Ask
from sojourn.answers.figure import Figure
from sojourn.answers.figures import distribution, timeseries
from sojourn.answers.figures.common import facets_of, look_of, unit_of
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.view import NotRecorded
from sojourn.declarations.figures import (
    AxisDefinition,
    CdfFigure,
    DistributionFigure,
    SeriesPanel,
    SeriesTrace,
    TimelineFigure,
    TimeSeriesFigure,
)

BINS = 300
"""Bins of a timeline. chosen: more are closer than lines are wide."""

_PANELS = {"rate": ("rate", "Mb/s"), "delay": ("queuing delay", "ms"), "backlog": ("backlog", "packets")}

_SAMPLED = {
    "delay": ("delay", "ms"),
    "round-trip": ("round trip", "ms"),
    "load-time": ("page load time", "s"),
    "probe": ("round trip", "ms"),
}


def cdf(study: OpenStudy, ask: Ask, definition: CdfFigure) -> Figure:
    """Draw cumulative distributions; raises as `distribution.figure` does."""
    measure = ask.measures[definition.measure]
    quantity, unit = _SAMPLED[measure.samples]
    told = f"{quantity} of {measure.subject}"
    panels = len(facets_of(study, definition))
    made = DistributionFigure(
        **_common(definition, f"Distribution of the {told}"),
        kind="distribution",
        measure=definition.measure,
        lanes=definition.lanes,
        where=definition.where,
        views=[definition.facets],
        columns=definition.columns or min(3, panels),
        axis=AxisDefinition(quantity=told, unit=unit_of(measure) if measure.unit else unit, scale=definition.scale),
        tail=definition.tail,
    )
    return distribution.figure(study, ask, made)


def timeline(study: OpenStudy, ask: Ask, definition: TimelineFigure) -> Figure:
    """Draw what happens over time; raises as `timeseries.figure` does."""
    groups = study.points.groups(definition.where, [definition.lanes])
    run = {name: points[0] for name, points in groups.items() if points[0].name in ask.view.points}
    if not run:
        message = f"needs points with {definition.lanes}"
        raise NotRecorded(message)
    longest = max(ask.view.duration_s(point.name) for point in run.values())
    per = definition.per or (definition.until or longest) / BINS
    panels = [
        SeriesPanel(
            quantity=_PANELS[value][0],
            unit=_PANELS[value][1],
            until=definition.until,
            traces=[
                SeriesTrace(
                    point=point.name,
                    value=value,
                    link=definition.link,
                    look=look_of(study, definition.lanes, point.labels[definition.lanes]),
                    label=name,
                    per=per,
                )
                for name, point in run.items()
            ],
        )
        for value in definition.values
    ]
    made = TimeSeriesFigure(
        **_common(definition, f"The {definition.link} over time", "One run of each: the first seed."),
        kind="timeseries",
        panels=panels,
        columns=definition.columns or 1,
        share_x=True,
    )
    return timeseries.figure(study, ask, made)


def _common(definition: CdfFigure | TimelineFigure, title: str, caption: str = "{spread}") -> dict[str, Any]:
    """Return what all figures have; words where the study says none."""
    return {
        "item": definition.item,
        "title": definition.title or title,
        "caption": definition.caption or caption,
        "description": definition.description or f"{definition.title or title} by {definition.lanes}.",
        "group": definition.group,
        "width": definition.width,
        "height": definition.height,
    }
