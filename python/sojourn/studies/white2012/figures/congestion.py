"""Borderline congestion of the channel, by how the modem couples its two queues.

Source: White and Padden 2012, sections 2.2.3 and 3.1.3, define the cases.
Deviations: the document prints nothing of them.
"""

from __future__ import annotations

from sojourn.plots.dots import DotRow, dot_panel
from sojourn.plots.spec import Panel, PlotSpec
from sojourn.studies.estimate import median_of
from sojourn.studies.figure import Figure
from sojourn.studies.view import NotRecorded, StudyView
from sojourn.studies.white2012.cases import (
    CASES,
    DROPTAIL_417,
    LOADS,
    MANAGER_LABELS,
    MANAGERS,
    congested_point_of,
)

#: Couplings of the modem's two queues (section 2.2.3).
COUPLINGS = {
    "drop": "drop at the transmit queue",
    "both": "sojourn over both queues",
    "back": "back-pressure",
}


def congestion(view: StudyView) -> Figure:
    """Delay of the call under borderline congestion, by how the two queues are coupled."""
    rows = tuple(f"1{case[1]}: {LOADS[case].description}" for case in CASES)
    panels: list[Panel] = []
    for manager in MANAGERS:
        entries: list[DotRow] = []
        for lane, coupling in enumerate(COUPLINGS):
            for number, case in enumerate(CASES):
                point = congested_point_of(case[1], manager, coupling)
                if point in view.points:
                    values = view.values(point, "call", "delay_p95")
                    entries.append(DotRow(number, lane, f"coupling-{coupling}", median_of(values)))
        if not entries:
            message = f"needs the congested points of {MANAGER_LABELS[manager]}"
            raise NotRecorded(message)
        panels.append(
            dot_panel(
                rows,
                entries,
                lanes=3,
                quantity="95th percentile of delay",
                unit="ms",
                scale="log",
                low=3.0,
                high=2000.0,
                title=MANAGER_LABELS[manager],
                with_labels=manager == DROPTAIL_417,
                labels={f"coupling-{name}": words for name, words in COUPLINGS.items()},
            )
        )
    plot = PlotSpec(
        name="congestion",
        title="Borderline congestion, unpublished: the call's delay by how the modem couples its two queues",
        panels=tuple(panels),
        columns=3,
        height=105,
        legend="below",
        description="95th percentile of the call's access delay in cases 11 to 19, for three queue "
        "managers and three couplings.",
    )
    return Figure(
        "congestion",
        plot,
        "Grants average what the modem may send, 5 Mb/s. Nothing of this is printed; the authors "
        "expected back-pressure to do best (section 2.2.3).",
        "delay",
    )
