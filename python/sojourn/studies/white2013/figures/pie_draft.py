"""PIE with and without the two inferences of this study, see its assumptions.

Source: White 2013, section 2.3, leaves open how PIE measures the rate of departures and whether small
packets are dropped like large ones; the first draft answers both.
Deviations: none; the document shows one PIE only.
"""

from __future__ import annotations

from sojourn.studies.figure import Figure
from sojourn.studies.view import NotRecorded, StudyView
from sojourn.studies.white2013.cases import LOADS, PIE, RF_LEVELS, point_of
from sojourn.studies.white2013.figures import variants

#: The manager of these points.
PIE_DRAFT = "pie-draft"


def pie_draft(view: StudyView) -> Figure:
    """Draw both, in the households that were run."""
    rows = tuple(
        (load, rf)
        for load in LOADS
        for rf in RF_LEVELS
        if {point_of(load, rf, PIE), point_of(load, rf, PIE_DRAFT)} <= view.points
    )
    if not rows:
        message = "needs points with the PIE of the first draft"
        raise NotRecorded(message)
    compared = variants.Variants(
        tuple(f"{load}, {'no' if rf == 'none' else rf} RF" for load, rf in rows),
        {
            PIE: tuple(point_of(load, rf, PIE) for load, rf in rows),
            PIE_DRAFT: tuple(point_of(load, rf, PIE_DRAFT) for load, rf in rows),
        },
        {PIE: "PIE of this study", PIE_DRAFT: "PIE as in its first draft"},
    )
    plot = variants.plot(
        view,
        compared,
        (variants.DELAY, variants.LOSS, variants.LOAD_TIME, variants.GOODPUT),
        name="pie-draft",
        title="What was inferred about PIE",
        height=34.0 + 6.0 * len(rows),
        description="For some households: 95th percentile of the game's delay, its losses, median page load "
        "time and upload goodput, with the PIE of this study and that of its first draft.",
    )
    return Figure(
        "pie-draft",
        plot,
        "The first draft measures departures over 10,000 B and drops all packets alike. Dashed: 20 ms. Half an "
        f"hour each for the draft. {compared.spread(view)}",
        "delay",
    )
