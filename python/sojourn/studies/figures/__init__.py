"""Figures that a study declares: one module per kind.

A figure whose points were not run is left out. One that cannot be drawn for another reason is shown in
its place with that reason, and costs nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from sojourn.plots.spec import Axis, Note, Panel, PlotSpec
from sojourn.studies.asking import Ask
from sojourn.studies.figure import Figure
from sojourn.studies.figures import (
    agreement,
    distribution,
    dots,
    stack,
    swarm,
    sweep,
    timeseries,
)
from sojourn.studies.opened import OpenStudy, what_failed
from sojourn.studies.table import Table
from sojourn.studies.view import NotRecorded
from sojourn.study.figure_declarations import AgreementFigure, AnyFigure, FunctionFigure

__all__ = ["figures"]

#: What draws a figure of each kind.
KINDS: dict[str, Callable[[OpenStudy, Ask, Any], Figure]] = {
    "dots": dots.figure,
    "swarm": swarm.figure,
    "distribution": distribution.figure,
    "timeseries": timeseries.figure,
    "stack": stack.figure,
    "sweep": sweep.figure,
}


def figures(study: OpenStudy, ask: Ask, tables: Sequence[Table]) -> Iterator[Figure]:
    """Make all figures that the records allow, in the order of the study."""
    for definition in study.definition.figure:
        try:
            yield _figure(study, ask, definition, tables)
        except NotRecorded:
            continue
        except Exception as error:  # whatever a study's own code does
            yield _failed(definition, what_failed(error, study.definition.module))


def _figure(study: OpenStudy, ask: Ask, definition: AnyFigure, tables: Sequence[Table]) -> Figure:
    if isinstance(definition, FunctionFigure):
        drawn = study.functions[definition.function](ask)
        if isinstance(drawn, PlotSpec):
            drawn = Figure(definition.item, drawn, "", definition.group)
        return replace(drawn, group=definition.group, caption=drawn.caption or definition.caption)
    if isinstance(definition, AgreementFigure):
        return agreement.figure(study, definition, tables)
    if isinstance(definition, dots.DotsFigure):
        return dots.figure(study, ask, definition, tables)
    return KINDS[definition.kind](study, ask, definition)


def _failed(definition: AnyFigure, reason: str) -> Figure:
    panel = Panel(
        x=Axis(low=0.0, high=1.0, ticks=((0.0, ""),)),
        y=Axis(low=0.0, high=1.0, ticks=((0.0, ""),)),
        marks=(Note(0.5, 0.5, f"could not be drawn: {reason}", align="center"),),
    )
    title = definition.title or definition.item
    plot = PlotSpec(
        definition.item, title, (panel,), height=30, description=f"Could not be drawn: {reason}"
    )
    return Figure(definition.item, plot, f"Could not be drawn: {reason}", definition.group)
