"""Paths that change, reorder, stop or are extreme (RFC 9743 sections 6 and 7)."""

from __future__ import annotations

from sojourn.congestion.general.common import goodput, lettered, one, path, used, wait
from sojourn.congestion.scenario import Cell, Number, Run


def _share_after(name: str, title: str, begin: float, end: float) -> Number:
    return Number(name, title, "%", lambda run: run.share(begin, end))


STEPS = ", ".join(
    f'{{ from = "{20 + 2.5 * step:g} s", for = "2.5 s", every = "10 s", delay = "{12.5 * step:g} ms" }}'
    for step in range(1, 4)
)

DELAY = lettered(
    Cell(
        "G12",
        "RFC 9743 7.3",
        "should",
        "the path is 50 ms longer from 30 s to 60 s",
        one(),
        (
            _share_after("longer", "of the line in the 10 s after it grew", 30.0, 40.0),
            _share_after("shorter", "of the line in the 10 s after it shrank", 60.0, 70.0),
        ),
        conditions='{ from = "30 s", for = "30 s", delay = "50 ms" }',
        duration_s=70.0,
        series_ms=1000.0,
    ),
    Cell(
        "G12",
        "RFC 9743 7.3",
        "should",
        "the path grows by 37.5 ms in steps, each 10 s anew",
        one(),
        (goodput(),),
        conditions=STEPS,
        from_s=20.0,
    ),
)

EXTREME = lettered(
    Cell(
        "G13",
        "RFC 9743 7.4",
        "",
        "1 flow, 64 kb/s, 40 ms, 4 packets",
        one(),
        (used(), wait()),
        rate_mbps=0.064,
        duration_s=120.0,
        from_s=60.0,
    ),
    Cell(
        "G13",
        "RFC 9743 7.5",
        "",
        f"1 flow, {path(50, 600, 1)}",
        one(600.0),
        (used(), wait()),
        rate_mbps=50.0,
        rtt_ms=600.0,
        duration_s=120.0,
        from_s=60.0,
    ),
)


def _resent(run: Run) -> float:
    """Return segments that were sent again though nothing was lost, of a thousand packets."""
    sent = run.metric("own", "retransmissions") - run.count("upstream", "dropped_overlimit")
    volume_kb = run.metric("own", "forwarded_volume")
    return 1000 * max(sent, 0.0) / (volume_kb / 1.5)


ORDER = lettered(
    *(
        Cell(
            "G14",
            "RFC 9743 7.7",
            "",
            f"one packet of 50 comes {places} places late",
            one(),
            (goodput(), Number("resent", "sent again for nothing, of 1000", "", _resent)),
            buffer=4.0,
            conditions=f'{{ from = "0 s", for = "1 h", reorder = 0.02, reorder_by = "{1.2 * places:g} ms" }}',
        )
        for places in (3, 30)
    )
)

LATEST_S = 30.0
"""Longest recovery, s. chosen: RFC 9743 has no number; longer than people wait."""


def _recovery(name: str, title: str, at: float, level_mbps: float, until: float) -> Number:
    """Return the time from a change until nine tenths of the rate for a second."""
    return Number(name, title, "s", lambda run: run.first_above(0.9 * level_mbps, at, until))


CHANGE = lettered(
    Cell(
        "G15",
        "RFC 9743 7.9",
        "must",
        "10 Mb/s, a tenth from 30 s to 70 s, then 10 Mb/s again",
        one(),
        (
            _recovery("down", "until 90 % of the lower rate", 30.0, 1.0, 70.0),
            _recovery("up", "until 90 % of the higher rate", 70.0, 10.0, 110.0),
        ),
        conditions='{ from = "30 s", for = "40 s", rate = "1 Mb/s" }',
        duration_s=110.0,
        series_ms=500.0,
    ),
    Cell(
        "G15",
        "RFC 9743 7.9",
        "must",
        "another path from 30 s to 70 s: 5 Mb/s, 80 ms",
        one(),
        (
            _recovery("there", "until 90 % of the lower rate", 30.0, 5.0, 70.0),
            _recovery("back", "until 90 % of the higher rate", 70.0, 10.0, 110.0),
        ),
        conditions='{ from = "30 s", for = "40 s", rate = "5 Mb/s", delay = "40 ms" }',
        duration_s=110.0,
        series_ms=500.0,
    ),
    Cell(
        "G15",
        "RFC 9743 7.8",
        "should",
        "everything is lost for 2 s",
        one(),
        (_recovery("recovery", "until 90 % of the rate", 32.0, 10.0, 72.0),),
        conditions='{ from = "30 s", for = "2 s", loss = 1.0 }',
        duration_s=72.0,
        series_ms=500.0,
    ),
)
