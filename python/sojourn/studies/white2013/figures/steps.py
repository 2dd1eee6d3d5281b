"""How long the delay stays after the channel has less to give.

Source: White 2013, section 4.1.1: episodes of more delay right after a fall of the rate, from which an
active queue manager recovers.
Deviations: the document does not show it; five uploads at 100 ms under moderate congestion are ours.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sojourn.plots.spec import Band, Panel, PlotSpec, Rule
from sojourn.plots.timeseries import Trace, timeseries_panel
from sojourn.studies.figure import Figure
from sojourn.studies.view import LinkSeries, NotRecorded, StudyView
from sojourn.studies.white2013.cases import AQM, MANAGER_LABELS
from sojourn.studies.white2013.figures.congestion import CYCLES, DWELL_S

_RATES = CYCLES["moderate"]
_CYCLE_S = DWELL_S * len(_RATES)

#: How long each panel looks after a fall, s: as long as the level lasts.
WINDOW_S = DWELL_S


def capacity_steps(view: StudyView) -> Figure:
    """Draw the delay after each of the six falls, over all cycles."""
    managers = tuple(manager for manager in AQM if point_of(manager) in view.points)
    if not managers:
        message = f"needs {', '.join(point_of(manager) for manager in AQM)}"
        raise NotRecorded(message)
    cycles = min(int(view.duration_s(point_of(m)) / _CYCLE_S) for m in managers)
    if cycles < 1:
        message = f"needs runs of {_CYCLE_S:g} s"
        raise NotRecorded(message)
    panels = tuple(_panel(view, managers, at, name) for at, name in falls())
    plot = PlotSpec(
        name="capacity-steps",
        title="Time in the modem's queue after the channel's rate has fallen",
        panels=panels,
        columns=3,
        height=112,
        share_x=True,
        share_y=True,
        legend="below",
        description="Mean time in the modem's queue over the 10 s after each of the six falls of the cycle of "
        f"moderate congestion, for {', '.join(MANAGER_LABELS[m] for m in managers)}.",
    )
    return Figure(
        "capacity-steps",
        plot,
        f"Five uploads at 100 ms, moderate congestion. Median over {cycles} cycles of the mean of 100 ms; "
        "band: their middle half. Packets of all traffic count, so SFQ-CoDel shows what its uploads "
        "wait, not the game.",
        "delay",
    )


def point_of(manager: str) -> str:
    """Return the point of a manager under changing capacity, recorded in bins."""
    return f"steps-{manager}"


def falls() -> Iterator[tuple[float, str]]:
    """Yield the times within a cycle at which the rate falls, s, with the change in words.

    Examples
    --------
    >>> len(list(falls())), next(falls())
    (6, (10.0, '12.5 to 3.3 Mb/s'))
    """
    for number, rate in enumerate(_RATES):
        before = _RATES[number - 1]
        if rate < before:
            yield DWELL_S * number, f"{before:g} to {rate:g} Mb/s"


def after(series: LinkSeries, at_s: float) -> tuple[np.ndarray, np.ndarray]:
    """Cut the bins after a time of the cycle out of every whole cycle: one row for each."""
    bins = round(WINDOW_S / series.width_s)
    starts = np.arange(at_s, float(series.end_s[-1]) - WINDOW_S + 1e-9, _CYCLE_S)
    rows = [
        series.sojourn_mean_ms[first : first + bins]
        for first in (round(start / series.width_s) for start in starts)
    ]
    time = series.width_s * np.arange(bins)
    return time, np.array([row for row in rows if len(row) == bins]).reshape(-1, bins)


def _panel(view: StudyView, managers: tuple[str, ...], at_s: float, name: str) -> Panel:
    traces: list[Trace] = []
    bands: list[Band] = []
    for manager in managers:
        found = [after(series, at_s) for series in view.series(point_of(manager)).values()]
        time, rows = found[0][0], np.concatenate([rows for _, rows in found])
        known = ~np.all(np.isnan(rows), axis=0) if len(rows) else np.zeros(len(time), dtype=bool)
        if not known.any():
            continue
        low, middle, high = np.nanquantile(rows[:, known], (0.25, 0.5, 0.75), axis=0)
        bands.append(Band(time[known], low, high, manager))
        traces.append(
            Trace(time[known], middle, manager, MANAGER_LABELS[manager], step=False, weight="bold")
        )
    return timeseries_panel(
        traces,
        quantity="time in queue",
        unit="ms",
        title=name,
        until_s=WINDOW_S,
        log=True,
        low=2.0,
        high=1000.0,
        ticks=(3, 10, 30, 100, 300, 1000),
        bands=bands,
        extras=(Rule(10.0, "y"),),
    )
