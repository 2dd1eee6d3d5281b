"""Tables of our own numbers that a study declares: every point, or groups of points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sojourn.answers.asking import Ask
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.report_content import PlainCell, PlainTable
from sojourn.answers.selection import LabelledPoint
from sojourn.answers.table import format_estimate, format_number
from sojourn.answers.view import NotRecorded
from sojourn.answers.winners import missing_words
from sojourn.base.templates import fill
from sojourn.declarations.answers import NumbersTable
from sojourn.stats.estimate import NOTHING, Estimate


def numbers_table(study: OpenStudy, ask: Ask, definition: NumbersTable) -> PlainTable:
    """Return the table.

    Raises `NotRecorded` if none of its points was run.
    """
    rows = list(_by_view(study, ask, definition) if definition.views else _by_point(study, ask, definition))
    if not rows:
        message = f"needs points of {definition.title}"
        raise NotRecorded(message)
    first = len(definition.names)
    spans: list[tuple[str, int]] = [("", first)]
    for column in definition.columns:
        if spans[-1][0] == column.heading and len(spans) > 1:
            spans[-1] = (column.heading, spans[-1][1] + 1)
        else:
            spans.append((column.heading, 1))
    if definition.samples:
        spans.append(("", 1))
    left = ""
    if definition.views:
        complete = ask.complete(definition.where, definition.compare)
        left = missing_words(study, definition.where, complete)
    return PlainTable(
        name=definition.name,
        title=definition.title,
        caption=definition.caption.replace("{spread}", _spread(ask)) + left,
        headings=(
            *(definition.headings or [""] * first),
            *(column.title for column in definition.columns),
            *(["samples"] if definition.samples else []),
        ),
        rows=tuple(rows),
        groups=tuple(spans),
    )


def _spread(ask: Ask) -> str:
    # Points that ask for more seeds than the study are not what its tables are made of.
    count = min(len(ask.view.seeds(point)) for point in ask.view.points)
    return "One seed." if count < 2 else f"Mean over {count} seeds with its 95 % interval."


def _by_point(study: OpenStudy, ask: Ask, definition: NumbersTable) -> Iterator[tuple[PlainCell, ...]]:
    beyond = {point.name for point in study.points.select(definition.beyond)}
    chosen = [
        point
        for members in study.points.groups(definition.where, definition.rows).values()
        for point in members
        if point.name in ask.view.points and not (definition.beyond and point.name in beyond)
    ]
    if not definition.rows:
        chosen.sort(key=lambda point: ([str(point.labels.get("part", "")), point.name]))
    for point in chosen:
        words = _words(study, point)
        names = [PlainCell(fill(name, words)) for name in definition.names]
        yield (*names, *_cells(ask, definition, [point]))


def _by_view(study: OpenStudy, ask: Ask, definition: NumbersTable) -> Iterator[tuple[PlainCell, ...]]:
    complete = {point.name for point in ask.complete(definition.where, definition.compare)}
    for labels in definition.views:
        by = [*labels, definition.compare]
        template = "\n".join(f"{{{label}}}" for label in by)
        for members in study.points.groups(definition.where, by, template).values():
            chosen = [point for point in members if point.name in complete]
            if not chosen:
                continue
            words = _Words({**dict.fromkeys(chosen[0].labels, "all"), **_words(study, chosen[0])})
            for label in chosen[0].labels:
                if label not in by:
                    words |= {label: "all", f"{label}_title": "all", f"{label}_short": "all"}
            names = [PlainCell(fill(name, words)) for name in definition.names]
            cells = _cells(ask, definition, chosen)
            if all(one.emphasis == "muted" for one in cells):
                continue
            yield (*names, *cells, *_samples(ask, definition, chosen))


class _Words(dict[str, str]):
    """Words of a row; a label that its point lacks is empty."""

    def __missing__(self, key: str) -> str:
        return ""


def _words(study: OpenStudy, point: LabelledPoint) -> _Words:
    words = _Words(point=point.name)
    for label, value in point.labels.items():
        words[label] = study.points.name(label, value)
        words[f"{label}_title"] = study.points.title(label, value)
        words[f"{label}_short"] = study.points.short(label, value)
    return words


def _cells(ask: Ask, definition: NumbersTable, points: Sequence[LabelledPoint]) -> list[PlainCell]:
    cells: list[PlainCell] = []
    for column in definition.columns:
        measure = ask.measures[column.measure]
        try:
            one = ask.estimate(measure, points, "mean")
        except NotRecorded:
            one = NOTHING
        cells.append(cell(one, measure.decimals if column.decimals is None else column.decimals))
    return cells


def _samples(ask: Ask, definition: NumbersTable, points: Sequence[LabelledPoint]) -> list[PlainCell]:
    if not definition.samples:
        return []
    mixed = ask.distributions(ask.measures[definition.columns[0].measure], points)
    return [PlainCell(f"{sum(one.count for one in mixed.values()):,}")]


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
