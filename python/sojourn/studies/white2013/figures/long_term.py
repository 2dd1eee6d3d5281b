"""Figure 31: what uploads get over a long time.

Source: White 2013, section 4.5; the document's plot itself was not read.
Deviations: none known.
"""

from __future__ import annotations

from sojourn.plots.spec import PlotSpec
from sojourn.studies.figure import Figure
from sojourn.studies.view import NotRecorded, StudyView
from sojourn.studies.white2013.cases import GROUPS, LOADED, RF_LEVELS, point_of, upload
from sojourn.studies.white2013.figures import scenarios
from sojourn.studies.white2013.figures.selection import Selection, small_print


def figure_31(view: StudyView) -> Figure:
    """Draw mean goodput of the uploads, household by household."""
    selection = Selection.of(view)
    loads = [load for group in GROUPS for load in selection.of_group(group) if load in LOADED]
    if not loads:
        message = "needs households with an upload"
        raise NotRecorded(message)
    subject = scenarios.Subject(
        metric=lambda view, load, rf, manager: upload(view, load, rf, manager, "goodput"),
        quantity="goodput of the uploads",
        unit="Mb/s",
        low=0.0,
        high=scenarios.room(
            view,
            [
                point_of(load, rf, manager)
                for load in loads
                for rf in RF_LEVELS
                for manager in selection.managers
            ],
        ),
    )
    plot = PlotSpec(
        name="figure-31",
        title="Figure 31. Long-term TCP performance",
        panels=scenarios.by_household(view, subject, selection, loads),
        columns=3,
        height=scenarios.height_of(loads, len(selection.managers)),
        legend="below",
        description="Mean goodput of all uploads of a household over the whole run, for three levels of RF "
        "congestion and five queue managers.",
    )
    return Figure(
        "figure-31",
        plot,
        "All uploads of a household together, over the whole run. What the subscriber pays for is 5 Mb/s; "
        "headers, games, acknowledgements of pages and the 1 Mb/s stream take their part of it. "
        f"{small_print(view, selection, 'Lines')}",
    )
