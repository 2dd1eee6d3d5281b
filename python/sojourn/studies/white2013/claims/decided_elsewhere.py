"""Claims that the runs of this study cannot decide, with the reason.

Source: White 2013, sections 2.1, 4.1.2 and 5.1.
Deviations: none known.
"""

from __future__ import annotations

from sojourn.studies.claims import ClaimBook, Outcome
from sojourn.studies.view import StudyView

claim = ClaimBook()


@claim("W13-72")
def _same_cause(_: StudyView) -> Outcome:
    return Outcome.not_run(
        "needs, for each game, which connections shared its sub-flow; runs do not record it"
    )
