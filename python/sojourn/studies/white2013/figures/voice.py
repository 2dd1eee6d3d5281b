"""Figures 25 to 28: the score of the call.

Source: White 2013, section 4.3; the document's plots themselves were not read.
Deviations: the score counts delay and late packets, as the formula says; whether the document's
figures do is not known.
"""

from __future__ import annotations

from sojourn.plots.spec import Rule
from sojourn.studies.figure import Figure
from sojourn.studies.view import StudyView
from sojourn.studies.white2013.cases import game
from sojourn.studies.white2013.figures import scenarios

#: Best score that the codec can have (section 4.3).
IDEAL = 4.4

SCORE = scenarios.Subject(
    metric=lambda view, load, rf, manager: game(view, load, rf, manager, "mos"),
    quantity="score of the call",
    unit="MOS",
    low=0.9,
    high=4.6,
    ticks=tuple((float(score), str(score)) for score in range(1, 5)),
    rules=(Rule(IDEAL, "x"),),
)


#: What a dot is.
_SHARE = "Score of the call"


def figure_of(view: StudyView, number: int, group: str) -> Figure:
    """Draw the households of a group."""
    return scenarios.group_figure(
        view,
        SCORE,
        number,
        group,
        name="VoIP audio quality",
        share=_SHARE,
        words="Right is better; dashed: 4.4, the best that the codec allows. Mean over the calls of a household.",
    )


def figure_28(view: StudyView) -> Figure:
    """Draw all households of each manager."""
    return scenarios.glance_figure(view, SCORE, 28, name="VoIP audio quality", share=_SHARE)
