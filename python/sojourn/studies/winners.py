"""Who wins where: the values of one label compete, measure by measure; the best are marked.

Differences that nobody would notice, or another seed would not confirm, count as none: each measure
says how large they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from sojourn.studies.asking import Ask
from sojourn.studies.estimate import NOTHING, Estimate
from sojourn.studies.opened import OpenStudy
from sojourn.studies.parts import PlainCell, PlainTable
from sojourn.studies.selection import LabelledPoint
from sojourn.studies.table import format_estimate, format_number
from sojourn.studies.view import NotRecorded
from sojourn.study.declarations import Measure, Where, Winners

__all__ = ["is_best", "winners"]


def is_best(measure: Measure, value: float, values: Sequence[float]) -> bool:
    """Whether a value is the best of several, or as good as that.

    Examples
    --------
    >>> is_best(Measure(relative=0.1), 21.0, [20.0, 21.0, 30.0])
    True
    """
    best = max(values) if measure.better == "more" else min(values)
    return abs(value - best) <= max(float(measure.absolute), measure.relative * abs(best))


def winners(study: OpenStudy, ask: Ask, definition: Winners) -> PlainTable | None:
    """Return the table, or nothing if no point of it was run."""
    compare = definition.compare
    points = ask.complete(definition.where, compare)
    if not points:
        return None
    competing = [
        value
        for value in study.points.values(compare, definition.where)
        if any(str(point.labels.get(compare)) == value for point in points)
    ]
    names = tuple(study.points.short(compare, value) for value in competing)
    measures = {name: ask.measures[name] for name in definition.measures}
    first = tuple(definition.headings or definition.rows)
    found = {
        key: _estimates(ask, definition, competing, points, key)
        for key in _keys(study, definition, points)
    }
    if definition.columns:
        blocks = [
            (study.points.title(definition.columns, value), value)
            for value in study.points.values(definition.columns, definition.where)
        ]
        rows = _rows_by_measure(study, definition, measures, found, [v for _, v in blocks])
        titles = [title for title, _ in blocks]
        first = (*first, "")
    else:
        rows = [
            (
                *_row_names(study, definition, key),
                *(
                    cell
                    for name, measure in measures.items()
                    for cell in _cells(measure, of_key[name], definition)
                ),
            )
            for key, of_key in found.items()
        ]
        titles = [measure.title or name for name, measure in measures.items()]
    if not rows:
        return None
    return PlainTable(
        name="summary",
        title=definition.title,
        caption=definition.caption + missing_words(study, definition.where, points),
        headings=(*first, *(name for _ in titles for name in names)),
        rows=tuple(rows),
        groups=(("", len(first)), *((title, len(names)) for title in titles)),
    )


#: Values of the labels of a row, and of the label of the columns if there is one.
_Key = tuple[str, ...]


def _keys(study: OpenStudy, definition: Winners, points: Sequence[LabelledPoint]) -> list[_Key]:
    labels = [*definition.rows, *([definition.columns] if definition.columns else [])]
    groups = study.points.groups(definition.where, labels, "\n".join(f"{{{n}}}" for n in labels))
    run = {point.name for point in points}
    return [
        tuple(str(members[0].labels[label]) for label in labels)
        for members in groups.values()
        if any(point.name in run for point in members)
    ]


def _estimates(
    ask: Ask,
    definition: Winners,
    competing: Sequence[str],
    points: Sequence[LabelledPoint],
    key: _Key,
) -> dict[str, list[Estimate]]:
    labels = [*definition.rows, *([definition.columns] if definition.columns else [])]
    found: dict[str, list[Estimate]] = {}
    for name in definition.measures:
        measure = ask.measures[name]
        for value in competing:
            where: Where = {**measure.where, **dict(zip(labels, key, strict=True))}
            where[definition.compare] = value
            wanted = {point.name for point in ask.points.select(where)}
            chosen = [point for point in points if point.name in wanted]
            try:
                one = ask.estimate(measure, chosen, definition.seeds)
            except NotRecorded:
                one = NOTHING
            found.setdefault(name, []).append(one)
    return found


def _row_names(study: OpenStudy, definition: Winners, key: _Key) -> tuple[PlainCell, ...]:
    """Name a row by its labels; a single one is given in words as well."""
    if len(definition.rows) == 1 and len(definition.headings) == 2:
        label = definition.rows[0]
        words = study.points.name(label, key[0]), study.points.title(label, key[0])
        return tuple(PlainCell(text) for text in words)
    names = zip(definition.rows, key, strict=False)
    return tuple(PlainCell(study.points.name(label, value)) for label, value in names)


def _rows_by_measure(
    study: OpenStudy,
    definition: Winners,
    measures: dict[str, Measure],
    found: dict[_Key, dict[str, list[Estimate]]],
    blocks: Sequence[str],
) -> list[tuple[PlainCell, ...]]:
    count = len(next(iter(next(iter(found.values())).values())))
    rows: list[tuple[PlainCell, ...]] = []
    for key in dict.fromkeys(key[:-1] for key in found):
        for name, measure in measures.items():
            cells: list[PlainCell] = []
            for block in blocks:
                of_key = found.get((*key, block))
                values = of_key[name] if of_key else [NOTHING] * count
                cells += _cells(measure, values, definition)
            if any(cell.emphasis != "muted" for cell in cells):
                words = f"{measure.title}, {measure.unit}" if measure.unit else measure.title
                rows.append((*_row_names(study, definition, key), PlainCell(words), *cells))
    return rows


def _cells(measure: Measure, found: Sequence[Estimate], definition: Winners) -> list[PlainCell]:
    known = [one.value for one in found if one.value is not None]
    return [_cell(measure, one, known, definition) for one in found]


def _cell(
    measure: Measure, one: Estimate, known: Sequence[float], definition: Winners
) -> PlainCell:
    if one.value is None:
        return PlainCell(format_estimate(one, measure.decimals), "" if one.is_known else "muted")
    if measure.absent == 0 and not any(known):
        return PlainCell("–")
    best = "best" if is_best(measure, one.value, known) else ""
    large = measure.whole_from is not None and abs(one.value) >= measure.whole_from
    text = format_number(one.value, 0 if large else measure.decimals)
    detail = ""
    if definition.intervals and one.low is not None and one.high is not None:
        detail = f"±{format_number(0.5 * (one.high - one.low), measure.decimals)}"
    return PlainCell(text, best, detail)


def missing_words(study: OpenStudy, where: Where, points: Sequence[LabelledPoint]) -> str:
    """Say which points of a comparison are left out, as a sentence for captions; empty if none is."""
    shown = {point.name for point in points}
    left = [point.name for point in study.points.select(where) if point.name not in shown]
    if not left:
        return ""
    listed = 6  # chosen: more names are not read
    more = f" and {len(left) - listed} more" if len(left) > listed else ""
    return f" Not run with all that are compared: {', '.join(left[:listed])}{more}."
