"""Rates, delays and queues over time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sojourn.answers.asking import Ask
from sojourn.answers.figure import Figure
from sojourn.answers.figures.common import look_of_point, number_or_none, rules_of
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.view import LinkSeries, NotRecorded
from sojourn.declarations.figures import SeriesPanel, SeriesTrace, TimeSeriesFigure
from sojourn.plots.spec import Band, Panel, PlotSpec
from sojourn.plots.timeseries import Trace, timeseries_panel

_VALUES: dict[str, Callable[[LinkSeries], np.ndarray]] = {
    "rate": lambda series: series.rate_mbps,
    "delay": lambda series: series.sojourn_mean_ms,
    "backlog": lambda series: series.backlog_packets_mean,
}

_LARGEST: dict[str, Callable[[LinkSeries], np.ndarray]] = {
    "delay": lambda series: series.sojourn_max_ms,
    "backlog": lambda series: series.backlog_packets_max,
}
"""Ends of a band of bins: the maximum of the queue, the minimum of its means."""


def figure(study: OpenStudy, ask: Ask, definition: TimeSeriesFigure) -> Figure:
    """Draw curves over time; panels without any of their points are left out.

    Raises `NotRecorded` if no panel is left.
    """
    panels = [_panel(study, ask, panel) for panel in definition.panels if _is_run(ask, panel)]
    if not panels:
        message = f"needs point {definition.panels[0].traces[0].point}"
        raise NotRecorded(message)
    columns = min(definition.columns or 2, len(panels))
    rows = -(-len(panels) // columns)
    plot = PlotSpec(
        name=definition.item,
        title=definition.title,
        panels=tuple(panels),
        columns=columns,
        width=float(definition.width),
        height=float(definition.height or 60.0 * rows + 8),
        share_x=definition.share_x,
        share_y=definition.share_y,
        legend="below" if definition.legend else "none",
        description=definition.description,
    )
    first = next(panel for panel in definition.panels if _is_run(ask, panel)).traces[0].point
    count = len(ask.view.seeds(first))
    spread = "One seed." if count < 2 else f"Curve: first seed; band: lowest to highest of {count}."
    caption = definition.caption.replace("{spread}", spread)
    return Figure(definition.item, plot, caption, definition.group)


def _is_run(ask: Ask, panel: SeriesPanel) -> bool:
    return all(trace.point in ask.view.points for trace in panel.traces)


def _panel(study: OpenStudy, ask: Ask, panel: SeriesPanel) -> Panel:
    traces: list[Trace] = []
    bands: list[Band] = []
    end = 0.0
    for one in panel.traces:
        by_seed = ask.view.series(one.point, one.link)
        first = by_seed[min(by_seed)]
        end = max(end, float(first.end_s[-1]))
        look = one.look or look_of_point(study, one.point)
        start, values = _values(study, one, first)
        if one.band == "seeds":
            bands += _seeds(study, one, by_seed, look, number_or_none(panel.until))
        elif one.band == "bins":
            bands.append(_bins(one, first, look))
        solid = look != "reference"
        traces.append(Trace(start, values, look, one.label, one.weight, solid=solid))
    return timeseries_panel(
        traces,
        quantity=panel.quantity,
        unit=panel.unit or "",
        title=panel.title,
        until_s=number_or_none(panel.until) or end,
        high=number_or_none(panel.high),
        extras=rules_of(panel),
        bands=bands,
        log=panel.scale == "log",
        low=0.0 if panel.low is None else float(panel.low),
        ticks=tuple(panel.ticks),
    )


def _values(study: OpenStudy, one: SeriesTrace, series: LinkSeries) -> tuple[np.ndarray, np.ndarray]:
    values = _function(study, one)(series)
    if one.per is None:
        return series.start_s, values
    group = max(1, round(one.per / series.width_s))
    count = len(values) // group
    return series.start_s[: count * group : group], _grouped(values, group).mean(axis=1)


def _function(study: OpenStudy, one: SeriesTrace) -> Callable[[LinkSeries], np.ndarray]:
    return _VALUES.get(one.value) or study.functions[one.value]


def _grouped(values: np.ndarray, group: int) -> np.ndarray:
    count = len(values) // group
    return values[: count * group].reshape(count, group)


def _bins(one: SeriesTrace, series: LinkSeries, look: str) -> Band:
    group = max(1, round((one.per or series.width_s) / series.width_s))
    least = _grouped(_VALUES[one.value](series), group).min(axis=1)
    largest = _grouped(_LARGEST[one.value](series), group).max(axis=1)
    start = series.start_s[: len(least) * group : group]
    return Band(start, least, largest, look, one.band_label)


def _seeds(
    study: OpenStudy, one: SeriesTrace, by_seed: dict[int, LinkSeries], look: str, until: float | None
) -> list[Band]:
    """Lowest to highest over seeds; nothing for a single one."""
    if len(by_seed) < 2:
        return []
    values = [_function(study, one)(series) for series in by_seed.values()]
    bins = min(len(each) for each in values)
    stacked = np.array([each[:bins] for each in values])
    start = by_seed[min(by_seed)].start_s[:bins]
    keep = start <= (np.inf if until is None else until)
    low, high = np.fmin.reduce(stacked), np.fmax.reduce(stacked)
    return [Band(start[keep], low[keep], high[keep], look)]
