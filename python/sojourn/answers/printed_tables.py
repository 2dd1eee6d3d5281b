"""Printed tables that a study declares, cell by cell beside ours."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from sojourn.answers.asking import Ask
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.selection import LabelledPoint
from sojourn.answers.table import Cell, Column, ColumnGroup, Row, Table
from sojourn.answers.tolerance import Rule, find_rule
from sojourn.answers.view import NotRecorded
from sojourn.base.files import read_file
from sojourn.declarations.answers import Measure, PrintedColumn, PrintedGroup, PrintedTable, Where
from sojourn.stats.estimate import NOTHING, Estimate, median_of, paired_difference, paired_ratio


@cache
def printed_rows(path: Path, root: Path | None = None) -> tuple[dict[str, str], ...]:
    """Rows of a file of printed values, as text; `root` is the result that it came with."""
    content = read_file(path, root=root).decode()
    return tuple(csv.DictReader(io.StringIO(content, newline="")))


def printed_row(path: Path, **columns: str) -> dict[str, str]:
    """Return the first row of a file of printed values whose columns hold these texts.

    Raises `LookupError` if no row does.
    """
    found = _first(printed_rows(path), columns)
    if found is None:
        told = ", ".join(f"{column} {text}" for column, text in columns.items())
        message = f"{path.name} prints nothing of {told}"
        raise LookupError(message)
    return found


def _first(rows: Sequence[dict[str, str]], wanted: Mapping[str, str]) -> dict[str, str] | None:
    return next((row for row in rows if all(row[column] == text for column, text in wanted.items())), None)


def printed_table(study: OpenStudy, ask: Ask, definition: PrintedTable) -> Table:
    """Set a printed table beside ours; cells whose points were not run are not judged."""
    values = study.points.values(definition.rows, definition.where)
    cells: dict[tuple[str, str, str], Cell] = {}
    headings: dict[str, list[Column]] = {}
    for group in definition.groups:
        name = name_of(group)
        for column in group.columns:
            title = column.heading or group.title or _title(study, group)
            metric = column.metric or column.measure
            headings.setdefault(title, []).append(Column(name, metric, column.title))
        for value in values:
            row = study.points.name(definition.rows, value)
            found = matching_row(study, group.printed, group.match, row)
            if found is None:
                continue
            where: Where = {**definition.where, definition.rows: value}
            for column in group.columns:
                cell = _cell(study, ask, definition, group, column, where, row, found)
                if cell is not None:
                    cells[row, name, cell.metric] = cell
    rows = tuple(
        Row(name, definition.row_label.replace("{row}", name), study.points.title(label, value))
        for label, value, name in (
            (definition.rows, value, study.points.name(definition.rows, value)) for value in values
        )
    )
    groups = tuple(ColumnGroup(title, tuple(columns)) for title, columns in headings.items())
    return Table(definition.item, definition.title, definition.caption, groups, rows, cells, definition.reference)


def name_of(group: PrintedGroup) -> str:
    """Return how tolerances and files call the points of a group."""
    return group.name or str(list(group.where.values())[-1])


def _title(study: OpenStudy, group: PrintedGroup) -> str:
    label, value = list(group.where.items())[-1]
    return study.points.title(label, value) if not isinstance(value, list) else label


def matching_row(study: OpenStudy, name: str, match: Mapping[str, str], row: str) -> dict[str, str] | None:
    """Return the first row of a study's file that says what `match` does, with `{row}` filled in."""
    wanted = {column: text.replace("{row}", row) for column, text in match.items()}
    return _first(printed_rows(study.folder / name, study.root), wanted)


def _cell(
    study: OpenStudy,
    ask: Ask,
    table: PrintedTable,
    group: PrintedGroup,
    column: PrintedColumn,
    where: Where,
    row: str,
    printed_row: Mapping[str, str],
) -> Cell | None:
    printed = printed_row[column.printed]
    if not printed and group.compare:
        return None
    bounded = bool(column.bound_if) and printed_row[column.bound_if] == "1"
    name, metric = name_of(group), column.metric or column.measure
    measure = ask.measures[column.measure]
    chosen = ask.points.select({**measure.where, **where, **group.where})
    others = ask.points.select({**measure.where, **where, **group.against}) if group.compare else []
    try:
        if group.compare:
            ours = compared(ask, measure, group.compare, chosen[0], others[0])
        else:
            ours = ask.estimate(measure, chosen, column.seeds)
    except NotRecorded:
        ours = NOTHING
    rule = find_rule(study.rules, item=table.item, case=row, queue_manager=name, metric=metric)
    return Cell(
        item=table.item,
        case=group.case.replace("{row}", row),
        queue_manager=name,
        metric=metric,
        unit=measure.unit if column.unit is None else column.unit,
        printed=(column.bound if bounded else "") + printed,
        printed_value=float(printed) if printed else None,
        ours=ours,
        decimals=max(len(printed.partition(".")[2]), column.decimals),
        deviation=max(
            float((printed_row[column.spread] if column.spread else "") or 0),
            _deviation(ask, measure, chosen) if column.spread else 0.0,
        ),
        rule=rule,
        censored=bounded,
        shortened=is_shorter(ask, [*chosen, *others], rule, float(table.seconds)),
        reduced=ask.view.reduced,
        unfinished=ask.view.is_unfinished,
    )


def _deviation(ask: Ask, measure: Measure, points: Sequence[LabelledPoint]) -> float:
    """Return the standard deviation over runs; zero of fewer than two."""
    try:
        values = np.array(list(ask.by_seed(measure, points).values()))
    except NotRecorded:
        return 0.0
    known = values[np.isfinite(values)]
    return float(np.std(known, ddof=1)) if len(known) > 1 else 0.0


def is_shorter(ask: Ask, points: Sequence[LabelledPoint], rule: Rule | None, printed_s: float = 0.0) -> bool:
    """Return true if runs are shorter than the rule of a cell needs: as long as the print, unless it says how long."""
    seconds = rule.seconds if rule else 0.0
    if ask.view.is_short and not seconds:
        return True
    try:
        return any(ask.view.duration_s(point.name) < (seconds or printed_s) for point in points)
    except NotRecorded:
        return False


def compared(ask: Ask, measure: Measure, how: str, first: LabelledPoint, second: LabelledPoint) -> Estimate:
    """Compare two points by the runs with the same seeds: a difference, or a ratio in percent.

    Where half of the other's runs or more gave no number, those stand at the length of the run, and the
    ratio is a bound.
    """
    ours, theirs = (ask.per_seed(measure, point.name) for point in (first, second))
    if how == "difference":
        return paired_difference(ours, theirs)
    if measure.missing != "never":
        return paired_ratio(ours, theirs).map(_percent)
    if 2 * int(np.isinf(theirs).sum()) >= len(theirs):
        length = ask.view.duration_s(second.name)
        return median_of(ours / np.where(np.isinf(theirs), length, theirs)).map(_percent)
    known = np.isfinite(ours) & np.isfinite(theirs)
    return median_of(ours[known] / theirs[known]).map(_percent) if known.any() else NOTHING


def _percent(share: float) -> float:
    return 100.0 * share
