"""Cumulative distributions: which share of the values is at most x."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sojourn.plots.spec import Axis, Line, Mark, Panel, PlotSpec, Scale


def steps(values: np.ndarray, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return x and cumulative share, one step per distinct value, from 0 at the smallest.

    Examples
    --------
    >>> x, share = steps(np.array([3.0, 1.0, 3.0, 2.0]))
    >>> x.tolist(), share.tolist()
    ([1.0, 1.0, 2.0, 3.0], [0.0, 0.25, 0.5, 1.0])
    """
    weight = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=float)
    distinct, where = np.unique(np.asarray(values, dtype=float), return_inverse=True)
    cumulative = np.cumsum(np.bincount(where, weights=weight))
    share = cumulative / cumulative[-1]
    return np.concatenate(([distinct[0]], distinct)), np.concatenate(([0.0], share))


def cdf_panel(
    samples: Mapping[str, np.ndarray],
    *,
    quantity: str,
    unit: str,
    weights: Mapping[str, np.ndarray] | None = None,
    labels: Mapping[str, str] | None = None,
    scale: Scale = "linear",
    title: str = "",
    low: float | None = None,
    high: float | None = None,
    ticks: Sequence[float] = (),
    extras: Sequence[Mark] = (),
) -> Panel:
    """One panel of cumulative distributions, one per look; several are named in the legend."""
    marks: list[Mark] = []
    alone = len(samples) == 1
    for look, values in samples.items():
        if len(values) == 0:
            continue
        x, share = steps(values, None if weights is None else weights.get(look))
        label = "" if alone else (labels or {}).get(look, look)
        marks.append(Line(x, share, look, label, step=True, solid=alone))
    return Panel(
        x=Axis(quantity, unit, scale=scale, low=low, high=high, ticks=tuple((tick, f"{tick:g}") for tick in ticks)),
        y=Axis("share at or below", low=0.0, high=1.0),
        marks=(*marks, *extras),
        title=title,
        legend="inside" if len(marks) > 1 else "none",
    )


def cdf(
    name: str, samples: Mapping[str, np.ndarray], *, quantity: str, unit: str, scale: Scale = "linear", title: str = ""
) -> PlotSpec:
    """Draw cumulative distributions of unweighted samples, one curve per look."""
    panel = cdf_panel(samples, quantity=quantity, unit=unit, scale=scale)
    return PlotSpec(
        name=name,
        title=title or f"Distribution of {quantity}",
        panels=(panel,),
        description=f"Cumulative distribution of {quantity} for {', '.join(samples)}.",
    )
