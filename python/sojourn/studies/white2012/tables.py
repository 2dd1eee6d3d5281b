"""Tables 3 to 8 of White and Padden 2012, cell by cell beside ours.

Source: White and Padden 2012, Tables 3 to 8; printed values in `printed/*.csv`.
Deviations: the score is compared without the delay term of its formula, since only so do the printed
losses give the printed scores (all 36 of them); the score by the full formula is a metric beside it.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np

from sojourn.studies.estimate import (
    NOTHING,
    Estimate,
    mean_of,
    median_of,
    paired_difference,
    paired_ratio,
)
from sojourn.studies.table import Cell, Column, ColumnGroup, Row, Table
from sojourn.studies.tolerance import Rule, find_rule, read_rules
from sojourn.studies.view import NotRecorded, StudyView
from sojourn.studies.white2012.cases import (
    CASES,
    CODEL,
    DROPTAIL_21,
    DROPTAIL_417,
    LOADS,
    MANAGER_TITLES,
    RUN_S,
    call,
    label_of,
    page,
    page_load_times,
    point_of,
    upload_volume,
)

PRINTED = Path(__file__).parent / "printed"

#: Which drop-tail queue each table sets beside CoDel.
_RIVAL = {
    "table-3": DROPTAIL_417,
    "table-4": DROPTAIL_21,
    "table-5": DROPTAIL_417,
    "table-6": DROPTAIL_21,
    "table-7": DROPTAIL_417,
    "table-8": DROPTAIL_21,
}


@cache
def rules() -> tuple[Rule, ...]:
    """Tolerance rules of the study."""
    return read_rules(PRINTED / "tolerances.toml")


@cache
def printed_rows(name: str) -> tuple[dict[str, str], ...]:
    """Rows of a file of printed values, as text."""
    with (PRINTED / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return tuple(csv.DictReader(file))


def tables(view: StudyView) -> list[Table]:
    """Return all tables in the order of the document."""
    return [
        table_3(view),
        table_4(view),
        table_5(view),
        table_6(view),
        table_7(view),
        table_8(view),
    ]


def table_3(view: StudyView) -> Table:
    """Compare the call behind one second of drop-tail, and behind CoDel."""
    return _voice(view, "table-3", "Table 3. The call: DropTail without Buffer Control, and CoDel")


def table_4(view: StudyView) -> Table:
    """Compare the call behind 50 ms of drop-tail, and behind CoDel."""
    return _voice(view, "table-4", "Table 4. The call: DropTail with Buffer Control, and CoDel")


def table_5(view: StudyView) -> Table:
    """Pages behind one second of drop-tail, and behind CoDel."""
    return _web(view, "table-5", "Table 5. Web pages: DropTail without Buffer Control, and CoDel")


def table_6(view: StudyView) -> Table:
    """Pages behind 50 ms of drop-tail, and behind CoDel."""
    return _web(view, "table-6", "Table 6. Web pages: DropTail with Buffer Control, and CoDel")


def table_7(view: StudyView) -> Table:
    """Summary of one second of drop-tail against CoDel."""
    return _summary(view, "table-7", "Table 7. Summary: DropTail without Buffer Control, and CoDel")


def table_8(view: StudyView) -> Table:
    """Summary of 50 ms of drop-tail against CoDel."""
    return _summary(view, "table-8", "Table 8. Summary: DropTail with Buffer Control, and CoDel")


# ---- what ours is, per metric ---------------------------------------------------------------------


def _median(metric: str) -> Callable[[StudyView, str, str], Estimate]:
    def ours(view: StudyView, case: str, manager: str) -> Estimate:
        return median_of(call(view, case, manager, metric))

    return ours


def _load_time(view: StudyView, case: str, manager: str) -> Estimate:
    times = page_load_times(view, case, manager)
    duration = view.duration_s(point_of(case, manager))
    return median_of(np.where(np.isfinite(times), times, np.nan), censored_above=duration)


def _deviation(view: StudyView, case: str, manager: str) -> Estimate:
    point = point_of(case, manager)
    return median_of(view.values_or_nan(point, "page", "page_load_time_mad"))


def _count(view: StudyView, case: str, manager: str) -> Estimate:
    return median_of(page(view, case, manager, "pages_completed"))


def _volume(view: StudyView, case: str, manager: str) -> Estimate:
    return mean_of(upload_volume(view, case, manager))


def _gain(view: StudyView, case: str, rival: str) -> Estimate:
    ours = call(view, case, CODEL, "mos_loss_only")
    return paired_difference(ours, call(view, case, rival, "mos_loss_only"))


def _volume_ratio(view: StudyView, case: str, rival: str) -> Estimate:
    ratio = paired_ratio(upload_volume(view, case, CODEL), upload_volume(view, case, rival))
    return ratio.map(_percent)


def _load_time_ratio(view: StudyView, case: str, rival: str) -> Estimate:
    ours, theirs = page_load_times(view, case, CODEL), page_load_times(view, case, rival)
    if 2 * int(np.isinf(theirs).sum()) >= len(theirs):
        duration = view.duration_s(point_of(case, rival))
        return median_of(ours / np.where(np.isinf(theirs), duration, theirs)).map(_percent)
    known = np.isfinite(ours) & np.isfinite(theirs)
    if not known.any():
        return NOTHING
    return median_of(ours[known] / theirs[known]).map(_percent)


def _percent(ratio: float) -> float:
    return 100.0 * ratio


_OURS: dict[str, Callable[[StudyView, str, str], Estimate]] = {
    "lost": _median("lost"),
    "late": _median("late"),
    "loss_total": _median("loss_total"),
    "mos_loss_only": _median("mos_loss_only"),
    "page_load_time_median": _load_time,
    "page_load_time_mad": _deviation,
    "pages_completed": _count,
    "forwarded_volume": _volume,
    "mos_gain": _gain,
    "forwarded_volume_ratio": _volume_ratio,
    "page_load_time_ratio": _load_time_ratio,
}

_UNITS = {
    "lost": "%",
    "late": "%",
    "loss_total": "%",
    "page_load_time_median": "s",
    "page_load_time_mad": "s",
    "forwarded_volume": "kB",
    "forwarded_volume_ratio": "%",
    "page_load_time_ratio": "%",
}

#: Zero is printed without decimals in one table and with two in the other.
_DECIMALS = {"lost": 2, "late": 2, "loss_total": 2}


# ---- cells ----------------------------------------------------------------------------------------


def _cell(
    view: StudyView,
    item: str,
    case: str,
    manager: str,
    metric: str,
    printed: str,
    *,
    label: str,
    rival: str = "",
    bound: str = "",
) -> Cell:
    """One cell; `bound` is the sign of a print that is only a bound."""
    value = float(printed) if printed else None
    try:
        ours = _OURS[metric](view, case, rival or manager)
    except NotRecorded:
        ours = NOTHING
    try:
        shortened = view.duration_s(point_of(case, rival or manager)) < RUN_S
    except NotRecorded:
        shortened = False
    return Cell(
        item=item,
        case=label,
        queue_manager=f"{CODEL} : {rival}" if rival else manager,
        metric=metric,
        unit=_UNITS.get(metric, ""),
        printed=bound + printed,
        printed_value=value,
        ours=ours,
        decimals=max(len(printed.partition(".")[2]), _DECIMALS.get(metric, 0)),
        rule=find_rule(rules(), item=item, case=case, queue_manager=manager, metric=metric),
        censored=bool(bound),
        shortened=shortened,
    )


def _rows(item: str, name: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield printed rows of a table: case number, manager, and the columns of the file."""
    for row in printed_rows(name):
        if row["source"] == f"white2012 Table {item.removeprefix('table-')}":
            yield (
                row["test_case"][1:],
                CODEL if row["queue_manager"] == "CoDel" else _RIVAL[item],
                row,
            )


