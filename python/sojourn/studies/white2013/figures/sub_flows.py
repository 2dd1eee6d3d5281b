"""What the number of sub-flows of SFQ-CoDel does to the game.

Source: White 2013, section 4.1.1, asks for it: 32 was best among powers of two, numbers between 32 and 57
were not explored.
Deviations: the document prints no numbers; runs are shorter than its two hours.
"""

from __future__ import annotations

import numpy as np

from sojourn.plots.spec import Axis, Band, Dots, Line, Mark, Panel, PlotSpec, Rule, Scale
from sojourn.studies.estimate import Estimate, mean_of
from sojourn.studies.figure import Figure
from sojourn.studies.view import NotRecorded, StudyView
from sojourn.studies.white2013.cases import GAME_LIMIT_MS, LOADS, SFQ_CODEL
from sojourn.studies.white2013.figures.loss import LEAST
from sojourn.studies.white2013.figures.selection import repetitions

#: Households and numbers of sub-flows of the study.
HOUSEHOLDS = ("x14", "x16")
COUNTS = (8, 16, 32, 40, 48, 57, 64, 128)

#: Sub-flows of the document (section 3.2).
PRINTED_COUNT = 32


def sub_flows(view: StudyView) -> Figure:
    """Draw delay and loss over the number of sub-flows."""
    loads = tuple(load for load in HOUSEHOLDS if _recorded(view, load))
    if not loads:
        message = "needs points with other numbers of sub-flows"
        raise NotRecorded(message)
    panels = [_delay_panel(view, load) for load in loads]
    losses = [panel for load in loads if (panel := _loss_panel(view, load)) is not None]
    plot = PlotSpec(
        name="sub-flows",
        title="SFQ-CoDel with other numbers of sub-flows",
        panels=(*panels, *losses),
        columns=len(panels),
        width=90.0 * len(panels),
        height=62.0 * (2 if losses else 1) + 12,
        share_x=True,
        legend="below",
        description="Median and 95th percentile of the game's delay, and share of its packets lost, over "
        "8 to 128 sub-flows of SFQ-CoDel, in two households of heavy load without RF congestion.",
    )
    point = point_of(loads[0], _recorded(view, loads[0])[0])
    return Figure(
        "sub-flows",
        plot,
        "Dashed across: 20 ms. Vertical: the 32 sub-flows of the document. Powers of two, and 40, 48 and "
        "57 between them, which the authors had not explored; from 57 on, a game's share of the link is "
        "less than it sends if all sub-flows are busy. Half an hour each, no RF congestion. "
        f"{repetitions(view, point, 'Bands')}",
        "delay",
    )


def point_of(load: str, count: int) -> str:
    """Return the point of a household with a number of sub-flows.

    Examples
    --------
    >>> point_of("x14", 40)
    'x14-bins-40'
    """
    return f"{load}-bins-{count}"


def _recorded(view: StudyView, load: str) -> tuple[int, ...]:
    return tuple(count for count in COUNTS if point_of(load, count) in view.points)


def _place(count: int) -> float:
    """Place of a number on the axis: equal steps, since 57 and 64 would meet on any scale."""
    return float(COUNTS.index(count))


def _delay_panel(view: StudyView, load: str) -> Panel:
    marks: list[Mark] = [Rule(GAME_LIMIT_MS, "y"), Rule(_place(PRINTED_COUNT), "x")]
    for metric, look, label in (
        ("delay_p95", "tail", "95th percentile of delay"),
        ("delay_p50", "median", "median delay"),
    ):
        marks += _curve(view, load, metric, look, label)
    title = f"{load}: {LOADS[load].description}"
    return _panel(marks, "delay of the game", "ms", scale="log", title=title)


def _loss_panel(view: StudyView, load: str) -> Panel | None:
    curve = _curve(view, load, "lost", SFQ_CODEL, "", floor=LEAST)
    if not curve:
        return None
    marks: list[Mark] = [Rule(_place(PRINTED_COUNT), "x"), *curve]
    return _panel(marks, "game packets lost", "%", low=0.0)


def _curve(
    view: StudyView,
    load: str,
    metric: str,
    look: str,
    label: str,
    *,
    floor: float | None = None,
) -> list[Mark]:
    """One curve with a mark at each number; nothing if the metric is not there."""
    found: list[tuple[int, Estimate]] = []
    for count in _recorded(view, load):
        try:
            estimate = mean_of(view.values(point_of(load, count), "game", metric))
        except NotRecorded:
            continue
        if estimate.value is not None:
            found.append((count, estimate))
    if not found:
        return []
    x = np.array([_place(count) for count, _ in found])
    y = np.array([estimate.value for _, estimate in found], dtype=float)
    shown = y if floor is None else np.maximum(y, floor)
    marks: list[Mark] = [Line(x, shown, look), Dots(x, shown, look, label)]
    if all(estimate.low is not None for _, estimate in found):
        low = np.array([estimate.low for _, estimate in found], dtype=float)
        high = np.array([estimate.high for _, estimate in found], dtype=float)
        marks.insert(0, Band(x, np.maximum(low, floor or 0.0), high, look, step=False))
    return marks


def _panel(
    marks: list[Mark],
    quantity: str,
    unit: str,
    *,
    scale: Scale = "linear",
    low: float | None = None,
    title: str = "",
) -> Panel:
    return Panel(
        x=Axis(
            "sub-flows",
            low=-0.5,
            high=len(COUNTS) - 0.5,
            ticks=tuple((_place(count), str(count)) for count in COUNTS),
        ),
        y=Axis(quantity, unit, scale=scale, low=low),
        marks=tuple(marks),
        title=title,
    )
