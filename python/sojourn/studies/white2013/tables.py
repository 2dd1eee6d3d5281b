"""The numbers behind the figures: every condition, every cell of the grid, every unpublished point.

Source: the metrics of the runs. The document prints no such numbers, except the words of Table 3, see
`qualitative`.
Deviations: delays at full resolution; the document rounds them up to milliseconds where it shows them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import polars as pl

from sojourn.studies.distribution import Distribution
from sojourn.studies.estimate import Estimate, mean_of
from sojourn.studies.parts import PlainCell, PlainTable
from sojourn.studies.table import format_estimate, format_number
from sojourn.studies.view import NotRecorded, StudyView
from sojourn.studies.white2013.cases import (
    GAME_LIMIT_MS,
    GROUP_LOADS,
    GROUPS,
    LOADS,
    MANAGER_LABELS,
    MANAGERS,
    RF_LEVELS,
    Samples,
    game_delays,
    load_times,
    over_seeds,
    point_of,
)
from sojourn.studies.white2013.figures.selection import Selection, mix


@dataclass(frozen=True)
class Column:
    """A metric of one traffic entry, as a column."""

    subject: str
    metric: str
    heading: str
    decimals: int


#: Columns of the tables of points, by heading above them.
_COLUMNS: tuple[tuple[str, tuple[Column, ...]], ...] = (
    (
        "Game delay, ms",
        (
            Column("game", "delay_p01", "P1", 1),
            Column("game", "delay_p50", "P50", 1),
            Column("game", "delay_p95", "P95", 1),
            Column("game", "delay_p99", "P99", 1),
            Column("game", "delay_max", "max", 0),
        ),
    ),
    (
        "Game and call",
        (
            Column("game", "lost", "lost, %", 2),
            Column("game", "late", "late, %", 2),
            Column("game", "mos", "MOS", 2),
        ),
    ),
    (
        "Pages",
        (
            Column("page", "pages_completed", "loaded", 0),
            Column("page", "page_load_time_median", "median, s", 2),
            Column("page", "page_load_time_p95", "P95, s", 2),
        ),
    ),
    ("Uploads", (Column("upload", "goodput", "Mb/s", 2),)),
)

#: Quantiles of the tables of cells.
_QUANTILES = (0.01, 0.5, 0.95, 0.99, 1.0)


def plain_tables(view: StudyView) -> list[PlainTable]:
    """Return all tables that the records allow."""
    makers: tuple[Callable[[StudyView], PlainTable], ...] = (
        latency_by_cell,
        load_time_by_cell,
        *(_maker(group) for group in GROUPS),
        unpublished,
    )
    return list(_available(view, makers))


def _maker(group: str) -> Callable[[StudyView], PlainTable]:
    return lambda view: conditions(view, group)


def _available(
    view: StudyView, makers: Iterable[Callable[[StudyView], PlainTable]]
) -> Iterator[PlainTable]:
    for make in makers:
        try:
            yield make(view)
        except NotRecorded:
            continue


# ---- points ---------------------------------------------------------------------------------------


def conditions(view: StudyView, group: str) -> PlainTable:
    """Return the conditions of the document with one load: a row per household, level and manager."""
    rows: list[tuple[PlainCell, ...]] = []
    for load in GROUP_LOADS[group]:
        for rf in RF_LEVELS:
            for manager in MANAGERS:
                point = point_of(load, rf, manager)
                if point not in view.points:
                    continue
                words = (f"{load}: {LOADS[load].description}", rf, MANAGER_LABELS[manager])
                rows.append((*map(PlainCell, words), *_metrics(view, point)))
    if not rows:
        message = f"needs conditions of {group} load"
        raise NotRecorded(message)
    return PlainTable(
        name=f"conditions-{group}",
        title=f"All conditions of {group} load",
        caption=f"{_spread(view)} Games and calls are the same packets; late: more than 60 ms above the "
        "smallest delay of the call. Goodput of all uploads together.",
        headings=("household", "RF", "manager", *_headings()),
        rows=tuple(rows),
        groups=(("", 3), *_groups()),
    )


def unpublished(view: StudyView) -> PlainTable:
    """Return the points that the document asks for, or that its claims need."""
    runs = view.result.runs
    if "part" not in runs.columns:
        raise NotRecorded("needs the part that a point belongs to")
    others = runs.filter(pl.col("part") != "published").select("part", "point")
    pairs = sorted(set(others.rows()))
    if not pairs:
        raise NotRecorded("needs points beyond the document's")
    return PlainTable(
        name="unpublished",
        title="Points beyond the published conditions",
        caption=f"{_spread(view)} A dash: the point has no such traffic.",
        headings=("point", "part", *_headings()),
        rows=tuple(
            (PlainCell(point), PlainCell(part), *_metrics(view, point)) for part, point in pairs
        ),
        groups=(("", 2), *_groups()),
    )


def _headings() -> tuple[str, ...]:
    return tuple(column.heading for _, columns in _COLUMNS for column in columns)


def _groups() -> tuple[tuple[str, int], ...]:
    return tuple((title, len(columns)) for title, columns in _COLUMNS)


def _metrics(view: StudyView, point: str) -> Iterator[PlainCell]:
    for _, columns in _COLUMNS:
        for column in columns:
            try:
                estimate = mean_of(view.values(point, column.subject, column.metric))
            except NotRecorded:
                estimate = Estimate(None)
            yield cell(estimate, column.decimals)


def cell(estimate: Estimate, decimals: int) -> PlainCell:
    """Write a mean with half the width of its interval below, if there is one.

    Examples
    --------
    >>> cell(Estimate(7.26, 7.16, 7.36, 3), 1)
    PlainCell(text='7.3', emphasis='', detail='±0.1')
    """
    if estimate.value is None:
        return PlainCell(format_estimate(estimate, decimals), "muted")
    detail = ""
    if estimate.low is not None and estimate.high is not None:
        detail = f"±{format_number(0.5 * (estimate.high - estimate.low), decimals)}"
    return PlainCell(format_estimate(estimate, decimals), detail=detail)


def _spread(view: StudyView) -> str:
    count = max(len(view.seeds(point)) for point in view.points)
    return "One seed." if count < 2 else f"Mean over {count} seeds with its 95 % interval."


# ---- cells of the grid ----------------------------------------------------------------------------


def latency_by_cell(view: StudyView) -> PlainTable:
    """Return quantiles of the game's delay in every panel of Figures 12 to 14."""
    return _by_cell(
        view,
        game_delays,
        name="game-latency",
        title="Gaming latency behind Figures 12 to 14",
        heading="Delay of the game, ms",
        decimals=1,
        caption="Packets of a cell weigh the same, cells of a summary do. Below 20 ms: share of packets.",
        limit=GAME_LIMIT_MS,
    )


