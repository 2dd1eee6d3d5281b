"""Rates, delays and queues over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sojourn.plots.spec import Axis, Band, Line, Mark, Panel, Weight


@dataclass(frozen=True)
class Trace:
    """One curve over time: `step` holds each value until the next time."""

    time_s: np.ndarray
    value: np.ndarray
    look: str
    label: str = ""
    weight: Weight = "normal"
    step: bool = True
    solid: bool = False


def timeseries_panel(
    traces: Sequence[Trace],
    *,
    quantity: str,
    unit: str,
    title: str = "",
    until_s: float | None = None,
    high: float | None = None,
    extras: Sequence[Mark] = (),
    bands: Sequence[Band] = (),
    log: bool = False,
    low: float | None = 0.0,
    ticks: Sequence[float] = (),
) -> Panel:
    """One panel of curves over time.

    Parameters
    ----------
    traces
        Curves, drawn in their order.
    quantity, unit
        Of the y axis.
    until_s
        Where the x axis ends; what lies beyond is not drawn.
    extras
        Rules and notes on top.
    bands
        Areas below the curves.
    log
        Whether the y axis is logarithmic.
    low, high
        Ends of the y axis.
    ticks
        Values to label on the y axis; empty leaves them to the backend.
    """
    marks: list[Mark] = list(bands)
    for trace in traces:
        keep = slice(None)
        if until_s is not None:
            keep = slice(0, int(np.searchsorted(trace.time_s, until_s, side="right")))
        marks.append(
            Line(
                trace.time_s[keep],
                trace.value[keep],
                trace.look,
                trace.label,
                step=trace.step,
                weight=trace.weight,
                solid=trace.solid,
            )
        )
    return Panel(
        x=Axis("time", "s", low=0.0, high=until_s, ticks=_seconds(until_s)),
        y=Axis(
            quantity,
            unit,
            low=low,
            high=high,
            scale="log" if log else "linear",
            ticks=tuple((tick, f"{tick:g}") for tick in ticks),
        ),
        marks=(*marks, *extras),
        title=title,
    )


def _seconds(until_s: float | None) -> tuple[tuple[float, str], ...]:
    """Whole, round seconds to label, at most eight of them."""
    if until_s is None:
        return ()
    step = next((s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500) if until_s / s <= 8), 1000)
    return tuple((float(at), str(at)) for at in range(0, int(until_s) + 1, step))
