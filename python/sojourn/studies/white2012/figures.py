"""Figures 2 to 9 of White and Padden 2012 redrawn, and pictures of what the tables say.

Source: White and Padden 2012, sections 4.1 and 4.3.2 for what the figures show; the document's plots
themselves were not read. Reference marks carry the numbers of its text.
Deviations: the document states neither the round trip of Figures 2 to 7 nor what else ran; uploads alone
are drawn at both round trips, 100 ms bold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import polars as pl

from sojourn.plots.cdf import cdf_panel
from sojourn.plots.dots import DotRow, dot_panel
from sojourn.plots.scatter import Pair, scatter_panel
from sojourn.plots.spec import Band, Mark, Note, Panel, PlotSpec, Rule, Scale
from sojourn.plots.stack import stack_panel
from sojourn.plots.timeseries import Trace, timeseries_panel
from sojourn.studies.estimate import Estimate, mean_of, median_of
from sojourn.studies.figure import Figure
from sojourn.studies.table import Cell, Table
from sojourn.studies.view import LinkSeries, NotRecorded, StudyView
from sojourn.studies.white2012 import cases
from sojourn.studies.white2012.cases import (
    CASES,
    CODEL,
    DROPTAIL_21,
    DROPTAIL_417,
    DROPTAIL_BYTES,
    LOADS,
    MANAGER_LABELS,
    MANAGERS,
    PEAK_MBPS,
    alone_point_of,
    congested_point_of,
    point_of,
)
from sojourn.studies.white2012.tables import printed_rows
from sojourn.studies.white2012.transient import allowed_bytes

#: How long the figures over time look, s; chosen: the longest first burst (12 s) and what follows.
WINDOW_S = 20.0

#: Causes of delay in the order in which a packet meets them, with their names in words.
CAUSES = {
    "sender": "sender",
    "queue": "rate-shaping queue",
    "request_wait": "wait for request",
    "grant_wait": "wait for grant",
    "framing": "framing",
    "serialisation": "serialisation",
    "wire": "propagation",
    "recovery": "recovery",
}

#: Couplings of the modem's two queues (section 2.2.3).
COUPLINGS = {
    "drop": "drop at the transmit queue",
    "both": "sojourn over both queues",
    "back": "back-pressure",
}


def figures(view: StudyView, tables: Sequence[Table]) -> list[Figure]:
    """Return all figures that the records allow, in the order of the report."""
    makers: tuple[Callable[[], Figure], ...] = (
        lambda: overview(view),
        lambda: agreement(tables),
        lambda: figure_2(view),
        lambda: figure_3(view),
        lambda: figure_4(view),
        lambda: figure_5(view),
        lambda: figure_6(view),
        lambda: figure_7(view),
        lambda: figure_8(view),
        lambda: figure_9(view),
        lambda: delay_by_cause(view),
        lambda: byte_limit(view),
        lambda: congestion(view),
    )
    return list(_available(makers))


def _available(makers: Sequence[Callable[[], Figure]]) -> Iterator[Figure]:
    for make in makers:
        try:
            yield make()
        except NotRecorded:
            continue


# ---- Figures 2 to 7: over time --------------------------------------------------------------------


def figure_2(view: StudyView) -> Figure:
    """TCP throughput behind 417 packets."""
    return _throughput(
        view,
        DROPTAIL_417,
        2,
        "TCP throughput without Buffer Control",
        (
            (Rule(0.6, "x", "text: 0.6 s"), Rule(6.0, "x", "text: 6 s")),
            (Rule(5.8, "x", "text: 5.8 s"),),
        ),
        "TCP fills the link at once and keeps it full. The text says: 20 Mb/s after 0.6 s, the burst "
        "used up after 6 s by one connection and 5.8 s by five.",
    )


def figure_3(view: StudyView) -> Figure:
    """Queuing delay behind 417 packets."""
    limits = (Rule(250.2, "y", "full at 20 Mb/s: 250 ms"), Rule(1000.8, "y", "full at 5 Mb/s: 1 s"))
    return _delay(
        view,
        DROPTAIL_417,
        3,
        "Queuing delay without Buffer Control",
        limits,
        "The price: even one connection keeps the buffer full, for 250 ms of delay during the burst "
        "and 1 s after it.",
    )


def figure_4(view: StudyView) -> Figure:
    """TCP throughput behind 21 packets."""
    return _throughput(
        view,
        DROPTAIL_21,
        4,
        "TCP throughput with Buffer Control",
        (
            (Rule(10.0, "x", "text: 10 s"), Rule(12.0, "x", "text: 12 s")),
            (Rule(4.5, "x", "text: 4.5 s"), Rule(6.7, "x", "text: 6.7 s")),
        ),
        "A short buffer makes the peak rate hard to reach. The text says: one connection takes 10 s "
        "to 20 Mb/s and 12 s to use up the burst, five take 4.5 s and 6.7 s.",
    )


def figure_5(view: StudyView) -> Figure:
    """Queuing delay behind 21 packets."""
    limits = (Rule(12.6, "y", "full at 20 Mb/s: 12.6 ms"), Rule(50.4, "y", "full at 5 Mb/s: 50 ms"))
    return _delay(
        view,
        DROPTAIL_21,
        5,
        "Queuing delay with Buffer Control",
        limits,
        "Delay is bounded at 50 ms, and five connections keep it there.",
    )


def figure_6(view: StudyView) -> Figure:
    """TCP throughput behind CoDel."""
    return _throughput(
        view,
        CODEL,
        6,
        "TCP throughput with CoDel",
        ((Rule(2.5, "x", "text: falls at 2.5 s"), Rule(15.0, "y", "text: to 15 Mb/s")), ()),
        "CoDel lets TCP start as fast as the large buffer does. The text says that one CUBIC "
        "connection falls to 15 Mb/s after 2.5 s and stays there to the end of the burst.",
    )


def figure_7(view: StudyView) -> Figure:
    """Queuing delay behind CoDel, whole and near the target."""
    whole = _delay_panels(
        view, CODEL, (Rule(370.0, "y", "text: spikes up to 370 ms (five)"),), with_titles=True
    )
    near = _delay_panels(view, CODEL, (Rule(5.0, "y", "target 5 ms"),), high=20.0)
    plot = PlotSpec(
        name="figure-7",
        title="Figure 7. Queuing delay with CoDel",
        panels=(*whole, *near),
        columns=2,
        height=115,
        legend="below",
        description="Time in the rate-shaping queue over the first 20 s behind CoDel, for one and "
        "five TCP connections; the lower panels show the same below 20 ms.",
    )
    return Figure(
        "figure-7",
        plot,
        "Below: the same, near the target. Spikes at the start and at the step to 5 Mb/s subside "
        "within seconds; in between the queue stays short.",
    )


def _first(view: StudyView, point: str) -> LinkSeries:
    series = view.series(point)
    return series[min(series)]


def _throughput(
    view: StudyView,
    manager: str,
    number: int,
    title: str,
    rules: tuple[tuple[Rule, ...], tuple[Rule, ...]],
    caption: str,
) -> Figure:
    panels: list[Panel] = []
    for (short, long), heading, extras in zip(
        (("02", "03"), ("04", "05")), ("one TCP", "five TCPs"), rules, strict=True
    ):
        bold, thin = (
            _first(view, alone_point_of(long, manager)),
            _first(view, alone_point_of(short, manager)),
        )
        allowed = allowed_bytes(bold) * 8e-6 / bold.width_s
        panels.append(
            timeseries_panel(
                (
                    Trace(bold.start_s, allowed, "reference", "allowed by the shaper", "thin"),
                    Trace(
                        thin.start_s,
                        thin.rate_mbps,
                        manager,
                        "20 ms round trip",
                        "thin",
                        solid=True,
                    ),
                    Trace(
                        bold.start_s,
                        bold.rate_mbps,
                        manager,
                        "100 ms round trip",
                        "bold",
                        solid=True,
                    ),
                ),
                quantity="rate through the modem",
                unit="Mb/s",
                title=heading,
                until_s=WINDOW_S,
                high=1.1 * PEAK_MBPS,
                ticks=(0, 5, 10, 15, 20),
                extras=extras,
            )
        )
    plot = PlotSpec(
        name=f"figure-{number}",
        title=f"Figure {number}. {title}",
        panels=tuple(panels),
        columns=2,
        height=72,
        share_y=True,
        legend="below",
        description=f"Upstream rate over the first {WINDOW_S:.0f} s behind "
        f"{cases.MANAGER_TITLES[manager]}, for one and five TCP connections.",
    )
    return Figure(f"figure-{number}", plot, caption)


def _delay_panels(
    view: StudyView,
    manager: str,
    rules: tuple[Rule, ...],
    *,
    high: float | None = None,
    with_titles: bool = False,
) -> tuple[Panel, ...]:
    panels: list[Panel] = []
    for (short, long), heading in zip(
        (("02", "03"), ("04", "05")), ("one TCP", "five TCPs"), strict=True
    ):
        bold, thin = (
            _first(view, alone_point_of(long, manager)),
            _first(view, alone_point_of(short, manager)),
        )
        panels.append(
            timeseries_panel(
                (
                    Trace(
                        thin.start_s,
                        thin.sojourn_mean_ms,
                        manager,
                        "20 ms round trip",
                        "thin",
                        solid=True,
                    ),
                    Trace(
                        bold.start_s,
                        bold.sojourn_mean_ms,
                        manager,
                        "100 ms round trip",
                        "bold",
                        solid=True,
                    ),
                ),
                quantity="queuing delay",
                unit="ms",
                title=heading if with_titles else "",
                until_s=WINDOW_S,
                high=high,
                extras=rules,
            )
        )
    return tuple(panels)


def _delay(
    view: StudyView,
    manager: str,
    number: int,
    title: str,
    rules: tuple[Rule, ...],
    caption: str,
) -> Figure:
    plot = PlotSpec(
        name=f"figure-{number}",
        title=f"Figure {number}. {title}",
        panels=_delay_panels(
            view, manager, rules, high=1.15 * max(rule.at for rule in rules), with_titles=True
        ),
        columns=2,
        height=72,
        share_y=True,
        legend="below",
        description=f"Time in the rate-shaping queue over the first {WINDOW_S:.0f} s behind "
        f"{cases.MANAGER_TITLES[manager]}, for one and five TCP connections.",
    )
    return Figure(f"figure-{number}", plot, caption)


# ---- Figures 8 and 9: queue size ------------------------------------------------------------------


def figure_8(view: StudyView) -> Figure:
    """Queue size over time in D04 with 21 packets."""
    series = _first(view, point_of("04", DROPTAIL_21))
    group = 10
    count = len(series.start_s) // group

    def grouped(values: np.ndarray) -> np.ndarray:
        return values[: count * group].reshape(count, group)

    start = series.start_s[: count * group : group]
    mean = grouped(series.backlog_packets_mean).mean(axis=1)
    largest = grouped(series.backlog_packets_max).max(axis=1)
    least = grouped(series.backlog_packets_mean).min(axis=1)
    limit = Rule(21.0, "y", "limit", "limit")
    whole = timeseries_panel(
        (Trace(start, mean, DROPTAIL_21, "mean of 1 s", "normal", solid=True),),
        quantity="queue",
        unit="packets",
        title="whole run",
        until_s=float(series.end_s[-1]),
        high=24.0,
        extras=(limit,),
        bands=(Band(start, least, largest, DROPTAIL_21, "least mean of 100 ms to longest"),),
    )
    near = timeseries_panel(
        (
            Trace(
                series.start_s,
                series.backlog_packets_mean,
                DROPTAIL_21,
                "mean of 100 ms",
                solid=True,
            ),
        ),
        quantity="queue",
        unit="packets",
        title="first 20 s",
        until_s=WINDOW_S,
        high=24.0,
        extras=(limit,),
    )
    plot = PlotSpec(
        name="figure-8",
        title="Figure 8. Queue size over time, D04 (21 packets)",
        panels=(whole, near),
        columns=2,
        height=68,
        share_y=True,
        legend="below",
        description="Packets in the queue of 21 packets with five uploads at 20 ms: nearly full all "
        "the time.",
    )
    return Figure(
        "figure-8",
        plot,
        "Five connections keep the short queue nearly full: what else arrives finds little room.",
    )


def figure_9(view: StudyView) -> Figure:
    """Distribution of the queue size in D04 with 21 packets."""
    rows = (
        view.table("occupancy", point_of("04", DROPTAIL_21))
        .filter(pl.col("link") == "upstream")
        .group_by("packets")
        .agg(pl.col("time_ns").sum())
        .sort("packets")
    )
    packets = rows["packets"].to_numpy().astype(float)
    time = rows["time_ns"].to_numpy().astype(float)
    share = float(time[packets >= 16].sum() / time.sum())
    marks: tuple[Mark, ...] = (
        Rule(16.0, "x", "five free places"),
        Note(1.0, 0.88, f"16 packets or more: ours {100 * share:.1f} % of the time, text 98.5 %"),
    )
    panel = cdf_panel(
        {DROPTAIL_21: packets},
        weights={DROPTAIL_21: time},
        quantity="queue",
        unit="packets",
        low=0.0,
        high=22.0,
        ticks=(0, 5, 10, 15, 20),
        extras=marks,
    )
    plot = PlotSpec(
        name="figure-9",
        title="Figure 9. Distribution of the queue size, D04 (21 packets)",
        panels=(panel,),
        height=68,
        width=120,
        description=f"Share of the time at or below each queue size; 16 packets or more for "
        f"{100 * share:.1f} % of the time.",
    )
    return Figure(
        "figure-9",
        plot,
        "Weighted by time, all runs together.",
    )


# ---- Overview -------------------------------------------------------------------------------------


def overview(view: StudyView) -> Figure:
    """Scores and page load times, printed beside ours."""
    rows = tuple(f"{case}: {LOADS[case].description}" for case in CASES)
    printed = {
        (row["test_case"], row["buffer_packets"] if row["queue_manager"] == "DropTail" else ""): row
        for row in cases_summary()
    }
    scores: list[DotRow] = []
    times: list[DotRow] = []
    for lane, manager in enumerate(MANAGERS):
        buffer = "" if manager == CODEL else manager.removeprefix("droptail-")
        for number, case in enumerate(CASES):
            row = printed[cases.label_of(case, manager), buffer]
            score = mean_of(cases.call(view, case, manager, "mos_loss_only"))
            scores.append(DotRow(number, lane, manager, score, float(row["voip_mos"])))
            censored = row["median_plt_right_censored"] == "1"
            times.append(
                DotRow(
                    number,
                    lane,
                    manager,
                    load_time(view, case, manager),
                    None if censored else float(row["median_plt_s"]),
                    ">600 s" if censored else "",
                )
            )
    plot = PlotSpec(
        name="overview",
        title="The call and the page in nine households",
        panels=(
            dot_panel(
                rows,
                scores,
                lanes=3,
                quantity="score of the call",
                unit="MOS",
                low=0.9,
                high=4.6,
                title="call: right is better",
                labels=MANAGER_LABELS,
            ),
            dot_panel(
                rows,
                times,
                lanes=3,
                quantity="median page load time",
                unit="s",
                scale="log",
                low=2.0,
                high=700.0,
                title="page: left is better",
                with_labels=False,
                labels=MANAGER_LABELS,
            ),
        ),
        columns=2,
        height=118,
        legend="below",
        description="For each test case and queue manager: score of the call and median page load "
        "time, ours with interval and the printed value.",
    )
    return Figure(
        "overview",
        plot,
        "Filled: ours, with the 95 % interval over runs where it is wider than the mark. Hollow "
        "diamond: printed.",
        "overview",
    )


def cases_summary() -> list[dict[str, str]]:
    """Return the printed rows of Tables 7 and 8, the CoDel rows once."""
    return [
        row
        for row in printed_rows("summary")
        if row["queue_manager"] == "DropTail" or row["source"].endswith("7")
    ]


def load_time(view: StudyView, case: str, manager: str) -> Estimate:
    """Median over runs of the median page load time, censored at the length of the run."""
    times = cases.page_load_times(view, case, manager)
    known = np.where(np.isfinite(times), times, np.nan)
    return median_of(known, censored_above=view.duration_s(point_of(case, manager)))


def agreement(tables: Sequence[Table]) -> Figure:
    """Every printed number against ours."""
    families: tuple[tuple[str, str, tuple[str, ...], Scale, float | None], ...] = (
        ("packets lost or late", "%", ("lost", "late", "loss_total"), "log", 0.01),
        ("page load time", "s", ("page_load_time_median",), "log", None),
        ("score", "MOS", ("mos_loss_only",), "linear", None),
        ("upload", "MB", ("forwarded_volume",), "linear", None),
    )
    cells = [cell for table in tables for cell in table.ordered_cells()]
    pairs = [
        [_pair(cell, 1e-3 if unit == "MB" else 1.0) for cell in _comparable(cells, metrics)]
        for _, unit, metrics, _, _ in families
    ]
    if not any(pairs):
        message = "needs a case that the document prints"
        raise NotRecorded(message)
    panels = tuple(
        scatter_panel(own, quantity=quantity, unit=unit, scale=scale, floor=floor)
        for own, (quantity, unit, _, scale, floor) in zip(pairs, families, strict=True)
    )
    plot = PlotSpec(
        name="agreement",
        title="Every printed number against ours",
        panels=panels,
        columns=2,
        height=150,
        width=165,
        legend="below",
        description="Printed against simulated values of Tables 3 to 8; misses are labelled with "
        "their test case.",
    )
    return Figure(
        "agreement",
        plot,
        "On the line, ours equals the print. Losses below 0.01 % are drawn there. Misses carry "
        "their test case.",
        "overview",
    )


def _comparable(cells: Sequence[Cell], metrics: tuple[str, ...]) -> list[Cell]:
    chosen = {
        (cell.case, cell.queue_manager, cell.metric, cell.printed): cell
        for cell in cells
        if cell.metric in metrics
        and cell.ours.value is not None
        and cell.printed_value is not None
        and not cell.censored
        and not (cell.metric == "forwarded_volume" and (cell.printed_value == 0 or cell.shortened))
    }
    return list(chosen.values())


def _pair(cell: Cell, scale: float) -> Pair:
    printed, ours = cell.printed_value, cell.ours.value
    if printed is None or ours is None:
        raise ValueError("only comparable cells are drawn")
    suffix = cell.queue_manager.removeprefix("droptail-")
    label = cell.case if cell.queue_manager == CODEL else f"{cell.case}-{suffix}"
    return Pair(printed * scale, ours * scale, cell.verdict.value, label)


# ---- Where the delay goes -------------------------------------------------------------------------


def mean_delay_parts(view: StudyView, point: str) -> dict[str, float]:
    """Mean delay of the call's packets by cause, ms, all seeds together."""
    rows = (
        view.table("delays", point)
        .filter((pl.col("traffic") == "call") & (pl.col("direction") == "upstream"))
        .group_by("cause")
        .agg(pl.col("packets").sum(), pl.col("total_ns").sum())
    )
    return {
        cause: float(total) / float(packets) / 1e6 if packets else 0.0
        for cause, packets, total in rows.iter_rows()
    }