def _case_rows() -> tuple[Row, ...]:
    return tuple(Row(case, f"D{case}, C{case}", LOADS[case].description) for case in CASES)


def _by_manager(item: str, metrics: tuple[tuple[str, str], ...]) -> tuple[ColumnGroup, ...]:
    return tuple(
        ColumnGroup(
            MANAGER_TITLES[manager],
            tuple(Column(manager, metric, title) for metric, title in metrics),
        )
        for manager in (_RIVAL[item], CODEL)
    )


def _voice(view: StudyView, item: str, title: str) -> Table:
    columns = {"lost": "lost_pct", "late": "late_pct", "loss_total": "total_plr_pct"}
    cells: dict[tuple[str, str, str], Cell] = {}
    for case, manager, row in _rows(item, "voip"):
        for metric, column in columns.items():
            cells[case, manager, metric] = _cell(
                view, item, case, manager, metric, row[column], label=label_of(case, manager)
            )
    headings = (("lost", "lost %"), ("late", "late %"), ("loss_total", "total %"))
    return Table(
        item,
        title,
        "Share of the packets that were sent. Late: more than 60 ms above the smallest delay of the "
        "call. Ours: median over runs.",
        _by_manager(item, headings),
        _case_rows(),
        cells,
    )


def _web(view: StudyView, item: str, title: str) -> Table:
    cells: dict[tuple[str, str, str], Cell] = {}
    columns = {
        "page_load_time_median": "median_plt_s",
        "page_load_time_mad": "mad_plt_s",
        "pages_completed": "page_loads_completed",
    }
    for case, manager, row in _rows(item, "web"):
        censored = row["median_plt_right_censored"] == "1"
        for metric, column in columns.items():
            bound = ">" if censored and metric == "page_load_time_median" else ""
            cells[case, manager, metric] = _cell(
                view,
                item,
                case,
                manager,
                metric,
                row[column],
                label=label_of(case, manager),
                bound=bound,
            )
    headings = (
        ("page_load_time_median", "median s"),
        ("page_load_time_mad", "MAD s"),
        ("pages_completed", "loads"),
    )
    return Table(
        item,
        title,
        "MAD: median absolute deviation. Loads: pages completed in the run. Ours: median over runs "
        "of what each run gave; an empty print was a dash.",
        _by_manager(item, headings),
        _case_rows(),
        cells,
    )