def load_time_by_cell(view: StudyView) -> PlainTable:
    """Return quantiles of page load times in every panel of Figures 22 to 24."""
    return _by_cell(
        view,
        load_times,
        name="page-load-times",
        title="Page load times behind Figures 22 to 24",
        heading="Page load time, s",
        decimals=2,
        caption="Pages of a cell weigh the same, cells of a summary do. Completed pages only.",
    )


def _by_cell(
    view: StudyView,
    samples: Samples,
    *,
    name: str,
    title: str,
    heading: str,
    decimals: int,
    caption: str,
    limit: float | None = None,
) -> PlainTable:
    selection = Selection.of(view)
    rows: list[tuple[PlainCell, ...]] = []
    for words, cells in _summaries(selection):
        for manager in selection.managers:
            try:
                found = mix(view, samples, manager, cells)
            except NotRecorded:
                continue
            rows.append(
                (
                    *(PlainCell(word) for word in (*words, MANAGER_LABELS[manager])),
                    *(cell(over_seeds(found, _quantile(p)), decimals) for p in _QUANTILES),
                    *([] if limit is None else [cell(over_seeds(found, _below(limit)), 1)]),
                    PlainCell(f"{sum(one.count for one in found.values()):,}"),
                )
            )
    if not rows:
        message = f"needs samples for {title}"
        raise NotRecorded(message)
    quantiles = ("P1", "P50", "P95", "P99", "max")
    below = () if limit is None else (f"below {limit:g} ms, %",)
    return PlainTable(
        name=name,
        title=title,
        caption=f"{caption} {_spread(view)}{selection.words}",
        headings=("load", "RF", "manager", *quantiles, *below, "samples"),
        rows=tuple(rows),
        groups=(("", 3), (heading, len(quantiles) + len(below)), ("", 1)),
    )


def _summaries(
    selection: Selection,
) -> Iterator[tuple[tuple[str, str], list[tuple[str, tuple[str, ...]]]]]:
    """Yield each panel of the three views: its load and level in words, and its cells."""
    cells = [(rf, group, loads) for (rf, group), loads in selection.loads.items()]
    yield ("all", "all"), [(rf, loads) for rf, _, loads in cells]
    for level in RF_LEVELS:
        yield ("all", level), [(rf, loads) for rf, _, loads in cells if rf == level]
    for load in GROUPS:
        yield (load, "all"), [(rf, loads) for rf, group, loads in cells if group == load]
    for rf, group, loads in cells:
        yield (group, rf), [(rf, loads)]


def _quantile(share: float) -> Callable[[Distribution], float]:
    return lambda one: one.quantile(share)


def _below(limit: float) -> Callable[[Distribution], float]:
    return lambda one: 100.0 * one.share_below(limit)
