"""Winners: the values of one label compete, measure by measure; the best are marked.

`sojourn.stats.pairs` decides, as everywhere; each measure says which differences are too small to notice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sojourn.answers.asking import Ask
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.report_content import PlainCell, PlainTable
from sojourn.answers.selection import LabelledPoint
from sojourn.answers.table import format_estimate, format_number
from sojourn.answers.view import NotRecorded
from sojourn.declarations.answers import Measure, Where, Winners
from sojourn.stats.estimate import NOTHING, Estimate
from sojourn.stats.pairs import Contest, tally, who_wins
from sojourn.stats.quantity import in_unit, is_compared_by_ratio

TESTED = (
    "Bold: best, or statistically tied with the best (paired t test at 5 %, of times by their ratios; smaller differences "
    "than stated count as none)."
)
"""Meaning of bold, for captions."""

WINNER = "A winner beats all others after Holm's correction for the whole table."
"""Meaning of a winner, for captions."""


@dataclass(frozen=True)
class Won:
    """Table of winners, and its sentence."""

    table: PlainTable
    sentence: str


@dataclass(frozen=True)
class _Entry:
    """One competitor in one contest."""

    estimate: Estimate
    by_seed: dict[int, float]


def winners(study: OpenStudy, ask: Ask, definition: Winners) -> Won | None:
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
    found = {key: _entries(ask, definition, competing, points, key) for key in _keys(study, definition, points)}
    places = [(key, name) for key in found for name in measures]
    longest = max(ask.view.duration_s(point.name) for point in points)
    standings = dict(
        zip(
            places, who_wins([_contest(measures[name], found[key][name], longest) for key, name in places]), strict=True
        )
    )

    def cells_of(key: _Key, name: str) -> list[PlainCell]:
        entries = found[key][name] if key in found else [_Entry(NOTHING, {})] * len(competing)
        best = standings[key, name].marked if key in found else frozenset[str]()
        return _cells(measures[name], entries, best, definition)

    if definition.columns:
        blocks = [
            (study.points.title(definition.columns, value), value)
            for value in study.points.values(definition.columns, definition.where)
        ]
        rows = _rows_by_measure(study, definition, measures, list(found), [v for _, v in blocks], cells_of)
        titles = [title for title, _ in blocks]
        first = (*first, "")
    else:
        rows = [
            (*_row_names(study, definition, key), *(cell for name in measures for cell in cells_of(key, name)))
            for key in found
        ]
        titles = [measure.title or name for name, measure in measures.items()]
    if not rows:
        return None
    table = PlainTable(
        name="summary",
        title=definition.title,
        caption=f"{definition.caption} {TESTED} {WINNER}".strip() + missing_words(study, definition.where, points),
        headings=(*first, *(name for _ in titles for name in names)),
        rows=tuple(rows),
        groups=(("", len(first)), *((title, len(names)) for title in titles)),
    )
    words = {str(place): name for place, name in enumerate(names)}
    return Won(table, tally(list(standings.values()), words))


def _contest(measure: Measure, entries: Sequence[_Entry], duration_s: float) -> Contest:
    """Return what is tested: values by seed, how they are compared, and what difference is none."""
    seeds = sorted({seed for entry in entries for seed in entry.by_seed})
    centres = [entry.estimate.value for entry in entries if entry.estimate.value is not None]
    nothing = measure.absent == 0 and not any(centres)
    more = measure.better == "more"
    usual = "ratio" if is_compared_by_ratio(measure.unit) else "difference"
    best = (max if more else min)(centres, default=0.0)
    return Contest(
        {
            str(place): [entry.by_seed.get(seed, math.nan) for seed in seeds]
            for place, entry in enumerate(entries)
            if not nothing
        },
        "higher" if more else "lower",
        max(float(measure.absolute), float(measure.relative) * abs(best)),
        by_ratio=(measure.compared or usual) == "ratio",
        longest=in_unit(duration_s, measure.unit),
    )


_Key = tuple[str, ...]
"""Values of the labels of a row, and of the label of the columns if there is one."""


def _keys(study: OpenStudy, definition: Winners, points: Sequence[LabelledPoint]) -> list[_Key]:
    labels = [*definition.rows, *([definition.columns] if definition.columns else [])]
    groups = study.points.groups(definition.where, labels, "\n".join(f"{{{n}}}" for n in labels))
    run = {point.name for point in points}
    return [
        tuple(str(members[0].labels[label]) for label in labels)
        for members in groups.values()
        if any(point.name in run for point in members)
    ]


def _entries(
    ask: Ask, definition: Winners, competing: Sequence[str], points: Sequence[LabelledPoint], key: _Key
) -> dict[str, list[_Entry]]:
    labels = [*definition.rows, *([definition.columns] if definition.columns else [])]
    found: dict[str, list[_Entry]] = {}
    for name in definition.measures:
        measure = ask.measures[name]
        for value in competing:
            place: Where = {**dict(zip(labels, key, strict=True)), definition.compare: value}
            # Both hold: a place that the measure is not for has no value, whatever its points recorded.
            chosen = ask.points.within(measure.where, ask.points.within(place, points))
            try:
                one = _Entry(ask.estimate(measure, chosen, definition.seeds), ask.by_seed(measure, chosen))
            except NotRecorded:
                one = _Entry(NOTHING, {})
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
    keys: Sequence[_Key],
    blocks: Sequence[str],
    cells_of: Callable[[_Key, str], list[PlainCell]],
) -> list[tuple[PlainCell, ...]]:
    rows: list[tuple[PlainCell, ...]] = []
    for key in dict.fromkeys(key[:-1] for key in keys):
        for name, measure in measures.items():
            cells = [cell for block in blocks for cell in cells_of((*key, block), name)]
            if any(cell.emphasis != "muted" for cell in cells):
                words = f"{measure.title}, {measure.unit}" if measure.unit else measure.title
                rows.append((*_row_names(study, definition, key), PlainCell(words), *cells))
    return rows


def _cells(measure: Measure, entries: Sequence[_Entry], best: frozenset[str], definition: Winners) -> list[PlainCell]:
    known = [entry.estimate.value for entry in entries if entry.estimate.value is not None]
    return [
        _cell(measure, entry.estimate, known, definition, is_best=str(place) in best)
        for place, entry in enumerate(entries)
    ]


def _cell(measure: Measure, one: Estimate, known: Sequence[float], definition: Winners, *, is_best: bool) -> PlainCell:
    if one.value is None:
        return PlainCell(format_estimate(one, measure.decimals), "" if one.is_known else "muted")
    if measure.absent == 0 and not any(known):
        return PlainCell("–")
    best = "best" if is_best else ""
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
