"""One small function per claim that runs can decide, grouped by what they look at."""

from __future__ import annotations

from pathlib import Path

from sojourn.studies.claims import ClaimBook, JudgedClaim, judge_claims
from sojourn.studies.view import StudyView
from sojourn.studies.white2012.claims import (
    congestion,
    decided_elsewhere,
    queues,
    ramps,
    voice,
    volume,
    web,
)

PRINTED = Path(__file__).parent.parent / "printed"

#: All functions of the study.
BOOK = ClaimBook.joined(
    congestion.claim,
    decided_elsewhere.claim,
    queues.claim,
    ramps.claim,
    voice.claim,
    volume.claim,
    web.claim,
)


def judge(view: StudyView) -> list[JudgedClaim]:
    """Judge all claims of the study."""
    return judge_claims(PRINTED, BOOK, view)
