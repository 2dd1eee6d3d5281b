"""A controller behind active queue management, with and without marks (RFC 9743 section 7)."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from sojourn.congestion.general.common import lettered, used
from sojourn.congestion.scenario import Cell, Number, Run, flow

__all__ = ["MANAGED", "answered"]

MANAGERS = (
    ("CoDel", "codel", ", ecn = %s"),
    ("FQ-CoDel", "fq-codel", ", ecn = %s"),
    ("PIE", "pie", ", ecn = %s"),
    ("DualPI2", "dualpi2", ""),
    ("Low Latency DOCSIS", "docsis-dual-queue", ""),
)


def answered(run: Run) -> float:
    """Return after which part of marks the window falls within three round trips, in %; NaN if there were fewer than five.

    Marks less than three round trips after one that was looked at belong to it.
    """
    import polars as pl

    begin, end = run.cell.from_s, run.cell.duration_s
    width = run.cell.series_ms / 1e3
    marks: list[float] = (np.flatnonzero(run.marks(begin, end)) * width + begin).tolist()
    windows = run.windows.filter(pl.col("direction") == "upstream").sort("at_ns")
    times = windows["at_ns"].to_numpy() / 1e9
    sizes = windows["window_segments"].to_numpy()
    falls: list[float] = times[1:][np.diff(sizes) < 0].tolist()
    span = 3 * run.cell.rtt_ms / 1e3
    looked, fell, until = 0, 0, begin
    for at in marks:
        if at < until or at + span + width > end:
            continue
        until = at + span
        place = bisect_left(falls, at)
        looked += 1
        fell += bool(place < len(falls) and falls[place] <= at + width + span)
    return 100 * fell / looked if looked >= 5 else np.nan


def _managed(title: str, kind: str, more: str, *, ecn: bool) -> Cell:
    option = more % str(ecn).lower() if more else ""
    numbers = [
        used(),
        Number("wait", "mean wait in the queue", "ms", lambda run: run.metric("upstream", "sojourn_mean")),
    ]
    if ecn:
        numbers.append(Number("answered", "marks answered within three round trips", "%", answered))
    return Cell(
        "G11",
        "RFC 9743 7.1",
        "should",
        f"1 flow before {title}, {'with' if ecn else 'without'} ECN",
        lambda stacks: flow("own", stacks.marked if ecn else stacks.unmarked),
        tuple(numbers),
        queue=f'{{ kind = "{kind}"{option} }}',
        series_ms=10.0 if ecn else 0.0,
        window_ms=5.0 if ecn else 0.0,
    )


MANAGED = lettered(*(_managed(*manager, ecn=ecn) for ecn in (True, False) for manager in MANAGERS))
