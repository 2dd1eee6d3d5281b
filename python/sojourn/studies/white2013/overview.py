"""The study in a few sentences and one table: who wins where, and at what cost.

Source: the metrics of the runs; nothing here is taken from the document.
Deviations: none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from sojourn.studies.estimate import Estimate
from sojourn.studies.parts import PlainCell, PlainTable
from sojourn.studies.table import format_number
from sojourn.studies.view import NotRecorded, StudyView
from sojourn.studies.white2013.cases import (
    AQM,
    BUFFERBLOAT,
    GAME_LIMIT_MS,
    GROUPS,
    MANAGER_LABELS,
    RF_LEVELS,
    RF_TITLES,
    SFQ_CODEL,
    Cell,
    game_delays,
    load_times,
    over_seeds,
)
from sojourn.studies.white2013.figures import measures
from sojourn.studies.white2013.figures.measures import Measure, estimate
from sojourn.studies.white2013.figures.selection import Selection, mix


def headlines(view: StudyView) -> tuple[str, ...]:
    """Return the findings in sentences, as far as the runs allow."""
    makers: tuple[Callable[[StudyView], str], ...] = (
        _latency,
        _sub_flow_limit,
        _loss,
        _scores,
        _load_times,
        _goodput,
        _winners,
    )
    return tuple(_available(view, makers))


def _available(view: StudyView, makers: Iterable[Callable[[StudyView], str]]) -> Iterator[str]:
    for make in makers:
        try:
            yield make(view)
        except NotRecorded:
            continue


# ---- sentences ------------------------------------------------------------------------------------


def _quantiles(
    view: StudyView, selection: Selection, share: float, *, pages: bool = False
) -> dict[str, float]:
    """Quantile over all cells at equal weights, by manager."""
    cells = [(rf, loads) for (rf, _), loads in selection.loads.items()]
    samples = load_times if pages else game_delays
    found: dict[str, float] = {}
    for manager in selection.managers:
        value = over_seeds(
            mix(view, samples, manager, cells), lambda one: one.quantile(share)
        ).value
        if value is not None:
            found[manager] = value
    return found


def _listed(values: dict[str, float], decimals: int, unit: str) -> str:
    """Write numbers from the smallest to the largest, each with its manager."""
    ordered = sorted(values.items(), key=lambda item: item[1])
    return ", ".join(
        f"{format_number(value, decimals)} {unit} with {MANAGER_LABELS[manager]}".replace("  ", " ")
        for manager, value in ordered
    )


def _latency(view: StudyView) -> str:
    selection = Selection.of(view)
    medians = _quantiles(view, selection, 0.5)
    tails = _quantiles(view, selection, 0.95)
    return (
        f"Over all conditions, the game's packets wait {_listed(medians, 0, 'ms')} (median); one in "
        f"twenty waits longer than {_listed(tails, 0, 'ms')}."
    )


def _sub_flow_limit(view: StudyView) -> str:
    selection = Selection.of(view)
    if not {SFQ_CODEL, *AQM} <= set(selection.managers):
        raise NotRecorded("needs the three active managers")
    within = [
        (rf, group)
        for rf, group in selection.cells
        if _value(view, selection, measures.DELAY_P95, SFQ_CODEL, (rf, group)) < GAME_LIMIT_MS
    ]
    best = [
        cell
        for cell in selection.cells
        if all(
            _value(view, selection, measures.DELAY_P95, SFQ_CODEL, cell)
            <= _value(view, selection, measures.DELAY_P95, manager, cell)
            for manager in selection.managers
        )
    ]
    return (
        f"SFQ-CoDel keeps 95 % of the game's packets below {GAME_LIMIT_MS:g} ms in {len(within)} of "
        f"{len(selection.cells)} cells of the grid, and has the lowest such delay in {len(best)}."
    )


def _loss(view: StudyView) -> str:
    selection = Selection.of(view)
    means = _means(view, selection, measures.LOSS)
    heavy = {
        manager: max(
            _value(view, selection, measures.LOSS, manager, cell) for cell in selection.cells
        )
        for manager in selection.managers
    }
    worst = max(heavy, key=lambda manager: heavy[manager])
    return (
        f"Lost packets of the game, averaged over cells: {_listed(means, 2, '%')}. The worst cell "
        f"is {MANAGER_LABELS[worst]}'s, with {heavy[worst]:.1f} %."
    )


def _scores(view: StudyView) -> str:
    selection = Selection.of(view)
    means = _means(view, selection, measures.SCORE)
    return f"Calls score {_listed(means, 2, '')} on average over cells, of 4.4 at best."


def _load_times(view: StudyView) -> str:
    selection = Selection.of(view)
    medians = _quantiles(view, selection, 0.5, pages=True)
    text = f"Half of the pages load within {_listed(medians, 1, 's')}"
    if BUFFERBLOAT not in medians:
        return f"{text}."
    gains = [
        f"{medians[BUFFERBLOAT] / value:.1f} times with {MANAGER_LABELS[manager]}"
        for manager, value in medians.items()
        if manager != BUFFERBLOAT
    ]
    return f"{text}: against one second of drop-tail, as fast {', '.join(gains)}."


def _goodput(view: StudyView) -> str:
    selection = Selection.of(view)
    means = _means(view, selection, measures.GOODPUT)
    if BUFFERBLOAT not in means:
        raise NotRecorded("needs BufferBloat")
    base = means[BUFFERBLOAT]
    changes = ", ".join(
        f"{_change(value / base - 1)} with {MANAGER_LABELS[manager]}"
        for manager, value in means.items()
        if manager != BUFFERBLOAT
    )
    return f"What it costs the uploads, against one second of drop-tail: {changes}."


def _winners(view: StudyView) -> str:
    selection = Selection.of(view)
    wins: list[str] = []
    for manager in selection.managers:
        count = sum(
            _is_best(view, selection, measure, manager, cell)
            for measure in measures.MEASURES
            for cell in selection.cells
        )
        wins.append(f"{MANAGER_LABELS[manager]} {count}")
    known = sum(
        any(
            estimate(view, selection, measure, manager, cell).value is not None
            for manager in selection.managers
        )
        for measure in measures.MEASURES
        for cell in selection.cells
    )
    return (
        f"Best, or as good as best, of {known} comparisons in the table below: {', '.join(wins)}."
    )


def _change(change: float) -> str:
    if abs(change) < 5e-4:
        return "nothing"
    return f"{100 * abs(change):.1f} % {'more' if change > 0 else 'less'}"


def _means(view: StudyView, selection: Selection, measure: Measure) -> dict[str, float]:
    """Mean over the cells in which every manager has the measure."""
    found = {
        manager: [_value(view, selection, measure, manager, cell) for cell in selection.cells]
        for manager in selection.managers
    }
    return {manager: float(np.mean(values)) for manager, values in found.items()}


def _value(
    view: StudyView, selection: Selection, measure: Measure, manager: str, cell: Cell
) -> float:
    value = estimate(view, selection, measure, manager, cell).value
    if value is None:
        message = f"needs {measure.title} of {MANAGER_LABELS[manager]}"
        raise NotRecorded(message)
    return value


def _is_best(
    view: StudyView, selection: Selection, measure: Measure, manager: str, cell: Cell
) -> bool:
    value = estimate(view, selection, measure, manager, cell).value
    others = [estimate(view, selection, measure, one, cell).value for one in selection.managers]
    return value is not None and measure.is_best(value, [v for v in others if v is not None])


# ---- the table ------------------------------------------------------------------------------------


def summary(view: StudyView) -> PlainTable | None:
    """Return the table of all cells, the best of each marked."""
    try:
        selection = Selection.of(view)
    except NotRecorded:
        return None
    rows = tuple(
        row
        for group in GROUPS
        for measure in measures.MEASURES
        if (row := _row(view, selection, group, measure)) is not None
    )
    if not rows:
        return None
    names = tuple(MANAGER_LABELS[manager] for manager in selection.managers)
    return PlainTable(
        name="summary",
        title="Who wins where, and at what cost",
        caption="Bold: best, or as good as best (delays and load times within 10 %, or 0.5 ms; losses "
        "within 0.05 points; scores within 0.1; goodput within 1 %). Delays and load times: all packets or "
        "pages of the cell; the others: mean over its households." + selection.words,
        headings=("load", "", *(name for _ in RF_LEVELS for name in names)),
        rows=rows,
        groups=(("", 2), *((RF_TITLES[rf], len(names)) for rf in RF_LEVELS)),
    )


def _row(
    view: StudyView, selection: Selection, group: str, measure: Measure
) -> tuple[PlainCell, ...] | None:
    cells: list[PlainCell] = []
    for rf in RF_LEVELS:
        found = [
            estimate(view, selection, measure, manager, (rf, group))
            for manager in selection.managers
        ]
        known = [one.value for one in found if one.value is not None]
        cells += [_cell(one, measure, known) for one in found]
    if all(cell.emphasis == "muted" for cell in cells):
        return None
    words = f"{measure.title}, {measure.unit}"
    return (PlainCell(group), PlainCell(words), *cells)


def _cell(one: Estimate, measure: Measure, known: list[float]) -> PlainCell:
    if one.value is None:
        return PlainCell("–", "muted")
    text = format_number(one.value, measure.decimals if abs(one.value) < 100 else 0)
    best = measure.is_best(one.value, known)
    detail = ""
    if one.low is not None and one.high is not None:
        half = 0.5 * (one.high - one.low)
        detail = f"±{format_number(half, measure.decimals)}"
    return PlainCell(text, "best" if best else "", detail)
