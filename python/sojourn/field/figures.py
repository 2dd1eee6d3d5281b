"""Pictures of a trial: percent deltas by treatment, the sweet spot, homes one by one, coverage."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from sojourn.answers.figure import Figure
from sojourn.field.analysis import Analysis, TargetAnalysis, ordered_levels
from sojourn.field.libraries import scipy_stats
from sojourn.plots.box import box_panel
from sojourn.plots.spec import Axis, Dots, Line, Mark, Panel, PlotSpec, Rule

FEWEST_HOMES = 3
"""Fewer homes make no distribution of homes; chosen."""


def figures(analysis: Analysis) -> list[Figure]:
    """Return the figures that a trial's tests allow, in the order of reading."""
    found = [_deltas(analysis)]
    spot = _sweet_spot(analysis)
    if spot is not None:
        found.append(spot)
    if any(target.rows["probe"].n_unique() >= FEWEST_HOMES for target in analysis.targets):
        found.append(_homes(analysis))
    found.append(_coverage(analysis))
    return found


def _look(level: int) -> str:
    return f"cycle-{level}"


def _deltas(analysis: Analysis) -> Figure:
    panels: list[Panel] = []
    for target in analysis.targets:
        groups = [
            (
                period.level,
                _look(number),
                target.rows.filter(pl.col(target.factor).cast(pl.String) == period.level)["delta"].to_numpy(),
            )
            for number, period in enumerate(target.periods)
        ]
        panel = box_panel(groups, quantity="percent delta", unit="%", title=target.target.title)
        zero = Rule(0.0, "x", look="grid")
        panels.append(Panel(panel.x, panel.y, (zero, *panel.marks), panel.title))
    rows = math.ceil(len(panels) / 2)
    plot = PlotSpec(
        name="percent-deltas",
        title="Percent deltas by treatment",
        panels=tuple(panels),
        columns=min(2, len(panels)),
        height=18.0 + rows * (14.0 + 9.0 * max(len(t.periods) for t in analysis.targets)),
        description="Box plots of percent deltas from each home's mean, one panel per target",
        caption="Each test against the mean of its own home.",
    )
    return Figure(
        "percent-deltas",
        plot,
        "Each test against the mean of its own home: boxes hold the middle half, whiskers reach the last test "
        "within 1.5 box lengths.",
        "overview",
    )


def _sweet_spot(analysis: Analysis) -> Figure | None:
    throughput, latency = analysis.target("upload_throughput"), analysis.target("upload_latency")
    if throughput is None or latency is None or throughput.factor != latency.factor:
        return None
    x: list[float] = []
    y: list[float] = []
    names: list[str] = []
    x_ends: list[tuple[float, float] | None] = []
    y_ends: list[tuple[float, float] | None] = []
    for period in latency.periods:
        match = [p for p in throughput.periods if p.level == period.level]
        if not match:
            continue
        names.append(period.level)
        x.append(period.delta_mean)
        y.append(match[0].delta_mean)
        x_ends.append(_interval_of(latency, period.level))
        y_ends.append(_interval_of(throughput, period.level))
    marks: list[Mark] = []
    for number, name in enumerate(names):
        if (ends := y_ends[number]) is not None:
            marks.append(Line(np.repeat(x[number], 2), np.array(ends), _look(number), solid=True))
        low, high = (None, None) if (ends := x_ends[number]) is None else np.array(ends)[:, None]
        marks.append(
            Dots(np.array([x[number]]), np.array([y[number]]), _look(number), name, low=low, high=high, texts=(name,))
        )
    plot = PlotSpec(
        name="sweet-spot",
        title="Latency against throughput of uploads",
        panels=(
            Panel(
                Axis("mean percent delta of latency (left is better)", "%"),
                Axis("mean percent delta of throughput", "%"),
                tuple(marks),
            ),
        ),
        width=130.0,
        height=80.0,
        description="One point per treatment: mean percent delta of throughput over that of latency",
    )
    return Figure(
        "sweet-spot",
        plot,
        "Up and to the left is better."
        + (" Bars: 95 % intervals of the mean over homes." if any(x_ends + y_ends) else ""),
        "overview",
    )


