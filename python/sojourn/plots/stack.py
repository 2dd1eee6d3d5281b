"""Stacked horizontal bars: of what a whole is made, row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sojourn.plots.spec import Axis, Bars, Mark, Note, Panel


def stack_panel(
    rows: Sequence[str],
    parts: Mapping[str, np.ndarray],
    *,
    quantity: str,
    unit: str,
    title: str = "",
    with_totals: bool = True,
    with_labels: bool = True,
    decimals: int = 0,
    labels: Mapping[str, str] | None = None,
) -> Panel:
    """Rows from top to bottom; parts from left to right in the order of `parts`.

    Parameters
    ----------
    rows
        Label of each row.
    parts
        Look (which names the part) to one value per row.
    with_totals
        Write the sum at the end of each bar.
    labels
        How the legend calls the parts.
    """
    heights = np.arange(len(rows) - 1, -1, -1, dtype=float)
    left = np.zeros(len(rows))
    marks: list[Mark] = []
    for look, values in parts.items():
        width = np.nan_to_num(np.asarray(values, dtype=float))
        marks.append(Bars(heights, left.copy(), width, look, (labels or {}).get(look, look)))
        left = left + width
    longest = float(left.max()) if len(left) else 0.0
    if with_totals:
        marks += [
            Note(float(total) + 0.015 * longest, float(height), f"{total:.{decimals}f}", "limit")
            for total, height in zip(left, heights, strict=True)
        ]
    ticks = tuple((float(h), row) for h, row in zip(heights, rows, strict=True))
    return Panel(
        x=Axis(quantity, unit, low=0.0, high=1.16 * longest if longest else 1.0),
        y=Axis(
            low=-0.6,
            high=len(rows) - 0.4,
            ticks=ticks if with_labels else tuple((position, "") for position, _ in ticks),
        ),
        marks=tuple(marks),
        title=title,
    )
