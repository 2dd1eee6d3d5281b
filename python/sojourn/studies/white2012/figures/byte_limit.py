"""The short queue counted in packets and in bytes.

Source: White and Padden 2012, section 5, names the packet limit as a defect of its model.
Deviations: the document prints nothing for the limit in bytes.
"""

from __future__ import annotations

from sojourn.plots.dots import dot_panel
from sojourn.plots.spec import PlotSpec
from sojourn.studies.figure import Figure
from sojourn.studies.view import StudyView
from sojourn.studies.white2012.cases import (
    CASES,
    DROPTAIL_21,
    DROPTAIL_BYTES,
    MANAGER_LABELS,
)
from sojourn.studies.white2012.figures import load_times


def byte_limit(view: StudyView) -> Figure:
    """Page load times behind 50 ms of buffer, counted in packets and in bytes."""
    printed = load_times.printed_summary()
    entries = [
        load_times.dot(view, case, lane, manager, printed)
        for case in CASES
        for lane, manager in enumerate((DROPTAIL_21, DROPTAIL_BYTES))
    ]
    panel = dot_panel(
        load_times.ROWS,
        entries,
        lanes=2,
        quantity="median page load time",
        unit="s",
        scale="log",
        low=2.0,
        high=700.0,
        labels=MANAGER_LABELS,
    )
    plot = PlotSpec(
        name="byte-limit",
        title="The same 50 ms, counted in packets and in bytes",
        panels=(panel,),
        height=92,
        width=150,
        legend="below",
        description="Median page load time behind a drop-tail queue of 21 packets and of 31,250 "
        "bytes, for nine test cases.",
    )
    return Figure(
        "byte-limit",
        plot,
        "The authors name the packet limit as a defect of their model (section 5): counted in "
        "bytes, a burst of small packets that open connections finds room.",
        "delay",
    )
