"""One controller alone: collapse, the length of the queue, losses, fairness among its own (RFC 9743 sections 5.1 and 5.2)."""

from __future__ import annotations

import numpy as np

from sojourn.congestion.general.common import GRID, goodput, lettered, lost, one, path, used, wait
from sojourn.congestion.scenario import Cell, Number, Run, flow

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
        one(100.0, lanes=20),
        (goodput(), lost()),
        rate_mbps=0.256,
        rtt_ms=100.0,
        queue='{ kind = "drop-tail", limit = "8 packets" }',
    ),
    Cell(
        "G1",
        "RFC 9743 5.1.1",
        "should",
        "everything is lost for 40 s",
        one(),
        (_per_round_trip(35.0), Number("growth", "intervals between packets grow by", "times", _growth)),
        conditions=OUTAGE % "1.0",
        series_ms=10.0,
    ),
    Cell(
        "G1",
        "RFC 9743 5.1.1",
        "should",
        "half of the packets are lost for 40 s",
        one(),
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
        f"1 flow, {path(rate, rtt, buffer)}",
        one(rtt),
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
            f"8 flows, {path(50, 40, buffer)}",
            one(lanes=8),
            (lost(), used()),
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
        f"{count} flows, {apart:g} s apart, {path(50, 40, 1)}",
        lambda stacks: "".join(flow(f"own-{n}", stacks.own, start_s=n * apart) for n in range(count)),
        (
            Number("jain", "Jain's index over 10 s, mean", "", lambda run: float(windows(run).mean())),
            Number("settled", "until that is 0.9", "s", settled),
        ),
        rate_mbps=50.0,
        duration_s=FAIR_S,
        series_ms=1000.0,
    )


FAIRNESS = lettered(*(_fair(count) for count in (2, 8, 32)))
