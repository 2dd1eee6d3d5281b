"""Complementary distributions on a log axis: how rare long delays are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sojourn.plots.cdf import steps
from sojourn.plots.spec import Axis, Line, Mark, Panel, Scale

_QUANTILES = ((1.0, "P0"), (0.1, "P90"), (0.01, "P99"), (0.001, "P99.9"), (0.0001, "P99.99"))
"""Quantiles that label the log axis."""

LEVELS = 200
"""Levels at which a tail has points. chosen: as distributions have; a fiftieth of a decade is as thin as a line."""

TAIL = 10
"""A tail is drawn down to this many exceedances: fewer are noise (chosen: relative error 1/√10)."""


def ccdf_panel(
    samples: Mapping[str, np.ndarray],
    *,
    quantity: str,
    unit: str,
    weights: Mapping[str, np.ndarray] | None = None,
    labels: Mapping[str, str] | None = None,
    scale: Scale = "log",
    title: str = "",
) -> Panel:
    """One panel of 1 - F over a log axis that is labelled with quantiles."""
    marks: list[Mark] = []
    smallest = 1.0
    for look, values in samples.items():
        weight = None if weights is None else weights.get(look)
        total = float(len(values) if weight is None else weight.sum())
        if total <= TAIL:
            continue
        x, share = steps(values, weight)
        tail = 1.0 - share
        floor = TAIL / total
        keep = tail >= floor
        smallest = min(smallest, floor)
        x, tail = _thinned(x[keep], tail[keep])
        marks.append(Line(x, tail, look, (labels or {}).get(look, look), step=True))
    ticks = tuple(tick for tick in _QUANTILES if tick[0] >= smallest)
    return Panel(
        x=Axis(quantity, unit, scale=scale),
        y=Axis("quantile", scale="log", low=smallest, high=1.0, ticks=ticks),
        marks=tuple(marks),
        title=title,
        legend="inside" if len(marks) > 1 else "none",
    )


def _thinned(x: np.ndarray, tail: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Leave out steps that are closer than a line is thin; first and last stay."""
    if len(x) <= LEVELS:
        return x, tail
    levels = np.geomspace(float(tail[0]), float(tail[-1]), LEVELS)
    wanted: np.ndarray = np.searchsorted(-tail, -levels)
    kept = np.unique(np.concatenate(([0], np.minimum(wanted, len(x) - 1), [len(x) - 1])))
    return x[kept], tail[kept]
