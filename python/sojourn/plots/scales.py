"""Panels of one measure on one scale, so that eyes compare them, or each on its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from sojourn.plots.spec import Band, Dots, Line, Panel, Rule

HEADROOM = 1.05
"""Panels on one scale end at this multiple of the largest value, as others do. chosen: Matplotlib's margins."""

FLAT = 3.0
"""Panels differ where one reaches this many times as far as another. chosen: a curve below a third of the height is flat."""


def on_one_scale(panels: Sequence[Panel]) -> list[Panel]:
    """Let the y axes of panels that show one measure have the same ends; those that an axis says stay.

    Examples
    --------
    >>> from sojourn.plots.spec import Axis
    >>> x = np.array([0.0, 1.0])
    >>> panels = [Panel(Axis(), Axis(low=0.0), (Line(x, x * top, "pie"),)) for top in (2.0, 10.0)]
    >>> [(panel.y.low, panel.y.high) for panel in on_one_scale(panels)]
    [(0.0, 10.5), (0.0, 10.5)]
    """
    found = [end for panel in panels for end in _reach(panel)]
    if len(panels) < 2 or not found:
        return list(panels)
    low, high = min(found), max(found)
    axis = panels[0].y
    if axis.scale == "log":
        air = (high / low) ** (HEADROOM - 1.0)
        low, high = low / air, high * air
    else:
        low, high = (
            low - (HEADROOM - 1.0) * (high - low),
            high + (HEADROOM - 1.0) * (high - (low if axis.low is None else axis.low)),
        )
    if not low < high:
        return list(panels)
    return [
        replace(
            panel,
            y=replace(
                panel.y,
                low=low if panel.y.low is None else panel.y.low,
                high=high if panel.y.high is None else panel.y.high,
            ),
        )
        for panel in panels
    ]


def differ(panels: Sequence[Panel]) -> bool:
    """Return whether a curve that fills its own panel is flat on the scale of another."""
    widths = [
        max(ends) - (panel.y.low if panel.y.low is not None else min(ends))
        for panel in panels
        if (ends := list(_reach(panel)))
    ]
    return len(widths) > 1 and max(widths) >= FLAT * min(widths)


def _reach(panel: Panel) -> Iterator[float]:
    """Yield how far the marks of a panel reach, without what no axis shows."""
    for mark in panel.marks:
        if isinstance(mark, Band):
            ends = [mark.low, mark.high]
        elif isinstance(mark, Line | Dots):
            ends = [mark.y]
        elif isinstance(mark, Rule) and mark.along == "y":
            ends = [np.array([mark.at])]
        else:
            continue
        for values in ends:
            known = values[np.isfinite(values)]
            if panel.y.scale == "log":
                known = known[known > 0]
            if known.size:
                yield float(known.min())
                yield float(known.max())
