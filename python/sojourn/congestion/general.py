"""The scenarios of RFC 9743, with numbers where it leaves them open.

Source: RFC 9743 sections 5 to 7; it has no thresholds. Rates, round trips and buffers are chosen: 10 Mb/s, 40 ms and one
bandwidth-delay product, from which one thing at a time is varied. What no run can show stands in `QUESTIONS`.
Deviations: real time is a call at a fixed rate; a path with a changing rate is a rectangle of 5 and 10 Mb/s.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from string import ascii_lowercase

import numpy as np

from sojourn.congestion.scenario import Cell, Number, Run, Stacks, flow

__all__ = [
    "CELLS",
    "OTHERS",
    "QUESTIONS",
    "QUICK",
    "Traffic",
    "answered",
    "goodput",
    "jain",
    "lettered",
    "used",
    "wait",
]

OTHERS = {"reno": '"linux-reno"', "cubic": '"linux-cubic"', "bbr3": '"bbr3"', "prague": '"prague"'}
"""Stacks that a controller is put beside; of the last two it is told and not judged."""

RATES, ROUND_TRIPS, BUFFERS = (2, 10, 50, 200), (10, 40, 100, 300), (0.25, 1.0, 4.0)
"""The grid: Mb/s, ms, bandwidth-delay products. Source: the specification of this check."""

GRID = tuple(product(RATES, ROUND_TRIPS, BUFFERS))

FASTEST_OF_TWO = 50
"""Mb/s up to which two controllers are put beside each other on the grid. chosen: 200 Mb/s would cost more than all others."""

Traffic = Callable[[Stacks], str]


def _one(rtt_ms: float = 40.0, *, lanes: int = 1, more: str = "") -> Traffic:
    return lambda stacks: flow("own", stacks.own, rtt_ms=rtt_ms, lanes=lanes, more=more)


def used() -> Number:
    """Return how much of the line is used, headers included."""
    return Number(
        "used", "of the line used", "%", lambda run: 100 * run.metric("upstream", "utilisation")
    )


def goodput() -> Number:
    """Return what arrives in order, as a part of the line's rate."""
    return Number(
        "goodput",
        "goodput of the line",
        "%",
        lambda run: 100 * run.metric("own", "goodput") / run.cell.rate_mbps,
    )


def wait(metric: str = "sojourn_mean", title: str = "mean wait in the queue") -> Number:
    """Return a wait in round trips, which is the length of the queue in bandwidth-delay products while the line is busy."""
    return Number(
        metric,
        title,
        "of a round trip",
        lambda run: run.metric("upstream", metric) / run.cell.rtt_ms,
    )


def _lost() -> Number:
    return Number("lost", "lost", "%", lambda run: run.metric("upstream", "loss_rate"))


def lettered(*cells: Cell) -> tuple[Cell, ...]:
    """Return cells of one criterion, told apart by letters."""
    return tuple(
        cell if len(cells) == 1 else replace(cell, item=f"{cell.item}{letter}")
        for cell, letter in zip(cells, ascii_lowercase, strict=False)
    )


def _path(rate: float, rtt: float, buffer: float) -> str:
    return f"{rate:g} Mb/s, {rtt:g} ms, {buffer:g} BDP"


# Collapse.

OUTAGE = '{ from = "20 s", for = "40 s", loss = %s }'


def _per_round_trip(begin: float) -> Number:
    """Packets for each round trip after at least five expiries of the timer, which take some 8 s with a first one of 0.25 s."""

    def of(run: Run) -> float:
        return float(run.sent(begin, 60.0).sum() * run.cell.rtt_ms / 1e3 / (60.0 - begin))

    return Number("packets", "sent in each round trip", "packets", of)


def _growth(run: Run) -> float:
    """Least ratio of intervals between transmissions, from the third on: a probe of the tail comes before the first."""
    times = np.flatnonzero(run.sent(20.0, 60.0)) * run.cell.series_ms / 1e3
    begins = times[np.diff(times, prepend=-1.0) > 0.15]  # chosen: longer than round trip and queue
    intervals = np.diff(begins)[2:]
    return float((intervals[1:] / intervals[:-1]).min()) if len(intervals) > 1 else np.nan


