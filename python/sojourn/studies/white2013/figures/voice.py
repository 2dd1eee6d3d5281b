"""Figures 25 to 28: the score of the call.

Source: White 2013, section 4.3; the document's plots themselves were not read.
Deviations: the score counts delay and late packets, as the formula says; whether the document's
figures do is not known.
"""

from __future__ import annotations

from sojourn.plots.spec import PlotSpec, Rule
from sojourn.studies.figure import Figure
from sojourn.studies.view import NotRecorded, StudyView
from sojourn.studies.white2013.cases import game
from sojourn.studies.white2013.figures import scenarios
from sojourn.studies.white2013.figures.latency import small_print
from sojourn.studies.white2013.figures.selection import Selection

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


def figure_of(view: StudyView, number: int, group: str) -> Figure:
    """Draw the households of a group."""
    selection = Selection.of(view)
    loads = selection.of_group(group)
    if not loads:
        message = f"needs households of {group} load"
        raise NotRecorded(message)
    plot = PlotSpec(
        name=f"figure-{number}",
        title=f"Figure {number}. VoIP audio quality, {group} load",
        panels=scenarios.by_household(view, SCORE, selection, loads),
        columns=3,
        height=scenarios.height_of(loads, len(selection.managers)),
        legend="below",
        description=f"Score of the call in households of {group} load, for three levels of RF "
        "congestion and five queue managers.",
    )
    return Figure(
        f"figure-{number}",
        plot,
        f"Right is better; dashed: 4.4, the best that the codec allows. Mean over the calls of a household. "
        f"{small_print(view, selection, 'Lines')}",
    )


def figure_28(view: StudyView) -> Figure:
    """Draw all households of each manager."""
    selection = Selection.of(view)
    plot = PlotSpec(
        name="figure-28",
        title="Figure 28. VoIP audio quality, all households",
        panels=scenarios.at_a_glance(view, SCORE, selection),
        columns=3,
        height=80,
        description="Score of the call in each of the households, for three levels of RF congestion and "
        "five queue managers.",
    )
    return Figure(
        "figure-28",
        plot,
        "Hollow: one household; in each row light load stands on top, heavy load below. Filled: their "
        f"mean. {small_print(view, selection, 'Means over seeds')}",
    )
