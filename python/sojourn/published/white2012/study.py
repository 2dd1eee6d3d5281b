"""What White and Padden 2012 needs beyond its data: how a first burst is read, and eleven claims.

Source: White and Padden 2012, section 3.1.1 for the token bucket, section 4.1 for the burst, in words.
Deviations: times are read off bins of 100 ms. Queuing delay is the time in the rate-shaping queue, which
is what the document's figures show.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

from sojourn._engine import mean_opinion_score, voice_rating
from sojourn.answers.asking import Ask
from sojourn.answers.claims import Outcome
from sojourn.answers.numbers import by_group, combined, number
from sojourn.answers.printed_tables import printed_rows as rows_of
from sojourn.answers.token_bucket import TokenBucket
from sojourn.answers.view import LinkSeries, NotRecorded, StudyView
from sojourn.plots.cdf import cdf_panel
from sojourn.plots.spec import Note, PlotSpec, Rule

BUCKET = TokenBucket(sustained_mbps=5.0, peak_mbps=20.0, burst_bytes=10e6, settling_s=5.0)
"""The shaper of the upstream (section 3.1.1). Settling after the burst is chosen: twice the 2.5 s that section
4.1.3 gives the delay spike; 95 % of the peak rate are the ramp metric of the 2013 study."""

burst_end_s, ramp_s, full_share = BUCKET.end_s, BUCKET.ramp_s, BUCKET.full_share
utilisation, allowed_mbps, settled = BUCKET.utilisation, BUCKET.allowed_mbps, BUCKET.settled

RUN_S = 600.0
"""Length of the printed runs (section 4.3), and the pause between pages (section 3.2.3)."""

PAUSE_S = 5.0

LOADED = ("02", "03", "04", "05", "06", "07", "08", "09")
"""Cases with an upload, by the names of their loads."""


# ---- the first burst ---------------------------------------------------------------------------------


def stuck_rate(series: LinkSeries) -> float:
    """Mean rate in Mb/s from 3 s until the bucket is empty; NaN if it is empty before."""
    mask = series.between(3.0, burst_end_s(series))
    return float(series.rate_mbps[mask].mean()) if mask.any() else np.nan


# ---- queues ------------------------------------------------------------------------------------------


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
    end = burst_end_s(series) - series.width_s
    return _largest(series.sojourn_max_ms[series.between(0.0, end)])


def settled_largest_ms(series: LinkSeries) -> float:
    """Greatest queuing delay after the transient."""
    return _largest(series.sojourn_max_ms[settled(series)])


def share_above(series: LinkSeries, limit_ms: float) -> float:
    """Share of the time after the transient with more than this queuing delay."""
    mask = settled(series)
    if not mask.any():
        return np.nan
    return float(np.mean(np.nan_to_num(series.sojourn_mean_ms[mask]) > limit_ms))


def settled_fill(series: LinkSeries, packets: int) -> float:
    """Mean occupancy after the transient as a share of the limit."""
    mask = settled(series)
    return float(series.backlog_packets_mean[mask].mean()) / packets if mask.any() else np.nan


def _spike(series: LinkSeries) -> tuple[float, float]:
    """Find the spike at the end of the burst, and the queuing delay below 10 ms after it: their times, s."""
    end = burst_end_s(series)
    window = np.flatnonzero(series.between(end - 0.5, end + BUCKET.settling_s))
    if len(window) == 0:
        return np.nan, np.nan
    delay = np.nan_to_num(series.sojourn_mean_ms)
    peak = int(window[np.argmax(delay[window])])
    calm = np.flatnonzero(delay[peak:] < 10.0)
    calm_at = float(series.start_s[peak + int(calm[0])]) if len(calm) else np.inf
    return float(series.start_s[peak]), calm_at


def subsiding_s(series: LinkSeries) -> float:
    """Time from the step of the rate, when the bucket is empty, until the queuing delay is below 10 ms."""
    return _spike(series)[1] - burst_end_s(series)


def subsiding_from_peak_s(series: LinkSeries) -> float:
    """Return the same time, counted from the spike."""
    peak_at, calm_at = _spike(series)
    return calm_at - peak_at


# ---- borderline congestion ---------------------------------------------------------------------------


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


def behind_share(view: StudyView, point: str) -> float:
    """Share of the call's waiting that is spent behind the rate-shaping queue."""
    rows = view.table("delays", point).filter((pl.col("traffic") == "call") & (pl.col("direction") == "upstream"))
    by_cause = dict(rows.group_by("cause").agg(pl.col("total_ns").sum()).iter_rows())
    behind = sum(float(by_cause.get(c, 0)) for c in ("request_wait", "grant_wait", "framing"))
    return behind / (behind + float(by_cause.get("queue", 0)))


# ---- pages and volumes -------------------------------------------------------------------------------