COLLAPSE = lettered(
    Cell(
        "G1",
        "RFC 9743 5.1.1",
        "should",
        "20 flows, 256 kb/s, 100 ms, 8 packets",
        _one(100.0, lanes=20),
        (goodput(), _lost()),
        rate_mbps=0.256,
        rtt_ms=100.0,
        queue='{ kind = "drop-tail", limit = "8 packets" }',
    ),
    Cell(
        "G1",
        "RFC 9743 5.1.1",
        "should",
        "everything is lost for 40 s",
        _one(),
        (
            _per_round_trip(35.0),
            Number("growth", "intervals between packets grow by", "times", _growth),
        ),
        conditions=OUTAGE % "1.0",
        series_ms=10.0,
    ),
    Cell(
        "G1",
        "RFC 9743 5.1.1",
        "should",
        "half of the packets are lost for 40 s",
        _one(),
        (_per_round_trip(35.0),),
        conditions=OUTAGE % "0.5",
        series_ms=10.0,
    ),
)

# One controller alone.

QUEUE = tuple(
    Cell(
        f"G2-{rate}-{rtt}-{buffer:g}",
        "RFC 9743 5.1.2",
        "should",
        f"1 flow, {_path(rate, rtt, buffer)}",
        _one(rtt),
        (used(), wait(), wait("sojourn_p95", "95 % wait less than")),
        rate_mbps=rate,
        rtt_ms=rtt,
        buffer=buffer,
    )
    for rate, rtt, buffer in GRID
)

LOSS = lettered(
    *(
        Cell(
            "G3",
            "RFC 9743 5.1.3",
            "should",
            f"8 flows, {_path(50, 40, buffer)}",
            _one(lanes=8),
            (_lost(), used()),
            rate_mbps=50.0,
            buffer=buffer,
        )
        for buffer in (0.25, 0.5, 1.5)
    )
)


def jain(rates: np.ndarray) -> float:
    """Return Jain's index (RFC 5166 section 2.3.1).

    Examples
    --------
    >>> round(jain(np.array([12.65, 34.57])), 3)
    0.823
    """
    return float(rates.sum() ** 2 / (len(rates) * (rates**2).sum())) if rates.any() else np.nan


FAIR_S = 120.0


def _fair(count: int) -> Cell:
    apart = 5.0 if count < 20 else 2.0  # so that the last one begins long before the end
    last = (count - 1) * apart

    def windows(run: Run) -> np.ndarray:
        """Jain's index of all flows over 10 s, once a second after the last has begun."""
        courses = np.array([run.course(f"own-{n}", last, FAIR_S) for n in range(count)])
        sums = np.cumsum(np.pad(courses, ((0, 0), (1, 0))), axis=1)
        return np.array([jain(one) for one in (sums[:, 10:] - sums[:, :-10]).T])

    def settled(run: Run) -> float:
        found = windows(run) >= 0.9
        return float(found.argmax() + 10) if found.any() else FAIR_S - last

    return Cell(
        "G4",
        "RFC 9743 5.1.4",
        "",
        f"{count} flows, {apart:g} s apart, {_path(50, 40, 1)}",
        lambda stacks: "".join(
            flow(f"own-{n}", stacks.own, start_s=n * apart) for n in range(count)
        ),
        (
            Number(
                "jain", "Jain's index over 10 s, mean", "", lambda run: float(windows(run).mean())
            ),
            Number("settled", "until that is 0.9", "s", settled),
        ),
        rate_mbps=50.0,
        duration_s=FAIR_S,
        series_ms=1000.0,
    )


FAIRNESS = lettered(*(_fair(count) for count in (2, 8, 32)))

# Beside others.

HUNDRED = ', file = "100 kB", period = "2 s"'


def _short(long: str, short: str) -> str:
    """Short flows alone, then a long one alone, then both."""
    return (
        flow("short-alone", short, start_s=2.0, more=f'{HUNDRED}, stop = "30 s"')
        + flow("long", long, start_s=32.0)
        + flow("short", short, start_s=90.0, more=HUNDRED)
    )


def _slower(run: Run) -> float:
    alone = run.transfer_times("short-alone", 0.0, 30.0)
    beside = run.transfer_times("short", 90.0, 150.0)
    return float(np.median(beside) / np.median(alone)) if len(alone) and len(beside) else np.nan


def _harm(
    entry: str, alone: tuple[float, float], beside: tuple[float, float]
) -> Callable[[Run], float]:
    """Return what part of its rate alone a flow loses, in % (RFC 9743 section 5.2.1)."""

    def of(run: Run) -> float:
        solo = run.rate(entry, *alone)
        return 100 * (solo - run.rate(entry, *beside)) / solo if solo else np.nan

    return of