def _summary(view: StudyView, item: str, title: str) -> Table:
    rival = _RIVAL[item]
    cells: dict[tuple[str, str, str], Cell] = {}
    single = {
        "mos_loss_only": "voip_mos",
        "forwarded_volume": "ftp_kbytes_in_600s",
        "page_load_time_median": "median_plt_s",
    }
    for case, manager, row in _rows(item, "summary"):
        censored = row["median_plt_right_censored"] == "1"
        for metric, column in single.items():
            bound = ">" if censored and metric == "page_load_time_median" else ""
            cells[case, manager, metric] = _cell(
                view,
                item,
                case,
                manager,
                metric,
                row[column],
                label=label_of(case, manager),
                bound=bound,
            )
    pair = {
        "mos_gain": "voip_mos_codel_minus_droptail",
        "forwarded_volume_ratio": "ftp_codel_over_droptail_pct",
        "page_load_time_ratio": "median_plt_codel_over_droptail_pct",
    }
    source = f"white2012 Table {item.removeprefix('table-')}"
    key = f"{CODEL} : {rival}"
    for row in printed_rows("summary_comparison"):
        if row["source"] != source:
            continue
        case = row["case_number"]
        for metric, column in pair.items():
            if not row[column]:
                continue
            censored = row["median_plt_ratio_is_upper_bound"] == "1"
            bound = "<" if censored and metric == "page_load_time_ratio" else ""
            cells[case, key, metric] = _cell(
                view,
                item,
                case,
                key,
                metric,
                row[column],
                label=f"D/C{case}",
                rival=rival,
                bound=bound,
            )
    groups = (
        ("Score of the call (MOS)", "mos_loss_only", "mos_gain", "gain"),
        ("Upload, kB in 600 s", "forwarded_volume", "forwarded_volume_ratio", "C/D %"),
        ("Median page load time, s", "page_load_time_median", "page_load_time_ratio", "C/D %"),
    )
    return Table(
        item,
        title,
        "Scores from losses alone, as printed. Upload in kB of 1000 B, headers included. Gains and "
        "ratios are paired by seed.",
        tuple(
            ColumnGroup(
                heading,
                (
                    Column(rival, metric, "DropTail"),
                    Column(CODEL, metric, "CoDel"),
                    Column(key, compared, short),
                ),
            )
            for heading, metric, compared, short in groups
        ),
        tuple(Row(case, f"D/C{case}", LOADS[case].description) for case in CASES),
        cells,
    )
