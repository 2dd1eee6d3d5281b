"""Printed tables of words beside the words that our numbers deserve, by limits that the study declares."""

from __future__ import annotations

from dataclasses import dataclass

from sojourn.answers.asking import Ask
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.printed_tables import is_shorter, matching_row
from sojourn.answers.table import Cell, Column, ColumnGroup, Row, Table, format_estimate
from sojourn.answers.tolerance import Rule, Verdict
from sojourn.answers.view import NotRecorded
from sojourn.declarations.answers import RatedColumn, RatedRow, RatedTable
from sojourn.stats.estimate import NOTHING


def word_for(column: RatedColumn, value: float) -> str:
    """Rate a value; a limit belongs to the better word.

    Examples
    --------
    >>> scale = RatedColumn(measure="m", title="t", words=["good", "poor"], limits=[20])
    >>> word_for(scale, 20.0), word_for(scale, 20.1)
    ('good', 'poor')
    """
    return column.words[sum(value > limit for limit in column.limits)]


def bounds_of(column: RatedColumn, word: str) -> tuple[float | None, float | None]:
    """Return what a word spans; `None` for an open end.

    Examples
    --------
    >>> scale = RatedColumn(measure="m", title="t", words=["good", "poor"], limits=[20])
    >>> bounds_of(scale, "good"), bounds_of(scale, "poor")
    ((None, 20.0), (20.0, None))
    """
    place = column.words.index(word)
    low = float(column.limits[place - 1]) if place else None
    return low, float(column.limits[place]) if place < len(column.limits) else None


@dataclass(frozen=True)
class RatingCell(Cell):
    """A printed word beside our number and the word that it deserves."""

    scale: RatedColumn | None = None

    @property
    def ours_text(self) -> str:
        """Our word and the number behind it."""
        value = self.ours.value
        if value is None or self.scale is None:
            return format_estimate(self.ours, self.decimals)
        text = format_estimate(self.ours, self.decimals)
        return f"{word_for(self.scale, value)}: {text} {self.unit}"

    @property
    def is_equal(self) -> bool:
        """True if our word is the printed one."""
        return self.verdict is Verdict.MATCH


def rated_table(study: OpenStudy, ask: Ask, definition: RatedTable) -> Table:
    """Set the printed words beside ours."""
    cells: dict[tuple[str, str, str], Cell] = {}
    rows: list[Row] = []
    for row in definition.rows:
        key = f"{row.name}-{row.case}"
        rows.append(Row(key, row.label, row.description))
        for column in definition.columns:
            printed = matching_row(study, definition.printed, {**row.match, **column.match}, "")
            if printed is not None:
                metric = column.metric or column.measure
                word = printed[definition.word]
                cells[key, "", metric] = _cell(ask, definition, row, column, word)
    columns = tuple(Column("", column.metric or column.measure, column.title) for column in definition.columns)
    groups = (ColumnGroup(definition.heading, columns),)
    return Table(definition.item, definition.title, definition.caption, groups, tuple(rows), cells)


def _cell(ask: Ask, table: RatedTable, row: RatedRow, column: RatedColumn, word: str) -> RatingCell:
    low, high = bounds_of(column, word)
    measure = ask.measures[column.measure]
    where = {**measure.where, **table.where, **row.where}
    chosen = ask.points.select(where)
    if table.complete:
        complete = {point.name for point in ask.complete(table.where, table.complete)}
        chosen = [point for point in chosen if point.name in complete]
    try:
        ours = ask.estimate(measure, chosen, "mean")
    except NotRecorded:
        ours = NOTHING
    rule = Rule(column.claim, column.trust, low=low, high=high)
    return RatingCell(
        item=table.item,
        case=row.case,
        queue_manager=row.name,
        metric=column.metric or column.measure,
        unit=measure.unit,
        printed=word,
        # The limits judge; no number is printed, and the better end of the word stands for it.
        printed_value=low or 0.0,
        ours=ours,
        decimals=column.decimals,
        rule=rule,
        shortened=is_shorter(ask, chosen, rule),
        reduced=ask.view.reduced,
        unfinished=ask.view.is_unfinished,
        scale=column,
    )
