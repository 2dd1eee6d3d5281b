"""What White 2013 needs beyond its data: how series are read, and fifteen claims.

Source: White 2013, sections 3.3, 3.8, 4.1 to 4.5. The order of the levels of congestion is that of the
model (Figures 9 and 10 could not be read): see the model page of the DOCSIS 3.0 upstream with one queue.
Deviations: rates are those of the link, headers included, in bins of 100 ms. Delays are judged at full
resolution; the document rounds them up to whole milliseconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np
import polars as pl

from sojourn._engine import mean_opinion_score, voice_rating
from sojourn.answers.asking import Ask
from sojourn.answers.claims import Outcome
from sojourn.answers.figure import Figure
from sojourn.answers.numbers import by_group, change, combined, number
from sojourn.answers.table import format_number
from sojourn.answers.token_bucket import TokenBucket
from sojourn.answers.token_bucket import reaches_s as reaches_s  # named in answers.toml
from sojourn.answers.view import LinkSeries, NotRecorded
from sojourn.plots.spec import Band, Panel, PlotSpec, Rule
from sojourn.plots.timeseries import Trace, timeseries_panel

SUSTAINED_MBPS = 5.0
"""The shaper of the upstream (section 3.4)."""

BUCKET = TokenBucket(sustained_mbps=SUSTAINED_MBPS, peak_mbps=20.0, burst_bytes=10e6)
burst_end_s, ramp_s, settled = BUCKET.end_s, BUCKET.ramp_s, BUCKET.settled

MANAGERS = ("bufferbloat", "buffer-control", "codel", "sfq-codel", "pie")
RF_LEVELS = ("none", "light", "moderate")
GROUPS = ("light", "moderate", "heavy")
BITTORRENT = ("x16", "x17")
MANAGER_LABELS = {
    "bufferbloat": "BufferBloat",
    "buffer-control": "Buffer Control",
    "codel": "CoDel",
    "sfq-codel": "SFQ-CoDel",
    "pie": "PIE",
}

GAME_LIMIT_MS = 20.0
"""What a game and a cloud game can bear (section 4.1.3): latency in ms, loss in %."""

CLOUD_GAME_LOSS = 0.3

KNEE_MS = 177.3
"""Where the delay of a call begins to hurt more (2012, section 3.2.2), ms."""


# ---- one upload in its first minute: the burst, and what comes after -----------------------------------


def sent_early(series: LinkSeries) -> float:
    """MB sent in the first 6 s, the ramp metric of this study (section 4.4; chosen)."""
    return float(series.forwarded_bytes[series.between(0.0, 6.0)].sum()) / 1e6


def _in_burst(series: LinkSeries) -> np.ndarray:
    """Rates from the first peak to the end of the burst, Mb/s; the bin in which it ends is left out."""
    return series.rate_mbps[series.between(ramp_s(series) - series.width_s, burst_end_s(series) - series.width_s)]


def dip(series: LinkSeries) -> float:
    """Lowest rate after the first peak; NaN without one."""
    rates = _in_burst(series)
    return float(rates.min()) if len(rates) else np.nan


def second_peak(series: LinkSeries) -> float:
    """Highest rate after the dip; NaN without one."""
    rates = _in_burst(series)
    return float(rates[int(np.argmin(rates)) :].max()) if len(rates) else np.nan


def _after_burst(series: LinkSeries) -> np.ndarray:
    return series.rate_mbps[series.start_s >= burst_end_s(series)]


def variation(series: LinkSeries) -> float:
    """Coefficient of variation of the rate after the burst; NaN if there is nothing."""
    rates = _after_burst(series)
    return float(rates.std() / rates.mean()) if len(rates) and rates.mean() else np.nan


def mean_rate(series: LinkSeries) -> float:
    """Mean rate after the burst, Mb/s; NaN if there is nothing."""
    rates = _after_burst(series)
    return float(rates.mean()) if len(rates) else np.nan


def unsteadiness(series: LinkSeries) -> float:
    """Largest distance of a second's rate from the sustained one, from the burst until 30 s."""
    start, sent = series.binned(1.0)
    chosen = sent[(start >= burst_end_s(series)) & (start + 1.0 <= 30.0)] * 8e-6
    return float(np.abs(chosen - SUSTAINED_MBPS).max()) if len(chosen) else np.nan


