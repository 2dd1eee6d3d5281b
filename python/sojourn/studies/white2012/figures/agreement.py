"""Every printed number against ours.

Source: White and Padden 2012, Tables 3 to 8.
Deviations: none known.
"""

from __future__ import annotations

from collections.abc import Sequence

from sojourn.plots.scatter import Pair, scatter_panel
from sojourn.plots.spec import PlotSpec, Scale
from sojourn.studies.figure import Figure
from sojourn.studies.table import Cell, Table
from sojourn.studies.view import NotRecorded
from sojourn.studies.white2012.cases import CODEL


def agreement(tables: Sequence[Table]) -> Figure:
    """Every printed number against ours."""
    families: tuple[tuple[str, str, tuple[str, ...], Scale, float | None], ...] = (
        ("packets lost or late", "%", ("lost", "late", "loss_total"), "log", 0.01),
        ("page load time", "s", ("page_load_time_median",), "log", None),
        ("score", "MOS", ("mos_loss_only",), "linear", None),
        ("upload", "MB", ("forwarded_volume",), "linear", None),
    )
    cells = [cell for table in tables for cell in table.ordered_cells()]
    pairs = [
        [_pair(cell, 1e-3 if unit == "MB" else 1.0) for cell in _comparable(cells, metrics)]
        for _, unit, metrics, _, _ in families
    ]
    if not any(pairs):
        message = "needs a case that the document prints"
        raise NotRecorded(message)
    panels = tuple(
        scatter_panel(own, quantity=quantity, unit=unit, scale=scale, floor=floor)
        for own, (quantity, unit, _, scale, floor) in zip(pairs, families, strict=True)
    )
    plot = PlotSpec(
        name="agreement",
        title="Every printed number against ours",
        panels=panels,
        columns=2,
        height=150,
        width=165,
        legend="below",
        description="Printed against simulated values of Tables 3 to 8; misses are labelled with "
        "their test case.",
    )
    return Figure(
        "agreement",
        plot,
        "On the line, ours equals the print. Losses below 0.01 % are drawn there. Misses carry "
        "their test case.",
        "overview",
    )


def _comparable(cells: Sequence[Cell], metrics: tuple[str, ...]) -> list[Cell]:
    chosen = {
        (cell.case, cell.queue_manager, cell.metric, cell.printed): cell
        for cell in cells
        if cell.metric in metrics
        and cell.ours.value is not None
        and cell.printed_value is not None
        and not cell.censored
        and not (cell.metric == "forwarded_volume" and (cell.printed_value == 0 or cell.shortened))
    }
    return list(chosen.values())


def _pair(cell: Cell, scale: float) -> Pair:
    printed, ours = cell.printed_value, cell.ours.value
    if printed is None or ours is None:
        raise ValueError("only comparable cells are drawn")
    suffix = cell.queue_manager.removeprefix("droptail-")
    label = cell.case if cell.queue_manager == CODEL else f"{cell.case}-{suffix}"
    return Pair(printed * scale, ours * scale, cell.verdict.value, label)
