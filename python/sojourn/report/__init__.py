"""Turn a study result into what people read: tables, figures, verdicts, one HTML page.

Examples
--------
Rebuild the report of a finished study from its records alone::

    from sojourn.report import build
    from sojourn.study.result import StudyResult

    summary = build(StudyResult.load("results/white2012/latest"))
    print(summary.comparison["match"], "cells match")
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.report.drawing_files import Drawers
    from sojourn.study.definition import StudyDefinition
    from sojourn.study.result import ReportSummary, StudyResult

__all__ = ["build", "make_ready"]


def make_ready(definition: StudyDefinition, *, figures: bool = True, pdf: bool = False) -> Drawers:
    """Load what a report needs and start what draws, so that it does not wait for that once the runs are done.

    Parameters
    ----------
    definition
        The study.
    figures, pdf
        As for `build`.

    Returns
    -------
    Drawers
        For `build`; leave it as a context manager if it never comes to that.
    """
    from sojourn.report.drawing_files import Drawers

    drawers = Drawers(pdf=pdf, expected=len(definition.figure) if figures else 0)
    for name in ("sojourn.stats.special", "sojourn.report.builder"):
        importlib.import_module(name)
    from sojourn.report.page import page_environment

    page_environment().get_template("report.html")  # is kept
    return drawers


def build(
    result: StudyResult, *, figures: bool = True, pdf: bool = False, drawers: Drawers | None = None
) -> ReportSummary:
    """Write comparison.csv, claims.csv, tables/, figures/ and report.html into the result.

    Parameters
    ----------
    result
        A finished study; only its files are read, nothing is simulated.
    figures
        Whether to draw; without, the page has its tables and verdicts alone.
    pdf
        Whether to write each figure as PDF beside its SVG, which takes as long again.
    drawers
        What `make_ready` has started; the report ends it.

    Returns
    -------
    ReportSummary
        Counts of verdicts, for the command line.
    """
    from sojourn.report.builder import build_report
    from sojourn.stats.level import at_level

    with at_level(result.level, anytime=result.is_anytime):
        return build_report(result, figures=figures, drawers=drawers, pdf=pdf)
