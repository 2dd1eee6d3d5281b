"""A controller beside others: short flows, Reno and CUBIC on the grid, a call, a tunnel, wireless (RFC 9743 sections 5.2, 6 and 7)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sojourn.congestion.general.common import FASTEST_OF_TWO, GRID, OTHERS, Traffic, lettered, one, path
from sojourn.congestion.scenario import Cell, Number, Run, Stacks, flow

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


def _harm(entry: str, alone: tuple[float, float], beside: tuple[float, float]) -> Callable[[Run], float]:
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
                Number("harm", "the long flow has less", "%", _harm("long", (50.0, 90.0), (95.0, 150.0))),
            ),
            duration_s=150.0,
            series_ms=1000.0,
        )
        for section, what, traffic in SHORT_FLOWS
    )
)

ALONE, BESIDE = (15.0, 40.0), (60.0, 120.0)
"""Times at which the other flow is alone, and at which both are settled, s."""


def _beside(other: str, rate: float, rtt: float, buffer: float, own_flows: int = 1, others: int = 1) -> Cell:
    def share(run: Run) -> float:
        """Return the others' rate over their fair share."""
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
        f"{own_flows} beside {others} of {other}, {path(rate, rtt, buffer)}",
        traffic,
        (
            Number("share", "others have of their share", "%", share),
            Number("harm", "others have less than alone", "%", _harm("other", ALONE, BESIDE)),
            Number(
                "delay", "wait in the queue, times", "", lambda run: run.wait(*BESIDE) / max(run.wait(*ALONE), 0.01)
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
    *(_beside(other, *place) for other in ("reno", "cubic") for place in GRID if place[0] <= FASTEST_OF_TWO),
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
            f"beside a video call, {path(10, 40, buffer)}",
            lambda stacks: (
                flow("own", stacks.own) + '\n[[traffic]]\nname = "call"\napp = { kind = "video-call" }\nrtt = "40 ms"'
            ),
            (
                Number("late", "frames late", "%", lambda run: run.metric("call", "frames_late")),
                Number("delay", "delay of 95 % of packets", "ms", lambda run: run.metric("call", "delay_up_p95")),
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
    lambda stacks: flow("other", OTHERS["reno"], tunnel="one") + flow("own", stacks.marked, start_s=10.0, tunnel="one"),
    (Number("share", "others have of their share", "%", lambda run: 2 * run.share(30.0, 90.0, "other")),),
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
            one(),
            (
                Number(
                    "goodput",
                    "goodput of what the line can carry",
                    "%",
                    lambda run, mean=mean: 100 * run.metric("own", "goodput") / mean,
                ),
            ),
            conditions=f'{{ from = "0 s", for = "1 h", {condition} }}' if condition[0] != "{" else condition,
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
