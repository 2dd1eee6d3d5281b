"""Measures of one run that people feel: delays and losses of calls and games, load times of pages, as one figure."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from sojourn.answers.figure import Figure
from sojourn.answers.figures.dots import height_of
from sojourn.plots.dots import DotRow, dot_panel
from sojourn.plots.spec import Panel, PlotSpec, Scale, log_ticks
from sojourn.stats.estimate import Estimate

MOST_ROWS = 12
"""chosen: more rows than this are a screen of their own."""

_WAYS = {"up": "upstream", "down": "downstream"}

_FELT = ("late", "mos", "frames_late", "frames_late_downstream")
"""Measures of applications in which a person waits for each packet, or picture."""


def felt(metrics: pl.DataFrame) -> Iterator[Figure]:
    """Return the figure, if the run has anything that a person feels.

    Parameters
    ----------
    metrics
        The metrics of the run: subject, metric, value.
    """
    subjects: dict[str, dict[str, float]] = {}
    columns = metrics.select(
        pl.col("subject").cast(pl.String), pl.col("metric").cast(pl.String), pl.col("value").cast(pl.Float64)
    )
    for subject, metric, value in columns.iter_rows():
        if value is not None and abs(value) < float("inf"):
            subjects.setdefault(str(subject), {})[str(metric)] = value
    delays: list[tuple[str, float, float]] = []
    lost: list[tuple[str, float]] = []
    pages: list[tuple[str, float, float]] = []
    for subject, found in subjects.items():
        if "page_load_time_median" in found:
            half = found["page_load_time_median"]
            pages.append((subject, half, found.get("page_load_time_p95", half)))
        if not any(metric in found for metric in _FELT):
            continue
        for way, words in _WAYS.items():
            if f"delay_{way}_p99" in found and f"delay_{way}_p50" in found:
                row = f"{subject}, {words}"
                delays.append((row, found[f"delay_{way}_p50"], found[f"delay_{way}_p99"]))
                gone = found.get(f"loss_total_{way}", found.get("loss_total"))
                lost.append((row, gone if gone is not None else 0.0))
    panels: list[Panel] = []
    if delays:
        panels.append(_spread(delays[:MOST_ROWS], "delay one way, median to P99", "ms"))
        if any(gone for _, gone in lost[:MOST_ROWS]):
            panels.append(_lost(lost[:MOST_ROWS]))
    if pages:
        panels.append(_spread(pages[:MOST_ROWS], "page load time, median to P95", "s"))
    if not panels:
        return
    rows = max((delays[:MOST_ROWS], pages[:MOST_ROWS]), key=len)
    yield Figure(
        "felt",
        PlotSpec(
            name="felt",
            title="What people feel",
            panels=tuple(panels),
            columns=len(panels),
            height=14 + height_of([name for name, *_ in rows], 1),
            legend="below",
            description="Median and tail of the delays of calls and games, their losses, and load times of pages.",
        ),
        "From the median to the tail; packets that come too late to be used count as lost.",
        "overview",
    )


def _spread(rows: list[tuple[str, float, float]], quantity: str, unit: str) -> Panel:
    """Draw medians and tails, with a line between them."""
    known = [value for _, *values in rows for value in values if value > 0]
    scale: Scale = "log" if known and max(known) > 10 * min(known) else "linear"
    floor = min(known, default=1.0)
    low = 0.8 * floor if scale == "log" else 0.0
    high = 1.25 * max(known, default=1.0)
    entries = [
        entry
        for place, (_, half, end) in enumerate(rows)
        for entry in (
            DotRow(place, 0, "tail", Estimate(end, min(half, end), end)),
            DotRow(place, 0, "median", Estimate(half)),
        )
    ]
    return dot_panel(
        tuple(name for name, *_ in rows),
        entries,
        lanes=1,
        quantity=quantity,
        unit=unit,
        scale=scale,
        low=low,
        high=high,
        floor=floor if scale == "log" else None,
        ticks=log_ticks(low, high, 6) if scale == "log" else (),
        labels={"tail": "tail", "median": "median"},
    )


def _lost(rows: list[tuple[str, float]]) -> Panel:
    """Draw shares of packets that were lost, or late."""
    return dot_panel(
        tuple(name for name, _ in rows),
        [DotRow(place, 0, "limit", Estimate(gone)) for place, (_, gone) in enumerate(rows)],
        lanes=1,
        quantity="packets lost or late",
        unit="%",
        with_labels=False,  # they stand beside the delays
        low=0.0,
        labels={"limit": "lost or late"},
    )
