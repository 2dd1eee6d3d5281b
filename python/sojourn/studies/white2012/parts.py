"""The study's contribution to its report."""

from __future__ import annotations

import tomllib
from pathlib import Path

from sojourn.studies.parts import Assumption, StudyParts
from sojourn.studies.view import StudyView
from sojourn.studies.white2012 import claims, figures, overview, tables

_HOME = Path(__file__).parent


def parts(view: StudyView) -> StudyParts:
    """Compute everything that the report of this study says."""
    own_tables = tables.tables(view)
    return StudyParts(
        headlines=overview.headlines(view),
        summary=overview.summary(view),
        tables=tuple(own_tables),
        claims=tuple(claims.judge(view)),
        figures=tuple(figures.figures(view, own_tables)),
        assumptions=assumptions(),
        notes=(_HOME / "notes.md").read_text(encoding="utf-8"),
    )


def assumptions() -> tuple[Assumption, ...]:
    """Read the values that the document does not give."""
    document = tomllib.loads((_HOME / "assumptions.toml").read_text(encoding="utf-8"))
    return tuple(Assumption(**entry) for entry in document["assumption"])
