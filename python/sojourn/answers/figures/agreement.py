"""Every printed number against ours."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn.answers.figure import Figure
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.table import Cell, Table
from sojourn.answers.view import NotRecorded
from sojourn.declarations.figures import AgreementFigure, AgreementPanel
from sojourn.plots.scatter import Pair, scatter_panel
from sojourn.plots.spec import PlotSpec


def figure(study: OpenStudy, definition: AgreementFigure, tables: Sequence[Table]) -> Figure:
    """Draw a panel per family of metrics.

    Raises `NotRecorded` if no printed cell was run.
    """
    cells = [cell for table in tables for cell in table.ordered_cells()]
    pairs = [
        [_pair(study, cell, float(panel.times)) for cell in _comparable(cells, panel)] for panel in definition.panels
    ]
    if not any(pairs):
        raise NotRecorded("needs a case that the document prints")
    panels = tuple(
        scatter_panel(
            own,
            quantity=panel.quantity,
            unit=panel.unit,
            scale=panel.scale,
            floor=None if panel.floor is None else float(panel.floor),
        )
        for own, panel in zip(pairs, definition.panels, strict=True)
        if own
    )
    plot = PlotSpec(
        name=definition.item,
        title=definition.title,
        panels=panels,
        columns=definition.columns or 2,
        height=_height(definition, len(panels)),
        width=float(definition.width),
        legend="below",
        description=definition.description,
    )
    return Figure(definition.item, plot, definition.caption, definition.group)


def _height(definition: AgreementFigure, shown: int) -> float:
    """Return the height, mm: that of the study, less what rows without panels would take."""
    rows, all_rows = (-(-count // (definition.columns or 2)) for count in (shown, len(definition.panels)))
    return float(definition.height or 75 * all_rows) * rows / all_rows


def _comparable(cells: Sequence[Cell], panel: AgreementPanel) -> list[Cell]:
    """Return the cells of a family with a number on either side, each print once."""
    chosen = {
        (cell.case, cell.queue_manager, cell.metric, cell.printed): cell
        for cell in cells
        if cell.metric in panel.metrics
        and cell.ours.value is not None
        and cell.printed_value is not None
        and not cell.censored
        and not (panel.besides_zero and cell.printed_value == 0)
        and not cell.shortened
    }
    return list(chosen.values())


def _pair(study: OpenStudy, cell: Cell, scale: float) -> Pair:
    printed, ours = cell.printed_value, cell.ours.value
    if printed is None or ours is None:
        raise ValueError("only comparable cells are drawn")
    words = (values.get(cell.queue_manager) for values in study.definition.labels.values())
    name = next((one.name for one in words if one is not None), "")
    label = f"{cell.case}-{name}" if name else cell.case
    return Pair(printed * scale, ours * scale, cell.verdict.value, label)
