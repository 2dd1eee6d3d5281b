"""Figures 15 to 18: packets of the game that are lost.

Source: White 2013, section 4.1.2; the document's plots themselves were not read.
Deviations: the axis is logarithmic, so that 0.01 % and 30 % can both be read.
"""

from __future__ import annotations

from sojourn.plots.spec import PlotSpec
from sojourn.studies.figure import Figure
from sojourn.studies.view import NotRecorded, StudyView
from sojourn.studies.white2013.cases import game
from sojourn.studies.white2013.figures import scenarios
from sojourn.studies.white2013.figures.latency import small_print
from sojourn.studies.white2013.figures.selection import Selection

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


def figure_of(view: StudyView, number: int, group: str) -> Figure:
    """Draw the households of a group."""
    selection = Selection.of(view)
    loads = selection.of_group(group)
    if not loads:
        message = f"needs households of {group} load"
        raise NotRecorded(message)
    plot = PlotSpec(
        name=f"figure-{number}",
        title=f"Figure {number}. Gaming packet loss, {group} load",
        panels=scenarios.by_household(view, LOST, selection, loads),
        columns=3,
        height=scenarios.height_of(loads, len(selection.managers)),
        legend="below",
        description=f"Share of the game's packets that were lost in households of {group} load, for "
        "three levels of RF congestion and five queue managers.",
    )
    return Figure(
        f"figure-{number}",
        plot,
        f"{_PRINTED[group]} {_ZERO} {small_print(view, selection, 'Lines')}",
    )


def figure_18(view: StudyView) -> Figure:
    """Draw all households of each manager."""
    selection = Selection.of(view)
    plot = PlotSpec(
        name="figure-18",
        title="Figure 18. Gaming packet loss, all households",
        panels=scenarios.at_a_glance(view, LOST, selection),
        columns=3,
        height=80,
        description="Share of the game's packets that were lost in each of the households, for three "
        "levels of RF congestion and five queue managers.",
    )
    return Figure(
        "figure-18",
        plot,
        "Hollow: one household; in each row light load stands on top, heavy load below. Filled: their "
        f"mean. {_ZERO} {small_print(view, selection, 'Means over seeds')}",
    )
