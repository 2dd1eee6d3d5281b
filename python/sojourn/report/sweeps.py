"""The figure of a sweep: measures over a label that is a number, one curve per value of another label.

For any study with such a label. Bands are the 95 % intervals of `summary.csv`. Measures that people feel come
first, those that change most over the sweep before the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sojourn.answers.figure import Figure
from sojourn.base.metrics import words_of
from sojourn.headline import may_be_named
from sojourn.headline.said import together
from sojourn.plots.scales import differ, on_one_scale
from sojourn.plots.spec import Axis, Band, Dots, Line, Mark, Panel, PlotSpec, Scale, as_array
from sojourn.report.roles import LEAST_DIFFERENCE, Roles, by_role, kinds_of, largest_values
from sojourn.stats.quantity import quantity_of
from sojourn.study.result import StudyResult

MOST_PANELS = 6
"""chosen: a page."""
MOST_CURVES = 7
"""chosen: as many looks as one tells apart."""
LEAST_MEASURES = 2
"""Measures that are drawn however many panels each takes. chosen: who feels, and who pays."""
BESIDE = 3
"""Panels beside each other; facets that are no more share a figure with other measures. chosen: their titles can be read."""
MOST_FACETS = 12
"""Combinations of other labels that are drawn. chosen: four rows of three are a screen."""
LEAST_VALUES = 3
"""chosen: two values make no curve."""
WIDE_RANGE = 8.0
"""Ratio of the ends from which an axis is logarithmic, if values are as far apart. chosen by eye."""


def sweep_figures(result: StudyResult, own: Sequence[Figure] = ()) -> Iterator[Figure]:
    """Return the figures of a label that is a number with at least three values, and nothing otherwise.

    The x axis is the label with the most values; the colour is what competes, or else the label with the most values of the
    others, as far as one can tell them apart. All further labels make panels: as long as their combinations fit beside each other, all
    measures are one figure, else each is its own; of very many combinations the first are drawn, and the caption says so.
    A study whose labels do not tell its points apart gets none. What people feel and what
    transfers pay is shown, as headlines have it, if there is any of it; curves that figures of the study's `own` show already are
    left out. Panels of a measure have one scale; where that makes curves flat, a second figure, folded, gives each its own.
    """
    points = result.points
    counts = {label: points[label].drop_nulls().n_unique() for label in result.labels}
    varying = [label for label in result.labels if counts[label] > 1]
    over = max(
        (label for label in varying if points.schema[label].is_numeric()), key=lambda label: counts[label], default=None
    )
    if over is None or counts[over] < LEAST_VALUES:
        return
    if points.select(varying).is_duplicated().any():  # other points would stand in the same curve
        return
    rest = sorted((label for label in varying if label != over), key=lambda label: -counts[label])
    rest.sort(key=lambda label: label != Roles.of(result).compete)
    colour = next((label for label in rest if counts[label] <= MOST_CURVES), "")
    facets = [label for label in rest if label != colour]
    groups = points.select(facets).unique(maintain_order=True).rows() if facets else [()]
    drawn = groups[:MOST_FACETS]
    known = [curve for one in own for panel in one.plot.panels for curve in _curves(panel)]
    by_measure: list[list[Panel]] = []
    room = max(LEAST_MEASURES, (MOST_PANELS if len(drawn) <= BESIDE else MOST_FACETS) // len(drawn))
    for measure in _measures(result, over)[:room]:
        made = [_panel(result, over, colour, measure, dict(zip(facets, group, strict=True))) for group in drawn]
        shown = [panel for panel in made if panel is not None and not _is_shown(panel, known)]
        if shown:
            by_measure.append(shown)
    columns = min(len(drawn), BESIDE) if facets else 2
    swept = _Swept(over, tuple(rest), bool(colour), columns)
    left = ""
    if len(groups) > len(drawn):
        left = (
            f" The first {len(drawn)} of {len(groups)} combinations of {together(facets)};"
            " a figure of the study with `where` shows others."
        )
    batches = [[panels] for panels in by_measure] if len(drawn) > BESIDE else [by_measure]
    for number, batch in enumerate(filter(None, batches), start=1):
        shared = [panel for panels in batch for panel in on_one_scale(panels)]
        yield swept.figure(shared, left, number)
        free = [panel for panels in batch if differ(panels) for panel in panels]
        if free:
            yield swept.figure(free, left, number, is_free=True)


@dataclass(frozen=True)
class _Swept:
    """Common parts of all figures of a sweep: the label of the x axis, the other labels, and their curves."""

    over: str
    rest: tuple[str, ...]
    has_curves: bool
    columns: int

    def figure(self, panels: Sequence[Panel], left: str, number: int = 1, *, is_free: bool = False) -> Figure:
        """Return the figure of these panels: the one of this number, with scales shared or free."""
        columns = min(self.columns, len(panels))
        by = f", by {together(self.rest)}".replace("_", " ") if self.rest else ""
        name = f"sweep-{self.over}{f'-{number}' if number > 1 else ''}"
        name += "-own-scales" if is_free else ""
        title = f"What {self.over.replace('_', ' ')} changes{by}"
        plot = PlotSpec(
            name=name,
            title=f"{title}, each panel on its own scale" if is_free else title,
            panels=tuple(panels),
            columns=columns,
            height=-(-len(panels) // columns) * 62 + 12,
            description=f"Curves of measures over {self.over}{by}; bands are 95 % intervals over seeds.",
            legend="below" if self.has_curves else "none",
        )
        caption = (
            "The same, but each panel on a scale of its own."
            if is_free
            else "Means over seeds; bands: 95 % intervals, as in summary.csv. What changes most stands first."
        )
        return Figure(name, plot, caption + left, "overview", is_folded=is_free)


_Curve = tuple[np.ndarray, np.ndarray]


def _curves(panel: Panel) -> list[_Curve]:
    return [(as_array(mark.x), as_array(mark.y)) for mark in panel.marks if isinstance(mark, Line)]


def _is_shown(panel: Panel, known: Sequence[_Curve]) -> bool:
    """Return whether all curves of a panel stand in other figures: over the same values, or over these as words."""
    return all(
        any(
            y.shape == other.shape
            and np.allclose(y, other, equal_nan=True)
            and (np.array_equal(x, places) or np.array_equal(places, np.arange(places.size)))
            for places, other in known
        )
        for x, y in _curves(panel)
    )


def _measures(result: StudyResult, over: str) -> list[tuple[str, str, str]]:
    """Return subjects and metrics worth a panel: by their roles, then by how much they change."""
    known = result.summary.filter(pl.col(over).is_not_null())
    spreads = known.group_by("subject", "metric", "unit", maintain_order=True).agg(
        pl.col("mean").min().alias("least"), pl.col("mean").max().alias("most")
    )
    largest = largest_values(known)
    roles = by_role(largest, kinds_of(result), result.definition.feels)
    told = roles or may_be_named(largest)
    found: list[tuple[bool, float, tuple[str, str, str]]] = []
    for subject, metric, unit, least, most in spreads.iter_rows():
        if most <= least * (1 + LEAST_DIFFERENCE) or not quantity_of(metric, unit).better:
            continue
        change = math.log(most / least) if least > 0 else math.inf
        found.append(((subject, metric) not in told, -change, (subject, metric, unit)))
    headlines = [measure for measure in found if not measure[0]]
    return [measure for _, _, measure in sorted(headlines or found, key=lambda one: one[:2])]


def _panel(
    result: StudyResult, over: str, colour: str, measure: tuple[str, str, str], facet: dict[str, Any]
) -> Panel | None:
    subject, metric, unit = measure
    rows = result.summary.filter(
        (pl.col("subject") == subject)
        & (pl.col("metric") == metric)
        & pl.col(over).is_not_null()
        & pl.col("mean").is_not_null()
        & pl.all_horizontal(pl.lit(value=True), *(pl.col(label).eq_missing(value) for label, value in facet.items()))
    ).sort(over)
    bands: list[Mark] = []
    lines: list[Mark] = []
    dots: list[Mark] = []
    values: list[Any] = result.points[colour].drop_nulls().unique(maintain_order=True).to_list() if colour else [None]
    for number, value in enumerate(values):
        part = rows.filter(pl.col(colour) == value) if colour else rows
        if part.height < 2:
            continue
        x, y = as_array(part[over].to_numpy()), as_array(part["mean"].to_numpy())
        low, high = _end(part, "low"), _end(part, "high")
        look = f"cycle-{number}"
        label = f"{colour} {value} {result.label_units.get(colour, '')}".strip() if colour else ""
        bands.append(Band(x, low, high, look, step=False))
        lines.append(Line(x, y, look, label))
        dots.append(Dots(x, y, look))
    if not lines:
        return None
    xs = sorted(float(value) for value in rows[over].unique().to_list())
    scale: Scale = "linear"
    if xs[0] > 0 and xs[-1] / xs[0] >= WIDE_RANGE:
        scale = "log"
    return Panel(
        x=Axis(
            over.replace("_", " "),
            result.label_units.get(over, ""),
            scale=scale,
            ticks=tuple((value, f"{value:g}") for value in xs) if len(xs) <= 8 else (),
        ),
        y=Axis(words_of(metric), unit, low=0.0 if quantity_of(metric, unit).low == 0 else None),
        marks=(*bands, *lines, *dots),
        title=f"{subject}{_told(facet, result.label_units)}",
    )


def _told(facet: dict[str, Any], units: dict[str, str]) -> str:
    """Name a panel's values of further labels, on a line of their own."""
    words = ", ".join(f"{label} {value} {units.get(label, '')}".strip() for label, value in facet.items())
    return f"\n{words}" if words else ""


def _end(part: pl.DataFrame, name: str) -> np.ndarray:
    """Return one end of the intervals; the mean itself where it is unknown."""
    return as_array(part[name].fill_null(part["mean"]).to_numpy())
