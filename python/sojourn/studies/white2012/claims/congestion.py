"""Claims about borderline congestion of the upstream channel.

Source: White and Padden 2012, sections 2.2.3 and 3.1.3.
Deviations: delay of the whole modem is that of the call's packets, which sample it every 20 ms.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sojourn.studies.claims import ClaimBook, Outcome
from sojourn.studies.view import LinkSeries, StudyView
from sojourn.studies.white2012.cases import CODEL, DROPTAIL_417, congested_point_of
from sojourn.studies.white2012.claims.words import by_case, number
from sojourn.studies.white2012.transient import typical

claim = ClaimBook()

#: Causes of delay behind the rate-shaping queue.
BEHIND = ("request_wait", "grant_wait", "framing")


def behind_share(view: StudyView, point: str) -> float:
    """Share of the call's waiting that is spent behind the rate-shaping queue."""
    rows = view.table("delays", point).filter(
        (pl.col("traffic") == "call") & (pl.col("direction") == "upstream")
    )
    by_cause = dict(rows.group_by("cause").agg(pl.col("total_ns").sum()).iter_rows())
    behind = sum(float(by_cause.get(cause, 0)) for cause in BEHIND)
    return behind / (behind + float(by_cause.get("queue", 0)))


def _p95(view: StudyView, point: str) -> float:
    return float(np.median(view.values(point, "call", "delay_p95")))


@claim("W12-22")
def _moves_behind(view: StudyView) -> Outcome:
    tail = congested_point_of("5", DROPTAIL_417, "drop")
    codel = congested_point_of("5", CODEL, "drop")
    share = {"D15": behind_share(view, tail), "C15": behind_share(view, codel)}
    swapped = _p95(view, tail) - _p95(view, codel)
    halved = _p95(view, codel) - _p95(view, f"{codel}-txq16")
    held = min(share.values()) > 0.5 and halved > swapped
    return Outcome.of(
        held,
        f"behind: {by_case(share)}; 95th percentile lower by {number(swapped)} ms with CoDel, by "
        f"{number(halved)} ms with half the transmit queue",
    )


@claim("W12-23")
def _couplings(view: StudyView) -> Outcome:
    delay = {
        name: _p95(view, congested_point_of("5", CODEL, name)) for name in ("back", "both", "drop")
    }
    held = delay["back"] <= delay["both"] <= delay["drop"]
    return Outcome.of(held, by_case(delay, 3, "ms"), "95th percentile of the call's access delay")


def first_rate(series: LinkSeries) -> float:
    """Mean rate of the first 10 s, Mb/s."""
    return float(series.rate_mbps[series.between(0.0, 10.0)].mean())


def largest_second(series: LinkSeries) -> float:
    """Largest rate of a second within the first 10 s, Mb/s."""
    start, sent = series.binned(1.0)
    return float(sent[start < 9.5].max()) * 8e-6


def waiting_share(series: LinkSeries) -> float:
    """Share of the first 10 s with a packet or more in the transmit queue on average."""
    return float(np.mean(series.staged_packets_mean[series.between(0.0, 10.0)] >= 1.0))


@claim("W12-95")
def _cannot_peak(view: StudyView) -> Outcome:
    point = congested_point_of("3", CODEL, "drop")
    rate, largest = typical(view, point, first_rate), typical(view, point, largest_second)
    share = typical(view, point, waiting_share)
    held = abs(rate - 5) <= 0.2 and largest <= 5.3 and share > 0.8
    return Outcome.of(
        held,
        f"{number(rate)} Mb/s, no second above {number(largest)} Mb/s, waiting "
        f"{number(100 * share)} % of the time",
    )
