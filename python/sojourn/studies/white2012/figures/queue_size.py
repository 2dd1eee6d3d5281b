"""Figures 8 and 9: how full the short queue is.

Source: White and Padden 2012, section 4.3.2; the document's plots themselves were not read.
Deviations: none known.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sojourn.plots.cdf import cdf_panel
from sojourn.plots.spec import Band, Mark, Note, PlotSpec, Rule
from sojourn.plots.timeseries import Trace, timeseries_panel
from sojourn.studies.figure import Figure
from sojourn.studies.view import StudyView
from sojourn.studies.white2012.cases import DROPTAIL_21, point_of
from sojourn.studies.white2012.figures.alone import WINDOW_S, first_seed


def figure_8(view: StudyView) -> Figure:
    """Queue size over time in D04 with 21 packets."""
    series = first_seed(view, point_of("04", DROPTAIL_21))
    group = 10
    count = len(series.start_s) // group

    def grouped(values: np.ndarray) -> np.ndarray:
        return values[: count * group].reshape(count, group)

    start = series.start_s[: count * group : group]
    mean = grouped(series.backlog_packets_mean).mean(axis=1)
    largest = grouped(series.backlog_packets_max).max(axis=1)
    least = grouped(series.backlog_packets_mean).min(axis=1)
    limit = Rule(21.0, "y", "limit", "limit")
    whole = timeseries_panel(
        (Trace(start, mean, DROPTAIL_21, "mean of 1 s", "normal", solid=True),),
        quantity="queue",
        unit="packets",
        title="whole run",
        until_s=float(series.end_s[-1]),
        high=24.0,
        extras=(limit,),
        bands=(Band(start, least, largest, DROPTAIL_21, "least mean of 100 ms to longest"),),
    )
    near = timeseries_panel(
        (
            Trace(
                series.start_s,
                series.backlog_packets_mean,
                DROPTAIL_21,
                "mean of 100 ms",
                solid=True,
            ),
        ),
        quantity="queue",
        unit="packets",
        title="first 20 s",
        until_s=WINDOW_S,
        high=24.0,
        extras=(limit,),
    )
    plot = PlotSpec(
        name="figure-8",
        title="Figure 8. Queue size over time, D04 (21 packets)",
        panels=(whole, near),
        columns=2,
        height=68,
        share_y=True,
        legend="below",
        description="Packets in the queue of 21 packets with five uploads at 20 ms: nearly full all "
        "the time.",
    )
    return Figure(
        "figure-8",
        plot,
        "Five connections keep the short queue nearly full: what else arrives finds little room.",
    )


def figure_9(view: StudyView) -> Figure:
    """Distribution of the queue size in D04 with 21 packets."""
    rows = (
        view.table("occupancy", point_of("04", DROPTAIL_21))
        .filter(pl.col("link") == "upstream")
        .group_by("packets")
        .agg(pl.col("time_ns").sum())
        .sort("packets")
    )
    packets = rows["packets"].to_numpy().astype(float)
    time = rows["time_ns"].to_numpy().astype(float)
    share = float(time[packets >= 16].sum() / time.sum())
    marks: tuple[Mark, ...] = (
        Rule(16.0, "x", "five free places"),
        Note(1.0, 0.88, f"16 packets or more: ours {100 * share:.1f} % of the time, text 98.5 %"),
    )
    panel = cdf_panel(
        {DROPTAIL_21: packets},
        weights={DROPTAIL_21: time},
        quantity="queue",
        unit="packets",
        low=0.0,
        high=22.0,
        ticks=(0, 5, 10, 15, 20),
        extras=marks,
    )
    plot = PlotSpec(
        name="figure-9",
        title="Figure 9. Distribution of the queue size, D04 (21 packets)",
        panels=(panel,),
        height=68,
        width=120,
        description=f"Share of the time at or below each queue size; 16 packets or more for "
        f"{100 * share:.1f} % of the time.",
    )
    return Figure(
        "figure-9",
        plot,
        "Weighted by time, all runs together.",
    )
