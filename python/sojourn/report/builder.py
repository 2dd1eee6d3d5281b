"""From a finished study to its report directory: CSV, figures, one HTML page.

Nothing is simulated and nothing but the result's own files is read, so that a report can be rebuilt
years later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from sojourn.answers.claims import NEEDS_WHOLE, JudgedClaim
from sojourn.answers.figure import Figure
from sojourn.answers.modules import what_failed
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.report_content import StudyParts
from sojourn.answers.reporting import declared_parts, failure, notes_of
from sojourn.answers.view import StudyView
from sojourn.base.files import fresh_folder, write_file
from sojourn.declarations.answers import declares_answers
from sojourn.headline.said import Headline
from sojourn.report import generic, page
from sojourn.report.drawing_files import Drawers
from sojourn.report.files import write_claims, write_comparison, write_plain, write_references, write_table
from sojourn.report.first import headline_of_result
from sojourn.report.precision_section import precision_table, quantile_table
from sojourn.study.result import ReportSummary, StudyResult
from sojourn.study.write import write_summary

_COUNTED_USES = ("gate", "unit", "report")
"""Kinds of claims that the command line counts."""


def build_report(
    result: StudyResult, *, figures: bool = True, drawers: Drawers | None = None, pdf: bool = False
) -> ReportSummary:
    """Write the report of a result into its directory; see `sojourn.report.build`."""
    view = StudyView(result)
    directory = result.directory
    expected = len(result.definition.figure) if figures else 0
    with drawers or Drawers(pdf=pdf, expected=expected) as drawers:
        drawers.folder = fresh_folder(directory / "figures", root=directory)
        # Others draw from the first figure on; this process gathers the next, and all other numbers.
        parts = study_parts(result, view, drawers.draw if figures else None)
        if not figures:
            parts = replace(parts, figures=())
        more = [one for one in (precision_table(result), quantile_table(result)) if one is not None]
        parts = replace(parts, plain_tables=(*parts.plain_tables, *more))
        write_summary(result)
        _write_tables(directory, parts)
        write_comparison(directory / "comparison.csv", parts.printed)
        if parts.beside:
            write_references(directory / "references.csv", parts.beside)
        write_claims(directory / "claims.csv", parts.claims)
        drawings = drawers.finish()
        drawn = tuple(replace(one, failure=drawers.failed.get(one.item, one.failure)) for one in parts.figures)
        parts = replace(parts, figures=drawn)
    write_file(directory / "report.html", page.render(result, parts, drawings, drawn=figures))
    return summary_of(parts)


def study_parts(result: StudyResult, view: StudyView, on_figure: Callable[[Figure], None] | None = None) -> StudyParts:
    """Make the parts that the study declares, or the generic ones of a study that declares none.

    `on_figure` hears of each figure as soon as it is made.
    """
    study = OpenStudy.of_result(result)
    if not declares_answers(study.definition):
        parts = _headed(result, _generic_parts(view, on_figure))
        if parts.headline is None:
            return parts
        # The headline says what matters of what stands in tables below.
        return replace(parts, headlines=())
    parts = declared_parts(study, view, on_figure)
    parts = _headed(result, parts)
    if parts.tables or (study.definition.source and parts.figures):
        return parts  # what a document prints is what its study shows
    if not parts.figures:
        # Claims and headlines alone: the numbers behind them are those of any study.
        others = _generic_parts(view, on_figure)
        return replace(
            parts,
            summary=parts.summary or others.summary,
            plain_tables=(*parts.plain_tables, *others.plain_tables),
            figures=others.figures,
        )
    if study.definition.winners:  # who wins, and what is drawn, are the study's own
        return parts
    # A figure of its own stands first, and adds to what any study shows.
    won, shown = generic.overview(view, parts.figures)
    own = {figure.plot.name for figure in parts.figures}
    more = tuple(figure for figure in shown if figure.plot.name not in own)
    if on_figure is not None:
        for figure in more:
            on_figure(figure)
    return replace(parts, summary=won.table if won else None, figures=(*parts.figures, *more))


def _headed(result: StudyResult, parts: StudyParts) -> StudyParts:
    """Put the headline first: in the study's own words if it has some, which rest on numbers of the same result."""
    derived: Headline | None = None
    try:
        derived = headline_of_result(result)
    except Exception as error:  # a result is not trusted: any values are possible
        table = failure("The headline", what_failed(error))
        parts = replace(parts, plain_tables=(*parts.plain_tables, table))
    if not parts.notes:
        parts = replace(parts, notes=notes_of(OpenStudy.of_result(result)))
    own = parts.headline
    if own is None:
        return replace(parts, headline=_claimed(result, parts.claims, derived))
    headline = own if derived is None else derived.worded(own.sentence)
    if not (result.definition.compare or len(result.labels) == 1):
        headline = headline.but(grades={})  # own words may be about other settings
    return replace(parts, headline=headline, headlines=parts.headlines[1:])


def _claimed(result: StudyResult, claims: Sequence[JudgedClaim], derived: Headline | None) -> Headline | None:
    """Put the first claim of an own study before the derived sentence: it is the question that the study asks."""
    asked = [one for one in claims if one.claim.use in _COUNTED_USES]
    if not asked or result.definition.source:
        return derived
    first = asked[0].sentence
    return Headline(first, "own") if derived is None else derived.but(sentence=f"{first} {derived.sentence}")


def _generic_parts(view: StudyView, on_figure: Callable[[Figure], None] | None) -> StudyParts:
    parts = generic.parts(view)
    if on_figure is not None:
        for figure in parts.figures:
            on_figure(figure)
    return parts


def summary_of(parts: StudyParts) -> ReportSummary:
    """Count verdicts."""
    cells = Counter(cell.verdict.value for table in parts.printed for cell in table.ordered_cells())
    comparison = {verdict: cells[verdict] for verdict in ("match", "miss", "unjudged")}
    claims: dict[str, dict[str, int]] = {}
    for use in _COUNTED_USES:
        chosen = [judged.outcome for judged in parts.claims if judged.claim.use == use]
        count = Counter(outcome.verdict.value for outcome in chosen)
        claims[use] = {"holds": count["holds"], "fails": count["fails"], "not_run": count["not-run"]}
        if whole := sum(outcome.note == NEEDS_WHOLE for outcome in chosen):
            claims[use] |= {"not_run": count["not-run"] - whole, "need_whole": whole}
    judged = tuple(one.sentence for one in parts.claims if one.claim.use in _COUNTED_USES)
    return ReportSummary(comparison, claims, parts.headline, parts.failures, judged)


def _write_tables(directory: Path, parts: StudyParts) -> None:
    folder = fresh_folder(directory / "tables", root=directory)
    for table in parts.tables:
        write_table(folder / f"{table.item}.csv", table)
    plain = (*parts.plain_tables, *((parts.summary,) if parts.summary else ()))
    for table in plain:
        write_plain(folder / f"{table.name}.csv", table)