# ---- what happens after a loss -----------------------------------------------------------------------


def _responses(series: LinkSeries) -> list[tuple[float, float]]:
    """Find first losses after the burst: seconds until the backlog falls, and the delay in s then.

    A loss is a first one if none came in 2 s before it (chosen: above any round trip here); the backlog
    has fallen when 95 % of it is left.
    """
    lossy = np.flatnonzero((series.dropped_packets > 0) & settled(series))
    found: list[tuple[float, float]] = []
    for place, first in enumerate(lossy):
        if place and (first - lossy[place - 1]) * series.width_s <= 2.0:
            continue
        level = series.backlog_packets_mean[first:]
        fallen = np.flatnonzero(level < 0.95 * level[0])
        if len(fallen):
            waits = float(series.sojourn_max_ms[first]) / 1000
            found.append((float(fallen[0]) * series.width_s, waits))
    return found


def response_s(series: LinkSeries) -> float:
    """Median time from a first loss until the backlog falls; NaN without losses."""
    return combined([takes for takes, _ in _responses(series)], "median")


def full_delay_s(series: LinkSeries) -> float:
    """Median delay of the buffer when it overflows; NaN without losses."""
    return combined([waits for _, waits in _responses(series)], "median")


# ---- what happens after a fall of capacity -------------------------------------------------------------

CYCLES = {
    "light": (20.0, 5.0, 2.5, 5.0, 12.5, 2.5, 12.5, 5.0, 20.0, 2.5, 20.0, 12.5),
    "moderate": (12.5, 3.3, 1.7, 3.3, 5.0, 1.7, 5.0, 3.3, 12.5, 1.7, 12.5, 5.0),
}
"""Capacity in Mb/s over a cycle, one level each 10 s. A test holds them against the engine's profiles."""

DWELL_S = 10.0
CYCLE_S = 120.0


def falls() -> Iterator[tuple[float, str]]:
    """Yield the times within a moderate cycle at which the rate falls, s, with the change in words.

    Examples
    --------
    >>> len(list(falls())), next(falls())
    (6, (10.0, '12.5 to 3.3 Mb/s'))
    """
    rates = CYCLES["moderate"]
    for place, rate in enumerate(rates):
        before = rates[place - 1]
        if rate < before:
            yield DWELL_S * place, f"{before:g} to {rate:g} Mb/s"


