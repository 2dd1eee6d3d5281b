"""A printed table, cell by cell, beside ours.

A study module builds one `Table` per printed table; the report renders it, `comparison.csv` lists
its cells. A table may hold the values of another reference than the print, such as a public program's: its cells
are judged alike, and listed in `references.csv`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from sojourn.answers.claims import NEEDS_WHOLE
from sojourn.answers.tolerance import Rule, Verdict, judge
from sojourn.stats.estimate import NOTHING, Estimate


@dataclass(frozen=True)
class Cell:
    """One printed value and ours.

    Attributes
    ----------
    item
        What was printed, such as `table-3`.
    case
        The document's own label, such as `C04`.
    queue_manager, metric, unit
        As in the study's labels and metrics.
    printed
        The printed characters without unit, such as `99.18` or `>600`; empty if none.
    printed_value
        The number they stand for.
    censored
        Whether the print is only a bound.
    ours
        Simulated, over runs.
    decimals
        Decimals of simulated values in the table, as many as printed.
    deviation
        Standard deviation over runs, of those of the print and ours the larger.
    rule
        The tolerance.
    shortened
        Our runs are shorter than the rule needs.
    reduced
        What makes our runs less than the study, such as `quick`; empty for all of it.
    unfinished
        Runs are still being made, and nothing is decided.
    """

    item: str
    case: str
    queue_manager: str
    metric: str
    unit: str
    printed: str
    printed_value: float | None
    ours: Estimate = NOTHING
    decimals: int = 2
    deviation: float = 0.0
    rule: Rule | None = None
    censored: bool = False
    shortened: bool = False
    reduced: str = ""
    unfinished: bool = False

    @property
    def verdict(self) -> Verdict:
        """True if ours reproduces the print."""
        if self.unfinished:
            return Verdict.UNJUDGED
        return judge(
            self.ours,
            self.printed_value,
            self.rule,
            deviation=self.deviation,
            digit=10.0 ** -len(self.printed.partition(".")[2]),
            printed_is_censored=self.censored,
            shortened=self.shortened,
        )

    @property
    def is_equal(self) -> bool:
        """True if the print, give or take half its last digit, overlaps our interval."""
        value, printed = self.ours.value, self.printed_value
        if value is None or printed is None or self.censored:
            return False
        half = 0.5 * 10.0**-self.decimals
        low = value if self.ours.low is None else self.ours.low
        high = value if self.ours.high is None else self.ours.high
        return low <= printed + half and high >= printed - half

    @property
    def tolerance(self) -> str:
        """The tolerance in words; why the cell is not judged, if it is not."""
        if self.rule is None:
            return ""
        text = self.rule.text
        if self.censored:
            return f"{text}; the print is a bound"
        if not self.rule.is_judged:
            return f"{text}; trust {self.rule.trust}"
        if self.shortened:
            return f"{text}; {self.reduced or 'shorter'} run, {NEEDS_WHOLE}"
        return f"{text}; {self.reduced} run" if self.reduced else text

    @property
    def ours_text(self) -> str:
        """Our value with as many decimals as printed."""
        return format_estimate(self.ours, self.decimals)


@dataclass(frozen=True)
class Column:
    """One metric of one queue manager."""

    queue_manager: str
    metric: str
    title: str
    """Short heading such as `late %`."""


@dataclass(frozen=True)
class ColumnGroup:
    """Columns under one heading."""

    title: str
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Row:
    """One test case."""

    key: str
    """Key of the row's cells."""
    label: str
    """Text of its first column."""
    description: str = ""
    """Description of the case."""


@dataclass(frozen=True)
class Table:
    """A printed table with ours beside it."""

    item: str
    title: str
    caption: str
    groups: tuple[ColumnGroup, ...]
    rows: tuple[Row, ...]
    cells: dict[tuple[str, str, str], Cell] = field(default_factory=dict[tuple[str, str, str], Cell])
    """By row key, queue manager and metric."""
    reference: str = ""
    """Whose values stand beside ours, such as `the authors' program`; empty for the print."""

    def cell(self, row: Row, column: Column) -> Cell | None:
        """Return the cell at a row and a column, if there is one."""
        return self.cells.get((row.key, column.queue_manager, column.metric))

    def ordered_cells(self) -> list[Cell]:
        """Cells as one reads them: row by row."""
        found: list[Cell] = []
        for row in self.rows:
            for group in self.groups:
                for column in group.columns:
                    cell = self.cell(row, column)
                    if cell is not None:
                        found.append(cell)
        return found


def format_estimate(estimate: Estimate, decimals: int) -> str:
    """Write the central value; a bound keeps its sign, an unknown value is a dash.

    Examples
    --------
    >>> format_estimate(Estimate(2.7561), 3), format_estimate(Estimate(None, above=600.0), 3)
    ('2.756', '>600')
    """
    if estimate.above is not None:
        return f">{estimate.above:.10g}"
    return "–" if estimate.value is None else format_number(estimate.value, decimals)


def format_number(value: float, decimals: int) -> str:
    """Write a number with a fixed number of decimals, never as minus zero."""
    if not math.isfinite(value):
        return "–"
    text = f"{value:.{decimals}f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.") else text