SHORT_FLOWS: tuple[tuple[str, str, Traffic], ...] = (
    (
        "RFC 9743 5.1.5",
        "100 kB each 2 s beside a long flow, both its own",
        lambda stacks: _short(stacks.own, stacks.own),
    ),
    (
        "RFC 9743 5.2.3",
        "100 kB of CUBIC each 2 s beside a long flow",
        lambda stacks: _short(stacks.own, OTHERS["cubic"]),
    ),
    (
        "RFC 9743 5.2.3",
        "100 kB each 2 s beside a long flow of CUBIC",
        lambda stacks: _short(OTHERS["cubic"], stacks.own),
    ),
)

SHORT = lettered(
    *(
        Cell(
            "G5",
            section,
            "must",
            what,
            traffic,
            (
                Number("slower", "short flows take longer", "times", _slower),
                Number(
                    "harm",
                    "the long flow has less",
                    "%",
                    _harm("long", (50.0, 90.0), (95.0, 150.0)),
                ),
            ),
            duration_s=150.0,
            series_ms=1000.0,
        )
        for section, what, traffic in SHORT_FLOWS
    )
)

ALONE, BESIDE = (15.0, 40.0), (60.0, 120.0)
"""When the other flow is alone, and when both are settled."""


def _beside(
    other: str, rate: float, rtt: float, buffer: float, own_flows: int = 1, others: int = 1
) -> Cell:
    def share(run: Run) -> float:
        """Return what the others have of what they would have if all flows had the same."""
        fair = run.cell.rate_mbps * others / (own_flows + others)
        return 100 * run.rate("other", *BESIDE) / fair

    def traffic(stacks: Stacks) -> str:
        return flow("other", OTHERS[other], rtt_ms=rtt, lanes=others) + flow(
            "own", stacks.own, rtt_ms=rtt, lanes=own_flows, start_s=40.0
        )

    return Cell(
        f"G6-{other}-{rate:g}-{rtt:g}-{buffer:g}",
        "RFC 9743 5.2.1",
        "must" if other in ("reno", "cubic") else "",
        f"{own_flows} beside {others} of {other}, {_path(rate, rtt, buffer)}",
        traffic,
        (
            Number("share", "others have of their share", "%", share),
            Number("harm", "others have less than alone", "%", _harm("other", ALONE, BESIDE)),
            Number(
                "delay",
                "wait in the queue, times",
                "",
                lambda run: run.wait(*BESIDE) / max(run.wait(*ALONE), 0.01),
            ),
            Number("lost", "lost of the others", "%", lambda run: run.lost("other", *BESIDE)),
        ),
        rate_mbps=rate,
        rtt_ms=rtt,
        buffer=buffer,
        duration_s=120.0,
        from_s=60.0,
        series_ms=1000.0,
    )


SHARES = (
    *(
        _beside(other, *place)
        for other in ("reno", "cubic")
        for place in GRID
        if place[0] <= FASTEST_OF_TWO
    ),
    *lettered(
        *(
            replace(_beside(other, 10, 40, 1.0, own, others), item="G6")
            for other, own, others in (
                ("reno", 1, 4),
                ("reno", 4, 1),
                ("cubic", 1, 4),
                ("cubic", 4, 1),
                ("bbr3", 1, 1),
                ("prague", 1, 1),
            )
        )
    ),
)

REAL_TIME = lettered(
    *(
        Cell(
            "G7",
            "RFC 9743 5.2.2",
            "should",
            f"beside a video call, {_path(10, 40, buffer)}",
            lambda stacks: (
                flow("own", stacks.own)
                + '\n[[traffic]]\nname = "call"\napp = { kind = "video-call" }\nrtt = "40 ms"'
            ),
            (
                Number("late", "frames late", "%", lambda run: run.metric("call", "frames_late")),
                Number(
                    "delay",
                    "delay of 95 % of packets",
                    "ms",
                    lambda run: run.metric("call", "delay_up_p95"),
                ),
                Number("rate", "rate beside it", "Mb/s", lambda run: run.metric("own", "goodput")),
            ),
            buffer=buffer,
        )
        for buffer in (1.0, 4.0)
    )
)

TUNNEL = Cell(
    "G9",
    "RFC 9743 6.2",
    "must",
    "beside reno in one tunnel before FQ-CoDel",
    lambda stacks: (
        flow("other", OTHERS["reno"], tunnel="one")
        + flow("own", stacks.marked, start_s=10.0, tunnel="one")
    ),
    (
        Number(
            "share",
            "others have of their share",
            "%",
            lambda run: 2 * run.share(30.0, 90.0, "other"),
        ),
    ),
    queue='{ kind = "fq-codel" }',
    duration_s=90.0,
    from_s=30.0,
    series_ms=1000.0,
)

