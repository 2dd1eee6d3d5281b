"""Flow queueing with and without active queue management, household by household.

Source: White 2013, sections 5 and 5.1: PIE within SFQ, and what SFQ brings by itself, are named as next
steps.
Deviations: nothing is printed; runs of SFQ and SFQ-PIE last half an hour.
"""

from __future__ import annotations

from sojourn.studies.figure import Figure
from sojourn.studies.view import NotRecorded, StudyView
from sojourn.studies.white2013.cases import (
    LOADS,
    MANAGER_LABELS,
    PIE,
    SFQ,
    SFQ_CODEL,
    SFQ_PIE,
    point_of,
)
from sojourn.studies.white2013.figures import variants
from sojourn.studies.white2013.figures.scenarios import height_of, household

#: What is compared: the two published managers, and what the authors ask for.
COMPARED = (PIE, SFQ_CODEL, SFQ, SFQ_PIE)


def flow_queueing(view: StudyView) -> Figure:
    """Draw four managers in each household."""
    loads = tuple(
        load
        for load in LOADS
        if any(point_of(load, "none", manager) in view.points for manager in (SFQ, SFQ_PIE))
    )
    if not loads:
        message = "needs points with SFQ or SFQ-PIE"
        raise NotRecorded(message)
    compared = variants.Variants(
        tuple(household(load) for load in loads),
        {m: tuple(point_of(load, "none", m) for load in loads) for m in _recorded(view, loads)},
        MANAGER_LABELS,
    )
    plot = variants.plot(
        view,
        compared,
        (variants.DELAY, variants.LOSS, variants.LOAD_TIME, variants.GOODPUT),
        name="flow-queueing",
        title="Flow queueing with CoDel, with PIE, and alone, without RF congestion",
        height=height_of(loads, len(COMPARED)),
        description="For each household without RF congestion: 95th percentile of the game's delay, its "
        "losses, median page load time and upload goodput with PIE, SFQ-CoDel, SFQ and SFQ-PIE.",
    )
    return Figure(
        "flow-queueing",
        plot,
        "PIE and SFQ-CoDel as published; SFQ and SFQ-PIE half an hour each, with 32 sub-flows. Dashed: "
        f"20 ms. {compared.spread(view)}",
        "delay",
    )


def _recorded(view: StudyView, loads: tuple[str, ...]) -> tuple[str, ...]:
    """Return the managers with any of the points."""
    return tuple(
        manager
        for manager in COMPARED
        if any(point_of(load, "none", manager) in view.points for load in loads)
    )