def connection_loss(view: StudyView, point: str) -> np.ndarray:
    """Share of the pages' connection attempts that had to be repeated."""
    retries = view.values(point, "page", "connect_retries")
    return retries / (retries + view.values(point, "page", "connections"))


def budget_share(view: StudyView, point: str, subject: str = "upstream") -> np.ndarray:
    """Share of what the shaper lets through at most, the sustained rate and one burst."""
    budget_kb = (BUCKET.sustained_mbps * 1e6 / 8 * view.duration_s(point) + BUCKET.burst_bytes) / 1000.0
    return view.values(point, subject, "forwarded_volume") / budget_kb


# ---- what is printed ---------------------------------------------------------------------------------


def printed_rows(name: str) -> tuple[dict[str, str], ...]:
    """Rows of a file of printed values, as text."""
    return rows_of(Path(__file__).parent / "printed" / f"{name}.csv")


def printed_median(table: str, queue_manager: str) -> dict[str, float]:
    """Return the printed median load times of a table by case, without censored ones."""
    return {
        row["test_case"][1:]: float(row["median_plt_s"])
        for row in printed_rows("web")
        if row["source"] == f"white2012 Table {table}"
        and row["queue_manager"] == queue_manager
        and row["median_plt_right_censored"] == "0"
    }


def figure_9(ask: Ask) -> PlotSpec:
    """Draw the distribution of the queue size in D04 with 21 packets."""
    rows = (
        ask.view.table("occupancy", "D04-21")
        .filter(pl.col("link") == "upstream")
        .group_by("packets")
        .agg(pl.col("time_ns").sum())
        .sort("packets")
    )
    packets, time = (rows[name].to_numpy().astype(float) for name in ("packets", "time_ns"))
    share = 100 * float(time[packets >= 16].sum() / time.sum())
    panel = cdf_panel(
        {"blue dashed triangle": packets},
        weights={"blue dashed triangle": time},
        quantity="queue",
        unit="packets",
        low=0.0,
        high=22.0,
        ticks=(0, 5, 10, 15, 20),
        extras=(
            Rule(16.0, "x", "five free places"),
            Note(1.0, 0.88, f"16 packets or more: ours {share:.1f} % of the time, text 98.5 %"),
        ),
    )
    return PlotSpec(
        "figure-9",
        "Figure 9. Distribution of the queue size, D04 (21 packets)",
        (panel,),
        width=120,
        height=68,
        description=f"Share of the time at or below each queue size; 16 packets or more for {share:.1f} % of the time.",
    )


# ---- claims ------------------------------------------------------------------------------------------


def _all_cases(ask: Ask, measure: str, manager: str) -> dict[str, float]:
    return ask.numbers(measure, by=["load"], queue_manager=manager)


def _ranked(values: Mapping[str, float]) -> list[str]:
    return sorted(values, key=lambda case: -values[case])


def codel_ranks(ask: Ask) -> Outcome:
    """W12-56: the four cases that lose most with CoDel, in their order."""
    order = _ranked(_all_cases(ask, "loss_total", "codel"))
    return Outcome.of(order[:4] == ["06", "04", "07", "05"], " > ".join(order[:5]))


def worst_cases(ask: Ask) -> Outcome:
    """W12-64: the same two cases lose most with both managers."""
    worst = {
        title: sorted(_ranked(_all_cases(ask, "loss_total", manager))[:2])
        for title, manager in (("CoDel", "codel"), ("21 packets", "droptail-21"))
    }
    held = all(pair == ["04", "06"] for pair in worst.values())
    return Outcome.of(held, "; ".join(f"{m}: {' and '.join(p)}" for m, p in worst.items()))


def flow_queueing(ask: Ask) -> Outcome:
    """W12-60: flow queueing ends the loss, unless the call shares its sub-flow with an upload."""
    loss = {c: ask.view.values(f"S{c}", "call", "loss_total") for c in ("04", "06")}
    typical = {c: combined(values, "median") for c, values in loss.items()}
    if any(math.isnan(value) for value in typical.values()):
        raise NotRecorded("no run of S04 or of S06 has a call")
    met = sum(int(np.sum(values >= 0.1)) for values in loss.values())
    runs = sum(len(values) for values in loss.values())
    note = f"in {met} of {runs} runs the call shares its sub-flow with an upload" if met else ""
    return Outcome.of(max(typical.values()) < 0.1, by_group(typical, 3, "%"), note)


def behind_one_second(ask: Ask) -> Outcome:
    """W12-66: load times near the printed ones, and in their order."""
    times = _all_cases(ask, "page_load_time_median", "droptail-417")
    printed = printed_median("5", "DropTail")
    outside = [c for c in LOADED if abs(times[c] / printed[c] - 1) > 0.35]
    others = [times[c] for c in ("02", "03", "06", "07")]
    ordered = times["05"] > times["04"] > max(others) and min(others) > times["08"] > times["09"]
    near = all(abs(times[c] / printed[c] - 1) <= 0.35 for c in LOADED)
    note = f"outside 35 %: {', '.join(outside)}" if outside else "all within 35 %"
    order = f"order {'holds' if ordered else 'differs'}"
    return Outcome.of(near and ordered, by_group(times, 3, "s"), f"{note}; {order}")


