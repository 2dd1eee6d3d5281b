"""Uploads alone on the line in their first seconds, as Figures 2 to 7 show them.

Source: White and Padden 2012, section 4.1.
Deviations: the document states neither the round trip of Figures 2 to 7 nor what else ran; uploads alone
are drawn at both round trips, 100 ms bold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sojourn.plots.spec import Panel, PlotSpec
from sojourn.plots.timeseries import Trace
from sojourn.studies.figure import Figure
from sojourn.studies.view import LinkSeries, StudyView
from sojourn.studies.white2012.cases import MANAGER_TITLES, alone_point_of

#: How long the figures over time look, s; chosen: the longest first burst (12 s) and what follows.
WINDOW_S = 20.0

#: What stands over the two panels of a figure, and the cases drawn there: at 20 ms and at 100 ms.
PANELS = {"one TCP": ("02", "03"), "five TCPs": ("04", "05")}


def first_seed(view: StudyView, point: str) -> LinkSeries:
    """Return the series of the first seed."""
    series = view.series(point)
    return series[min(series)]


def both_round_trips(
    view: StudyView,
    manager: str,
    cases: tuple[str, str],
    values: Callable[[LinkSeries], np.ndarray],
) -> tuple[Trace, Trace]:
    """Draw what a manager does to the uploads of two cases: thin at 20 ms, bold at 100 ms."""
    short, long = (first_seed(view, alone_point_of(case, manager)) for case in cases)
    return (
        Trace(short.start_s, values(short), manager, "20 ms round trip", "thin", solid=True),
        Trace(long.start_s, values(long), manager, "100 ms round trip", "bold", solid=True),
    )


def side_by_side(
    manager: str, number: int, title: str, panels: Sequence[Panel], shown: str, caption: str
) -> Figure:
    """Put the panels of `PANELS` beside each other; `shown` is what they show, as a sentence begins."""
    plot = PlotSpec(
        name=f"figure-{number}",
        title=f"Figure {number}. {title}",
        panels=tuple(panels),
        columns=2,
        height=72,
        share_y=True,
        legend="below",
        description=f"{shown} over the first {WINDOW_S:.0f} s behind "
        f"{MANAGER_TITLES[manager]}, for one and five TCP connections.",
    )
    return Figure(f"figure-{number}", plot, caption)