RECTANGLE = '{ from = "0 s", for = "2 s", every = "4 s", rate = "5 Mb/s" }'

WIRELESS = lettered(
    *(
        Cell(
            "G10",
            "RFC 9743 6.4",
            "should",
            what,
            _one(),
            (
                Number(
                    "goodput",
                    "goodput of what the line can carry",
                    "%",
                    lambda run, mean=mean: 100 * run.metric("own", "goodput") / mean,
                ),
            ),
            conditions=f'{{ from = "0 s", for = "1 h", {condition} }}'
            if condition[0] != "{"
            else condition,
        )
        for what, condition, mean in (
            ("0.1 % lost at random", "loss = 0.001", 10.0),
            ("1 % lost at random", "loss = 0.01", 10.0),
            ("slots of 4 ms", 'hold = "4 ms"', 10.0),
            ("slots of 20 ms", 'hold = "20 ms"', 10.0),
            ("jitter of 5 ms", 'jitter = "5 ms"', 10.0),
            ("5 and 10 Mb/s for 2 s each", RECTANGLE, 7.5),
        )
    )
)

# Active queue management.

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
        Number(
            "wait",
            "mean wait in the queue",
            "ms",
            lambda run: run.metric("upstream", "sojourn_mean"),
        ),
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

# Paths that change.


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
        _one(),
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
        _one(),
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
        _one(),
        (used(), wait()),
        rate_mbps=0.064,
        duration_s=120.0,
        from_s=60.0,
    ),
    Cell(
        "G13",
        "RFC 9743 7.5",
        "",
        f"1 flow, {_path(50, 600, 1)}",
        _one(600.0),
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
            _one(),
            (goodput(), Number("resent", "sent again for nothing, of 1000", "", _resent)),
            buffer=4.0,
            conditions=f'{{ from = "0 s", for = "1 h", reorder = 0.02, reorder_by = "{1.2 * places:g} ms" }}',
        )
        for places in (3, 30)
    )
)

LATEST_S = 30.0
"""What a recovery may take at most. Source: the specification of this check; RFC 9743 has no number."""


def _recovery(name: str, title: str, at: float, level_mbps: float, until: float) -> Number:
    """Return the time from a change until nine tenths of the rate for a second."""
    return Number(name, title, "s", lambda run: run.first_above(0.9 * level_mbps, at, until))


CHANGE = lettered(
    Cell(
        "G15",
        "RFC 9743 7.9",
        "must",
        "10 Mb/s, a tenth from 30 s to 70 s, then 10 Mb/s again",
        _one(),
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
        _one(),
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
        _one(),
        (_recovery("recovery", "until 90 % of the rate", 32.0, 10.0, 72.0),),
        conditions='{ from = "30 s", for = "2 s", loss = 1.0 }',
        duration_s=72.0,
        series_ms=500.0,
    ),
)

CELLS = (
    *COLLAPSE,
    *QUEUE,
    *LOSS,
    *FAIRNESS,
    *SHORT,
    *SHARES,
    *REAL_TIME,
    TUNNEL,
    *WIRELESS,
    *MANAGED,
    *DELAY,
    *EXTREME,
    *ORDER,
    *CHANGE,
)
"""All scenarios, in the order of the document."""

QUICK = (
    "G1b",
    "G1c",
    *(f"G2-{rate}-40-1" for rate in (10, 50)),
    "G3a",
    "G4a",
    *(f"G6-{other}-{rate}-40-1" for other in ("reno", "cubic") for rate in (10, 50)),
    "G7a",
    "G10b",
    "G11a",
    "G11f",
    "G15a",
    "G15c",
)
"""Those of a first look."""

QUESTIONS = (
    ("3, 4", "scope", "for which networks is it meant, and where has it been tried?"),
    ("5.3.1", "principles", "where does it differ from RFC 2914 and RFC 7141, and why?"),
    ("5.3.2", "deployment", "what happens while one end, or some of the routers, are older?"),
    ("7.2", "circuit breakers", "does one of RFC 8084 trip on it, and what then?"),
    ("7.6", "misbehaving nodes", "what does it do with a receiver that lies?"),
    ("7.10", "multipath", "are its subflows together no more than one flow?"),
    ("7.11", "data centres", "is it meant for them, and what keeps it there?"),
)
"""What no scenario can show: section, what, and what the author has to answer."""
