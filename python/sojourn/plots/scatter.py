"""Printed against ours: on the diagonal, the two agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sojourn.plots.spec import Axis, Dots, Line, Mark, Panel, Scale


@dataclass(frozen=True)
class Pair:
    """A printed value, ours, and how the comparison came out."""

    printed: float
    ours: float
    verdict: str
    label: str


def scatter_panel(
    pairs: Sequence[Pair],
    *,
    quantity: str,
    unit: str,
    scale: Scale = "linear",
    title: str = "",
    floor: float | None = None,
) -> Panel:
    """One panel: misses are labelled, the diagonal is where ours equals the print.

    Parameters
    ----------
    floor
        On a log axis, smaller values are drawn at this one.
    """

    def clip(value: float) -> float:
        return max(value, floor) if floor is not None else value

    marks: list[Mark] = []
    values = [clip(v) for pair in pairs for v in (pair.printed, pair.ours)]
    # Without values any limits do that both scales can show.
    low, high = (min(values), max(values)) if values else (1.0, 10.0)
    if scale == "log":
        low, high = low / 1.3, high * 1.3
    else:
        margin = 0.05 * (high - low or 1.0)
        low, high = low - margin, high + margin
    ends = np.array([low, high])
    marks.append(Line(ends, ends, "reference", "equal", weight="thin"))
    for verdict in ("unjudged", "match", "miss"):
        chosen = [pair for pair in pairs if pair.verdict == verdict]
        if not chosen:
            continue
        marks.append(
            Dots(
                np.array([clip(pair.printed) for pair in chosen]),
                np.array([clip(pair.ours) for pair in chosen]),
                verdict,
                verdict,
                filled=verdict != "unjudged",
                texts=_labels(chosen) if verdict == "miss" else (),
            )
        )
    return Panel(
        x=Axis(f"printed {quantity}", unit, scale=scale, low=low, high=high),
        y=Axis("ours", unit, scale=scale, low=low, high=high),
        marks=tuple(marks),
        title=title,
    )


def _labels(pairs: Sequence[Pair]) -> tuple[str, ...]:
    """Label each case once."""
    seen: set[str] = set()
    texts: list[str] = []
    for pair in pairs:
        texts.append("" if pair.label in seen else pair.label)
        seen.add(pair.label)
    return tuple(texts)