def delay_by_cause(view: StudyView) -> Figure:
    """Where the call's delay is spent, per case and queue manager."""
    panels: list[Panel] = []
    used: set[str] = set()
    by_manager: dict[str, list[dict[str, float]]] = {}
    for manager in MANAGERS:
        by_manager[manager] = [mean_delay_parts(view, point_of(case, manager)) for case in CASES]
        for parts in by_manager[manager]:
            used |= {cause for cause, value in parts.items() if value > 0}
    for manager in MANAGERS:
        means = by_manager[manager]
        shown = {
            cause: np.array([parts.get(cause, 0.0) for parts in means])
            for cause in CAUSES
            if cause in used
        }
        panels.append(
            stack_panel(
                CASES,
                shown,
                quantity="mean delay",
                unit="ms",
                title=MANAGER_LABELS[manager],
                decimals=1 if manager != DROPTAIL_417 else 0,
                labels=CAUSES,
            )
        )
    plot = PlotSpec(
        name="delay-by-cause",
        title="Where the call's delay goes (note the three scales)",
        panels=tuple(panels),
        columns=3,
        height=88,
        legend="below",
        description="Mean access delay of the call's packets that arrived, split by cause, for nine "
        "test cases and three queue managers.",
    )
    return Figure(
        "delay-by-cause",
        plot,
        "Mean over the packets that arrived, all runs; rows are test cases. The scales differ: behind "
        "417 packets the queue is nearly everything, behind CoDel the request-grant loop weighs as much.",
        "delay",
    )