def after_falls(series: LinkSeries) -> np.ndarray:
    """Mean delay in ms by bin after a fall, over all falls but those of the first cycle."""
    bins = round(DWELL_S / series.width_s)
    length = len(series.start_s) * series.width_s
    starts = [
        cycle * CYCLE_S + fall
        for cycle in range(1, int(length // CYCLE_S) + 1)
        for fall, _ in falls()
        if cycle * CYCLE_S + fall + DWELL_S <= length + 1e-6
    ]
    first = [round(start / series.width_s) for start in starts]
    delays = np.array([series.sojourn_mean_ms[n : n + bins] for n in first])
    known = np.isfinite(delays)
    return np.where(known, delays, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)


def step_peak(series: LinkSeries) -> float:
    """Highest mean delay after a fall, ms."""
    return float(after_falls(series).max())


def step_settled(series: LinkSeries) -> float:
    """Mean delay in the last 3 s before the next change (chosen), ms."""
    return float(after_falls(series)[round(7.0 / series.width_s) :].mean())


def step_back(series: LinkSeries) -> float:
    """When the delay is back within 1.5 times the settled one, s from the fall; infinite if never."""
    course = after_falls(series)
    top = int(np.argmax(course))
    back = np.flatnonzero(course[top:] <= 1.5 * step_settled(series))
    return float((top + int(back[0])) * series.width_s) if len(back) else np.inf


# ---- claims: the call ----------------------------------------------------------------------------------


def _without_loss(delay_ms: float) -> float:
    return mean_opinion_score(voice_rating(delay_ms, 0.0))


def below_the_knee(_: Ask) -> Outcome:
    """W13-07: what 20 ms cost below the knee."""
    first = _without_loss(0.0) - _without_loss(20.0)
    last = _without_loss(KNEE_MS - 20.0) - _without_loss(KNEE_MS)
    held = f"{first:.4f} {last:.4f}" == "0.0087 0.0116"
    return Outcome.of(held, f"{first:.4f} to {last:.4f}", "recomputed from the print")


def above_the_knee(_: Ask) -> Outcome:
    """W13-08: what 20 ms cost above the knee."""
    step = 0.01
    knee = 20 / step * (_without_loss(KNEE_MS) - _without_loss(KNEE_MS + step))
    fall = voice_rating(KNEE_MS, 0.0) - voice_rating(KNEE_MS + 20.0, 0.0)
    middle = mean_opinion_score(67.0 + fall / 2) - mean_opinion_score(67.0 - fall / 2)
    held = f"{knee:.3f} {middle:.2f}" == "0.066 0.13"
    words = f"{knee:.3f} at the knee, {middle:.2f} at a rating of 67"
    return Outcome.of(held, words, "recomputed from the print")


# ---- claims: delay and loss of the game ----------------------------------------------------------------


def worse_with_load(ask: Ask) -> Outcome:
    """W13-47: delay or loss rise from group to group, with four managers of five."""
    worse: list[str] = []
    parts: list[str] = []
    for manager in MANAGERS:
        p95, loss = (
            list(ask.numbers(name, by=["group"], across="mean", queue_manager=manager).values())
            for name in ("mixed_delay_p95", "lost")
        )
        rising = [loss] if manager == "bufferbloat" else [p95, loss]
        if any(all(low < high for low, high in pairwise(values)) for values in rising):
            worse.append(manager)
        steps = ", ".join(number(value, 2) for value in loss)
        delays = ", ".join(number(value) for value in p95)
        parts.append(f"{MANAGER_LABELS[manager]} {delays} ms and {steps} %")
    return Outcome.of(len(worse) >= 4, f"{len(worse)} of 5: {'; '.join(parts)}")


def floor_of_one_queue(ask: Ask) -> Outcome:
    """W13-57: the least delay that one queue in order allows."""

    def least_of(measure: str, manager: str) -> float:
        return ask.number(measure, over="min", rf=["none"], queue_manager=manager, load=_all(ask))

    single = [manager for manager in MANAGERS if manager != "sfq-codel"]
    least = {manager: least_of("delay_p01", manager) for manager in single}
    shown = ", ".join(f"{math.ceil(v)}" for v in least.values() if math.isfinite(v))
    first = least_of("delay_min", "codel")
    return Outcome.of(
        all(4.0 <= v <= 6.5 for v in least.values()),
        by_group(least, 3, "ms"),
        f"rounded up: {shown} ms; least packet with CoDel, whose head drops free grants (2.1.1): {number(first)} ms",
    )


def _all(ask: Ask) -> list[str]:
    return ask.points.values("load", {"part": "published"})


def best_in_most_cells(ask: Ask) -> Outcome:
    """W13-61: SFQ-CoDel has the least delay in most cells of the grid."""
    words: dict[str, int] = {}
    for measure, title in (("mixed_delay_p50", "median"), ("mixed_delay_p95", "95th percentile")):
        by_manager = {manager: ask.numbers(measure, by=["rf", "group"], queue_manager=manager) for manager in MANAGERS}
        cells = by_manager["sfq-codel"]
        words[title] = sum(min(MANAGERS, key=lambda m, cell=cell: by_manager[m][cell]) == "sfq-codel" for cell in cells)
    ours = ", ".join(f"{name}: {count} of 9" for name, count in words.items())
    return Outcome.of(all(count >= 6 for count in words.values()), ours)


def one_household_above_a_fifth(ask: Ask) -> Outcome:
    """W13-77: one of the BitTorrent households loses more than a fifth at all levels, the other never."""

    def losses(manager: str) -> dict[str, float]:
        chosen = list(BITTORRENT)
        by, name = ["rf", "load"], "{load} {rf}"
        return ask.numbers("lost", by=by, name=name, load=chosen, queue_manager=manager)

    loss = losses("sfq-codel")
    above = [sum(loss[f"{load} {rf}"] > 20 for rf in RF_LEVELS) for load in BITTORRENT]
    note = f"PIE: {by_group(losses('pie'), 3, '%')}"
    return Outcome.of(sorted(above) == [0, len(RF_LEVELS)], by_group(loss, 3, "%"), note)


def cloud_games(ask: Ask) -> Outcome:
    """W13-79: who meets what a cloud game asks for."""
    good: set[tuple[str, str]] = set()
    near: list[str] = []
    for manager in MANAGERS:
        p95 = ask.numbers("mixed_delay_p95", by=["group"], queue_manager=manager)
        lost = ask.numbers("lost", by=["group"], across="mean", queue_manager=manager)
        for group in GROUPS:
            if p95[group] < GAME_LIMIT_MS and lost[group] < CLOUD_GAME_LOSS:
                good.add((manager, group))
            if manager == "sfq-codel":
                near.append(f"{group} {number(p95[group])} ms, {number(lost[group])} %")
    found = ", ".join(f"{MANAGER_LABELS[m]} {group}" for m, group in sorted(good)) or "none"
    held = good == {("sfq-codel", "light"), ("sfq-codel", "moderate")}
    return Outcome.of(held, f"meets both: {found}; SFQ-CoDel {'; '.join(near)}")


def same_cause(ask: Ask) -> Outcome:
    """W13-72: a game loses the more, the more uploads share its sub-flow.

    An upload is a connection that is open when the run ends: the next one of its loop keeps its port, and
    so its sub-flow. All games count alike, whatever their household and congestion.
    """
    frames: list[pl.DataFrame] = []
    for load in BITTORRENT:
        for rf in RF_LEVELS:
            flows = ask.view.table("flows", f"{load}-{rf}-sfq-codel")
            flows = flows.filter(pl.col("direction") == "upstream")
            uploads = flows.filter((pl.col("traffic") == "upload") & pl.col("ended_ns").is_null())
            counted = uploads.group_by("seed", "sub_flow").agg(uploads=pl.len())
            frames.append(
                flows.filter(pl.col("traffic") == "game")
                .join(counted, on=["seed", "sub_flow"], how="left", maintain_order="left")
                .select(pl.col("uploads").fill_null(0), lost=100 * pl.col("lost_datagrams") / pl.col("datagrams"))
            )
    games = pl.concat(frames)
    if games["uploads"].n_unique() == 1:
        return Outcome.not_run(
            f"needs games that share with different numbers of uploads; all share with {games['uploads'][0]}"
        )
    correlation = float(np.corrcoef(games["uploads"].to_numpy(), games["lost"].to_numpy())[0, 1])
    if math.isnan(correlation):
        return Outcome.not_run("all games lose as much, or some sent nothing")
    by_number = games.group_by("uploads").agg(pl.col("lost").mean()).sort("uploads")
    beside = {str(uploads): lost for uploads, lost in by_number.iter_rows()}
    return Outcome.of(
        correlation > 0.7,
        f"{number(correlation)} over {len(games)} games; lost beside so many uploads: {by_group(beside, 3, '%')}",
    )


# ---- claims: pages and uploads -------------------------------------------------------------------------


def lost_names(ask: Ask) -> Outcome:
    """W13-88: where lost questions for names cost most."""
    households = {"light": ["x02", "x10"], "moderate": ["x05"], "heavy": ["x13", "x16"]}
    cost: dict[tuple[str, str], float] = {}
    for manager in MANAGERS:
        for group, loads in households.items():
            more = [
                ask.at("load_time_mean", f"{load}-names-{manager}") - ask.at("load_time_mean", f"{load}-none-{manager}")
                for load in loads
            ]
            cost[manager, group] = combined(more, "mean")
    largest = sorted(cost, key=lambda cell: -cost[cell])[:3]
    named = (("codel", "moderate"), ("codel", "heavy"), ("sfq-codel", "heavy"))

    def listed(cells: list[tuple[str, str]]) -> str:
        return by_group({f"{MANAGER_LABELS[m]} {g}": cost[m, g] for m, g in cells}, 3, "s")

    return Outcome.of(set(largest) == set(named), listed(largest), f"expected: {listed(list(named))}")


def alike(ask: Ask) -> Outcome:
    """W13-97: CoDel and SFQ-CoDel carry one upload alike: root mean square over the mean, 30 s."""
    for point in ("reno-codel", "reno-sfq-codel"):
        ask.view.require_duration(point, 60.0)
    first, second = (ask.view.series(point) for point in ("reno-codel", "reno-sfq-codel"))
    shares: list[float] = []
    for seed in sorted(first.keys() & second.keys()):
        a, b = (one[seed].binned(1.0)[1][:30] for one in (first, second))
        shares.append(float(np.sqrt(np.mean((a - b) ** 2)) / np.mean((a + b) / 2)))
    share = combined(shares, "mean")
    if math.isnan(share):
        raise NotRecorded("needs runs of both with the same seed that carry something")
    return Outcome.of(share <= 0.15, f"{number(100 * share)} % of the mean")


def _spread(ask: Ask, measure: str, **where: str) -> tuple[dict[str, float], int]:
    """Return highest over lowest manager by household, and in how many BufferBloat is the highest."""
    by_manager = {
        manager: ask.numbers(measure, by=["load"], across="mean", queue_manager=manager, **where)
        for manager in MANAGERS
    }
    spread: dict[str, float] = {}
    ahead = 0
    for load, rate in by_manager["bufferbloat"].items():
        rates = [values[load] for values in by_manager.values()]
        spread[load] = max(rates) / min(rates)
        ahead += rate >= max(rates)
    return spread, ahead


def similar(ask: Ask) -> Outcome:
    """W13-102: all managers carry about as much, and one second of drop-tail most."""
    spread, ahead = _spread(ask, "upload_rate")
    free, ahead_free = _spread(ask, "upload_rate", rf="none")
    delivered, ahead_delivered = _spread(ask, "goodput")
    wide = {load: v for load, v in spread.items() if v > 1.08}
    note = "; ".join(
        [
            *([f"above 1.08: {by_group(wide, 3)}"] if wide else []),
            f"judged on the wire; by goodput {number(max(delivered.values()))}, {ahead_delivered} of 16; "
            f"on the wire without RF congestion {number(max(free.values()))}, {ahead_free} of 16",
        ]
    )
    ours = f"largest ratio {number(max(spread.values()))}; BufferBloat ahead in {ahead} of 16"
    return Outcome.of(not wide and ahead >= 12, ours, note)


# ---- figures -------------------------------------------------------------------------------------------


def figure_9(_: Ask) -> Figure:
    """Draw what the channel has left over the cycle of light congestion."""
    return _cycle("figure-9", "Figure 9. Light RF congestion", "light")


def figure_10(_: Ask) -> Figure:
    """Draw what the channel has left over the cycle of moderate congestion."""
    return _cycle("figure-10", "Figure 10. Moderate RF congestion", "moderate")


def _cycle(item: str, title: str, level: str) -> Figure:
    rates = CYCLES[level]
    below = sum(rate < SUSTAINED_MBPS for rate in rates) / len(rates)
    start = DWELL_S * np.arange(len(rates) + 1)
    panel = timeseries_panel(
        (Trace(start, np.array([*rates, rates[-1]]), "limit", "", "bold", solid=True),),
        quantity="free capacity",
        unit="Mb/s",
        until_s=CYCLE_S,
        high=22.0,
        ticks=sorted({0.0, *rates}),
        extras=(Rule(SUSTAINED_MBPS, "y"),),
    )
    description = (
        f"Rate that the channel has left over one cycle of 120 s under {level} congestion: "
        f"twelve steps of 10 s, {np.mean(rates):g} Mb/s on average."
    )
    caption = (
        f"Twelve levels of 10 s, {np.mean(rates):g} Mb/s on average, {100 * below:.0f} % of the time below "
        "the 5 Mb/s that the subscriber pays for (dashed)."
    )
    plot = PlotSpec(item, title, (panel,), width=150, height=58, description=description)
    return Figure(item, plot, caption)


def capacity_steps(ask: Ask) -> Figure:
    """Draw the delay after each of the six falls, over all cycles."""
    run = [m for m in ("codel", "sfq-codel", "pie") if f"steps-{m}" in ask.view.points]
    cycles = min((int(ask.view.duration_s(f"steps-{m}") / CYCLE_S) for m in run), default=0)
    if cycles < 1:
        raise NotRecorded("needs runs of 120 s of steps-codel, steps-sfq-codel or steps-pie")
    plot = PlotSpec(
        name="capacity-steps",
        title="Time in the modem's queue after the channel's rate has fallen",
        panels=tuple(_after_fall(ask, run, at, name) for at, name in falls()),
        columns=3,
        height=112,
        share_x=True,
        share_y=True,
        legend="below",
        description="Mean time in the modem's queue over the 10 s after each of the six falls of the cycle of "
        f"moderate congestion, for {', '.join(MANAGER_LABELS[m] for m in run)}.",
    )
    return Figure(
        "capacity-steps",
        plot,
        f"Five uploads at 100 ms, moderate congestion. Median over {cycles} cycles of the mean of 100 ms; "
        "band: their middle half. Packets of all traffic count, so SFQ-CoDel shows what its uploads "
        "wait, not the game.",
    )


def _after_fall(ask: Ask, managers: list[str], at_s: float, name: str) -> Panel:
    traces: list[Trace] = []
    bands: list[Band] = []
    for manager in managers:
        rows: list[np.ndarray] = []
        width = 0.1
        for series in ask.view.series(f"steps-{manager}").values():
            width = series.width_s
            starts = np.arange(at_s, float(series.end_s[-1]) - DWELL_S + 1e-9, CYCLE_S)
            places = [round(start / width) for start in starts]
            rows += [series.sojourn_mean_ms[n : n + round(DWELL_S / width)] for n in places]
        bins = round(DWELL_S / width)
        table = np.array([row for row in rows if len(row) == bins]).reshape(-1, bins)
        known = ~np.all(np.isnan(table), axis=0) if len(table) else np.zeros(bins, dtype=bool)
        if not known.any():
            continue
        time = (width * np.arange(bins))[known]
        low, middle, high = np.nanquantile(table[:, known], (0.25, 0.5, 0.75), axis=0)
        bands.append(Band(time, low, high, manager))
        label = MANAGER_LABELS[manager]
        traces.append(Trace(time, middle, manager, label, step=False, weight="bold"))
    return timeseries_panel(
        traces,
        quantity="time in queue",
        unit="ms",
        title=name,
        until_s=DWELL_S,
        log=True,
        low=2.0,
        high=1000.0,
        ticks=(3, 10, 30, 100, 300, 1000),
        bands=bands,
        extras=(Rule(10.0, "y"),),
    )


# ---- headlines -----------------------------------------------------------------------------------------

Grid = dict[str, dict[str, float]]
"""Numbers by manager and cell of the grid (level of congestion, group of loads)."""


def _grid(ask: Ask, name: str, by: tuple[str, ...] = ("rf", "group")) -> Grid:
    """Mean over seeds, of the conditions that were run with all managers."""
    measure = ask.measures[name]
    complete = {point.name for point in ask.complete({"part": "published"}, "queue_manager")}
    found: Grid = {}
    for manager in MANAGERS:
        groups = ask.points.groups({**measure.where, "queue_manager": manager}, by)
        for cell, members in groups.items():
            chosen = [point for point in members if point.name in complete]
            value = ask.estimate(measure, chosen, "mean").value if chosen else None
            if value is not None:
                found.setdefault(manager, {})[cell] = value
    if not found:
        message = f"needs {measure.title}"
        raise NotRecorded(message)
    return found


def _means(grid: Grid) -> dict[str, float]:
    return {manager: float(np.mean(list(cells.values()))) for manager, cells in grid.items()}


def _whole(ask: Ask, name: str) -> dict[str, float]:
    return {manager: cells[""] for manager, cells in _grid(ask, name, ()).items()}


def _listed(values: Mapping[str, float], decimals: int, unit: str) -> str:
    """Write numbers from the smallest to the largest, each with its manager."""
    ordered = sorted(values.items(), key=lambda item: item[1])
    return ", ".join(
        f"{format_number(value, decimals)} {unit} with {MANAGER_LABELS[manager]}".replace("  ", " ")
        for manager, value in ordered
    )


def say_latency(ask: Ask) -> str:
    """Say how long the game's packets wait."""
    medians, tails = (_whole(ask, name) for name in ("mixed_delay_p50", "mixed_delay_p95"))
    return (
        f"Over all conditions, the game's packets wait {_listed(medians, 0, 'ms')} (median); one in "
        f"twenty waits longer than {_listed(tails, 0, 'ms')}."
    )


def say_sub_flow_limit(ask: Ask) -> str:
    """Say where SFQ-CoDel is good enough, and where it is best."""
    grid = _grid(ask, "mixed_delay_p95")
    if not {"codel", "sfq-codel", "pie"} <= set(grid):
        raise NotRecorded("needs the three active managers")
    ours = grid["sfq-codel"]
    within = sum(value < GAME_LIMIT_MS for value in ours.values())
    best = sum(all(v <= one[cell] for one in grid.values()) for cell, v in ours.items())
    return (
        f"SFQ-CoDel keeps 95 % of the game's packets below {GAME_LIMIT_MS:g} ms in {within} of "
        f"{len(ours)} cells of the grid, and has the lowest such delay in {best}."
    )


def say_loss(ask: Ask) -> str:
    """Say how much the game loses."""
    grid = _grid(ask, "lost")
    heavy = {manager: max(cells.values()) for manager, cells in grid.items()}
    worst = max(heavy, key=lambda manager: heavy[manager])
    return (
        f"Lost packets of the game, averaged over cells: {_listed(_means(grid), 2, '%')}. The worst cell "
        f"is {MANAGER_LABELS[worst]}'s, with {heavy[worst]:.1f} %."
    )


def say_scores(ask: Ask) -> str:
    """Say how calls score."""
    means = _means(_grid(ask, "mos"))
    return f"Calls score {_listed(means, 2, '')} on average over cells, of 4.4 at best."


def say_load_times(ask: Ask) -> str:
    """Say how fast pages load."""
    medians = _whole(ask, "mixed_load_time_p50")
    text = f"Half of the pages load within {_listed(medians, 1, 's')}"
    if "bufferbloat" not in medians:
        return f"{text}."
    long = medians.pop("bufferbloat")
    gains = [f"{long / v:.1f} times with {MANAGER_LABELS[m]}" for m, v in medians.items()]
    return f"{text}: against one second of drop-tail, as fast {', '.join(gains)}."


def say_goodput(ask: Ask) -> str:
    """Say what the uploads pay."""
    means = _means(_grid(ask, "goodput"))
    if "bufferbloat" not in means:
        raise NotRecorded("needs BufferBloat")
    base = means.pop("bufferbloat")
    words = {manager: change(value / base - 1) for manager, value in means.items()}
    changes = ", ".join(
        f"{'nothing' if text == 'as much' else text} with {MANAGER_LABELS[manager]}" for manager, text in words.items()
    )
    return f"What it costs the uploads, against one second of drop-tail: {changes}."
