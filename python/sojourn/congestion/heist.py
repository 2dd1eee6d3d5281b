"""Measurements of Prague by others beside a controller's here: heistp/l4s-tests of 2020 and 2021.

Source: heistp/l4s-tests, README of 2021-08-28; laboratory runs have the L4S team's kernel of August 2020, which is the stack
`prague-2020`, runs over real lines that of June 2021. Figures are information: agreement with them is a statement about our
Prague. Deviations: queues are those of the packages' defaults here, with the keys that the README names; a call by Skype is
packets of 1200 B in frames of a fixed rate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from sojourn.congestion.general.common import OTHERS, lettered, marked
from sojourn.congestion.scenario import Cell, Number, Run, Stacks, flow

DUALPI2 = '{ kind = "dualpi2" }'

CUBIC = OTHERS["cubic"]

BASE = Cell(
    "H",
    "heistp/l4s-tests",
    "",
    "",
    marked(),
    (),
    rate_mbps=50.0,
    rtt_ms=20.0,
    queue=DUALPI2,
    duration_s=80.0,
    from_s=20.0,
)


def _goodput(entry: str) -> Callable[[Run], float]:
    return lambda run: run.metric(entry, "goodput")


def _rate(entry: str, title: str) -> Number:
    return Number(entry, title, "Mb/s", _goodput(entry))


def _with_ecn(other: str) -> str:
    return f'{{ kind = {OTHERS[other]}, ecn = "classic" }}'


def _pair(item: str, what: str, *flows: tuple[str, float], queue: str = DUALPI2, ecn: bool = False) -> Cell:
    """Return two flows: each `own` or one of `OTHERS`, with its round trip in ms."""

    def traffic(stacks: Stacks) -> str:
        def stack(name: str) -> str:
            if name == "own":
                return stacks.marked
            return _with_ecn(name) if ecn else OTHERS[name]

        return "".join(flow(f"flow-{place}", stack(name), rtt_ms=rtt) for place, (name, rtt) in enumerate(flows, 1))

    return replace(
        BASE,
        item=item,
        what=what,
        traffic=traffic,
        numbers=tuple(
            _rate(f"flow-{place}", f"{place}: {'it' if name == 'own' else name}")
            for place, (name, _) in enumerate(flows, 1)
        ),
        rtt_ms=max(rtt for _, rtt in flows),
        queue=queue,
    )


EQUAL = lettered(
    *(_pair("H1", f"CUBIC and it, 50 Mb/s, {rtt} ms, DualPI2", ("cubic", rtt), ("own", rtt)) for rtt in (10, 20, 80)),
    _pair("H1", "CUBIC and it, 50 Mb/s, 20 ms, FQ-CoDel", ("cubic", 20), ("own", 20), queue='{ kind = "fq-codel" }'),
)

UNEQUAL = lettered(
    _pair("H2", "it at 160 ms and it at 10 ms, 50 Mb/s, DualPI2", ("own", 160), ("own", 10)),
    _pair("H2", "CUBIC at 80 ms and it at 20 ms, 50 Mb/s, DualPI2", ("cubic", 80), ("own", 20)),
)

SINGLE_QUEUES = (
    ("FQ-CoDel", '{ kind = "fq-codel", queues = 1 }'),
    ("PIE", '{ kind = "pie", ecn = true }'),
    ("RED", '{ kind = "red", limit = "400000 B", ecn = true }'),
)
"""Queues of RFC 3168 that both flows share. RED's limit is that of the README; its thresholds are our defaults."""

SHARED = lettered(
    *(
        _pair(
            "H3",
            f"it and {other.upper() if other == 'cubic' else 'Reno'}{' with ECN' if ecn else ''} in one queue of {title}, 50 Mb/s, 20 ms",
            ("own", 20),
            (other, 20),
            queue=queue,
            ecn=ecn,
        )
        for other in ("cubic", "reno")
        for ecn in (True, False)
        for title, queue in SINGLE_QUEUES
    )
)


def _longest(run: Run) -> float:
    """Return the longest round trip after the rate has fallen, ms: the path's and the wait."""
    return float(run.waits(30.0, run.cell.duration_s).max() + run.cell.rtt_ms)


def _lasts(run: Run) -> float:
    """Return how long after the fall the wait is above a quarter of the round trip, chosen, s."""
    high = np.flatnonzero(run.waits(30.0, run.cell.duration_s) > run.cell.rtt_ms / 4)
    return float((high[-1] + 1) * run.cell.series_ms / 1e3) if len(high) else 0.0


STEP = lettered(
    *(
        replace(
            BASE,
            item="H4",
            what=f"50, then {rate} Mb/s, 80 ms, FQ-CoDel",
            traffic=marked(80.0),
            numbers=(
                Number("longest", "longest round trip after the fall", "ms", _longest),
                Number("lasts", "until the wait stays below 20 ms", "s", _lasts),
            ),
            rtt_ms=80.0,
            queue='{ kind = "fq-codel" }',
            conditions=f'{{ from = "30 s", for = "1 h", rate = "{rate} Mb/s" }}',
            duration_s=90.0,
            series_ms=100.0,
        )
        for rate in (25, 1)
    )
)

