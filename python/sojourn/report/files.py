"""CSV files of a report."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from sojourn.answers.claims import JudgedClaim
from sojourn.answers.report_content import PlainTable
from sojourn.answers.table import Cell, Table
from sojourn.base.files import write_file
from sojourn.base.formulas import no_formula
from sojourn.stats.estimate import Estimate

COMPARISON_COLUMNS = (
    "item",
    "case",
    "queue_manager",
    "metric",
    "unit",
    "printed",
    "ours",
    "ci_low",
    "ci_high",
    "tolerance",
    "verdict",
)
"""Columns that other tools rely on."""

REFERENCE_COLUMNS = ("reference", *("theirs" if name == "printed" else name for name in COMPARISON_COLUMNS))

CLAIM_COLUMNS = ("id", "use", "trust", "criterion", "ours", "verdict", "note")


def number_text(value: float | None) -> str:
    """Write a number for programs: six significant digits, empty if unknown.

    Examples
    --------
    >>> number_text(375614.2), number_text(0.1), number_text(None)
    ('375614', '0.1', '')
    """
    return "" if value is None else f"{value:.6g}"


def ours_text(estimate: Estimate) -> str:
    """Write a central value for programs; a bound keeps its sign."""
    if estimate.above is not None:
        return f">{number_text(estimate.above)}"
    return number_text(estimate.value)


def write_comparison(path: Path, tables: Iterable[Table]) -> None:
    """Write one row per printed cell."""
    rows = [_compared(cell) for table in tables for cell in table.ordered_cells()]
    _write(path, COMPARISON_COLUMNS, rows)


def write_references(path: Path, tables: Iterable[Table]) -> None:
    """Write one row per cell beside another reference than the print."""
    rows = [(table.reference, *_compared(cell)) for table in tables for cell in table.ordered_cells()]
    _write(path, REFERENCE_COLUMNS, rows)


def _compared(cell: Cell) -> tuple[str, ...]:
    return (
        cell.item,
        cell.case,
        cell.queue_manager,
        cell.metric,
        cell.unit,
        cell.printed,
        ours_text(cell.ours),
        number_text(cell.ours.low),
        number_text(cell.ours.high),
        cell.tolerance,
        cell.verdict.value,
    )


def write_claims(path: Path, claims: Iterable[JudgedClaim]) -> None:
    """Write one row per claim."""
    rows = [
        (
            judged.claim.identifier,
            judged.claim.use,
            judged.claim.trust,
            judged.claim.criterion,
            judged.outcome.ours,
            judged.outcome.verdict.value,
            judged.outcome.note,
        )
        for judged in claims
    ]
    _write(path, CLAIM_COLUMNS, rows)


def write_table(path: Path, table: Table) -> None:
    """Write a printed table as it stands on the page: a row per case, ours beside each print."""
    headings = ["case", "load"]
    theirs = table.reference or "printed"
    columns = [(group, column) for group in table.groups for column in group.columns]
    for group, column in columns:
        name = f"{group.title} {column.title}"
        headings += [f"{name}, {theirs}", f"{name}, ours", f"{name}, low", f"{name}, high", "verdict"]
    rows: list[list[str]] = []
    for row in table.rows:
        values = [row.label, row.description]
        for _, column in columns:
            cell = table.cell(row, column)
            if cell is None:
                values += [""] * 5
                continue
            values += [
                cell.printed,
                ours_text(cell.ours),
                number_text(cell.ours.low),
                number_text(cell.ours.high),
                cell.verdict.value,
            ]
        rows.append(values)
    _write(path, headings, rows, root=path.parent.parent)


def write_plain(path: Path, table: PlainTable) -> None:
    """Write a table without printed values; a heading above columns becomes part of theirs."""
    above = [title for title, span in table.groups for _ in range(span)]
    above += [""] * (len(table.headings) - len(above))
    names = [f"{title}: {heading}" if title else heading for title, heading in zip(above, table.headings, strict=True)]
    rows = [[cell.text for cell in row] for row in table.rows]
    _write(path, names, rows, root=path.parent.parent)


def _write(path: Path, headings: Sequence[str], rows: Iterable[Sequence[str]], *, root: Path | None = None) -> None:
    """Write a CSV file; what lies in a folder of a result names the result as `root`."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for row in (headings, *rows):
        writer.writerow([no_formula(cell) for cell in row])
    write_file(path, buffer.getvalue(), root=root)
