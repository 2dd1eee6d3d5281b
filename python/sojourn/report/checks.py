"""Common parts of all checks of others' code and captures: judged rows, and one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from markupsafe import Markup

from sojourn.answers.figure import Figure
from sojourn.answers.report_content import PlainCell, PlainTable
from sojourn.base.files import fresh_folder, write_file
from sojourn.report.drawing_files import draw_files
from sojourn.report.page import page_of

SCHEMA = "sojourn-check 1"
"""Name of the form of `result.json`, the same for all checks."""


@dataclass(frozen=True)
class Judged:
    """A row that can fail, or that is shown."""

    item: str
    statement: str
    source: str
    verdict: str
    """`pass`, `fail`, `warning`, `shown` or `not judged`."""
    expected: str
    found: str

    def as_json(self) -> dict[str, str]:
        """Return it for programs."""
        return {
            "id": self.item,
            "section": self.source,
            "verdict": self.verdict,
            "expected": self.expected,
            "found": self.found,
        }


@dataclass(frozen=True)
class Block:
    """A table of a page; with a `summary` it is folded under that."""

    table: PlainTable
    summary: str = ""
    is_open: bool = False


@dataclass(frozen=True)
class Section:
    """A part of a page; without a heading, its tables have theirs."""

    item: str
    blocks: Sequence[Block]
    heading: str = ""
    notes: Sequence[str] = field(default_factory=list[str])


def rows_table(name: str, title: str, caption: str, rows: Sequence[Judged]) -> PlainTable:
    """Return rows as a table, those that failed first."""
    return PlainTable(
        name,
        title,
        caption,
        ("row", "verdict", "what must hold", "expected", "found"),
        tuple(
            (
                PlainCell(row.item),
                PlainCell(row.verdict),
                PlainCell(row.statement, detail=row.source),
                PlainCell(row.expected),
                PlainCell(row.found),
            )
            for row in sorted(
                rows,
                key=lambda row: ("fail", "warning").index(row.verdict) if row.verdict in ("fail", "warning") else 2,
            )
        ),
    )


def write_check_page(
    directory: Path,
    *,
    title: str,
    headline: str,
    facts: Sequence[str],
    sections: Sequence[Section],
    command: str,
    figures: Sequence[Figure] = (),
    left_out: Sequence[str] = (),
    remark: str = "",
) -> None:
    """Write `report.html` and its figures into a new directory; `headline` answers, `left_out` tells what was not judged."""
    drawn = draw_files(list(figures), fresh_folder(directory / "figures", root=directory))
    page = page_of(
        "check.html",
        title=title,
        headline=headline,
        facts=facts,
        figures=[(figure, Markup(drawn[figure.item])) for figure in figures],
        sections=sections,
        left_out=left_out,
        remark=remark,
        command=command,
    )
    write_file(directory / "report.html", page)
