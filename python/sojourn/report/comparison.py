"""Points of a study against each other, as tables of a report and as a page of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import jinja2
import polars as pl
from markupsafe import Markup

from sojourn.report.files import write_text
from sojourn.studies.parts import PlainCell, PlainTable
from sojourn.studies.quantity import quantity_of
from sojourn.study.compare import LabelComparison, compare_labels
from sojourn.study.result import StudyResult

__all__ = ["comparison_table", "comparison_tables", "frame_table", "write_comparison_page"]

_HOME = Path(__file__).parent


def comparison_tables(result: StudyResult, *, most: int = 4) -> tuple[PlainTable, ...]:
    """Return one table per label of a study, each with its headline sentence as caption.

    Labels with one value, and labels whose points cannot be paired, are left out; so are labels beyond
    `most`. For any report: the tables need nothing but the metrics.
    """
    from sojourn.errors import UsageError

    tables: list[PlainTable] = []
    for label in result.labels:
        try:
            comparison = compare_labels(result, label)
        except UsageError:
            continue
        tables.append(comparison_table(comparison))
    return tuple(tables[:most])


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
            PlainCell(row["metric"].replace("_", " ")),
            PlainCell(row["unit"]),
            PlainCell(_number(row["before"])),
            PlainCell(_number(row["after"]), "best" if row["verdict"] == "better" else ""),
            PlainCell(_signed(row["difference"]), detail=_range(row["low"], row["high"])),
            PlainCell(_signed(row["change"], digits=2)),
            PlainCell(_signed(row["effect"], digits=2)),
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


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _signed(value: float | None, digits: int = 3) -> str:
    if value is None:
        return "–"
    return f"{value:+.0f}" if abs(value) >= 1000 else f"{value:+.{digits}g}"


def _range(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    return f"{_signed(low)} to {_signed(high)}"


def frame_table(frame: pl.DataFrame, *, name: str, title: str, caption: str) -> PlainTable:
    """Return a frame as a table of a page, column by column."""
    rows = [
        tuple(
            PlainCell(_number(value) if isinstance(value, float | None) else str(value))
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
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HOME / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = Markup((_HOME / "assets" / "report.css").read_text(encoding="utf-8"))
    template = environment.get_template("comparison.html")
    write_text(
        path, template.render(title=title, headline=headline, tables=list(tables), style=style)
    )
