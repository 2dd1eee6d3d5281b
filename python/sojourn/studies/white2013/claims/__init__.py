"""One small function per claim that runs can decide, grouped by what they look at."""

from __future__ import annotations

from pathlib import Path

from sojourn.studies.claims import ClaimBook, JudgedClaim, judge_claims
from sojourn.studies.view import StudyView
from sojourn.studies.white2013.claims import (
    buffers,
    delay,
    long_term,
    loss,
    managers,
    pages,
    sharing,
    short_term,
    sparse,
    steps,
    voice,
)

PRINTED = Path(__file__).parent.parent / "printed"

#: All functions of the study.
BOOK = ClaimBook.joined(
    buffers.claim,
    delay.claim,
    long_term.claim,
    loss.claim,
    managers.claim,
    pages.claim,
    sharing.claim,
    short_term.claim,
    sparse.claim,
    steps.claim,
    voice.claim,
)


def judge(view: StudyView) -> list[JudgedClaim]:
    """Judge all claims of the study."""
    return judge_claims(PRINTED, BOOK, view)
