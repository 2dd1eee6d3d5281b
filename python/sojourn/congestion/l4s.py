"""What RFC 9331 asks of scalable controllers, and what others have measured of them.

Source: RFC 9331 section 4.3; heistp/l4s-tests (kernels of 2020 and 2021), whose figures are information: agreement with them is
a statement about our Prague. Deviations: the dependence on the round trip is that of six flows at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sojourn.congestion.general.common import OTHERS, goodput, lettered, used
from sojourn.congestion.scenario import Cell, Number, Run, Stacks, flow

__all__ = ["CELLS", "OF_HEIST", "PRINTED", "UNSEEN"]

DUALPI2 = '{ kind = "dualpi2" }'


def _own(stacks: Stacks) -> str:
    return flow("own", stacks.marked, rtt_ms=20.0)


BASE = Cell("L", "RFC 9331 4.3", "must", "", _own, (), rtt_ms=20.0, queue=DUALPI2)


def _marks(run: Run) -> float:
    """Return marks of each round trip, which the wait in the queue makes longer."""
    round_trip_s = (run.cell.rtt_ms + run.metric("upstream", "sojourn_mean")) / 1e3
    return (
        run.metric("own", "marks_received") * round_trip_s / (run.cell.duration_s - run.cell.from_s)
    )


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
        return flow("other", _classic(other), rtt_ms=20.0) + _own(stacks)

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
        for title, queue in (
            ("CoDel", '{ kind = "codel", ecn = true }'),
            ("PIE", '{ kind = "pie", ecn = true }'),
        )
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


def _heist(item: str, what: str, *flows: tuple[str, float], rate: float = 50.0) -> Cell:
    """Return two flows of Heist: each `own` or one of `OTHERS`, with its round trip in ms."""

    def traffic(stacks: Stacks) -> str:
        known = {"own": stacks.marked} | OTHERS
        return "".join(
            flow(f"flow-{place}", known[stack], rtt_ms=rtt)
            for place, (stack, rtt) in enumerate(flows, 1)
        )

    return replace(
        BASE,
        item=item,
        section="heistp/l4s-tests",
        word="",
        what=what,
        traffic=traffic,
        numbers=tuple(
            Number(
                f"flow-{place}",
                f"{place}: {'it' if stack == 'own' else stack}",
                "Mb/s",
                _goodput(f"flow-{place}"),
            )
            for place, (stack, _) in enumerate(flows, 1)
        ),
        rate_mbps=rate,
        rtt_ms=max(rtt for _, rtt in flows),
        duration_s=80.0,
        from_s=20.0,
    )


def _goodput(entry: str) -> Callable[[Run], float]:
    return lambda run: run.metric(entry, "goodput")


PRINTED = {
    "H1a": (12.65, 34.57),
    "H1b": (14.94, 32.39),
    "H1c": (17.85, 29.58),
    "H2a": (1.56, 45.46),
    "H2b": (6.43, 40.69),
}
"""What Heist measured of Prague, Mb/s of each flow (tests of 2020 and 2021)."""

OF_HEIST = (
    *(
        _heist(
            f"H1{letter}", f"CUBIC and it, 50 Mb/s, {rtt} ms, DualPI2", ("cubic", rtt), ("own", rtt)
        )
        for letter, rtt in (("a", 10), ("b", 20), ("c", 80))
    ),
    _heist("H2a", "it at 160 ms and it at 10 ms, 50 Mb/s, DualPI2", ("own", 160), ("own", 10)),
    _heist("H2b", "CUBIC at 80 ms and it at 20 ms, 50 Mb/s, DualPI2", ("cubic", 80), ("own", 20)),
)
"""What others have measured of Prague."""

CELLS = (
    *MARKS,
    *SINGLE,
    replace(
        BASE,
        item="L5",
        what="6 flows with 5 to 160 ms, 60 Mb/s, DualPI2",
        traffic=_six,
        numbers=(
            Number("exponent", "rate falls with this power of the round trip", "", _exponent),
        ),
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
)
"""Scenarios of RFC 9331."""

UNSEEN = (
    (
        "L2",
        "4.3, item 1",
        "that it can be switched to a classic mode needs a profile of its own for that",
    ),
    (
        "L8",
        "4.3, item 7",
        "bursts of one flow on an idle line: its stack paces, not the controller",
    ),
    ("L3", "4.3, item 2", "beside Reno on a path that only loses: the drop-tail scenarios of G6"),
)
"""What has no scenario here, and why."""
