"""The three views that the document takes of a distribution: nine cells, rows and columns, all.

Source: White 2013, sections 4.1.1 and 4.2: Figures 12 to 14 and 22 to 24.
Deviations: the axes are logarithmic, so that milliseconds and seconds can be read from one figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sojourn.plots.spec import Axis, Mark, Note, Panel, PlotSpec, Rule
from sojourn.studies.distribution import Distribution
from sojourn.studies.figure import Figure
from sojourn.studies.view import NotRecorded, StudyView
from sojourn.studies.white2013.cases import (
    GROUPS,
    MANAGER_LABELS,
    RF_LEVELS,
    RF_TITLES,
    Samples,
)
from sojourn.studies.white2013.figures.curves import curve
from sojourn.studies.white2013.figures.selection import Selection, mix, pool, small_print

#: Levels of congestion where a panel is too narrow for `RF_TITLES`.
RF_SHORT = {"none": "no RF", "light": "light RF", "moderate": "moderate RF"}


@dataclass(frozen=True)
class Subject:
    """Of what distributions are drawn, and how."""

    samples: Samples
    quantity: str
    unit: str
    low: float
    high: float
    ticks: tuple[float, ...]
    rules: tuple[Rule, ...] = ()
    rounded: bool = False
    """Rounded up to whole units before they are drawn."""
    counted: bool = False
    """Whether each panel says of how many samples its curves are made."""


def detail(view: StudyView, subject: Subject, selection: Selection) -> tuple[Panel, ...]:
    """Return nine panels: levels of congestion by groups of load."""
    return tuple(
        _panel(
            subject,
            {
                manager: _try_pool(view, subject, manager, rf, selection.loads.get((rf, group), ()))
                for manager in selection.managers
            },
            title=f"{group} load, {RF_SHORT[rf]}",
            with_x=rf == RF_LEVELS[-1],
            with_y=group == GROUPS[0],
        )
        for rf in RF_LEVELS
        for group in GROUPS
    )


def sides(view: StudyView, subject: Subject, selection: Selection) -> tuple[Panel, ...]:
    """Return six panels, row by row: a level of congestion beside a group of load."""
    panels: list[Panel] = []
    for rf, group in zip(RF_LEVELS, GROUPS, strict=True):
        last = rf == RF_LEVELS[-1]
        by_level = [cell for cell in selection.cells if cell[0] == rf]
        by_group = [cell for cell in selection.cells if cell[1] == group]
        for chosen, title in (
            (by_level, f"{RF_TITLES[rf]}, all loads"),
            (by_group, f"{group} load, all levels"),
        ):
            panels.append(
                _panel(
                    subject,
                    _mixed(view, subject, selection, chosen),
                    title=title,
                    with_x=last,
                    with_y=chosen is by_level,
                )
            )
    return tuple(panels)


def overall(view: StudyView, subject: Subject, selection: Selection) -> tuple[Panel, ...]:
    """Return one panel: all cells."""
    return (_panel(subject, _mixed(view, subject, selection, selection.cells)),)


#: One of the three views: its panels.
Panels = Callable[[StudyView, Subject, Selection], tuple[Panel, ...]]


def figure(
    view: StudyView,
    subject: Subject,
    panels: Panels,
    *,
    item: str,
    title: str,
    description: str,
    words: str,
) -> Figure:
    """Arrange the panels of one of the three views on a page; `words` begin its caption.

    Raises
    ------
    NotRecorded
        If there is nothing in any of them.
    """
    selection = Selection.of(view)
    drawn = panels(view, subject, selection)
    if not any(len(panel.marks) > len(subject.rules) for panel in drawn):
        message = f"needs {subject.quantity}"
        raise NotRecorded(message)
    columns = {9: 3, 6: 2}.get(len(drawn), 1)
    rows = len(drawn) // columns
    plot = PlotSpec(
        name=item,
        title=title,
        panels=drawn,
        columns=columns,
        width=180 if columns > 1 else 130,
        height={3: 165.0, 1: 85.0}[rows],
        share_x=True,
        share_y=True,
        legend="below",
        description=description,
    )
    return Figure(item, plot, f"{words} {small_print(view, selection, 'Bands')}")


def _try_pool(
    view: StudyView, subject: Subject, manager: str, rf: str, loads: Iterable[str]
) -> dict[int, Distribution]:
    try:
        return pool(view, subject.samples, manager, rf, loads)
    except NotRecorded:
        return {}


def _mixed(
    view: StudyView,
    subject: Subject,
    selection: Selection,
    cells: Iterable[tuple[str, str]],
) -> dict[str, dict[int, Distribution]]:
    chosen = [(cell[0], selection.loads[cell]) for cell in cells]
    found: dict[str, dict[int, Distribution]] = {}
    for manager in selection.managers:
        try:
            found[manager] = mix(view, subject.samples, manager, chosen)
        except NotRecorded:
            found[manager] = {}
    return found


def _panel(
    subject: Subject,
    by_manager: dict[str, dict[int, Distribution]],
    *,
    title: str = "",
    with_x: bool = True,
    with_y: bool = True,
) -> Panel:
    marks: list[Mark] = list(subject.rules)
    for manager, distributions in by_manager.items():
        shown = {
            seed: one.rounded_up() if subject.rounded else one
            for seed, one in distributions.items()
        }
        marks += curve(shown, manager, MANAGER_LABELS[manager])
    if len(marks) == len(subject.rules):
        return _empty(subject, title)
    if subject.counted:
        marks += _counts(subject, by_manager)
    return Panel(
        x=_axis(subject, named=with_x),
        y=Axis("share at or below" if with_y else "", low=0.0, high=1.0),
        marks=tuple(marks),
        title=title,
    )


def _counts(subject: Subject, by_manager: dict[str, dict[int, Distribution]]) -> list[Mark]:
    """Write the number of samples of each manager, in the corner that distributions leave free."""
    return [
        Note(
            subject.high / 1.05,
            0.06 + 0.085 * (len(by_manager) - 1 - place),
            f"{sum(one.count for one in distributions.values()):,}",
            manager,
            "right",
        )
        for place, (manager, distributions) in enumerate(by_manager.items())
    ]


def _empty(subject: Subject, title: str) -> Panel:
    middle = (subject.low * subject.high) ** 0.5
    return Panel(
        x=_axis(subject, named=False),
        y=Axis(low=0.0, high=1.0),
        marks=(Note(middle, 0.5, "not run", align="center"),),
        title=title,
    )


def _axis(subject: Subject, *, named: bool) -> Axis:
    return Axis(
        subject.quantity if named else "",
        subject.unit if named else "",
        scale="log",
        low=subject.low,
        high=subject.high,
        ticks=tuple((tick, f"{tick:g}") for tick in subject.ticks),
    )
