"""Claims about queues: how full, how long the wait, how soon a spike subsides.

Source: White and Padden 2012, sections 1.2, 4.1 and 4.3.2, Figures 3, 5, 7, 8 and 9.
Deviations: what section 4.1 says of its figures is judged on uploads alone (see `ramps`). Queuing delay
is the time in the rate-shaping queue, which is what the document's figures show; medians and shares of time come from bins of 100 ms.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sojourn.studies.claims import ClaimBook, Outcome
from sojourn.studies.view import LinkSeries, NotRecorded, StudyView
from sojourn.studies.white2012.cases import (
    CASES,
    CODEL,
    DROPTAIL_21,
    DROPTAIL_417,
    alone_point_of,
    point_of,
)
from sojourn.studies.white2012.claims.words import by_case, number
from sojourn.studies.white2012.transient import (
    SETTLING_S,
    burst_end_s,
    settled,
    typical,
    utilisation,
)

claim = ClaimBook()

#: Delay of a full queue of 21 packets of 1500 B at 5 Mb/s, ms.
FULL_21_MS = 21 * 1500 * 8 / 5e3


def _median(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else np.nan


def _largest(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return float(known.max()) if len(known) else np.nan


def settled_median_ms(series: LinkSeries) -> float:
    """Median queuing delay after the transient."""
    return _median(series.sojourn_mean_ms[settled(series)])


def late_burst_median_ms(series: LinkSeries) -> float:
    """Median queuing delay in the last 2 s of the burst."""
    end = burst_end_s(series)
    return _median(series.sojourn_mean_ms[series.between(end - 2.0, end)])


def burst_largest_ms(series: LinkSeries) -> float:
    """Greatest queuing delay while tokens last; the last bin may hold the first slower packets."""
    return _largest(
        series.sojourn_max_ms[series.between(0.0, burst_end_s(series) - series.width_s)]
    )


def settled_largest_ms(series: LinkSeries) -> float:
    """Greatest queuing delay after the transient."""
    return _largest(series.sojourn_max_ms[settled(series)])


def share_above(limit_ms: float, series: LinkSeries) -> float:
    """Share of the time after the transient with more than so much queuing delay."""
    mask = settled(series)
    if not mask.any():
        return np.nan
    return float(np.mean(np.nan_to_num(series.sojourn_mean_ms[mask]) > limit_ms))


def settled_fill(packets: int, series: LinkSeries) -> float:
    """Mean occupancy after the transient as a share of the limit."""
    mask = settled(series)
    return float(series.backlog_packets_mean[mask].mean()) / packets if mask.any() else np.nan


def subsiding_s(series: LinkSeries) -> float:
    """Time from the spike at the end of the burst until the queuing delay is below 10 ms."""
    end = burst_end_s(series)
    window = np.flatnonzero(series.between(end - 0.5, end + SETTLING_S))
    if len(window) == 0:
        return np.nan
    delay = np.nan_to_num(series.sojourn_mean_ms)
    peak = int(window[np.argmax(delay[window])])
    calm = np.flatnonzero(delay[peak:] < 10.0)
    return float(calm[0]) * series.width_s if len(calm) else np.inf


def time_share(view: StudyView, point: str, at_least: int) -> float:
    """Share of the time with so many packets or more in the upstream queue, all seeds together."""
    rows = view.table("occupancy", point).filter(pl.col("link") == "upstream")
    total = float(rows["time_ns"].sum())
    if total <= 0:
        message = f"no occupancy of {point}"
        raise NotRecorded(message)
    return float(rows.filter(pl.col("packets") >= at_least)["time_ns"].sum()) / total


def _link(view: StudyView, point: str, metric: str) -> np.ndarray:
    return view.values(point, "upstream", metric)


@claim("W12-08")
def _finds_its_point(view: StudyView) -> Outcome:
    codel, tail = point_of("04", CODEL), point_of("04", DROPTAIL_21)
    fast, slow = typical(view, codel, late_burst_median_ms), typical(view, codel, settled_median_ms)
    tail_fast = typical(view, tail, late_burst_median_ms)
    tail_slow = typical(view, tail, settled_median_ms)
    held = fast < 10 and slow < 10 and tail_slow / tail_fast > 2.5
    return Outcome.of(
        held,
        f"CoDel {number(fast)} and {number(slow)} ms; 21 packets {number(tail_fast)} and "
        f"{number(tail_slow)} ms",
    )


@claim("W12-11")
def _busy_with_50_ms(view: StudyView) -> Outcome:
    busy = {c: typical(view, point_of(c, DROPTAIL_21), utilisation) for c in ("02", "03")}
    return Outcome.of(min(busy.values()) >= 0.97, by_case(busy, 4))


@claim("W12-12")
def _steady_delay(view: StudyView) -> Outcome:
    parts: list[str] = []
    held = True
    for case in ("02", "04"):
        point = point_of(case, DROPTAIL_21)
        median = float(np.median(_link(view, point, "sojourn_p50")))
        largest = float(np.max(_link(view, point, "sojourn_max")))
        held = held and 25 <= median <= 51 and largest <= 51
        parts.append(f"{case}: median {number(median)} ms, at most {number(largest)} ms")
    return Outcome.of(held, "; ".join(parts))


@claim("W12-14")
def _nearly_empty(view: StudyView) -> Outcome:
    share = 1 - time_share(view, point_of("01", DROPTAIL_21), 4)
    return Outcome.of(share >= 0.95, f"{number(100 * share, 4)} % of the time")


@claim("W12-17")
def _seconds_of_delay(view: StudyView) -> Outcome:
    chosen = ("02", "03", "04", "05")
    delay = {c: typical(view, alone_point_of(c, DROPTAIL_417), settled_largest_ms) for c in chosen}
    return Outcome.of(all(950 <= v <= 1100 for v in delay.values()), by_case(delay, 4, "ms"))


@claim("W12-18")
def _nearly_full(view: StudyView) -> Outcome:
    long = typical(view, point_of("04", DROPTAIL_417), lambda series: settled_fill(417, series))
    short = typical(view, point_of("04", DROPTAIL_21), lambda series: settled_fill(21, series))
    held = long >= 0.70 and short >= 0.80
    return Outcome.of(held, f"{number(long)} of 417, {number(short)} of 21 packets")


@claim("W12-33")
def _delay_of_one_second(view: StudyView) -> Outcome:
    burst = {
        c: typical(view, alone_point_of(c, DROPTAIL_417), burst_largest_ms) for c in ("03", "05")
    }
    after = {
        c: typical(view, alone_point_of(c, DROPTAIL_417), settled_largest_ms) for c in ("03", "05")
    }
    held = all(abs(v - 250) <= 15 for v in burst.values())
    held = held and all(abs(v - 1000) <= 30 for v in after.values())
    return Outcome.of(held, f"burst {by_case(burst, 4, 'ms')}; after {by_case(after, 4, 'ms')}")


@claim("W12-35")
def _kept_full(view: StudyView) -> Outcome:
    share = typical(view, point_of("02", DROPTAIL_417), lambda series: share_above(500, series))
    return Outcome.of(share >= 0.8, f"{number(100 * share)} % of the time")


@claim("W12-41")
def _bounded(view: StudyView) -> Outcome:
    largest = max(
        float(np.max(_link(view, point_of(c, DROPTAIL_21), "sojourn_max"))) for c in CASES
    )
    # One packet more may have left the queue and wait for its last byte's tokens.
    limit = FULL_21_MS + 1500 * 8 / 5e3
    return Outcome.of(
        largest <= limit,
        f"{number(largest, 4)} ms in the worst of all runs",
        f"judged on every run of the study; limit {limit:g} ms with the packet being shaped",
    )


@claim("W12-42")
@claim("W12-67")
def _very_full(view: StudyView) -> Outcome:
    share = time_share(view, point_of("04", DROPTAIL_21), 16)
    return Outcome.of(share >= 0.95, f"{number(100 * share, 4)} % of the time")


@claim("W12-44")
def _small_queue_busy_link(view: StudyView) -> Outcome:
    point = alone_point_of("05", CODEL)
    busy, delay = typical(view, point, utilisation), typical(view, point, settled_median_ms)
    short = alone_point_of("04", CODEL)
    note = (
        f"at 20 ms: {number(typical(view, short, utilisation), 4)}, "
        f"{number(typical(view, short, settled_median_ms))} ms"
    )
    return Outcome.of(busy >= 0.97 and delay < 5, f"{number(busy, 4)}, {number(delay)} ms", note)


@claim("W12-48")
def _below_target(view: StudyView) -> Outcome:
    share = {
        c: 1 - typical(view, alone_point_of(c, CODEL), lambda series: share_above(5, series))
        for c in ("03", "05")
    }
    note = by_case(
        {
            c: 1 - typical(view, alone_point_of(c, CODEL), lambda series: share_above(5, series))
            for c in ("02", "04")
        }
    )
    return Outcome.of(min(share.values()) >= 0.5, by_case(share), f"at 20 ms: {note}")


@claim("W12-49")
def _spikes_subside(view: StudyView) -> Outcome:
    takes = {c: typical(view, alone_point_of(c, CODEL), subsiding_s) for c in ("03", "05")}
    note = by_case(
        {c: typical(view, alone_point_of(c, CODEL), subsiding_s) for c in ("02", "04")}, 3, "s"
    )
    held = all(1 <= v <= 5 for v in takes.values())
    return Outcome.of(held, by_case(takes, 3, "s"), f"at 20 ms: {note}")


@claim("W12-50")
def _spikes(view: StudyView) -> Outcome:
    largest = float(np.median(_link(view, alone_point_of("05", CODEL), "sojourn_max")))
    short = float(np.median(_link(view, alone_point_of("04", CODEL), "sojourn_max")))
    held = 200 <= largest <= 500
    return Outcome.of(held, f"{number(largest)} ms", f"at 20 ms: {number(short)} ms")
