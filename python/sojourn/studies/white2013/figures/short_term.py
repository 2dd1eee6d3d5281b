"""Figures 29 and 30: a single Reno upload in its first 30 seconds, and how long its packets wait.

Source: White 2013, section 4.4 and 3.8 (bins of 100 ms); the document's plots themselves were not
read. Reference marks carry the numbers of its text.
Deviations: what the modem forwards is drawn, headers and repeated segments included, because that is what
a link records: 2.7 % more than goodput.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.plots.spec import Band, Mark, Note, Panel, PlotSpec, Rule
from sojourn.plots.timeseries import Trace, timeseries_panel
from sojourn.studies.figure import Figure
from sojourn.studies.view import LinkSeries, NotRecorded, StudyView
from sojourn.studies.white2013.cases import (
    BUFFER_CONTROL,
    BUFFERBLOAT,
    CODEL,
    MANAGER_LABELS,
    MANAGERS,
    PIE,
    SFQ_CODEL,
)

#: How long the figures look (section 4.4), s.
WINDOW_S = 30.0

#: Peak traffic rate (section 3.4), Mb/s.
PEAK_MBPS = 20.0

_TEXT: dict[str, tuple[Mark, ...]] = {
    BUFFERBLOAT: (Rule(5.0, "y", "text: steady 5 Mb/s"),),
    BUFFER_CONTROL: (Rule(15.0, "x"), Note(15.4, 1.2, "text: 20 Mb/s at 15 s")),
    CODEL: (Rule(12.0, "y", "text: falls to 12 Mb/s"),),
    SFQ_CODEL: (Rule(12.0, "y", "text: falls to 12 Mb/s"),),
    PIE: (
        Rule(1.0, "y"),
        Note(5.6, 1.9, "text: plummets to 1 Mb/s"),
        Rule(12.0, "y"),
        Note(18.5, 12.9, "text: drops again at 12 Mb/s"),
    ),
}


def figure_29(view: StudyView) -> Figure:
    """Draw drop-tail, CoDel and SFQ-CoDel."""
    managers = _recorded(view, (BUFFERBLOAT, BUFFER_CONTROL, CODEL, SFQ_CODEL))
    plot = PlotSpec(
        name="figure-29",
        title="Figure 29. Short-term TCP performance",
        panels=tuple(_rate_panel(view, point_of(m), m, MANAGER_LABELS[m]) for m in managers),
        columns=2,
        height=60.0 * (-(-len(managers) // 2)) + 8,
        share_x=True,
        share_y=True,
        description="Upstream rate over the first 30 s of a single Reno upload behind "
        f"{', '.join(MANAGER_LABELS[m] for m in managers)}.",
    )
    return Figure(
        "figure-29",
        plot,
        "Means of 100 ms. Drop-tail of one second fills the link at once; 50 ms are too short for 20 Mb/s; "
        f"CoDel starts fast and falls back. {_spread(view, managers)}",
    )


def figure_30(view: StudyView) -> Figure:
    """Draw PIE."""
    managers = _recorded(view, (PIE,))
    plot = PlotSpec(
        name="figure-30",
        title="Figure 30. Short-term TCP performance using PIE",
        panels=(_rate_panel(view, point_of(PIE), PIE, ""),),
        width=110,
        height=68,
        description="Upstream rate over the first 30 s of a single Reno upload behind PIE.",
    )
    return Figure(
        "figure-30",
        plot,
        "The text says: quickly at 20 Mb/s, then as low as 1 Mb/s, and more losses at 12 Mb/s before the "
        f"climb is over. {_spread(view, managers)}",
    )


def short_term_delay(view: StudyView) -> Figure:
    """Draw the delay in the modem's queue during the same 30 s."""
    managers = _recorded(view, MANAGERS)
    panels = tuple(_delay_panel(view, manager) for manager in managers)
    plot = PlotSpec(
        name="short-term-delay",
        title="The same uploads: time that packets wait in the modem",
        panels=panels,
        columns=min(3, len(panels)),
        height=52.0 * (-(-len(panels) // 3)) + 10,
        share_y=True,
        description="Mean time in the modem's queue over the first 30 s of a single Reno upload, for each "
        "queue manager, on a logarithmic axis.",
    )
    return Figure(
        "short-term-delay",
        plot,
        f"Mean of the packets that left in 100 ms. {_spread(view, managers)}",
        "delay",
    )


def peak_rates(view: StudyView) -> Figure:
    """Draw what a smaller peak rate changes behind 50 ms of drop-tail."""
    points = {
        f"{point_of(BUFFER_CONTROL)}-peak-7": "peak 7.5 Mb/s",
        f"{point_of(BUFFER_CONTROL)}-peak-10": "peak 10 Mb/s",
        point_of(BUFFER_CONTROL): "peak 20 Mb/s",
    }
    view.require(*points)
    plot = PlotSpec(
        name="peak-rates",
        title="Buffer Control below four times the sustained rate",
        panels=tuple(
            _rate_panel(view, point, BUFFER_CONTROL, title, with_rules=False)
            for point, title in points.items()
        ),
        columns=3,
        height=58,
        share_x=True,
        share_y=True,
        description="Upstream rate over the first 30 s of a single Reno upload behind 50 ms of drop-tail, "
        "for three peak rates.",
    )
    return Figure(
        "peak-rates",
        plot,
        "Section 4.4 expects that the slow climb matters less if the peak is less than four times the "
        f"sustained rate. {_spread(view, (BUFFER_CONTROL,))}",
        "delay",
    )


def point_of(manager: str) -> str:
    """Return the point of a manager's single upload.

    Examples
    --------
    >>> point_of(PIE)
    'reno-pie'
    """
    return f"reno-{manager}"


def _recorded(view: StudyView, managers: Sequence[str]) -> tuple[str, ...]:
    found = tuple(manager for manager in managers if point_of(manager) in view.points)
    if not found:
        message = f"needs {', '.join(point_of(manager) for manager in managers)}"
        raise NotRecorded(message)
    return found


def _rate_panel(
    view: StudyView, point: str, manager: str, title: str, *, with_rules: bool = True
) -> Panel:
    series = view.series(point)
    first = series[min(series)]
    return timeseries_panel(
        (Trace(first.start_s, first.rate_mbps, manager, "", "normal", solid=True),),
        quantity="rate",
        unit="Mb/s",
        title=title,
        until_s=WINDOW_S,
        high=1.12 * PEAK_MBPS,
        ticks=(0, 5, 10, 15, 20),
        extras=_TEXT[manager] if with_rules else (),
        bands=_range(series, [one.rate_mbps for one in series.values()], manager),
    )


def _delay_panel(view: StudyView, manager: str) -> Panel:
    series = view.series(point_of(manager))
    first = series[min(series)]
    return timeseries_panel(
        (Trace(first.start_s, first.sojourn_mean_ms, manager, "", "normal", solid=True),),
        quantity="time in queue",
        unit="ms",
        title=MANAGER_LABELS[manager],
        until_s=WINDOW_S,
        log=True,
        low=1.0,
        high=1500.0,
        ticks=(1, 3, 10, 30, 100, 300, 1000),
        bands=_range(series, [one.sojourn_mean_ms for one in series.values()], manager),
    )


def _range(
    series: dict[int, LinkSeries], values: Sequence[np.ndarray], manager: str
) -> tuple[Band, ...]:
    """Lowest to highest over seeds; nothing for a single one."""
    if len(series) < 2:
        return ()
    bins = min(len(one) for one in values)
    stacked = np.array([one[:bins] for one in values])
    first = series[min(series)]
    keep = first.start_s[:bins] <= WINDOW_S
    low, high = np.fmin.reduce(stacked), np.fmax.reduce(stacked)
    return (Band(first.start_s[:bins][keep], low[keep], high[keep], manager),)


def _spread(view: StudyView, managers: Sequence[str]) -> str:
    count = len(view.seeds(point_of(managers[0])))
    return "One seed." if count < 2 else f"Curve: first seed; band: lowest to highest of {count}."
