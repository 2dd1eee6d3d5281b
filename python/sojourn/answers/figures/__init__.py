"""Figures that a study declares: one module per kind.

A figure whose points were not run is left out. One that cannot be drawn for another reason is shown in
its place with that reason, and costs nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from sojourn.answers.asking import Ask
from sojourn.answers.figure import Figure, failed
from sojourn.answers.figures import (
    agreement,
    distribution,
    dots,
    heatmap,
    presets,
    ratio,
    share,
    stack,
    swarm,
    sweep,
    timeseries,
    tradeoff,
)
from sojourn.answers.modules import what_failed
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.table import Table
from sojourn.answers.view import NotRecorded
from sojourn.declarations.figures import AgreementFigure, AnyFigure, FunctionFigure
from sojourn.plots.spec import PlotSpec

__all__ = ["figures"]

KINDS: dict[str, Callable[[OpenStudy, Ask, Any], Figure]] = {
    "dots": dots.figure,
    "swarm": swarm.figure,
    "distribution": distribution.figure,
    "timeseries": timeseries.figure,
    "stack": stack.figure,
    "sweep": sweep.figure,
    "share": share.figure,
    "heatmap": heatmap.figure,
    "ratio": ratio.figure,
    "tradeoff": tradeoff.figure,
    "timeline": presets.timeline,
    "cdf": presets.cdf,
}
"""Function that draws each kind of figure."""


def figures(study: OpenStudy, ask: Ask, tables: Callable[[], Sequence[Table]]) -> Iterator[tuple[int, Figure]]:
    """Make all figures that the records allow, each with its place in the study.

    Those that need no printed tables come first: others draw them while `tables` makes these.
    """
    numbered = enumerate(study.definition.figure)
    for place, definition in sorted(numbered, key=lambda one: _needs_tables(one[1])):
        needed = tables() if _needs_tables(definition) else ()
        try:
            yield place, _figure(study, ask, definition, needed)
        except NotRecorded:
            continue
        except Exception as error:  # whatever a study's own code does
            reason = what_failed(error, study.definition.module)
            title = definition.title or definition.item
            yield place, failed(definition.item, title, reason, definition.group)


def _needs_tables(definition: AnyFigure) -> bool:
    return isinstance(definition, AgreementFigure | dots.DotsFigure)


def _figure(study: OpenStudy, ask: Ask, definition: AnyFigure, tables: Sequence[Table]) -> Figure:
    if isinstance(definition, FunctionFigure):
        drawn = study.functions[definition.function](ask)
        if isinstance(drawn, PlotSpec):
            drawn = Figure(definition.item, drawn, "", definition.group)
        return replace(drawn, group=definition.group, caption=drawn.caption or definition.caption)
    if isinstance(definition, AgreementFigure):
        printed = [table for table in tables if not table.reference]
        return agreement.figure(study, definition, printed)
    if isinstance(definition, dots.DotsFigure):
        return dots.figure(study, ask, definition, tables)
    return KINDS[definition.kind](study, ask, definition)
