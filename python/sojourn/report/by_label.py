"""Figures of any study, by its labels: measures as dots, delays as distributions.

What competes has a colour, the same in every panel; combinations of the other labels make rows of dots and panels of
distributions. A panel for which nothing was measured is left out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

import polars as pl

from sojourn.answers.figure import Figure
from sojourn.answers.figures.distribution import curve
from sojourn.answers.figures.dots import height_of
from sojourn.answers.view import NotRecorded, StudyView
from sojourn.base.errors import RecordError
from sojourn.base.metrics import words_of
from sojourn.plots.ccdf import ccdf_panel
from sojourn.plots.dots import DotRow, dot_panel
from sojourn.plots.spec import Axis, Mark, Panel, PlotSpec, Scale
from sojourn.report.roles import MOST_COMPETITORS, POINT, Measured, Roles
from sojourn.stats.distribution import Distribution, mixture
from sojourn.stats.estimate import NOTHING, Estimate

MOST_PANELS = 6
"""chosen: a page."""

MOST_ROWS = 24
"""chosen: more rows of dots than this are a screen of their own."""

MOST_DISTRIBUTIONS = 9
"""Panels of distributions. chosen: three rows of three."""

WIDE_RANGE = 30.0
"""Ratio of the ends from which an axis is logarithmic. chosen by eye."""


def file_name(name: str) -> str:
    """Make a name of the user's fit for a file; different names give different files, also where case counts for nothing.

    Examples
    --------
    >>> file_name("web-1"), file_name("web/1 (kids)")
    ('web-1', 'web_1__kids_-1fc2690a')
    """
    if re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,79}", name):
        return name
    digest = hashlib.blake2b(name.encode(), digest_size=4).hexdigest()
    return f"{re.sub(r'[^A-Za-z0-9._-]', '_', name)[:80]}-{digest}"


def dots(view: StudyView, roles: Roles) -> Iterator[Figure]:
    """Return the figure of the measures that differ most: a row per combination of conditions."""
    alone = roles.compete == POINT
    cells = list(roles.cells)[:MOST_ROWS]
    points = roles.competitors[:MOST_ROWS]
    lanes = [""] if alone else roles.competitors[:MOST_COMPETITORS]
    rows = points if alone else [roles.title(cell) for cell in cells]
    panels = [
        panel
        for measure in roles.measures(MOST_PANELS)
        if (panel := _dot_panel(view, roles, measure, rows, cells, lanes)) is not None
    ]
    if not panels:
        return
    columns = min(2, len(panels))
    by = "point" if alone else roles.compete.replace("_", " ")
    left = len(points) > len(rows) if alone else len(roles.cells) > len(cells)
    yield Figure(
        "metrics",
        PlotSpec(
            name="metrics",
            title=f"What differs most, by {by}",
            panels=tuple(panels),
            columns=columns,
            height=-(-len(panels) // columns) * (height_of(rows, len(lanes)) - 6) + 10,
            legend="none" if alone else "below",
            description=f"Means of measures by {by}, with 95 % intervals over seeds.",
        ),
        "Means over seeds; lines: 95 % intervals, where they are wider than the marks. What differs most stands first."
        + (f" The first {len(rows)} rows." if left else ""),
        "overview",
    )


def _dot_panel(
    view: StudyView, roles: Roles, measure: Measured, rows: list[str], cells: list[tuple[str, ...]], lanes: list[str]
) -> Panel | None:
    means = _means(view, measure)
    alone = lanes == [""]
    entries: list[DotRow] = []
    for number in range(len(rows)):
        for lane, competitor in enumerate(lanes):
            point = rows[number] if alone else roles.cells[cells[number]].get(competitor, "")
            look = "cycle-0" if alone else roles.looks[competitor]
            entries.append(DotRow(number, lane, look, means.get(point, NOTHING)))
    known = [entry.ours.value for entry in entries if entry.ours.value is not None]
    if not known:
        return None
    scale: Scale = "linear"
    if min(known) > 0 and max(known) / min(known) >= WIDE_RANGE:
        scale = "log"
    return dot_panel(
        rows,
        entries,
        lanes=len(lanes),
        quantity=words_of(measure.metric),
        unit=measure.unit,
        scale=scale,
        title=measure.subject,
        labels={} if alone else {roles.looks[name]: roles.name(name) for name in lanes},
    )


def _means(view: StudyView, measure: Measured) -> dict[str, Estimate]:
    rows = view.result.summary.filter(
        (pl.col("subject") == measure.subject) & (pl.col("metric") == measure.metric)
    ).select("point", "mean", "low", "high", "n")
    return {point: Estimate(mean, low, high, n) for point, mean, low, high, n in rows.iter_rows()}


def distributions(view: StudyView, roles: Roles) -> Iterator[Figure]:
    """Return one figure per traffic entry and direction whose delays were kept."""
    try:
        kept = view.result.records("delay_histogram").select("traffic", "direction").unique()
        found = sorted(kept.collect().iter_rows())
    except RecordError:
        return
    for traffic, direction in found:
        figure = _distribution(view, roles, traffic, direction)
        if figure is not None:
            yield figure


def _distribution(view: StudyView, roles: Roles, traffic: str, direction: str) -> Figure | None:
    shown = roles.competitors[:MOST_COMPETITORS]
    cells = list(roles.cells)
    by_cell = [
        (cell, samples) for cell in cells if (samples := _samples(view, roles, cell, shown, traffic, direction))
    ][:MOST_DISTRIBUTIONS]
    if not by_cell:
        return None
    several = len({name for _, samples in by_cell for name in samples}) > 1
    panels = [_cdf(roles, roles.title(cell), samples, several=several) for cell, samples in by_cell]
    if len(panels) == 1:
        panels.append(_tail(roles, by_cell[0][1], several=several))
    columns = min(3, len(panels)) if len(panels) != 4 else 2
    name = f"delay-{file_name(traffic)}-{direction}"
    rows = -(-len(panels) // columns)
    cut = len(by_cell) < len(cells) or len(shown) < len(roles.competitors)
    plot = PlotSpec(
        name=name,
        title=f"Delay of {traffic}, {direction}",
        panels=tuple(panels),
        columns=columns,
        height=62 * rows + 14,
        share_x=len(by_cell) > 1,
        share_y=len(by_cell) > 1,
        legend="below" if several else "none",
        description=f"Distribution of the delay of {traffic}, {direction}, by {roles.compete}.",
    )
    words = "Share of packets at or below a delay; bands: 95 % intervals over seeds."
    if len(by_cell) == 1:
        words += " Right: the tail, all runs together."
    return Figure(name, plot, words + (" The first of all." if cut else ""), "delay")


def _samples(
    view: StudyView, roles: Roles, cell: tuple[str, ...], shown: list[str], traffic: str, direction: str
) -> dict[str, dict[int, Distribution]]:
    found: dict[str, dict[int, Distribution]] = {}
    for name in shown:
        point = roles.cells[cell].get(name)
        try:
            kept = view.delays(point, traffic, direction) if point else {}
        except NotRecorded:
            continue
        full = {seed: one for seed, one in kept.items() if not one.is_empty}
        if full:
            found[name] = full
    return found


def _cdf(roles: Roles, title: str, samples: dict[str, dict[int, Distribution]], *, several: bool) -> Panel:
    marks: list[Mark] = []
    for name, by_seed in samples.items():
        marks += curve(by_seed, roles.looks[name], roles.name(name) if several else "")
    return Panel(
        x=Axis("delay", "ms", scale="log"),
        y=Axis("share at or below", low=0.0, high=1.0),
        marks=tuple(marks),
        title=title,
    )


def _tail(roles: Roles, samples: dict[str, dict[int, Distribution]], *, several: bool) -> Panel:
    whole = {name: mixture(by_seed.values()) for name, by_seed in samples.items()}
    counts = {name: sum(one.count for one in by_seed.values()) for name, by_seed in samples.items()}
    panel = ccdf_panel(
        {roles.looks[name]: one.values for name, one in whole.items()},
        weights={roles.looks[name]: one.shares * counts[name] for name, one in whole.items()},
        labels={roles.looks[name]: roles.name(name) if several else "" for name in whole},
        quantity="delay",
        unit="ms",
        title="",
    )
    return Panel(panel.x, panel.y, panel.marks, "the tail")
