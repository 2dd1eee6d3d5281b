"""Everything that a study says of its result, from its declarations: the parts of a report.

What cannot be made is shown in its place, with the reason, and costs nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import PurePosixPath
from typing import Any, TypeVar

import polars as pl

from sojourn.answers.asking import Ask
from sojourn.answers.figure import Figure
from sojourn.answers.figures import figures
from sojourn.answers.judging import judge
from sojourn.answers.modules import what_failed
from sojourn.answers.number_tables import numbers_table
from sojourn.answers.numbers import fill
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.placeholders import Placeholders, ends
from sojourn.answers.printed_tables import printed_table
from sojourn.answers.rated_tables import rated_table
from sojourn.answers.report_content import FAILED, Assumption, PlainCell, PlainTable, StudyParts
from sojourn.answers.table import Table
from sojourn.answers.view import NotRecorded, StudyView
from sojourn.answers.winners import winners
from sojourn.base.files import read_file
from sojourn.declarations.answers import Headline
from sojourn.headline.said import Headline as First
from sojourn.study.expand import expand_all
from sojourn.study.result import StudyResult

Made = TypeVar("Made")


def declared_parts(study: OpenStudy, view: StudyView, on_figure: Callable[[Figure], None] | None = None) -> StudyParts:
    """Compute everything that the report of a study says.

    Parameters
    ----------
    study
        The study with its own functions.
    view
        Its result.
    on_figure
        Called with each figure as soon as it is made, so that it is drawn while the rest is computed.
    """
    ask = study.ask(view)
    failed: list[PlainTable] = []

    def make(name: str, maker: Callable[[], Made]) -> Made | None:
        try:
            return maker()
        except NotRecorded:
            return None
        except Exception as error:  # whatever a study's own code does
            failed.append(failure(name, what_failed(error, study.definition.module)))
            return None

    @cache
    def tables() -> tuple[Table, ...]:
        made = [make(one.title, lambda one=one: printed_table(study, ask, one)) for one in study.definition.table]
        made += [make(one.title, lambda one=one: rated_table(study, ask, one)) for one in study.definition.rated]
        return tuple(table for table in made if table is not None)

    shown: dict[int, Figure] = {}
    for place, figure in figures(study, ask, tables):
        shown[place] = figure
        if on_figure is not None:
            on_figure(figure)
    printed = tables()
    plain = [
        table
        for one in study.definition.numbers
        if (table := make(one.title, lambda one=one: numbers_table(study, ask, one))) is not None
    ]
    own = study.definition.winners
    won = make(own.title, lambda: winners(study, ask, own)) if own else None
    said = headlines(study, ask, failed)
    return StudyParts(
        headline=First(said[0], "own") if said else None,
        headlines=said,
        summary=won.table if won else None,
        tables=printed,
        plain_tables=(*plain, *failed),
        claims=tuple(judge(study, ask)),
        figures=tuple(shown[place] for place in sorted(shown)),
        assumptions=tuple(
            Assumption(one.what, one.value, one.origin, one.reason) for one in study.definition.assumption
        ),
        notes=notes_of(study),
    )


def notes_of(study: OpenStudy) -> str:
    """Return the notes that end a report; empty without any."""
    name = study.definition.notes
    try:
        return read_file(study.folder / name, root=study.root, is_shown=True).decode() if name else ""
    except (OSError, UnicodeDecodeError):
        return f"{name} cannot be read."


def failure(name: str, reason: str) -> PlainTable:
    """Return what stands in the place of something that could not be made."""
    return PlainTable(FAILED, name, "", ("could not be made",), ((PlainCell(reason),),))


def headlines(study: OpenStudy, ask: Ask, failed: list[PlainTable]) -> tuple[str, ...]:
    """Return the findings in sentences, as far as the runs allow; adds to `failed` those that could not be said."""
    found: list[str] = []
    for definition in study.definition.headline:
        try:
            found += sentences(study, ask, definition)
        except NotRecorded:
            continue
        except Exception as error:  # whatever a study's own code does
            failed.append(failure("Headline", what_failed(error, study.definition.module)))
    return tuple(found)


def sentences(study: OpenStudy, ask: Ask, definition: Headline) -> Sequence[str]:
    """Say one headline."""
    ask.seconds = float(definition.seconds)
    try:
        if definition.function:
            said = study.functions[definition.function](ask)
            return [said] if isinstance(said, str) else list(said)
        return [fill(definition.text, ask.values(definition.values), word=_word_of(study, ask, definition))]
    finally:
        ask.seconds = 0.0


def _word_of(study: OpenStudy, ask: Ask, definition: Headline) -> Callable[[str, str], str]:
    """Return what says placeholders that are no values, from the result."""
    result = ask.view.result

    @cache
    def words() -> Placeholders:
        return Placeholders(study.points, _scenarios(result), definition.printed)

    def word(field: str, spec: str) -> str:
        said = words().word(field)
        if said is not None:
            return said
        subject, _, metric = field.rpartition(".")
        found = result.summary.filter((pl.col("subject") == subject) & (pl.col("metric") == metric)).drop_nulls("mean")
        if found.is_empty():
            raise NotRecorded(f"no run has {field}")
        return ends(found["mean"].to_list(), str(found["unit"][0] or ""), spec)

    return word


def _scenarios(result: StudyResult) -> list[dict[str, Any]]:
    """Return the scenarios of the points that were run; none if the result came without the base."""
    base = result.directory / "scenarios" / PurePosixPath(result.definition.scenario).name
    try:
        points, _ = expand_all(result.definition, read_file(base, root=result.directory).decode())
    except (OSError, ValueError):
        return []
    ran = set(result.points["point"])
    return [point.document for point in points if point.name in ran]