def _interval_of(target: TargetAnalysis, level: str) -> tuple[float, float] | None:
    """Return the 95 % interval of a level's mean over homes; `None` with one home."""
    stats = scipy_stats()

    means = (
        target.rows.filter(pl.col(target.factor).cast(pl.String) == level)
        .group_by("probe")
        .agg(pl.col("delta").mean())["delta"]
        .to_numpy()
    )
    if len(means) < 2:
        return None
    half = float(stats.t.ppf(0.975, len(means) - 1) * means.std(ddof=1) / math.sqrt(len(means)))
    return float(means.mean()) - half, float(means.mean()) + half


def _homes(analysis: Analysis) -> Figure:
    panels: list[Panel] = []
    for target in analysis.targets:
        levels = [period.level for period in target.periods]
        means = target.rows.group_by("probe", pl.col(target.factor).cast(pl.String).alias("level")).agg(
            pl.col("delta").mean()
        )
        marks: list[Mark] = [Rule(0.0, "y", look="grid")]
        for _, home in sorted(means.partition_by("probe", as_dict=True).items()):
            by_level = dict(zip(home["level"].to_list(), home["delta"].to_list(), strict=True))
            values = np.array([by_level.get(level, math.nan) for level in levels], dtype=float)
            marks.append(Line(np.arange(len(levels), dtype=float), values, "unjudged", weight="thin", solid=True))
        whole = np.array([period.delta_mean for period in target.periods])
        marks.append(Line(np.arange(len(levels), dtype=float), whole, "cycle-1", weight="bold", solid=True))
        panels.append(
            Panel(
                Axis(target.factor, ticks=tuple((float(k), level) for k, level in enumerate(levels)),
                     low=-0.2, high=len(levels) - 0.8),
                Axis("mean percent delta", "%"),
                tuple(marks),
                title=target.target.title,
            )
        )  # fmt: skip
    rows = math.ceil(len(panels) / 2)
    plot = PlotSpec(
        name="homes",
        title="Home by home",
        panels=tuple(panels),
        columns=min(2, len(panels)),
        height=12.0 + 52.0 * rows,
        description="One thin line per home: its mean percent delta under each treatment; bold: all homes",
    )
    return Figure("homes", plot, "One thin line per home, bold the mean of all.", "delay")


def _coverage(analysis: Analysis) -> Figure:
    rows = pl.concat([t.rows.select("probe", "time") for t in analysis.targets]).unique()
    probes = ordered_levels([str(p) for p in rows["probe"].unique().to_list()])
    place = {probe: len(probes) - 1 - number for number, probe in enumerate(probes)}
    first = rows["time"].min()
    elapsed = (pl.col("time") - pl.lit(first)).dt.total_seconds()
    unit, seconds = _time_unit(float(rows.select(elapsed.max()).item()))
    moments = rows.select(x=elapsed / seconds, y=pl.col("probe").replace_strict(place, return_dtype=pl.Float64))
    every = max(1, len(probes) // 25)
    plot = PlotSpec(
        name="coverage",
        title="Which homes reported when",
        panels=(
            Panel(
                Axis("time since the first test", unit),
                Axis(low=-0.6, high=len(probes) - 0.4, ticks=tuple((float(place[p]), p) for p in probes[::every])),
                (Dots(moments["x"].to_numpy(), moments["y"].to_numpy(), "cycle-0", filled=True),),
            ),
        ),
        height=min(150.0, 28.0 + 3.2 * len(probes)),
        description="One dot per test: homes from top to bottom, time from left to right",
    )
    return Figure("coverage", plot, "One dot per test. Gaps are tests that were not run or not received.", "delay")


def _time_unit(span: float) -> tuple[str, float]:
    """Return the unit to show a span of `seconds` in, and its length in seconds."""
    units = (("d", 86_400.0), ("h", 3600.0), ("min", 60.0))
    return next(((name, length) for name, length in units if span >= 2 * length), ("s", 1.0))
