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

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.study.result import ReportSummary, StudyResult

__all__ = ["build"]


def build(result: StudyResult, *, figures: bool = True, pdf: bool = False) -> ReportSummary:
    """Write comparison.csv, claims.csv, tables/, figures/ and report.html into the result.

    Parameters
    ----------
    result
        A finished study; only its files are read, nothing is simulated.
    figures
        Whether to draw; without, the page has its tables and verdicts alone.
    pdf
        Whether to write each figure as PDF beside its SVG, which takes as long again.

    Returns
    -------
    ReportSummary
        Counts of verdicts, for the command line.
    """
    from sojourn.report.builder import build_report

    return build_report(result, figures=figures, pdf=pdf)