CALL = """
[[traffic]]
name = "call"
app = { kind = "video-call", rate = "2.3 Mb/s" }
rtt = "160 ms"
"""


def _beside_call(who: str, where: str, call: str, queue: str = DUALPI2) -> Cell:
    def of_cubic(_: Stacks) -> str:
        return flow("own", CUBIC, rtt_ms=160.0) + call

    return replace(
        BASE,
        item="H5",
        what=f"{who}, 20 Mb/s, 160 ms, {where}",
        traffic=marked(160.0, beside=call) if who == "it" else of_cubic,
        numbers=(_rate("own", "goodput of the flow"),),
        rate_mbps=20.0,
        rtt_ms=160.0,
        queue=queue,
        duration_s=120.0,
        from_s=40.0,
    )


CODEL = '{ kind = "codel" }'

IN_LOW_LATENCY = CALL + 'ecn = "ect1"\n'

BURSTY_TRAFFIC = lettered(
    *(
        _beside_call(who, f"DualPI2{more}", call)
        for who in ("it", "CUBIC")
        for more, call in (("", ""), (", a call of 2.3 Mb/s in L", IN_LOW_LATENCY), (", a call of 2.3 Mb/s in C", CALL))
    ),
    _beside_call("CUBIC", "CoDel", "", CODEL),
    _beside_call("CUBIC", "CoDel, a call of 2.3 Mb/s", CALL, CODEL),
)
"""The flow alone, and beside a call in either queue; CUBIC the same, which says what the call alone costs."""

BURSTS_MS = 4
"""Bursts of a wireless link, ms (README: up to 4 ms)."""


WIRELESS = f"""
path = ["wireless", "access"]

[[link]]
name = "wireless"

[link.upstream]
link = {{ kind = "serial", rate = "1 Gb/s" }}
queue = {{ kind = "drop-tail", limit = "10000 packets" }}
conditions = [{{ from = "0 s", for = "1 h", hold = "{BURSTS_MS} ms" }}]

[link.downstream]
link = {{ kind = "serial", rate = "1 Gb/s" }}
queue = {{ kind = "drop-tail", limit = "10000 packets" }}
"""


def _behind_bursts(rate: int, step_ms: int) -> Cell:
    """Return a flow whose packets come to DualPI2 in bursts: a faster link before it holds them."""
    queue = f'{{ kind = "dualpi2", profile = "linux", threshold = "{step_ms} ms" }}'
    return replace(
        BASE,
        item="H6",
        what=f"{rate} Mb/s, 7 ms, bursts of {BURSTS_MS} ms, DualPI2 with a step at {step_ms} ms",
        traffic=marked(7.0, beside=WIRELESS),
        numbers=(_rate("own", "goodput"),),
        rate_mbps=float(rate),
        rtt_ms=7.0,
        queue=queue,
        duration_s=40.0,
        from_s=10.0,
    )


BURSTY_LINKS = lettered(*(_behind_bursts(rate, step) for rate in (20, 40) for step in (1, 5)))

CELLS = (*EQUAL, *UNEQUAL, *SHARED, *STEP, *BURSTY_TRAFFIC, *BURSTY_LINKS)
"""Scenarios whose figures others have printed."""

PRINTED: Mapping[str, tuple[float, ...]] = {
    "H1a": (12.65, 34.57),
    "H1b": (14.94, 32.39),
    "H1c": (17.85, 29.58),
    "H2a": (1.56, 45.46),
    "H2b": (6.43, 40.69),
    "H3a": (45.70, 1.94),
    "H3b": (45.69, 1.98),
    "H3c": (45.62, 2.05),
    "H3d": (45.81, 1.81),
    "H3e": (45.57, 2.01),
    "H3f": (45.80, 1.81),
    "H3g": (46.60, 1.10),
    "H3h": (46.94, 0.78),
    "H3i": (45.90, 1.80),
    "H3j": (46.49, 1.17),
    "H3k": (46.67, 0.96),
    "H3l": (45.74, 1.87),
    "H4a": (180.0, 5.0),
    "H4b": (4346.0, 30.0),
    "H5a": (18.27,),
    "H5b": (2.29,),
    "H5c": (12.64,),
    "H5d": (16.22,),
    "H5e": (13.39,),
    "H5f": (14.53,),
    "H5g": (16.86,),
    "H5h": (15.08,),
    "H6a": (14.3,),
    "H6b": (18.5,),
    "H6c": (22.0,),
    "H6d": (36.9,),
}
"""Their measurements of Prague and of CUBIC, in the units of the numbers; H4a is about 100 ms beyond the path, and H4b longer than 30 s."""
