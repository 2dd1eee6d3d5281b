"""Requirements of RFC 9331 on scalable controllers.

Source: RFC 9331 section 4.3. Deviations: the dependence on the round trip is that of six flows at once; the classic mode is the
stack with ECN as RFC 3168 has it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sojourn.congestion.general.common import OTHERS, goodput, lettered, marked, used
from sojourn.congestion.scenario import Cell, Number, Run, Stacks, flow

DUALPI2 = '{ kind = "dualpi2" }'


BASE = Cell("L", "RFC 9331 4.3", "must", "", marked(), (), rtt_ms=20.0, queue=DUALPI2)


def _marks(run: Run) -> float:
    """Return marks of each round trip, which the wait in the queue makes longer."""
    round_trip_s = (run.cell.rtt_ms + run.metric("upstream", "sojourn_mean")) / 1e3
    return run.metric("own", "marks_received") * round_trip_s / (run.cell.duration_s - run.cell.from_s)


def _wait_ms(metric: str, title: str) -> Number:
    return Number(metric, title, "ms", lambda run: run.metric("upstream", metric))


MARKS = lettered(
    *(
        replace(
            BASE,
            item="L1",
            what=f"1 flow, {rate} Mb/s, 20 ms, DualPI2",
            numbers=(Number("marks", "marks in each round trip", "", _marks), used()),
            rate_mbps=float(rate),
            from_s=40.0,  # chosen: at 800 Mb/s one segment a round trip takes half a minute to be back after slow start
        )
        for rate in (50, 200, 800)
    )
)


def _ratio(run: Run) -> float:
    """Return how many times as much the controller has as the other flow."""
    return run.metric("own", "goodput") / run.metric("other", "goodput")


def _pair(queue: str, other: str, what: str) -> Cell:
    def traffic(stacks: Stacks) -> str:
        return flow("other", _classic(other), rtt_ms=20.0) + marked()(stacks)

    return replace(
        BASE,
        item="L4",
        section="RFC 9331 4.3.1",
        what=what,
        traffic=traffic,
        numbers=(Number("ratio", "has of the other's rate", "times", _ratio),),
        rate_mbps=50.0,
        queue=queue,
        duration_s=90.0,
        from_s=30.0,
    )


def _classic(other: str) -> str:
    return f'{{ kind = {OTHERS[other]}, ecn = "classic" }}'


SINGLE = lettered(
    *(
        _pair(queue, other, f"beside {other} with ECN in one queue of {title}, 50 Mb/s, 20 ms")
        for title, queue in (("CoDel", '{ kind = "codel", ecn = true }'), ("PIE", '{ kind = "pie", ecn = true }'))
        for other in ("reno", "cubic")
    )
)

ROUND_TRIPS_MS = (5, 10, 20, 40, 80, 160)


def _six(stacks: Stacks) -> str:
    flows = (flow(f"own-{rtt}", stacks.marked, rtt_ms=float(rtt)) for rtt in ROUND_TRIPS_MS)
    return "".join(flows)


def _eight(stacks: Stacks) -> str:
    return flow("own", stacks.marked, rtt_ms=2.0, lanes=8)


def _exponent(run: Run) -> float:
    """Return a of rate = RTT^-a, fitted to the logarithms."""
    rates = [run.metric(f"own-{rtt}", "goodput") for rtt in ROUND_TRIPS_MS]
    return float(-np.polyfit(np.log(ROUND_TRIPS_MS), np.log(rates), 1)[0])


def _classic_mode(stacks: Stacks) -> str:
    return flow("own", stacks.classic, rtt_ms=20.0)


def _low_latency(run: Run) -> float:
    """Return which part of the bytes came to the low-latency queue, in %."""
    import polars as pl

    offered = run.services.group_by("queue").agg(pl.col("offered_bytes").sum())
    found = {str(queue): int(size) for queue, size in offered.rows()}
    return 100 * found.get("low_latency", 0) / sum(found.values()) if found else np.nan


def _beside_reno(what: str, conditions: str) -> Cell:
    def traffic(stacks: Stacks) -> str:
        return flow("other", OTHERS["reno"], rtt_ms=20.0) + flow("own", stacks.unmarked, rtt_ms=20.0)

    def share(run: Run) -> float:
        both = run.metric("own", "goodput") + run.metric("other", "goodput")
        return 200 * run.metric("other", "goodput") / both

    return replace(
        BASE,
        item="L3",
        what=what,
        traffic=traffic,
        numbers=(Number("share", "Reno has of an equal share", "%", share), used()),
        rate_mbps=50.0,
        queue="",
        conditions=conditions,
        duration_s=90.0,
        from_s=30.0,
    )


CELLS = (
    *MARKS,
    replace(
        BASE,
        item="L2",
        what="1 flow in its classic mode, 50 Mb/s, 20 ms, DualPI2",
        traffic=_classic_mode,
        numbers=(Number("low_latency", "of its bytes in the low-latency queue", "%", _low_latency), used()),
        rate_mbps=50.0,
        duration_s=30.0,
        series_ms=1000.0,
    ),
    *lettered(
        _beside_reno("beside Reno without marks, drop-tail of one BDP, 50 Mb/s, 20 ms", ""),
        _beside_reno("the same, and one packet of 1000 is lost", '{ from = "0 s", for = "1 h", loss = 0.001 }'),
    ),
    *SINGLE,
    replace(
        BASE,
        item="L5",
        what="6 flows with 5 to 160 ms, 60 Mb/s, DualPI2",
        traffic=_six,
        numbers=(Number("exponent", "rate falls with this power of the round trip", "", _exponent),),
        rate_mbps=60.0,
        duration_s=90.0,
        from_s=30.0,
    ),
    replace(
        BASE,
        item="L6",
        what="8 flows, 10 Mb/s, 2 ms, DualPI2",
        traffic=_eight,
        numbers=(_wait_ms("sojourn_mean", "mean wait"), used()),
        rtt_ms=2.0,
    ),
    *lettered(
        *(
            replace(
                BASE,
                item="L7",
                what=f"1 flow, {rate} Mb/s, one packet of 50 comes 10 ms late",
                numbers=(goodput(),),
                rate_mbps=float(rate),
                conditions='{ from = "0 s", for = "1 h", reorder = 0.02, reorder_by = "10 ms" }',
                duration_s=20.0,
            )
            for rate in (50, 500)
        )
    ),
    replace(
        BASE,
        item="L8",
        what="100 kB each half a second on an idle line of 50 Mb/s; about 250 us is what RFC 9331 has in mind",
        traffic=marked(more=', file = "100 kB", period = "500 ms", reuse_connection = true'),
        numbers=(_wait_ms("sojourn_max", "longest wait that its own bursts make"),),
        rate_mbps=50.0,
        duration_s=30.0,
    ),
)
"""Scenarios of RFC 9331."""