def behind_codel(ask: Ask) -> Outcome:
    """W12-68: load times near those of Table 5; Table 6 prints another run of the same cases."""
    times = _all_cases(ask, "page_load_time_median", "codel")
    far = {
        table: [c for c, printed in printed_median(table, "CoDel").items() if abs(times[c] / printed - 1) > 0.15]
        for table in ("5", "6")
    }
    beside = f"more than 15 % from Table 6: {', '.join(far['6']) or 'none'}"
    held = not far["5"] and max(times.values()) <= 4.2
    return Outcome.of(held, by_group(times, 3, "s"), beside)


def behind_50_ms(ask: Ask) -> Outcome:
    """W12-77: load times within a factor of the printed ones."""
    times = ask.numbers("page_load_time_median", queue_manager="droptail-21", load=[2, 3, 5, 7, 8, 9])
    printed = printed_median("6", "DropTail")
    held = all(1 / 1.6 <= times[c] / printed[c] <= 1.6 for c in times)
    return Outcome.of(held, by_group(times, 3, "s"))


def loads_unloaded(ask: Ask) -> Outcome:
    """W12-70: an idle run holds as many pages as load time and pause allow."""
    parts: list[str] = []
    held = True
    for point, label in (("D01-417", "D01"), ("C01", "C01")):
        ask.view.require_duration(point, RUN_S)
        count, time = ask.at("pages_completed", point), ask.at("page_load_time_median", point)
        # The start takes up to one page more.
        allowed = (RUN_S + PAUSE_S) / (time + PAUSE_S)
        held = held and abs(count / 77 - 1) <= 0.10 and allowed - 2 <= count <= allowed
        parts.append(f"{label}: {number(count)} of at most {number(allowed, 4)}")
    return Outcome.of(held, "; ".join(parts))


def additional_pages(ask: Ask) -> Outcome:
    """W12-78: what CoDel takes from the upload are the pages that it loads more."""

    def by_manager(measure: str, manager: str) -> dict[str, float]:
        return ask.numbers(measure, queue_manager=manager, load=[2, 3, 4, 5])

    per_page: dict[str, float] = {}
    total: dict[str, float] = {}
    tail, codel = (by_manager("forwarded_volume", m) for m in ("droptail-417", "codel"))
    fewer, pages = (by_manager("pages_completed", m) for m in ("droptail-417", "codel"))
    carried, link = (by_manager("link_volume", m) for m in ("droptail-417", "codel"))
    for case in tail:
        more = pages[case] - fewer[case]
        per_page[case] = (tail[case] - codel[case]) / more if more > 0 else np.nan
        total[case] = link[case] / carried[case]
    held = all(110 <= v <= 170 for v in per_page.values()) and min(total.values()) >= 0.99
    return Outcome.of(held, f"{by_group(per_page, 3, 'kB')}; whole link {by_group(total, 4)}")


def volumes(ask: Ask) -> Outcome:
    """W12-83: every printed volume, within 2 %."""
    deviations: dict[str, float] = {}
    for row in printed_rows("summary"):
        printed = float(row["ftp_kbytes_in_600s"])
        if printed == 0:
            continue
        codel = row["queue_manager"] == "CoDel"
        point = row["test_case"] if codel else f"{row['test_case']}-{row['buffer_packets']}"
        ask.view.require_duration(point, RUN_S)
        deviations[point] = ask.at("forwarded_volume", point) / printed - 1
    outside = {name: 100 * v for name, v in deviations.items() if abs(v) > 0.02}
    worst = max(deviations, key=lambda name: abs(deviations[name]))
    ours = f"largest deviation {number(100 * deviations[worst], 2)} % ({worst})"
    note = f"outside: {by_group(outside, 2, '%')}" if outside else ""
    return Outcome.of(not outside, ours, note)


def scores_from_losses(_: Ask) -> Outcome:
    """W12-87: all 36 printed scores follow from the printed losses, without the delay term."""
    losses = {(row["source"][-1], row["test_case"]): float(row["total_plr_pct"]) / 100 for row in printed_rows("voip")}
    fitting = 0
    rows = printed_rows("summary")
    for row in rows:
        # Both summaries print the scores of the CoDel runs of Table 3.
        table = "4" if row["source"].endswith("8") and row["queue_manager"] != "CoDel" else "3"
        score = mean_opinion_score(voice_rating(0.0, losses[table, row["test_case"]]))
        fitting += f"{score:.1f}" == row["voip_mos"]
    return Outcome.of(fitting == len(rows), f"{fitting} of {len(rows)}", "recomputed from the print")
