"""Points of a study against each other, as tables of a report and as a page of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from sojourn.answers.report_content import PlainCell, PlainTable
from sojourn.digits import significant
from sojourn.metrics import words_of
from sojourn.report.files import write_text
from sojourn.report.page import page_environment, style_sheet
from sojourn.stats.quantity import quantity_of
from sojourn.study.compare import LabelComparison, compare_labels
from sojourn.study.result import StudyResult

__all__ = ["comparison_table", "comparisons_of", "frame_table", "write_comparison_page"]


def comparisons_of(result: StudyResult, *, most: int = 4) -> list[LabelComparison]:
    """Return the comparisons by each label of a study.

    Labels with one value, and labels whose points cannot be paired, are left out; so are labels beyond
    `most`. For any report: they need nothing but the metrics.
    """
    from sojourn.errors import UsageError

    found: list[LabelComparison] = []
    for label in result.labels:
        try:
            found.append(compare_labels(result, label))
        except UsageError:
            continue
    return found[:most]


def comparison_table(comparison: LabelComparison) -> PlainTable:
    """Return what moved, over all other labels: one row per value, subject and measure.

    What has a better direction comes first, then the largest relative changes.
    """
    rows = [
        row
        for row in comparison.overall.to_dicts()
        if row["verdict"] not in ("same", "within chance")
    ]
    rows.sort(
        key=lambda row: (
            quantity_of(row["metric"], row["unit"]).better == "",
            -abs(row["change"]) if row["change"] is not None else 0.0,
        )
    )
    by = comparison.by
    body = tuple(
        (
            PlainCell(row[by]),
            PlainCell(row["subject"]),
            PlainCell(words_of(row["metric"])),
            PlainCell(row["unit"]),
            PlainCell(significant(row["before"])),
            PlainCell(significant(row["after"]), "best" if row["verdict"] == "better" else ""),
            PlainCell(
                significant(row["difference"], 3, sign=True), detail=_range(row["low"], row["high"])
            ),
            PlainCell(significant(row["change"], 2, sign=True)),
            PlainCell(significant(row["effect"], 2, sign=True)),
            PlainCell(row["verdict"], "muted" if row["verdict"] == "one seed" else ""),
        )
        for row in rows
    )
    others = f" over {', '.join(comparison.others)}" if comparison.others else ""
    return PlainTable(
        name=f"compare-{by}",
        title=f"What {by} changes",
        caption=(
            f"{comparison.headline} Differences from {comparison.against}, paired by seed and averaged"
            f"{others}, with 95 % t intervals; p after Holm's correction below 0.05. Effect: mean "
            "difference over the standard deviation of the differences."
        ),
        headings=(
            by,
            "traffic or link",
            "measure",
            "unit",
            comparison.against,
            "value",
            "difference",
            "change, %",
            "effect",
            "verdict",
        ),
        rows=body,
    )


def _range(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    return f"{significant(low, 3, sign=True)} to {significant(high, 3, sign=True)}"


def frame_table(frame: pl.DataFrame, *, name: str, title: str, caption: str) -> PlainTable:
    """Return a frame as a table of a page, column by column."""
    rows = [
        tuple(
            PlainCell(significant(value) if isinstance(value, float | None) else str(value))
            for value in row
        )
        for row in frame.iter_rows()
    ]
    return PlainTable(name, title, caption, tuple(frame.columns), tuple(rows))


def write_comparison_page(
    path: Path, *, title: str, headline: str, tables: Sequence[PlainTable]
) -> None:
    """Write one self-contained HTML file.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    template = page_environment().get_template("comparison.html")
    write_text(
        path,
        template.render(title=title, headline=headline, tables=list(tables), style=style_sheet()),
    )
