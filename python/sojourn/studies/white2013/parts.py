"""The study's contribution to its report."""

from __future__ import annotations

import tomllib
from pathlib import Path

from sojourn.studies.parts import Assumption, StudyParts
from sojourn.studies.view import StudyView
from sojourn.studies.white2013 import claims, figures, overview, qualitative, tables

_HOME = Path(__file__).parent


def parts(view: StudyView) -> StudyParts:
    """Compute everything that the report of this study says."""
    notes = _HOME / "notes.md"
    return StudyParts(
        headlines=overview.headlines(view),
        summary=overview.summary(view),
        tables=(qualitative.table_3(view),),
        plain_tables=tuple(tables.plain_tables(view)),
        claims=tuple(claims.judge(view)),
        figures=tuple(figures.figures(view)),
        assumptions=assumptions(),
        notes=notes.read_text(encoding="utf-8") if notes.exists() else "",
    )


def assumptions() -> tuple[Assumption, ...]:
    """Read the values that the document does not give."""
    document = tomllib.loads((_HOME / "assumptions.toml").read_text(encoding="utf-8"))
    return tuple(Assumption(**entry) for entry in document["assumption"])
