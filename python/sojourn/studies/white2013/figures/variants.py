"""Rows of conditions, each with a few variants side by side: delay, loss, page load time, throughput.

Source: the quantities are those of White 2013, sections 4.1 to 4.5.
Deviations: none; the document shows none of these comparisons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sojourn.plots.dots import DotRow, dot_panel
from sojourn.plots.spec import Panel, PlotSpec, Rule, Scale
from sojourn.studies.estimate import Estimate, mean_of
from sojourn.studies.view import NotRecorded, StudyView
from sojourn.studies.white2013.cases import GAME_LIMIT_MS
from sojourn.studies.white2013.figures.loss import LEAST, LOST
from sojourn.studies.white2013.figures.scenarios import room
from sojourn.studies.white2013.figures.selection import repetitions


@dataclass(frozen=True)
class Variants:
    """What is compared.

    Attributes
    ----------
    rows
        Label of each row.
    points
        Look of each variant, with its point in each row; a point may be missing.
    labels
        How the legend calls the variants, by look.
    """

    rows: tuple[str, ...]
    points: Mapping[str, tuple[str, ...]]
    labels: Mapping[str, str]

    def spread(self, view: StudyView) -> str:
        """Say how the spread over seeds is shown, of the variant that is not published: the last."""
        last = list(self.points.values())[-1]
        point = next(point for point in last if point in view.points)
        return repetitions(view, point, "Lines")


@dataclass(frozen=True)
class Quantity:
    """One panel."""

    subject: str
    metric: str
    title: str
    unit: str
    low: float
    high: float | None
    scale: Scale = "log"
    floor: float | None = None
    ticks: tuple[tuple[float, str], ...] = ()
    rules: tuple[Rule, ...] = ()


DELAY = Quantity(
    "game",
    "delay_p95",
    "P95 of game delay",
    "ms",
    3.0,
    3000.0,
    rules=(Rule(GAME_LIMIT_MS, "x"),),
)
LOSS = Quantity(
    "game",
    "lost",
    "game packets lost",
    f"%, 0: {LEAST:g} or less",
    LOST.low,
    LOST.high,
    floor=LEAST,
    ticks=tuple(tick for tick in LOST.ticks if tick[0] != 0.1),
)
LOAD_TIME = Quantity("page", "page_load_time_median", "page load, median", "s", 1.0, 60.0)
GOODPUT = Quantity("upload", "goodput", "upload goodput", "Mb/s", 0.0, None, "linear")


def plot(
    view: StudyView,
    variants: Variants,
    quantities: Sequence[Quantity],
    *,
    name: str,
    title: str,
    height: float,
    description: str,
) -> PlotSpec:
    """Draw the quantities that any of the points has, side by side.

    Raises
    ------
    NotRecorded
        If there is none.
    """
    known = [quantity for quantity in quantities if _is_known(view, variants, quantity)]
    if not known:
        message = f"needs {quantities[0].title} of {', '.join(variants.rows)}"
        raise NotRecorded(message)
    panels = tuple(
        _panel(view, variants, quantity, with_labels=place == 0)
        for place, quantity in enumerate(known)
    )
    return PlotSpec(
        name=name,
        title=title,
        panels=panels,
        columns=len(panels),
        height=height,
        legend="below",
        description=description,
    )


def estimate(view: StudyView, point: str, subject: str, metric: str) -> Estimate:
    """Return the mean over seeds; unknown if the point does not have the metric."""
    try:
        return mean_of(view.values(point, subject, metric))
    except NotRecorded:
        return Estimate(None)


def _is_known(view: StudyView, variants: Variants, quantity: Quantity) -> bool:
    return any(
        view.has(point, quantity.subject, quantity.metric)
        for points in variants.points.values()
        for point in points
    )


def _panel(view: StudyView, variants: Variants, quantity: Quantity, *, with_labels: bool) -> Panel:
    entries = [
        DotRow(row, lane, look, estimate(view, point, quantity.subject, quantity.metric))
        for lane, (look, points) in enumerate(variants.points.items())
        for row, point in enumerate(points)
    ]
    high = quantity.high
    if high is None:
        high = room(view, [point for points in variants.points.values() for point in points])
    return dot_panel(
        variants.rows,
        entries,
        lanes=len(variants.points),
        quantity=quantity.unit,
        unit="",
        scale=quantity.scale,
        low=quantity.low,
        high=high,
        title=quantity.title,
        with_labels=with_labels,
        labels=variants.labels,
        floor=quantity.floor,
        ticks=quantity.ticks,
        extras=quantity.rules,
    )
