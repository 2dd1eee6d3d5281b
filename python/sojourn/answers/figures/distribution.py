"""Cumulative distributions: a curve per competitor, panels by labels, with their spread over seeds.

Source: Student's t interval of the share at or below each value, over runs with different seeds.
Deviations: curves are thinned to points that a page can show.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sojourn.answers.asking import Ask
from sojourn.answers.averaging import require_visible
from sojourn.answers.figure import Figure
from sojourn.answers.figures.common import caption_of, look_of, number_or_none, rules_of, ticks_of, unit_of, value_words
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.selection import LabelledPoint
from sojourn.answers.view import NotRecorded
from sojourn.base.templates import fill
from sojourn.declarations.base import Where
from sojourn.declarations.figures import DistributionFigure
from sojourn.plots.spec import Axis, Band, Line, Mark, Note, Panel, PlotSpec
from sojourn.stats.distribution import Distribution, mixture
from sojourn.stats.estimate import t_quantile

LEVELS = 200
"""Levels at which a curve has points; chosen: a step of half a percent is as thin as a line on the page."""

Samples = dict[str, dict[int, Distribution]]
"""By the label of a competitor: its samples by seed."""


def figure(study: OpenStudy, ask: Ask, definition: DistributionFigure) -> Figure:
    """Draw the panels of all views, one view beside the other.

    Raises `NotRecorded` if there are no samples.
    """
    points = ask.complete(definition.where, definition.lanes)
    if not points:
        message = f"needs points of {definition.title or definition.item}"
        raise NotRecorded(message)
    by_view = [
        _views(study, definition, labels, template)
        for labels, template in zip(
            definition.views, definition.facet_title or [""] * len(definition.views), strict=True
        )
    ]
    grid = len(definition.views) == 1 and len(definition.views[0]) == 2
    wraps = len(by_view) == 1 and definition.columns is not None
    columns = _columns(study, definition) if grid else len(by_view)
    columns = definition.columns or columns if wraps else columns
    grid = grid or wraps
    rows = -(-len(by_view[0]) // columns) if grid else max(map(len, by_view))
    order = by_view[0] if grid else [view[row] for row in range(rows) for view in by_view if row < len(view)]
    panels: list[Panel] = []
    drawn = False
    for place, (where, title) in enumerate(order):
        with_x, with_y = place // columns == rows - 1, place % columns == 0
        samples = _samples(study, ask, definition, points, where)
        drawn = drawn or any(samples.values())
        panels.append(_panel(study, ask, definition, samples, title, with_x=with_x, with_y=with_y))
    if not drawn:
        message = f"needs {definition.axis.quantity}"
        raise NotRecorded(message)
    width = definition.width if columns > 1 else min(definition.width, 130)
    plot = PlotSpec(
        name=definition.item,
        title=definition.title,
        panels=tuple(panels),
        columns=columns,
        width=float(width),
        height=float(definition.height or 45 + 40 * rows),
        share_x=True,
        share_y=True,
        legend="below",
        description=definition.description,
    )
    where = definition.where
    caption = caption_of(study, ask, definition.caption, points, what="Bands", where=where)
    return Figure(definition.item, plot, caption, definition.group)


def _columns(study: OpenStudy, definition: DistributionFigure) -> int:
    return len(study.points.values(definition.views[0][1], definition.where))


def _views(
    study: OpenStudy, definition: DistributionFigure, labels: Sequence[str], template: str
) -> list[tuple[Where, str]]:
    """Return the panels of a view: which points each shows, and its title."""
    panels: list[tuple[Where, dict[str, str]]] = [({}, {})]
    for label in labels:
        panels = [
            (
                {**where, label: value},
                {
                    **words,
                    label: value_words(study, label, value),
                    f"{label}_title": study.points.title(label, value),
                    f"{label}_short": study.points.short(label, value),
                },
            )
            for where, words in panels
            for value in study.points.values(label, definition.where)
        ]
    return [
        (where, fill(template, words) if template else " ".join(words[n] for n in labels)) for where, words in panels
    ]


def _samples(
    study: OpenStudy, ask: Ask, definition: DistributionFigure, points: Sequence[LabelledPoint], where: Where
) -> Samples:
    measure = ask.measures[definition.measure]
    found: Samples = {}
    for value in study.points.values(definition.lanes, definition.where):
        if not any(str(point.labels[definition.lanes]) == value for point in points):
            continue
        chosen = {**definition.where, **where, definition.lanes: value}
        found_points = study.points.within(chosen, points)
        drawn = study.points.meant(measure.where, definition.where, found_points)
        require_visible(drawn, measure)
        try:
            found[value] = ask.distributions(measure, drawn)
        except NotRecorded:
            found[value] = {}
    return found


def _panel(
    study: OpenStudy,
    ask: Ask,
    definition: DistributionFigure,
    samples: Samples,
    title: str,
    *,
    with_x: bool,
    with_y: bool,
) -> Panel:
    marks: list[Mark] = list(rules_of(definition.axis))
    rules = len(marks)
    for value, distributions in samples.items():
        shown = {seed: one.rounded_up() if definition.whole_units else one for seed, one in distributions.items()}
        look = look_of(study, definition.lanes, value)
        label = study.points.short(definition.lanes, value)
        least = definition.tail
        marks += curve(shown, look, label) if least is None else tail(shown, look, label, least)
    if len(marks) == rules:
        return _empty(ask, definition, title)
    if definition.counts:
        marks += _counts(study, definition, samples)
    return Panel(
        x=_axis(ask, definition, named=with_x), y=_share_axis(definition, named=with_y), marks=tuple(marks), title=title
    )


def _counts(study: OpenStudy, definition: DistributionFigure, samples: Samples) -> list[Mark]:
    """Write the number of samples of each curve, in the corner that distributions leave free."""
    return [
        Note(
            float(definition.axis.high or 1) / 1.05,
            0.06 + 0.085 * (len(samples) - 1 - place),
            f"{sum(one.count for one in distributions.values()):,}",
            look_of(study, definition.lanes, value),
            "right",
        )
        for place, (value, distributions) in enumerate(samples.items())
    ]


def _empty(ask: Ask, definition: DistributionFigure, title: str) -> Panel:
    low, high = float(definition.axis.low or 0), float(definition.axis.high or 1)
    middle = (low * high) ** 0.5 if definition.axis.scale == "log" else (low + high) / 2
    return Panel(
        x=_axis(ask, definition, named=False),
        y=_share_axis(definition, named=False),
        marks=(Note(middle, 0.5, "not run", align="center"),),
        title=title,
    )


def _share_axis(definition: DistributionFigure, *, named: bool) -> Axis:
    if definition.tail is None:
        return Axis("share at or below" if named else "", low=0.0, high=1.0)
    decades = range(round(-math.log10(definition.tail)) + 1)
    ticks = tuple((10.0**-n, f"P{100 - 10.0 ** (2 - n):g}") for n in decades)
    low = min(definition.tail, ticks[-1][0])
    return Axis("quantile" if named else "", scale="log", low=low, high=1.0, ticks=ticks)


def _axis(ask: Ask, definition: DistributionFigure, *, named: bool) -> Axis:
    axis, measure = definition.axis, ask.measures[definition.measure]
    unit = unit_of(measure) if axis.unit is None else axis.unit
    return Axis(
        (axis.quantity or measure.title) if named else "",
        unit if named else "",
        scale=axis.scale,
        low=number_or_none(axis.low),
        high=number_or_none(axis.high),
        ticks=ticks_of(axis),
    )


def curve(distributions: dict[int, Distribution], look: str, label: str) -> list[Mark]:
    """Return the mean over seeds as a step curve, above its 95 % interval if there are several."""
    whole = mixture(distributions.values())
    if whole.is_empty:
        return []
    x, share = _thinned(whole)
    marks: list[Mark] = []
    if len(distributions) > 1:
        low, high = _interval(distributions, x)
        marks.append(Band(x, low, high, look))
    first = np.array([x[0]]), np.array([0.0])
    steps = np.concatenate((first[0], x)), np.concatenate((first[1], share))
    marks.append(Line(*steps, look, label, step=True))
    return marks


BEYOND = 10
"""Samples that have to lie above the last point of a tail. Source: the metrics page (`is_supported`)."""


def tail(distributions: dict[int, Distribution], look: str, label: str, least: float) -> list[Mark]:
    """Return the mean share above each value as a step curve, as far down as there are samples."""
    whole = mixture(distributions.values())
    if whole.is_empty:
        return []
    above = np.clip(1.0 - np.cumsum(whole.shares), 0.0, 1.0)
    floor = max(least, BEYOND / whole.count) * (1 - 1e-9)
    levels = np.geomspace(1.0, floor, LEVELS)
    kept = np.unique(np.searchsorted(-above, -levels * (1 + 1e-12)))
    kept = kept[(kept < len(above)) & (above[np.minimum(kept, len(above) - 1)] >= floor)]
    x, share = whole.values[kept], above[kept]
    marks: list[Mark] = []
    if len(distributions) > 1:
        low, high = _interval(distributions, x)
        marks.append(Band(x, np.maximum(1.0 - high, floor), np.maximum(1.0 - low, floor), look))
    first = whole.values[:1], np.array([1.0])
    steps = np.concatenate((first[0], x)), np.concatenate((first[1], share))
    marks.append(Line(*steps, look, label, step=True))
    return marks


def _thinned(whole: Distribution) -> tuple[np.ndarray, np.ndarray]:
    share = np.cumsum(whole.shares)
    # A sum of a hundred thousand rounded shares need not end at 1.
    share = np.minimum(share / share[-1], 1.0)
    wanted = np.searchsorted(share, np.linspace(0.0, 1.0, LEVELS + 1)[1:] * (1 - 1e-12))
    kept = np.unique(np.concatenate(([0], wanted, [len(share) - 1])))
    return whole.values[kept], share[kept]


def _interval(distributions: dict[int, Distribution], x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """95 % interval of the share at or below each value."""
    shares = np.array([_share(one, x) for one in distributions.values() if not one.is_empty])
    count = len(shares)
    centre = shares.mean(axis=0)
    if count < 2:
        return centre, centre
    half = t_quantile(count - 1) * shares.std(axis=0, ddof=1) / math.sqrt(count)
    return np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)


def _share(one: Distribution, x: np.ndarray) -> np.ndarray:
    cumulative = np.concatenate(([0.0], np.cumsum(one.shares)))
    return cumulative[np.searchsorted(one.values, x, side="right")]
