"""A study's part of its report, computed from one result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sojourn.answers.claims import JudgedClaim
from sojourn.answers.figure import Figure
from sojourn.answers.table import Table
from sojourn.headline.said import Headline

Emphasis = Literal["", "best", "muted"]


@dataclass(frozen=True)
class PlainCell:
    """One cell of a table without printed values."""

    text: str
    emphasis: Emphasis = ""
    detail: str = ""
    """Smaller words below, such as an interval."""


@dataclass(frozen=True)
class PlainTable:
    """A table without printed values; `name` is its file, without suffix."""

    name: str
    title: str
    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[PlainCell, ...], ...]
    groups: tuple[tuple[str, int], ...] = ()
    """Headings above columns, with how many columns each spans; empty for none."""
    folded: bool = False
    """True if a page shows its title alone until a reader asks for it."""


@dataclass(frozen=True)
class Assumption:
    """A value that the document does not give."""

    what: str
    value: str
    origin: str
    """`documented`, `chosen` or `fitted`."""
    reason: str


FAILED = "failed"
"""Name of the tables that stand in the place of something that could not be made."""

UNJUDGED = "cannot be judged: "
"""How the note of a claim begins whose own code fails."""


@dataclass(frozen=True)
class StudyParts:
    """Everything that a study says about its result."""

    headline: Headline | None = None
    """First sentence of page and terminal."""
    headlines: tuple[str, ...] = ()
    """Further findings."""
    summary: PlainTable | None = None
    tables: tuple[Table, ...] = ()
    plain_tables: tuple[PlainTable, ...] = ()
    claims: tuple[JudgedClaim, ...] = ()
    figures: tuple[Figure, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    notes: str = ""
    """Markdown."""

    @property
    def failures(self) -> tuple[str, ...]:
        """Declared items that failed, with their reasons; a module that is not run has not failed."""
        found = [(f"figure {one.item}", one.failure) for one in self.figures if one.failure]
        for table in self.plain_tables:
            if table.name == FAILED:
                found += [(table.title, row[0].text) for row in table.rows]
        judged = ((one.claim.identifier, one.outcome.note) for one in self.claims)
        found += [(f"claim {name}", note.removeprefix(UNJUDGED)) for name, note in judged if note.startswith(UNJUDGED)]
        return tuple(f"{what}: {reason}" for what, reason in found if not reason.startswith("StudyError"))

    @property
    def printed(self) -> tuple[Table, ...]:
        """Tables beside the print."""
        return tuple(table for table in self.tables if not table.reference)

    @property
    def beside(self) -> tuple[Table, ...]:
        """Tables beside other references than the print."""
        return tuple(table for table in self.tables if table.reference)
