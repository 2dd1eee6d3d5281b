"""A plot for another page: as wide as a column of a journal, with its panels below each other where they were beside each other."""

from __future__ import annotations

from dataclasses import replace

from sojourn.plots.spec import Axis, Panel, PlotSpec

NARROWEST = 60.0
"""Narrower panels are set below each other, mm. chosen: the names of their axes fit."""

AROUND = 12.0
"""Height of title and legend, mm."""


def reshaped(plot: PlotSpec, width: float, height: float | None = None, columns: int | None = None) -> PlotSpec:
    """Return a plot with another width.

    Parameters
    ----------
    plot
        What to draw; a panel that took the names of its rows from its neighbour gets its own where it has none any more.
    width
        mm.
    height
        mm; if left out, rows keep theirs, and other panels their proportions.
    columns
        Panels beside each other; if left out, as many as before, if they are not too narrow.
    """
    fit = plot.columns if width >= plot.width else max(1, int(width // NARROWEST))
    fit = min(fit, plot.columns)
    across = max(1, min(columns or fit, len(plot.panels)))
    lines, before = -(-len(plot.panels) // across), -(-len(plot.panels) // plot.columns)
    each = (plot.height - AROUND) / before
    if not any(_has_rows(panel) for panel in plot.panels):
        each *= min(1.0, (width / across) / (plot.width / plot.columns))
    panels = plot.panels
    if across != plot.columns:
        panels = tuple(_alone(plot, place) for place in range(len(plot.panels)))
    widths = plot.column_widths if across == plot.columns else ()
    return replace(
        plot, panels=panels, columns=across, width=width, height=height or each * lines + AROUND, column_widths=widths
    )


def _has_rows(panel: Panel) -> bool:
    return bool(panel.y.ticks) and not panel.y.quantity


def _alone(plot: PlotSpec, place: int) -> Panel:
    """Return a panel with the names that it had of others: of its rows and its y axis, of its x axis."""
    panel = plot.panels[place]
    first = plot.panels[place - place % plot.columns]
    below = plot.panels[place % plot.columns :: plot.columns][-1]
    return replace(panel, x=_named(panel.x, below.x), y=_named(panel.y, first.y))


def _named(axis: Axis, other: Axis) -> Axis:
    """Return an axis with the words of another where it has none."""
    if not axis.label and other.label:
        axis = replace(axis, quantity=other.quantity, unit=other.unit)
    same = [at for at, _ in axis.ticks] == [at for at, _ in other.ticks]
    if same and not any(text for _, text in axis.ticks):
        axis = replace(axis, ticks=other.ticks)
    return axis