# ---- What the document left open ------------------------------------------------------------------


def byte_limit(view: StudyView) -> Figure:
    """Page load times behind 50 ms of buffer, counted in packets and in bytes."""
    entries: list[DotRow] = []
    printed = {row["test_case"]: row for row in cases_summary() if row["buffer_packets"] == "21"}
    for number, case in enumerate(CASES):
        row = printed[f"D{case}"]
        censored = row["median_plt_right_censored"] == "1"
        entries += [
            DotRow(
                number,
                0,
                DROPTAIL_21,
                load_time(view, case, DROPTAIL_21),
                None if censored else float(row["median_plt_s"]),
                ">600 s" if censored else "",
            ),
            DotRow(number, 1, DROPTAIL_BYTES, load_time(view, case, DROPTAIL_BYTES)),
        ]
    panel = dot_panel(
        tuple(f"{case}: {LOADS[case].description}" for case in CASES),
        entries,
        lanes=2,
        quantity="median page load time",
        unit="s",
        scale="log",
        low=2.0,
        high=700.0,
        labels=MANAGER_LABELS,
    )
    plot = PlotSpec(
        name="byte-limit",
        title="The same 50 ms, counted in packets and in bytes",
        panels=(panel,),
        height=92,
        width=150,
        legend="below",
        description="Median page load time behind a drop-tail queue of 21 packets and of 31,250 "
        "bytes, for nine test cases.",
    )
    return Figure(
        "byte-limit",
        plot,
        "The authors name the packet limit as a defect of their model (section 5): counted in "
        "bytes, a burst of small packets that open connections finds room.",
        "delay",
    )


