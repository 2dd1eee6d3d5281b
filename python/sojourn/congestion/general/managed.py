"""A controller behind active queue management, with and without marks (RFC 9743 section 7)."""

from __future__ import annotations

import numpy as np

from sojourn.congestion.general.common import lettered, used
from sojourn.congestion.scenario import Cell, Number, Run, flow

MANAGERS = (
    ("CoDel", "codel", ", ecn = %s"),
    ("FQ-CoDel", "fq-codel", ", ecn = %s"),
    ("PIE", "pie", ", ecn = %s"),
    ("DualPI2", "dualpi2", ""),
    ("Low Latency DOCSIS", "docsis-dual-queue", ""),
)


def answered(run: Run) -> float:
    """Return after which part of marks the window falls within three round trips, in %; NaN if there were fewer than five."""
    falls = _falls(run)
    return 100 * float(np.mean([fall > 0 for fall in falls])) if len(falls) >= 5 else np.nan


def _given(run: Run) -> float:
    """Return how much of the window is given back within three round trips of a mark, in %: the median; NaN as above."""
    falls = _falls(run)
    return 100 * float(np.median(falls)) if len(falls) >= 5 else np.nan


def _marked(run: Run) -> float:
    """Return which part of the packets is marked, in %."""
    span = run.cell.from_s, run.cell.duration_s
    packets = run.packets(*span).sum()
    return float(100 * run.marks(*span).sum() / packets) if packets else np.nan


def _falls(run: Run) -> list[float]:
    """Return by which part the window falls within three round trips of each mark.

    Marks less than three round trips after one that was looked at belong to it.
    """
    import polars as pl

    begin, end = run.cell.from_s, run.cell.duration_s
    width = run.cell.series_ms / 1e3
    marks: list[float] = (np.flatnonzero(run.marks(begin, end)) * width + begin).tolist()
    windows = run.windows.filter(pl.col("direction") == "upstream").sort("at_ns")
    times = windows["at_ns"].to_numpy() / 1e9
    sizes = windows["window_segments"].to_numpy()
    span = 3 * run.cell.rtt_ms / 1e3
    found: list[float] = []
    until = begin
    for at in marks:
        if at < until or at + span + width > end:
            continue
        until = at + span
        first, last = np.searchsorted(times, [at, at + width + span], side="right")
        looked = sizes[max(first - 1, 0) : last]
        # The deepest fall from what the window was at any time before it.
        found.append(float(np.max(1 - looked / np.maximum.accumulate(looked))) if len(looked) else 0.0)
    return found


def _managed(title: str, kind: str, more: str, *, ecn: bool) -> Cell:
    option = more % str(ecn).lower() if more else ""
    numbers = [
        used(),
        Number("wait", "mean wait in the queue", "ms", lambda run: run.metric("upstream", "sojourn_mean")),
    ]
    if ecn:
        numbers += [
            Number("answered", "marks answered within three round trips", "%", answered),
            Number("given", "of the window given back at a mark", "%", _given),
            Number("marked", "of packets marked", "%", _marked),
        ]
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


ANSWERED = ("G11a", "G11b", "G11c")
"""Those of one queue for all, which marks packet by packet as it would drop them."""

MANAGED = lettered(*(_managed(*manager, ecn=ecn) for ecn in (True, False) for manager in MANAGERS))
