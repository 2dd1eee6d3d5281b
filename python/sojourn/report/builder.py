"""From a finished study to its report directory: CSV, figures, one HTML page.

Nothing is simulated and nothing but the result's own files is read, so that a report can be rebuilt
years later.
"""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

from sojourn.report import generic, page
from sojourn.report.files import (
    write_claims,
    write_comparison,
    write_plain,
    write_table,
    write_text,
)
from sojourn.studies.opened import OpenStudy
from sojourn.studies.parts import StudyParts
from sojourn.studies.reporting import declared_parts
from sojourn.studies.view import StudyView
from sojourn.study.declarations import declares_answers
from sojourn.study.result import ReportSummary, StudyResult
from sojourn.study.summary import write_summary

#: Kinds of claims that the command line counts.
_COUNTED_USES = ("gate", "unit", "report")


def build_report(result: StudyResult, *, figures: bool = True, pdf: bool = False) -> ReportSummary:
    """Write the report of a result into its directory; see `sojourn.report.build`."""
    view = StudyView(result)
    parts = study_parts(result, view)
    if not figures:
        parts = replace(parts, figures=())
    directory = result.directory
    write_summary(result)
    _write_tables(directory, parts)
    drawings = _draw(directory, parts, pdf=pdf)
    write_comparison(directory / "comparison.csv", parts.tables)
    write_claims(directory / "claims.csv", parts.claims)
    write_text(directory / "report.html", page.render(result, parts, drawings, drawn=figures))
    return summary_of(parts)


def study_parts(result: StudyResult, view: StudyView) -> StudyParts:
    """Make the parts that the study declares, or the generic ones of a study that declares none."""
    study = OpenStudy.of_result(result)
    if not declares_answers(study.definition):
        return generic.parts(view)
    parts = declared_parts(study, view)
    if parts.tables or parts.figures:
        return parts
    # Claims and headlines alone: the numbers behind them are those of any study.
    others = generic.parts(view)
    return replace(
        parts,
        plain_tables=(*parts.plain_tables, *others.plain_tables),
        figures=others.figures,
    )


def summary_of(parts: StudyParts) -> ReportSummary:
    """Count verdicts."""
    cells = Counter(cell.verdict.value for table in parts.tables for cell in table.ordered_cells())
    comparison = {verdict: cells[verdict] for verdict in ("match", "miss", "unjudged")}
    claims: dict[str, dict[str, int]] = {}
    for use in _COUNTED_USES:
        count = Counter(
            judged.outcome.verdict.value for judged in parts.claims if judged.claim.use == use
        )
        claims[use] = {
            "holds": count["holds"],
            "fails": count["fails"],
            "not_run": count["not-run"],
        }
    return ReportSummary(comparison, claims)


def _write_tables(directory: Path, parts: StudyParts) -> None:
    folder = _fresh(directory / "tables")
    for table in parts.tables:
        write_table(folder / f"{table.item}.csv", table)
    plain = (*parts.plain_tables, *((parts.summary,) if parts.summary else ()))
    for table in plain:
        write_plain(folder / f"{table.name}.csv", table)


def _draw(directory: Path, parts: StudyParts, *, pdf: bool) -> dict[str, str]:
    """Draw every figure as SVG, on request as PDF; return the SVG text by item."""
    folder = _fresh(directory / "figures")
    if not parts.figures:
        return {}
    from sojourn.report.drawing_files import draw_files  # what draws takes its time to load

    texts = draw_files([figure.plot for figure in parts.figures], folder, pdf=pdf)
    return {figure.item: texts[figure.plot.name] for figure in parts.figures}


def _fresh(folder: Path) -> Path:
    """Return an empty folder; what an earlier report left in it goes."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    return folder
