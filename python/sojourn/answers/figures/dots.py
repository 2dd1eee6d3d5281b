"""Dot plots: a row for each value of labels, competitors side by side, printed values as diamonds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sojourn.answers.asking import Ask
from sojourn.answers.figure import Figure
from sojourn.answers.figures.common import caption_of, look_of, number_or_none, rules_of, ticks_of, unit_of
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.selection import LabelledPoint
from sojourn.answers.table import Cell, Table
from sojourn.answers.view import NotRecorded
from sojourn.base.templates import fill
from sojourn.declarations.answers import Measure
from sojourn.declarations.base import Where
from sojourn.declarations.figures import DotPanel, DotsFigure, Lane
from sojourn.plots.dots import DotRow, dot_panel
from sojourn.plots.spec import Panel, PlotSpec
from sojourn.stats.estimate import NOTHING, Estimate


@dataclass(frozen=True)
class _Row:
    """A row: its values, and the words before it."""

    where: Where
    words: str
    key: str


def figure(study: OpenStudy, ask: Ask, definition: DotsFigure, tables: Sequence[Table] = ()) -> Figure:
    """Draw a dot plot.

    Raises `NotRecorded` if no point of it has any of the numbers.
    """
    lanes = _lanes(study, ask, definition)
    rows = [row for row in _rows(study, definition) if _is_shown(ask, definition, lanes, row)]
    facets = study.points.values(definition.facet, definition.where) if definition.facet else [""]
    printed = _printed(tables)
    panels: list[Panel] = []
    used: dict[str, LabelledPoint] = {}
    for facet in facets:
        for panel in definition.panels:
            drawn = _panel(study, ask, definition, panel, rows, lanes, facet, printed, used)
            if drawn is not None:
                begins_row = len(panels) % (definition.columns or len(panels) + 1) == 0
                panels.append(drawn if begins_row else _without_names(drawn))
    if not panels:
        message = f"needs points of {definition.title or definition.item}"
        raise NotRecorded(message)
    height = definition.height or height_of([row.words for row in rows], len(lanes))
    plot = PlotSpec(
        name=definition.item,
        title=definition.title,
        panels=tuple(panels),
        columns=definition.columns or len(panels),
        width=float(definition.width),
        height=float(height),
        legend="below",
        description=definition.description,
    )
    fair = definition.complete == "all" and isinstance(definition.lanes, str)
    where = definition.where if fair and not definition.facet else None
    points = list(used.values())
    caption = caption_of(study, ask, definition.caption, points, what="Lines", where=where)
    return Figure(definition.item, plot, caption, definition.group)


def height_of(rows: Sequence[str], lanes: int) -> float:
    """Return the height of a figure of rows, mm; chosen by eye: 1.6 mm a lane, at least two lines."""
    return 27.0 + sum(max(1.6 * lanes, 6.5 if "\n" in row else 4.0) + 1.2 for row in rows)


def _lanes(study: OpenStudy, ask: Ask, definition: DotsFigure) -> list[Lane]:
    if not isinstance(definition.lanes, str):
        return list(definition.lanes)
    label = definition.lanes
    values = study.points.values(label, definition.where)
    lanes = [
        Lane(where={label: value}, look=look_of(study, label, value), label=study.points.short(label, value))
        for value in values
    ]
    if not definition.complete:
        return lanes
    run = {p.name for p in study.points.select(definition.where)} & set(ask.view.points)
    return [
        lane for lane in lanes if any(p.name in run for p in study.points.select({**definition.where, **lane.where}))
    ]


def _rows(study: OpenStudy, definition: DotsFigure) -> list[_Row]:
    by_template = "\n".join(f"{{{label}}}" for label in definition.rows)
    groups = study.points.groups(definition.where, definition.rows, by_template)
    rows: list[_Row] = []
    for members in groups.values():
        values = {label: members[0].labels[label] for label in definition.rows}
        words = {label: study.points.name(label, value) for label, value in values.items()}
        if len(values) == 1:
            ((label, value),) = values.items()
            words |= {
                "value": str(value),
                "name": study.points.name(label, value),
                "title": study.points.title(label, value),
                "short": study.points.short(label, value),
            }
        for label, value in values.items():
            words[f"{label}_short"] = study.points.short(label, value)
        text = fill(definition.row, words)
        rows.append(_Row({**values}, text, " ".join(words[label] for label in values)))
    return rows


def _is_shown(ask: Ask, definition: DotsFigure, lanes: Sequence[Lane], row: _Row) -> bool:
    if not definition.complete:
        return True
    facets = ask.points.values(definition.facet, definition.where) if definition.facet else [""]
    decide = all if definition.complete == "all" else any
    return any(
        decide(
            any(point.name in ask.view.points for point in _chosen(ask, definition, lane, row, one)) for lane in lanes
        )
        for one in facets
    )


def _chosen(ask: Ask, definition: DotsFigure, lane: Lane, row: _Row, facet: str) -> list[LabelledPoint]:
    where: Where = {**definition.where, **row.where, **lane.where}
    if definition.facet:
        where[definition.facet] = facet
    return ask.points.select(where)


def _meant(
    ask: Ask, definition: DotsFigure, measure: Measure, lane: Lane, row: _Row, facet: str
) -> list[LabelledPoint]:
    asked = {**definition.where, **lane.where}
    return ask.points.meant(measure.where, asked, _chosen(ask, definition, lane, row, facet))


def _panel(
    study: OpenStudy,
    ask: Ask,
    definition: DotsFigure,
    panel: DotPanel,
    rows: Sequence[_Row],
    lanes: Sequence[Lane],
    facet: str,
    printed: dict[tuple[str, str, str, str], Cell],
    used: dict[str, LabelledPoint],
) -> Panel | None:
    """Draw one panel; nothing if no point has the number."""
    measure = ask.measures[panel.measure]
    entries: list[DotRow] = []
    for place, lane in enumerate(lanes):
        for number, row in enumerate(rows):
            chosen = _meant(ask, definition, measure, lane, row, facet)
            run = [point for point in chosen if point.name in ask.view.points]
            if definition.complete == "all" and len(definition.rows) > 1:
                chosen = run
            if not chosen or (definition.complete and not _is_fair(ask, definition, lanes, row, facet)):
                continue
            ours = _estimate(ask, panel, chosen)
            used.update({point.name: point for point in run})
            name = _value_of(lane)
            cell = next(
                (
                    printed[item, row.key, name, panel.printed]
                    for item in panel.printed_in
                    if (item, row.key, name, panel.printed) in printed
                ),
                None,
            )
            entries.append(_entry(number, place, lane.look, ours, cell, measure.unit))
    if not any(entry.ours.is_known for entry in entries):
        return None
    high = number_or_none(panel.high)
    if panel.headroom is not None:
        largest = _largest(ask, panel, definition, rows, lanes)
        high = None if largest is None else float(panel.headroom) * largest
    quantity = panel.quantity or measure.title or panel.measure
    return dot_panel(
        tuple(row.words for row in rows),
        entries,
        lanes=len(lanes),
        quantity=quantity,
        unit=unit_of(measure) if panel.unit is None else panel.unit,
        scale=panel.scale,
        low=number_or_none(panel.low),
        high=high,
        title=_title(study, definition, panel, facet),
        labels={lane.look: lane.label for lane in lanes},
        floor=number_or_none(panel.floor),
        ticks=ticks_of(panel),
        extras=rules_of(panel),
    )


def _title(study: OpenStudy, definition: DotsFigure, panel: DotPanel, facet: str) -> str:
    if not facet:
        return panel.title
    words = {"title": study.points.title(definition.facet, facet), "short": study.points.short(definition.facet, facet)}
    return fill(panel.title or "{short}", words)


def _is_fair(ask: Ask, definition: DotsFigure, lanes: Sequence[Lane], row: _Row, facet: str) -> bool:
    if definition.complete != "all":
        return True
    return all(
        any(point.name in ask.view.points for point in _chosen(ask, definition, lane, row, facet)) for lane in lanes
    )


def _estimate(ask: Ask, panel: DotPanel, points: Sequence[LabelledPoint]) -> Estimate:
    try:
        return ask.estimate(ask.measures[panel.measure], points, panel.seeds)
    except NotRecorded:
        return NOTHING


def _largest(
    ask: Ask, panel: DotPanel, definition: DotsFigure, rows: Sequence[_Row], lanes: Sequence[Lane]
) -> float | None:
    """Return the largest value of any run in the figure, so that its panels end alike; `None` if there is none."""
    facets = ask.points.values(definition.facet, definition.where) if definition.facet else [""]
    measure = ask.measures[panel.measure]
    values = np.concatenate(
        [
            ask.per_seed(measure, point.name)
            for facet in facets
            for row in rows
            for lane in lanes
            for point in _meant(ask, definition, measure, lane, row, facet)
            if ask.view.has(point.name, measure.subject, measure.metric)
        ]
        or [np.empty(0)]
    )
    return max(values[np.isfinite(values)].tolist(), default=None)


def _entry(row: int, lane: int, look: str, ours: Estimate, cell: Cell | None, unit: str) -> DotRow:
    if cell is None:
        return DotRow(row, lane, look, ours)
    if cell.censored:
        return DotRow(row, lane, look, ours, None, f"{cell.printed} {unit}")
    return DotRow(row, lane, look, ours, cell.printed_value)


def _value_of(lane: Lane) -> str:
    return str(list(lane.where.values())[-1])


def _printed(tables: Sequence[Table]) -> dict[tuple[str, str, str, str], Cell]:
    return {
        (table.item, row, name, metric): cell for table in tables for (row, name, metric), cell in table.cells.items()
    }


def _without_names(panel: Panel) -> Panel:
    return replace(panel, y=replace(panel.y, ticks=tuple((at, "") for at, _ in panel.y.ticks)))
