"""Box plots: spread over runs or pages, one row per group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.plots.spec import Axis, Box, Dots, Mark, Panel, Scale

WHISKER = 1.5
"""Whiskers end at the last datum within this many interquartile ranges (Tukey 1977)."""

LEAST = 5
"""Fewer values are drawn one by one. chosen: a box of three shows five numbers of them."""


def box_of(values: np.ndarray, at: float, look: str, label: str = "") -> Box:
    """Quartiles by linear interpolation, whiskers at the last datum within 1.5 ranges.

    Examples
    --------
    >>> box = box_of(np.array([1.0, 2.0, 3.0, 4.0, 20.0]), 0.0, "codel")
    >>> box.median, box.quartile_3, box.upper, box.outliers.tolist()
    (3.0, 4.0, 4.0, [20.0])
    """
    data = np.sort(np.asarray(values, dtype=float))
    first, median, third = (float(q) for q in np.quantile(data, [0.25, 0.5, 0.75]))
    reach = WHISKER * (third - first)
    inside = data[(data >= first - reach) & (data <= third + reach)]
    outside = data[(data < first - reach) | (data > third + reach)]
    return Box(at, float(inside[0]), first, median, third, float(inside[-1]), outside, look, label)


def box_panel(
    groups: Sequence[tuple[str, str, np.ndarray]],
    *,
    quantity: str,
    unit: str,
    scale: Scale = "linear",
    title: str = "",
    with_counts: bool = True,
) -> Panel:
    """One row per group of (label, look, values), the first on top, as dots if there are few; labels carry the sample size."""
    marks: list[Mark] = []
    ticks: list[tuple[float, str]] = []
    shown = [group for group in groups if len(group[2])]
    for number, (label, look, values) in enumerate(shown):
        at = float(len(shown) - 1 - number)
        if len(values) < LEAST:
            y = np.full(len(values), at)
            marks.append(Dots(np.asarray(values, dtype=float), y, look, label))
        else:
            marks.append(box_of(values, at, look, label))
        ticks.append((at, f"{label} (n={len(values)})" if with_counts else label))
    return Panel(
        x=Axis(quantity, unit, scale=scale),
        y=Axis(low=-0.6, high=len(shown) - 0.4, ticks=tuple(ticks)),
        marks=tuple(marks),
        title=title,
    )
