"""The study in one picture: delay, loss and page load time in the nine cells.

Source: the metrics of the runs; nothing here is taken from the document.
Deviations: none.
"""

from __future__ import annotations

from sojourn.plots.dots import DotRow, dot_panel
from sojourn.plots.spec import Panel, PlotSpec, Rule
from sojourn.studies.figure import Figure
from sojourn.studies.view import StudyView
from sojourn.studies.white2013.cases import GAME_LIMIT_MS, GROUPS, MANAGER_LABELS
from sojourn.studies.white2013.figures import measures
from sojourn.studies.white2013.figures.loss import LEAST, LOST
from sojourn.studies.white2013.figures.selection import Selection, small_print


def overview(view: StudyView) -> Figure:
    """Draw the 95th percentile of delay, loss, and the median page load time."""
    selection = Selection.of(view)
    cells = sorted(selection.cells, key=lambda cell: GROUPS.index(cell[1]))
    rows = tuple(f"{group} load, {'no' if rf == 'none' else rf} RF" for rf, group in cells)
    panels = [
        _panel(view, selection, cells, rows, measures.DELAY_P95, (1.5, 4000.0), with_labels=True)
    ]
    if measures.known(view, selection, measures.LOSS):
        panels.append(_panel(view, selection, cells, rows, measures.LOSS, (LOST.low, LOST.high)))
    panels.append(_panel(view, selection, cells, rows, measures.LOAD_TIME, (1.0, 60.0)))
    plot = PlotSpec(
        name="overview",
        title="Game and pages in the nine conditions: left is better",
        panels=tuple(panels),
        columns=len(panels),
        height=30.0 + 10.5 * len(cells),
        legend="below",
        description="For three groups of load and three levels of RF congestion: 95th percentile of the "
        "game's delay, share of its packets lost, and median page load time, five queue managers each.",
    )
    return Figure(
        "overview",
        plot,
        f"Dashed: the 20 ms that a game asks for (section 4.1.3). {small_print(view, selection, 'Lines')}",
        "overview",
    )


def _panel(
    view: StudyView,
    selection: Selection,
    cells: list[tuple[str, str]],
    rows: tuple[str, ...],
    measure: measures.Measure,
    limits: tuple[float, float | None],
    *,
    with_labels: bool = False,
) -> Panel:
    entries = [
        DotRow(row, lane, manager, measures.estimate(view, selection, measure, manager, cell))
        for lane, manager in enumerate(selection.managers)
        for row, cell in enumerate(cells)
    ]
    lost = measure is measures.LOSS
    return dot_panel(
        rows,
        entries,
        lanes=len(selection.managers),
        quantity=measure.title,
        unit=measure.unit,
        scale="log",
        low=limits[0],
        high=limits[1],
        with_labels=with_labels,
        labels=MANAGER_LABELS,
        floor=LEAST if lost else None,
        ticks=LOST.ticks if lost else (),
        extras=(Rule(GAME_LIMIT_MS, "x"),) if measure is measures.DELAY_P95 else (),
    )
