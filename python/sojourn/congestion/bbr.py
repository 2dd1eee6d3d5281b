"""The example test cases of BBR's draft that are seen from outside; those about a state stand in `states`.

Source: draft-ietf-ccwg-bbr, appendix "BBR Example Test Cases"; it names ranges and no grid. Path, traffic and limits are
chosen: 10 Mb/s, 40 ms, four bandwidth-delay products. Deviations: none known.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sojourn.congestion.general.common import Traffic, goodput, used, wait
from sojourn.congestion.scenario import Cell, Number, Run, flow

SOURCE = "draft-ietf-ccwg-bbr appendix"


def own(more: str = "") -> Traffic:
    """Return the controller alone."""
    return lambda stacks: flow("own", stacks.own, more=more)


BASE = Cell("B", SOURCE, "", "", own(), (), buffer=4.0, series_ms=100.0)


def _cell(number: int, what: str, numbers: tuple[Number, ...], **other: Any) -> Cell:  # noqa: ANN401 - fields of a cell
    return replace(BASE, item=f"B{number}", section=f"{SOURCE}, {number}", what=what, numbers=numbers, **other)


def _plateau(run: Run) -> float:
    """Return the rate of the best tenth of the first five seconds, of the line's."""
    return float(np.quantile(run.course("own", 1.0, 5.0), 0.9) / run.cell.rate_mbps * 100)


def _estimate(run: Run) -> float:
    """Return the rate that the controller takes the path to have at the end, of the line's; NaN if it does not tell."""
    last = run.phases[-1].last("bandwidth_bps") if run.phases else np.nan
    return last / (run.cell.rate_mbps * 1e4)


def _emptied(run: Run) -> float:
    """Return the least wait in the second after the longest of startup, in round trips."""
    waits = run.waits(0.0, 5.0)
    peak = int(waits.argmax())
    return float(waits[peak : peak + 10].min() / run.cell.rtt_ms)


def _dips(run: Run) -> float:
    """Return how often in a minute the window falls to less than 0.6 of its median for a look at least, chosen."""
    import polars as pl

    frame = run.windows.filter(pl.col("direction") == "upstream").sort("at_ns")
    frame = frame.filter(pl.col("at_ns") >= run.cell.from_s * 1e9)
    low = frame["flight_segments"].to_numpy() < 0.6 * float(frame["flight_segments"].median())  # type: ignore[arg-type]
    # What lies less than a second apart is one: a probe lasts 0.2 s and a round trip.
    times = frame["at_ns"].to_numpy()[low] / 1e9
    begins = int((np.diff(times, prepend=-10.0) > 1.0).sum())
    return 60.0 * begins / (run.cell.duration_s - run.cell.from_s)


def _shrunk(run: Run) -> float:
    """Return the time after the fall of the rate until the queue is below one product, s."""
    waits = run.waits(20.0, 40.0)
    short = (waits < run.cell.rtt_ms)[:-1] & (waits < run.cell.rtt_ms)[1:]
    return float(short.argmax() * run.cell.series_ms / 1e3) if short.any() else 20.0


def _share(name: str, title: str, begin: float, end: float) -> Number:
    return Number(name, title, "%", lambda run: run.share(begin, end))


def _after_pause(run: Run) -> float:
    """Return the share of the line in the 2 s after pauses, from a round trip and a bin after each; NaN without any."""
    begins = run.transfers["started_ns"].to_numpy() / 1e9
    begins = begins[(begins > 5.0) & (begins < run.cell.duration_s - 3.0)]
    found = [run.share(begin + 0.2, begin + 2.2) for begin in np.round(begins, 1)]
    return float(np.mean(found)) if found else np.nan


def application(rate_mbps: float, every_ms: int = 100) -> Traffic:
    """Return an application that has a piece of data at regular times."""
    size = round(rate_mbps * 1e3 * every_ms / 8)
    return own(f', file = "{size} B", period = "{every_ms} ms", reuse_connection = true')


