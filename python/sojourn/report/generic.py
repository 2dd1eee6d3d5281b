"""The report of a study that brings no tables or figures of its own.

It answers first: what the label that competes changes, who wins where, and the measures that differ most by label.
All metrics by point follow, folded where they are wide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import polars as pl

from sojourn.answers.figure import Figure
from sojourn.answers.modules import what_failed
from sojourn.answers.report_content import PlainCell, PlainTable, StudyParts
from sojourn.answers.reporting import failure
from sojourn.answers.view import StudyView
from sojourn.answers.winners import Won
from sojourn.base.digits import significant
from sojourn.base.metrics import words_of
from sojourn.report.by_label import distributions, dots, file_name
from sojourn.report.comparison import comparison_table, comparisons_of
from sojourn.report.contests import contests
from sojourn.report.roles import Roles
from sojourn.report.sweeps import sweep_figures

Made = TypeVar("Made")


def parts(view: StudyView) -> StudyParts:
    """Return what can be said of any study."""
    result = view.result
    roles = Roles.of(result)
    failed: list[PlainTable] = []

    def make(name: str, maker: Callable[[], Made], otherwise: Made) -> Made:
        try:
            return maker()
        except Exception as error:  # a result is not trusted: any values are possible
            failed.append(failure(name, what_failed(error)))
            return otherwise

    comparisons = make("What labels change", lambda: comparisons_of(result), [])
    won = make("Who wins where", lambda: contests(view, roles), None)
    told = [one for one in comparisons if one.by == roles.compete]
    sentences = [sentence for one in told for sentence in one.sentences]
    points = result.points["point"].to_list()
    swept = make("The figure of a sweep", lambda: list(sweep_figures(result)), [])
    shown = swept or make("The figure of measures", lambda: list(dots(view, roles)), [])
    delays = make("The figures of delays", lambda: list(distributions(view, roles)), [])
    subjects = result.summary["subject"].unique(maintain_order=True).to_list()
    numbers = make("All numbers", lambda: [_table(result.summary, subject, points) for subject in subjects], [])
    return StudyParts(
        headlines=(*([won.sentence] if won and won.sentence else []), *sentences),
        summary=won.table if won else None,
        plain_tables=(
            *(comparison_table(one) for one in told),
            *(replace(comparison_table(one), folded=True) for one in comparisons if one not in told),
            *numbers,
            *failed,
        ),
        figures=(*shown, *delays),
    )


def overview(view: StudyView, own: Sequence[Figure]) -> tuple[Won | None, tuple[Figure, ...]]:
    """Return who wins where, and the figure of a sweep or of measures, for a study that draws more itself."""
    roles = Roles.of(view.result)
    return contests(view, roles), (*sweep_figures(view.result, own),) or (*dots(view, roles),)


def _table(summary: pl.DataFrame, subject: str, points: Sequence[str]) -> PlainTable:
    """Return all metrics of a subject; those that are zero everywhere are named in the caption."""
    rows = summary.filter(pl.col("subject") == subject)
    pairs = rows.select("metric", "unit").unique(maintain_order=True).rows()
    zero = [
        metric for metric, _ in pairs if not rows.filter((pl.col("metric") == metric) & (pl.col("mean") != 0.0)).height
    ]
    shown = [(metric, unit) for metric, unit in pairs if metric not in zero]
    found = {
        (point, metric, unit): (mean, low, high)
        for point, metric, unit, mean, low, high in rows.select(
            "point", "metric", "unit", "mean", "low", "high"
        ).iter_rows()
    }
    body = [(PlainCell(point), *(_cell(found.get((point, *pair))) for pair in shown)) for point in points]
    return PlainTable(
        name=f"metrics-{file_name(subject)}",
        title=f"{subject}",
        caption="Mean over runs with its 95 % interval." + (f" Zero everywhere: {_listed(zero)}." if zero else ""),
        headings=("point", *(f"{words_of(metric)}, {unit}" if unit else words_of(metric) for metric, unit in shown)),
        rows=tuple(body),
        folded=True,
    )


def _listed(metrics: Sequence[str]) -> str:
    return ", ".join(words_of(metric) for metric in metrics)


def _cell(found: tuple[float, float | None, float | None] | None) -> PlainCell:
    if found is None:
        return PlainCell("–", "muted")
    mean, low, high = found
    interval = ""
    if low is not None and high is not None and significant(low) != significant(high):
        interval = f"{significant(low)} to {significant(high)}"
    return PlainCell(significant(mean), detail=interval)
