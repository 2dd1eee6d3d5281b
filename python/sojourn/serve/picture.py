"""The picture on a lesson's page for teachers: the delay on the line of what the lesson listens to, over time, in two of its runs.

It is drawn from runs of this engine when a site is exported, or when the server is asked for it.
"""

from __future__ import annotations

from sojourn.scenario.scenario_file import load_scenario
from sojourn.serve.lessons import Lesson
from sojourn.simulation.engine import simulate

PICTURE_SEED = 1
"""The seed of both runs: that of the numbers in the lesson's text."""

STEP_S = 0.25
"""Width of a step, which shows the longest delay in it; chosen: 240 steps in a minute."""

LOOKS = ("blue solid", "orange dashed")
"""Looks of the two runs, which can be told apart in print, too."""


def delay_picture(lesson: Lesson) -> bytes:
    """Return the picture as SVG."""
    import polars as pl

    from sojourn.plots.backends import mpl
    from sojourn.plots.spec import PlotSpec
    from sojourn.plots.timeseries import Trace, timeseries_panel

    base = load_scenario(lesson.scenario)
    traces: list[Trace] = []
    until_s = base.duration_s
    for name, look in zip(lesson.teacher["picture"], LOOKS, strict=True):
        settings = lesson.runs[name]
        scenario = base.with_settings(*(f"{path}={value}" for path, value in settings.items()))
        records = simulate(scenario.compiled, PICTURE_SEED)
        datagrams = pl.DataFrame(records.table("datagrams"))
        heard = {of: value for subject, of, value, _ in records.metrics() if subject == lesson.listener}
        up = heard.get("delay_up_min")
        shortest, direction = (heard["delay_down_min"], "downstream") if up is None else (up, "upstream")
        arrived = datagrams.filter(traffic=lesson.listener, direction=direction).drop_nulls("arrived_ns")
        delays = arrived.select(
            (pl.col("sent_ns") / 1e9 // STEP_S * STEP_S).alias("time"),
            ((pl.col("arrived_ns") - pl.col("sent_ns")) / 1e6).alias("delay"),
        )
        # Beyond the line a packet only propagates, which takes each the same: the table and the lesson are of the line.
        delays = delays.with_columns(pl.col("delay") - pl.col("delay").min() + shortest)
        steps = delays.group_by("time").agg(pl.col("delay").max()).sort("time")
        traces.append(Trace(steps["time"].to_numpy(), steps["delay"].to_numpy(), look, lesson.told_apart(name)))
        until_s = scenario.duration_s
    panel = timeseries_panel(traces, quantity="delay on the line", unit="ms", until_s=until_s)
    plot = PlotSpec("delay", "", (panel,), width=150, height=52, legend="below")
    return mpl.svg(plot).encode()