def congestion(view: StudyView) -> Figure:
    """Delay of the call under borderline congestion, by how the two queues are coupled."""
    rows = tuple(f"1{case[1]}: {LOADS[case].description}" for case in CASES)
    panels: list[Panel] = []
    for manager in MANAGERS:
        entries: list[DotRow] = []
        for lane, coupling in enumerate(COUPLINGS):
            for number, case in enumerate(CASES):
                point = congested_point_of(case[1], manager, coupling)
                if point in view.points:
                    values = view.values(point, "call", "delay_p95")
                    entries.append(DotRow(number, lane, f"coupling-{coupling}", median_of(values)))
        if not entries:
            message = f"needs the congested points of {MANAGER_LABELS[manager]}"
            raise NotRecorded(message)
        panels.append(
            dot_panel(
                rows,
                entries,
                lanes=3,
                quantity="95th percentile of delay",
                unit="ms",
                scale="log",
                low=3.0,
                high=2000.0,
                title=MANAGER_LABELS[manager],
                with_labels=manager == DROPTAIL_417,
                labels={f"coupling-{name}": words for name, words in COUPLINGS.items()},
            )
        )
    plot = PlotSpec(
        name="congestion",
        title="Borderline congestion, unpublished: the call's delay by how the modem couples its two queues",
        panels=tuple(panels),
        columns=3,
        height=105,
        legend="below",
        description="95th percentile of the call's access delay in cases 11 to 19, for three queue "
        "managers and three couplings.",
    )
    return Figure(
        "congestion",
        plot,
        "Grants average what the modem may send, 5 Mb/s. Nothing of this is printed; the authors "
        "expected back-pressure to do best (section 2.2.3).",
        "delay",
    )
