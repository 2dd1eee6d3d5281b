"""How much a controller gives back, and how it grows: losses at fixed distances, a timeout, a minute of rest.

Source: RFC 5681 sections 3.1 and 4.1, RFC 9438 sections 4 and 5.1, whose models lose one packet of each fixed number. The path
is chosen: 50 Mb/s, 100 ms and a buffer of one bandwidth-delay product, which no window of either law fills at these losses; a loss
at the start ends slow start below that. Deviations: none known.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from sojourn.congestion.general.common import Traffic, lettered
from sojourn.congestion.scenario import Cell, Number, Run, flow

FREQUENT, RARE = 200, 10_000
"""Packets from one loss to the next: RFC 9438's windows are those of Reno at the first, and half more at the second."""

RTT_S = 0.1
LOOK_MS = 20.0
SETTLED_S = 20.0
"""chosen: two cycles of Reno at the rarer losses."""


def reno_window(packets: float, acknowledgement: int = 1) -> float:
    """Return the mean window of Reno with one loss in `packets` packets, and an acknowledgement of each `acknowledgement`.

    Source: Mathis, Semke, Mahdavi and Ott, Computer Communication Review 27, 1997.

    Examples
    --------
    >>> round(reno_window(200), 1), round(reno_window(200, 2), 1)
    (17.3, 12.2)
    """
    return (1.5 * packets / acknowledgement) ** 0.5


def cubic_window(packets: float, rtt_s: float = RTT_S) -> float:
    """Return that of CUBIC with C = 0.4 and β = 0.7 (RFC 9438 section 5.1), which is Reno's at least (4.3).

    Examples
    --------
    >>> round(cubic_window(10_000), 1)
    187.4
    """
    return max((0.4 * 3.7 / 1.2) ** 0.25 * (rtt_s * packets) ** 0.75, reno_window(packets))


def _looks(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Return times, s, and windows of the first connection upstream."""
    import polars as pl

    frame = run.windows.filter(pl.col("direction") == "upstream").sort("at_ns")
    return frame["at_ns"].to_numpy() / 1e9, frame["window_segments"].to_numpy()


def _place(times: np.ndarray, at: float) -> int:
    """Return the place of the first look at a time or later."""
    return int(np.count_nonzero(times < at))


def _falls(times: np.ndarray, sizes: np.ndarray, apart_s: float) -> list[int]:
    """Return where the window has begun to fall: below 0.95 of its most in the two round trips before."""
    near = round(2 * RTT_S / (LOOK_MS / 1e3))
    found: list[int] = []
    for place in range(1, len(times)):
        if found and times[place] - times[found[-1]] < apart_s:
            continue
        if times[place] >= SETTLED_S and sizes[place] < 0.95 * sizes[max(place - near, 0) : place].max():
            found.append(place)
    return found


def _window(run: Run) -> float:
    """Return the mean window, over whole cycles if there are two."""
    times, sizes = _looks(run)
    falls = _falls(times, sizes, 5 * RTT_S)
    if len(falls) > 2:
        return float(sizes[falls[0] : falls[-1]].mean())
    return float(sizes[times >= SETTLED_S].mean())


def _kept(run: Run) -> float:
    """Return what is left of the window within ten round trips after a loss, in %: the median; all of it if it never falls."""
    times, sizes = _looks(run)
    near = round(2 * RTT_S / (LOOK_MS / 1e3))
    found = [
        sizes[place : _place(times, times[place] + 10 * RTT_S)].min() / sizes[max(place - near, 0) : place].max()
        for place in _falls(times, sizes, 10 * RTT_S)
    ]
    return 100 * float(np.median(found)) if found else 100.0


def _growth(run: Run) -> float:
    """Return the segments that come on top in each round trip, from three after a fall to the next: the median."""
    times, sizes = _looks(run)
    falls = _falls(times, sizes, 3 * RTT_S)
    found: list[float] = []
    for place, following in pairwise(falls):
        begin, end = _place(times, times[place] + 3 * RTT_S), following - 1
        if times[end] - times[begin] >= 2 * RTT_S:
            found.append((sizes[end] - sizes[begin]) / (times[end] - times[begin]) * RTT_S)
    if not found:  # cycles are shorter than that, or there are none: the most that comes on top in a round trip
        apart = round(RTT_S / (LOOK_MS / 1e3))
        settled = sizes[times >= SETTLED_S]
        found = [float((settled[apart:] - settled[:-apart]).max())]
    return float(np.median(found))


def _own(more: str = "") -> Traffic:
    return lambda stacks: flow("own", stacks.own, rtt_ms=100.0, jitter_ms=0.0, more=more)


FIRST_LOSS = '{ from = "0.45 s", for = "0.1 s", loss_every = 50 }'

BASE = Cell(
    "G16", "RFC 9438 5.1", "", "", _own(), (), rate_mbps=50.0, rtt_ms=100.0, from_s=SETTLED_S, window_ms=LOOK_MS
)


def _with_losses(packets: int, duration_s: float) -> Cell:
    return replace(
        BASE,
        what=f"one packet of {packets:,} is lost, 50 Mb/s, 100 ms",
        numbers=(
            Number("window", "mean window", "segments", _window),
            Number("kept", "of the window kept at a loss", "%", _kept),
            Number("growth", "growth in each round trip", "segments", _growth),
        ),
        conditions=f'{FIRST_LOSS}, {{ from = "0.6 s", for = "1 h", loss_every = {packets} }}',
        duration_s=duration_s,
    )


RESPONSE = lettered(_with_losses(FREQUENT, 40.0), _with_losses(RARE, 70.0))


def _at_end_of_outage(run: Run, column: str) -> float:
    """Return the last value of a column while everything is lost, of the window before; NaN if there is none."""
    import polars as pl

    looks = run.windows.filter(pl.col("direction") == "upstream").sort("at_ns")
    before = looks.filter(pl.col("at_ns") < 10e9)["window_segments"]
    after = looks.filter(pl.col("at_ns") < 13e9)[column].drop_nulls()
    return 100 * float(after[-1]) / float(before[-1]) if len(before) and len(after) else np.nan


TIMEOUT = replace(
    BASE,
    item="G19",
    section="RFC 5681 3.1",
    what="everything is lost for 3 s, 50 Mb/s, 100 ms",
    numbers=(
        Number(
            "threshold", "of the window is the threshold", "%", lambda run: _at_end_of_outage(run, "threshold_segments")
        ),
        Number("left", "of the window is left", "%", lambda run: _at_end_of_outage(run, "window_segments")),
    ),
    conditions=f'{FIRST_LOSS}, {{ from = "10 s", for = "3 s", loss = 1.0 }}',
    duration_s=15.0,
    from_s=1.0,
)


def _restart(run: Run) -> float:
    """Return the least window in the round trip after a minute of rest, of that of the connection's begin; NaN without a second file."""
    times, sizes = _looks(run)
    begins = run.transfers["started_ns"].sort().to_numpy() / 1e9
    later = begins[begins > 30.0]
    if not len(later):
        return np.nan
    looked = sizes[(times > later[0]) & (times <= later[0] + 0.9 * RTT_S)]
    return 100 * float(looked.min() / sizes[0]) if len(looked) else np.nan


IDLE = replace(
    BASE,
    item="G20",
    section="RFC 5681 4.1",
    what="a minute of rest between two files of 2 MB, 50 Mb/s, 100 ms",
    traffic=_own(', file = "2 MB", gap = "60 s", reuse_connection = true'),
    numbers=(Number("restart", "of the initial window after the rest", "%", _restart),),
    conditions=FIRST_LOSS,
    duration_s=70.0,
    from_s=0.0,
)
