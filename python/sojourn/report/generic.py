"""The report of a study that brings no tables or figures of its own.

Every metric by point with its interval, a box plot of the metrics that people ask for first, and the
distribution of delays if the study kept it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from sojourn.plots.box import box_panel
from sojourn.plots.ccdf import ccdf_panel
from sojourn.plots.cdf import cdf_panel
from sojourn.plots.spec import Panel, PlotSpec
from sojourn.report.comparison import comparison_tables
from sojourn.report.sweeps import sweep_figures
from sojourn.studies.estimate import bounded_mean_of
from sojourn.studies.figure import Figure
from sojourn.studies.parts import PlainCell, PlainTable, StudyParts
from sojourn.studies.quantity import quantity_of
from sojourn.studies.view import NotRecorded, StudyView

#: Metrics worth a box plot, as far as a study has them; chosen: what a subscriber feels, then links.
BOXED = (
    "mos",
    "loss_total",
    "delay_p99",
    "page_load_time_median",
    "goodput",
    "sojourn_p99",
    "utilisation",
)

#: More points than this make curves and boxes unreadable; chosen by eye.
MOST_CURVES = 7
MOST_BOXES = 24

#: Words for metrics where the name alone would not do.
_WORDS = {
    "mos": "score of the call (MOS)",
    "loss_total": "packets lost or late",
    "delay_p99": "99th percentile of access delay",
    "page_load_time_median": "median page load time",
    "sojourn_p99": "99th percentile of queuing delay",
}


def words(metric: str) -> str:
    """Return how a metric is called in a heading."""
    return _WORDS.get(metric, metric.replace("_", " "))


def parts(view: StudyView) -> StudyParts:
    """Return tables of all metrics and whatever figures the records allow."""
    metrics = view.result.metrics
    subjects = metrics["subject"].unique(maintain_order=True).to_list()
    points = view.result.runs["point"].unique(maintain_order=True).to_list()
    tables = tuple(_table(view, subject, points) for subject in subjects)
    return StudyParts(
        plain_tables=(*comparison_tables(view.result), *tables),
        figures=(*sweep_figures(view.result), *_figures(view, points)),
    )


def _table(view: StudyView, subject: str, points: Sequence[str]) -> PlainTable:
    rows = view.result.metrics.filter(pl.col("subject") == subject)
    pairs = rows.select("metric", "unit").unique(maintain_order=True).rows()
    headings = tuple(
        f"{words(metric)}, {unit}" if unit else words(metric) for metric, unit in pairs
    )
    body: list[tuple[PlainCell, ...]] = []
    for point in points:
        cells = [PlainCell(point)]
        for metric, unit in pairs:
            values = view.values_or_nan(point, subject, metric)
            estimate = bounded_mean_of(values, quantity_of(metric, unit))
            if estimate.value is None:
                cells.append(PlainCell("–", "muted"))
                continue
            interval = (
                f"{significant(estimate.low)} to {significant(estimate.high)}"
                if estimate.low is not None and estimate.high is not None
                else ""
            )
            cells.append(PlainCell(significant(estimate.value), detail=interval))
        body.append(tuple(cells))
    return PlainTable(
        name=f"metrics-{file_name(subject)}",
        title=f"{subject}",
        caption="Mean over runs with its 95 % interval.",
        headings=("point", *headings),
        rows=tuple(body),
    )


def file_name(name: str) -> str:
    """Make a name of the user's fit for a file.

    Examples
    --------
    >>> file_name("web/1 (kids)")
    'web_1__kids_'
    """
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)


def significant(value: float) -> str:
    """Write a number with four significant digits and without exponent where that reads well.

    Examples
    --------
    >>> significant(375614.2), significant(0.012345), significant(0.0)
    ('375614', '0.01235', '0')
    """
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.4g}"


def _figures(view: StudyView, points: Sequence[str]) -> Iterator[Figure]:
    found = view.result.metrics.select("subject", "metric", "unit").unique(maintain_order=True)
    looks = looks_of(view.result.points, view.result.labels)
    panels: list[tuple[float, Panel]] = []
    for metric in BOXED:
        for subject, name, unit in found.iter_rows():
            if name != metric:
                continue
            groups = [
                (point, looks[point], _known(view.values_or_nan(point, subject, metric)))
                for point in points[:MOST_BOXES]
            ]
            if any(len(values) for _, _, values in groups):
                panel = box_panel(groups, quantity=words(metric), unit=unit, title=subject)
                panels.append((spread([values for _, _, values in groups]), panel))
    panels.sort(key=lambda item: -item[0])  # what differs most first, else as people ask
    if panels:
        rows = -(-len(panels) // 2)
        shown = min(len(points), MOST_BOXES)
        yield Figure(
            "metrics",
            PlotSpec(
                name="metrics",
                title="Metrics by point, spread over runs",
                panels=tuple(panel for _, panel in panels),
                columns=2 if len(panels) > 1 else 1,
                height=rows * (26 + 5.2 * shown) + 8,
                description="Box plots of metrics by point; each value is one run.",
            ),
            "Box: quartiles and median over runs; whiskers: last run within 1.5 ranges. What differs most "
            "between points stands first.",
            "overview",
        )
    yield from _distributions(view, points)


def looks_of(points: pl.DataFrame, labels: Sequence[str]) -> dict[str, str]:
    """Return the look of each point: that of its value of the first label that varies.

    Points without labels that vary each have a look of their own.

    Examples
    --------
    >>> frame = pl.DataFrame({"point": ["a", "b", "c"], "queue": ["pie", "codel", "pie"]})
    >>> looks_of(frame, ["queue"])
    {'a': 'cycle-0', 'b': 'cycle-1', 'c': 'cycle-0'}
    """
    varying = next((name for name in labels if points[name].n_unique() > 1), "point")
    values = points[varying].unique(maintain_order=True).to_list()
    return {
        point: f"cycle-{values.index(value)}"
        for point, value in points.select(
            pl.col("point").alias("name"), pl.col(varying).alias("value")
        ).iter_rows()
    }


def spread(groups: Sequence[np.ndarray]) -> float:
    """Return how far the means of groups lie apart, as a share of the largest of them.

    Examples
    --------
    >>> spread([np.array([1.0, 3.0]), np.array([4.0]), np.array([])])
    0.5
    """
    means = [float(values.mean()) for values in groups if len(values)]
    largest = max((abs(mean) for mean in means), default=0.0)
    return (max(means) - min(means)) / largest if largest else 0.0


def _known(values: np.ndarray) -> np.ndarray:
    return values[np.isfinite(values)]


def _distributions(view: StudyView, points: Sequence[str]) -> Iterator[Figure]:
    """Distribution of access delay per traffic and direction, one curve per point."""
    histograms: dict[tuple[str, str], dict[str, tuple[np.ndarray, np.ndarray]]] = {}
    for point in points[:MOST_CURVES]:
        try:
            frame = view.table("delay_histogram", point)
        except NotRecorded:
            return
        grouped = (
            frame.group_by("traffic", "direction", "delay_ns")
            .agg(pl.col("packets").sum())
            .sort("delay_ns")
        )
        for key, part in grouped.partition_by("traffic", "direction", as_dict=True).items():
            delay = part["delay_ns"].to_numpy().astype(float) / 1e6
            packets = part["packets"].to_numpy().astype(float)
            histograms.setdefault((str(key[0]), str(key[1])), {})[point] = (delay, packets)
    for (traffic, direction), curves in sorted(histograms.items()):
        looks = {f"cycle-{points.index(point)}": point for point in curves}
        samples = {look: curves[point][0] for look, point in looks.items()}
        weights = {look: curves[point][1] for look, point in looks.items()}
        if not any(len(values) for values in samples.values()):
            continue
        yield Figure(
            f"delay-{file_name(traffic)}-{direction}",
            PlotSpec(
                name=f"delay-{file_name(traffic)}-{direction}",
                title=f"Access delay of {traffic}, {direction}",
                panels=(
                    cdf_panel(
                        samples,
                        weights=weights,
                        labels=looks,
                        quantity="access delay",
                        unit="ms",
                        scale="log",
                    ),
                    ccdf_panel(
                        samples, weights=weights, labels=looks, quantity="access delay", unit="ms"
                    ),
                ),
                columns=2,
                height=75,
                description=f"Distribution of access delay of {traffic}, {direction}, and its tail.",
            ),
            "Left: share of packets at or below a delay. Right: the tail. All runs together."
            + (f" The first {MOST_CURVES} points." if len(points) > MOST_CURVES else ""),
            "delay",
        )
