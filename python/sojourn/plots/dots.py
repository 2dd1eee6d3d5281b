"""Printed beside ours, row by row: hollow diamonds are the print, filled marks are ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sojourn.plots.spec import Axis, Dots, Mark, Note, Panel, Rule, Scale
from sojourn.stats.estimate import Estimate


@dataclass(frozen=True)
class DotRow:
    """One value of one group: `lane` counts the groups within a row, from the top."""

    row: int
    lane: int
    look: str
    ours: Estimate
    printed: float | None = None
    printed_text: str = ""
    """Shown in place of the diamond if the print is a bound."""


def beside_print(ours: Sequence[float | None], printed: Sequence[float], look: str = "blue circle") -> list[DotRow]:
    """Return one row for each printed value, with ours where there is one."""
    pairs = zip(ours, printed, strict=True)
    return [DotRow(row, 0, look, Estimate(one), other) for row, (one, other) in enumerate(pairs)]


def dot_panel(
    rows: Sequence[str],
    entries: Sequence[DotRow],
    *,
    lanes: int,
    quantity: str,
    unit: str,
    scale: Scale = "linear",
    low: float | None = None,
    high: float | None = None,
    title: str = "",
    with_labels: bool = True,
    labels: Mapping[str, str] | None = None,
    floor: float | None = None,
    ticks: Sequence[tuple[float, str]] = (),
    extras: Sequence[Mark] = (),
) -> Panel:
    """Rows from top to bottom, each with `lanes` lanes; ours with its interval.

    Parameters
    ----------
    rows
        Label of each row.
    entries
        Values, at most one per row and lane.
    lanes
        Groups within a row.
    labels
        How the legend calls the groups, by look.
    floor
        Smaller values are drawn at this one, so that a log axis can show zero.
    ticks
        Values to label on the x axis, and how; empty leaves them to the backend.
    extras
        Rules and notes on top.
    """
    # Between the outer lanes and the lines that part rows is more room than between lanes.
    spread = (lanes - 1) / (lanes + 0.6)

    def clip(values: Sequence[float | None]) -> np.ndarray:
        found = _ends(values)
        return found if floor is None else np.maximum(found, floor)

    def height(entry: DotRow) -> float:
        offset = 0.0 if lanes < 2 else spread * (0.5 - entry.lane / (lanes - 1))
        return len(rows) - 1 - entry.row + offset

    marks: list[Mark] = [Rule(at + 0.5, "y", look="grid") for at in range(len(rows) - 1)]
    for look in dict.fromkeys(entry.look for entry in entries):
        chosen = [entry for entry in entries if entry.look == look]
        printed = [entry for entry in chosen if entry.printed is not None]
        if printed:
            x = clip([entry.printed for entry in printed])
            y = np.array([height(entry) for entry in printed])
            marks.append(Dots(x, y, "printed", "printed", filled=False))
        known = [entry for entry in chosen if entry.ours.value is not None]
        marks.append(
            Dots(
                clip([entry.ours.value for entry in known]),
                np.array([height(entry) for entry in known]),
                look,
                (labels or {}).get(look, look),
                low=clip([entry.ours.low for entry in known]),
                high=clip([entry.ours.high for entry in known]),
            )
        )
        for entry in chosen:
            bound = entry.ours.above
            if bound is not None:
                words = f"ours >{bound:g}" + (f", printed {entry.printed_text}" if entry.printed_text else "")
                x_edge = bound if high is None else min(bound, high)
                marks.append(Note(x_edge, height(entry), f"{words} →", look, align="right"))
    names = tuple((float(len(rows) - 1 - number), row) for number, row in enumerate(rows))
    return Panel(
        x=Axis(quantity, unit, scale=scale, low=low, high=high, ticks=tuple(ticks)),
        y=Axis(
            low=-0.55,
            high=len(rows) - 0.45,
            ticks=names if with_labels else tuple((position, "") for position, _ in names),
        ),
        marks=(*marks, *extras),
        title=title,
    )


def _ends(values: Sequence[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], dtype=float)