CELLS = (
    _cell(
        1,
        "leave STARTUP at the plateau",
        (
            Number("plateau", "of the line in the best tenth of 1 s to 5 s", "%", _plateau),
            Number("estimate", "of the line is the estimated rate", "%", _estimate),
        ),
        window_ms=20.0,
        duration_s=10.0,
        from_s=0.0,
    ),
    _cell(
        3,
        "leave DRAIN when the queue is empty",
        (Number("emptied", "wait within a second after the peak", "of a round trip", _emptied),),
        duration_s=10.0,
        from_s=0.0,
    ),
    _cell(
        7,
        "an application of 2 Mb/s, no loss",
        (Number("goodput", "of what the application has", "%", lambda run: 50 * run.metric("own", "goodput")), wait()),
        traffic=application(2.0),
        duration_s=70.0,
    ),
    _cell(
        10,
        "probes of the round trip",
        (Number("probes", "times a minute that flight halves", "", _dips),),
        window_ms=20.0,
        duration_s=70.0,
    ),
    _cell(
        11,
        "no probe of the round trip after a pause of 6 s",
        (Number("after", "of the line in the 2 s after a pause", "%", _after_pause),),
        traffic=own(', file = "10 MB", gap = "6 s", reuse_connection = true'),
        duration_s=40.0,
    ),
    _cell(
        12,
        "STARTUP with acknowledgements in slots of 20 ms",
        (_share("early", "of the line from 1 s to 3 s", 1.0, 3.0),),
        back='{ from = "0 s", for = "1 h", hold = "20 ms" }',
        duration_s=10.0,
        from_s=0.0,
    ),
    _cell(
        13,
        "CRUISE with acknowledgements in slots of 20 ms",
        (used(),),
        back='{ from = "0 s", for = "1 h", hold = "20 ms" }',
    ),
    _cell(
        14,
        "a product of less than a packet: 64 kb/s, 40 ms",
        (wait(), used()),
        rate_mbps=0.064,
        queue='{ kind = "drop-tail", limit = "20 packets" }',
        duration_s=120.0,
        from_s=60.0,
    ),
    _cell(
        15,
        "10, then 100 Mb/s",
        (Number("up", "until 90 % of the higher rate", "s", lambda run: run.first_above(90.0, 20.0, 60.0)),),
        rate_mbps=100.0,
        buffer=4.0,
        conditions='{ from = "0 s", for = "20 s", rate = "10 Mb/s" }',
    ),
    _cell(
        16,
        "100, then 10 Mb/s",
        (
            Number("shrunk", "until the queue is below a product", "s", _shrunk),
            _share("used", "of the lower rate from 30 s to 60 s", 30.0, 60.0),
            Number("estimate", "of the lower rate is the estimated one", "%", _estimate),
        ),
        window_ms=20.0,
        conditions='{ from = "0 s", for = "20 s", rate = "100 Mb/s" }',
    ),
    _cell(
        17,
        "a policer of 10 Mb/s and 50 kB",
        (
            Number(
                "policed",
                "lost from second 10 on",
                "%",
                lambda run: (
                    100
                    * run.count("upstream", "dropped_policed")
                    / (run.sent(run.cell.from_s, run.cell.duration_s).sum() or np.nan)
                ),
            ),
            Number("goodput", "goodput of the policed rate", "%", lambda run: 10 * run.metric("own", "goodput")),
        ),
        rate_mbps=50.0,
        conditions='{ from = "0 s", for = "1 h", police = "10 Mb/s", police_burst = "50 kB" }',
    ),
    _cell(
        18,
        "packets 10 places late",
        (goodput(),),
        conditions='{ from = "0 s", for = "1 h", reorder = 0.02, reorder_by = "12 ms" }',
    ),
    _cell(
        19,
        "the path is 1.5 s longer for 1.2 s",
        (_share("after", "of the line from 30 s to 40 s", 30.0, 40.0),),
        conditions='{ from = "20 s", for = "1.2 s", delay = "1.5 s" }',
        duration_s=40.0,
    ),
)
"""Cases that are seen from outside."""

ITEMS_OF_OTHERS = ("B12", "B13", "B15", "B16", "B17")
"""Cases that say something of controllers that are not BBR. chosen: they ask for what any controller should do."""
