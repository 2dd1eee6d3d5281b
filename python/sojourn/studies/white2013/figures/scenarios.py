"""One number for each household, level of congestion and manager, side by side.

Source: White 2013, Figures 15 to 18, 25 to 28 and 31 show loss, scores and throughput so.
Deviations: the document draws bars; dots can stand on a logarithmic axis and carry intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from sojourn.plots.dots import DotRow, dot_panel
from sojourn.plots.spec import Axis, Dots, Mark, Panel, PlotSpec, Rule, Scale
from sojourn.studies.estimate import Estimate, mean_of
from sojourn.studies.figure import Figure
from sojourn.studies.view import NotRecorded, StudyView
from sojourn.studies.white2013.cases import (
    GROUPS,
    LOADS,
    MANAGER_LABELS,
    RF_LEVELS,
    RF_TITLES,
)
from sojourn.studies.white2013.figures.selection import Selection, small_print

#: Asks for a metric of a condition: household, level of congestion, manager; one value per seed.
Metric = Callable[[StudyView, str, str, str], np.ndarray]


@dataclass(frozen=True)
class Subject:
    """Which number is drawn, and how."""

    metric: Metric
    quantity: str
    unit: str
    low: float
    high: float | None
    scale: Scale = "linear"
    floor: float | None = None
    ticks: tuple[tuple[float, str], ...] = ()
    rules: tuple[Rule, ...] = ()


def household(load: str) -> str:
    r"""Name a household in a row: its uploads, and how many play and browse if it is not one each.

    A line holds some thirty letters, so what sends beside the uploads has one to itself.

    Examples
    --------
    >>> household("x02"), household("x16")
    ('x02: 1 upload, 20 ms', 'x16: 32 BitTorrent uploads, 20 ms\n4 games')
    >>> household("x06")
    'x06: 5 x 5 MB, 20 ms\n1 Mb/s UDP'
    """
    kind = LOADS[load]
    stream = ["1 Mb/s UDP"] if kind.constant_rate else []
    many = [
        f"{count} {name}"
        for count, name in ((kind.streams, "games"), (kind.browsers, "browsers"))
        if count > 1
    ]
    beside = ", ".join(stream + many)
    return f"{load}: {kind.uploads_in_words}" + (f"\n{beside}" if beside else "")


def estimate(view: StudyView, subject: Subject, load: str, rf: str, manager: str) -> Estimate:
    """Return the mean over seeds; unknown if the condition does not have the metric."""
    try:
        return mean_of(subject.metric(view, load, rf, manager))
    except NotRecorded:
        return Estimate(None)


def by_household(
    view: StudyView, subject: Subject, selection: Selection, loads: Iterable[str]
) -> tuple[Panel, ...]:
    """Return a panel per level of congestion: households are rows, managers lanes.

    Raises
    ------
    NotRecorded
        If none of the households has the metric.
    """
    rows = tuple(loads)
    panels: list[Panel] = []
    any_known = False
    for rf in RF_LEVELS:
        entries = [
            DotRow(row, lane, manager, estimate(view, subject, load, rf, manager))
            for lane, manager in enumerate(selection.managers)
            for row, load in enumerate(rows)
            if selection.has(load, rf)
        ]
        any_known = any_known or any(entry.ours.is_known for entry in entries)
        panels.append(
            dot_panel(
                tuple(household(load) for load in rows),
                entries,
                lanes=len(selection.managers),
                quantity=subject.quantity,
                unit=subject.unit,
                scale=subject.scale,
                low=subject.low,
                high=subject.high,
                title=RF_TITLES[rf],
                with_labels=rf == RF_LEVELS[0],
                labels=MANAGER_LABELS,
                floor=subject.floor,
                ticks=subject.ticks,
                extras=subject.rules,
            )
        )
    if not any_known:
        message = f"needs {subject.quantity} of {', '.join(rows) or 'these households'}"
        raise NotRecorded(message)
    return tuple(panels)


def height_of(loads: Iterable[str], lanes: int) -> float:
    """Return the height of a figure of rows, mm; chosen by eye: 1.6 mm a lane, at least two lines."""
    return 27.0 + sum(
        max(1.6 * lanes, 6.5 if "\n" in household(load) else 4.0) + 1.2 for load in loads
    )


def room(view: StudyView, points: Iterable[str]) -> float | None:
    """Return the end of an axis of goodput: a little beyond the largest of some points."""
    values = [
        float(view.values(point, "upload", "goodput").max())
        for point in points
        if view.has(point, "upload", "goodput")
    ]
    return 1.08 * max(values) if values else None


def at_a_glance(view: StudyView, subject: Subject, selection: Selection) -> tuple[Panel, ...]:
    """Return a panel per level of congestion: managers are rows, each household a small mark.

    Raises
    ------
    NotRecorded
        If no condition has the metric.
    """
    panels = tuple(_glance(view, subject, selection, rf) for rf in RF_LEVELS)
    if not any(isinstance(mark, Dots) for panel in panels for mark in panel.marks):
        message = f"needs {subject.quantity}"
        raise NotRecorded(message)
    return panels


def _glance(view: StudyView, subject: Subject, selection: Selection, rf: str) -> Panel:
    marks: list[Mark] = [
        *(Rule(row + 0.5, "y", look="grid") for row in range(len(selection.managers) - 1)),
        *subject.rules,
    ]
    for row, manager in enumerate(reversed(selection.managers)):
        found = [
            (row + 0.26 * (1 - lane), value)
            for lane, group in enumerate(GROUPS)
            for load in selection.loads.get((rf, group), ())
            if (value := estimate(view, subject, load, rf, manager).value) is not None
        ]
        if not found:
            continue
        heights, values = np.array(found).T
        shown = values if subject.floor is None else np.maximum(values, subject.floor)
        marks.append(Dots(shown, heights, manager, filled=False))
        mean = max(float(values.mean()), subject.floor or float(values.mean()))
        marks.append(
            Dots(np.array([mean]), np.array([row - 0.44]), manager, MANAGER_LABELS[manager])
        )
    names = [MANAGER_LABELS[manager] for manager in reversed(selection.managers)]
    return Panel(
        x=Axis(
            subject.quantity,
            subject.unit,
            scale=subject.scale,
            low=subject.low,
            high=subject.high,
            ticks=subject.ticks,
        ),
        y=Axis(
            low=-0.6,
            high=len(names) - 0.4,
            ticks=tuple(
                (float(row), name if rf == RF_LEVELS[0] else "") for row, name in enumerate(names)
            ),
        ),
        marks=tuple(marks),
        title=RF_TITLES[rf],
    )


def group_figure(
    view: StudyView, subject: Subject, number: int, group: str, *, name: str, share: str, words: str
) -> Figure:
    """Draw the households of a group; `name` is the document's, `share` says what each dot is."""
    selection = Selection.of(view)
    loads = selection.of_group(group)
    if not loads:
        message = f"needs households of {group} load"
        raise NotRecorded(message)
    plot = PlotSpec(
        name=f"figure-{number}",
        title=f"Figure {number}. {name}, {group} load",
        panels=by_household(view, subject, selection, loads),
        columns=3,
        height=height_of(loads, len(selection.managers)),
        legend="below",
        description=f"{share} in households of {group} load, for three levels of RF congestion and five "
        "queue managers.",
    )
    return Figure(plot.name, plot, f"{words} {small_print(view, selection, 'Lines')}")


def glance_figure(
    view: StudyView, subject: Subject, number: int, *, name: str, share: str, words: str = ""
) -> Figure:
    """Draw all households of each manager; see `group_figure`."""
    selection = Selection.of(view)
    plot = PlotSpec(
        name=f"figure-{number}",
        title=f"Figure {number}. {name}, all households",
        panels=at_a_glance(view, subject, selection),
        columns=3,
        height=80,
        description=f"{share} in each of the households, for three levels of RF congestion and five queue "
        "managers.",
    )
    caption = "Hollow: one household; in each row light load stands on top, heavy load below. Filled: their mean."
    said = (caption, words, small_print(view, selection, "Means over seeds"))
    return Figure(plot.name, plot, " ".join(part for part in said if part))
