"""Figures 15 to 18: packets of the game that are lost.

Source: White 2013, section 4.1.2; the document's plots themselves were not read.
Deviations: the axis is logarithmic, so that 0.01 % and 30 % can both be read.
"""

from __future__ import annotations

from sojourn.studies.figure import Figure
from sojourn.studies.view import StudyView
from sojourn.studies.white2013.cases import game
from sojourn.studies.white2013.figures import scenarios

#: Smallest loss that is drawn, %; chosen: a tenth of the smallest that the document mentions.
LEAST = 0.001

LOST = scenarios.Subject(
    metric=lambda view, load, rf, manager: game(view, load, rf, manager, "lost"),
    quantity="game packets lost",
    unit="%",
    low=0.7 * LEAST,
    high=60.0,
    scale="log",
    floor=LEAST,
    ticks=(
        (LEAST, "0"),
        (0.01, "0.01"),
        (0.1, "0.1"),
        (1.0, "1"),
        (5.0, "5"),
        (30.0, "30"),
    ),
)

#: What the axis does with small losses.
_ZERO = f"0 stands for {LEAST:g} % or less."

_PRINTED = {
    "light": "The text says: low for PIE and drop-tail, moderate for CoDel, below 0.01 % for SFQ-CoDel.",
    "moderate": "The text says: low for PIE and drop-tail, moderate for CoDel, below 0.01 % for SFQ-CoDel.",
    "heavy": "The text says of SFQ-CoDel: about 5 % with 110 flows (x14, x15), 9 % to 34 % with BitTorrent "
    "(x16, x17).",
}


#: What a dot is.
_SHARE = "Share of the game's packets that were lost"


def figure_of(view: StudyView, number: int, group: str) -> Figure:
    """Draw the households of a group."""
    return scenarios.group_figure(
        view,
        LOST,
        number,
        group,
        name="Gaming packet loss",
        share=_SHARE,
        words=f"{_PRINTED[group]} {_ZERO}",
    )


def figure_18(view: StudyView) -> Figure:
    """Draw all households of each manager."""
    return scenarios.glance_figure(
        view, LOST, 18, name="Gaming packet loss", share=_SHARE, words=_ZERO
    )
