"""What Klatsky 2016 needs beyond its data: a trial put together from tests, and its regression.

Source: Klatsky, Taylor and Kane-Esrig 2016, "What metrics did we look at?" and "How did we analyze the data?".
Deviations: tests under DOCSIS-PIE and FQ-CoDel, which the talk did not have, are set against the means over the three
weeks of fixed buffers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import numpy as np
import polars as pl

from sojourn.answers.asking import Ask
from sojourn.answers.view import NotRecorded, StudyView
from sojourn.field.analysis import Analysis, analyse
from sojourn.field.deltas import FEWEST_TESTS, SLOTS
from sojourn.field.figures import figures
from sojourn.field.population import DEFAULT, Home, Population, circumstances, draw_homes
from sojourn.field.records import FieldTest, frame_of_tests
from sojourn.field.tables import headlines
from sojourn.plots.spec import PlotSpec

BUFFERS = ("8KB", "48KB", "96KB")
"""Weeks 1, 2, 3 of the trial, and what came after."""

MANAGERS = ("docsis-pie", "fq-codel")

HOMES = 50
"""Homes by the part of the study that they are for, and what decides them."""

SEED = 1
POPULATIONS: dict[str, tuple[str, Population]] = {"trial": ("home", DEFAULT)}

FIRST_DAY = datetime(2016, 5, 2, tzinfo=UTC)
"""A Monday of 2016; chosen, since the talk names no date."""

TESTS_A_DAY = len(SLOTS)

CALENDAR = ("day", "hour")

STREAMS = {"up": "upload", "down": "download"}


def homes_of(part: str) -> list[Home]:
    """Return the homes of a part of the study."""
    return draw_homes(HOMES, SEED, POPULATIONS[part][1])


@lru_cache(maxsize=8)
def trial(view: StudyView, part: str, direction: str) -> pl.DataFrame:
    """Return all tests of a trial in one direction, as the importer returns those of a real one.

    Raises `NotRecorded` if none was run.
    """
    name, population = POPULATIONS[part]
    tests: list[FieldTest] = []
    for number, home in enumerate(homes_of(part), start=1):
        for week, treatment in enumerate((*BUFFERS, *MANAGERS), start=1):
            point = f"{part}/{direction}-{treatment}/{name}-{number:02d}"
            if point in view.points:
                tests += _week(view, point, home, number, week, treatment, direction, population)
    if not tests:
        message = f"needs the points {part}/{direction}-*"
        raise NotRecorded(message)
    return frame_of_tests(tests)


def _week(
    view: StudyView,
    point: str,
    home: Home,
    number: int,
    week: int,
    treatment: str,
    direction: str,
    population: Population,
) -> list[FieldTest]:
    """Return a home's tests of one week, without those that are missing."""
    streams = [
        view.values(point, f"test-{STREAMS[direction]}-{mark}", "goodput_loaded") for mark in ("be", "bk", "cs5", "ef")
    ]
    pings = [view.values(point, f"test-ping-udp-{mark}", "rtt_mean") for mark in ("be", "bk", "ef")]
    throughput, latency = np.mean(streams, axis=0), np.mean(pings, axis=0)
    tests: list[FieldTest] = []
    # Who left in the third week is not there when the managers of queues come in its place.
    calendar = min(week, len(BUFFERS))
    slots = list(SLOTS.values())
    for place, seed in enumerate(view.seeds(point)):
        day = 7 * (calendar - 1) + place // TESTS_A_DAY
        around = circumstances(population, SEED, number, week, direction, seed)
        if around.is_missing or day >= home.left_after_days:
            continue
        began = FIRST_DAY + timedelta(days=7 * (week - 1) + place // TESTS_A_DAY)
        slot = slots[place % TESTS_A_DAY]
        tests.append(
            FieldTest(
                probe=home.name,
                time=began + timedelta(hours=slot.hour, seconds=around.later_s + home.clock_s),
                direction="up" if direction == "up" else "down",
                throughput_mbps=float(throughput[place] * around.throughput),
                latency_ms=float(latency[place] * around.latency),
                latency_kind="UDP",
                latency_loaded_ms=None,
                latency_idle_ms=None,
                samples=0,
                expected_samples=0,
                treatment=treatment,
                week=week,
                zone="",
                flags="",
                test=f"rrul_{direction}",
                tool="flent",
                file=f"{point}/{seed}",
            )
        )
    return tests


@lru_cache(maxsize=16)
def deltas(view: StudyView, part: str, direction: str, metric: str) -> pl.DataFrame:
    """Return percent deltas from each home's mean over the three weeks: `probe, treatment, delta`."""
    column = {"throughput": "throughput_mbps", "latency": "latency_ms"}[metric]
    tests = trial(view, part, direction)
    means = tests.filter(pl.col("treatment").is_in(BUFFERS)).group_by("probe").agg(mean=pl.col(column).mean())
    return tests.join(means, on="probe", maintain_order="left").select(
        "probe", "treatment", delta=100.0 * (pl.col(column) / pl.col("mean") - 1.0)
    )


def _by_home(view: StudyView, point: str, metric: str) -> tuple[pl.DataFrame, str]:
    """Return mean deltas by home and treatment, of homes with tests enough in each week, and the treatment."""
    part, middle, _ = point.split("/")
    direction, _, treatment = middle.partition("-")
    rows = deltas(view, part, direction, metric)
    fewest = min(FEWEST_TESTS, math.ceil(len(view.seeds(point)) / 2))
    means = (
        rows.group_by("probe", "treatment")
        .agg(delta=pl.col("delta").mean(), tests=pl.len())
        .filter(pl.col("tests") >= fewest)
        .pivot("treatment", index="probe", values="delta", sort_columns=True)
    )
    if not set(BUFFERS) <= set(means.columns):
        message = "needs all three weeks"
        raise NotRecorded(message)
    return means.drop_nulls(list(BUFFERS)).sort("probe"), treatment


def effect(view: StudyView, point: str, metric: str) -> np.ndarray:
    """Difference of a treatment's mean delta from that of 8 KB, one number per home, points."""
    means, treatment = _by_home(view, point, metric)
    if treatment not in means.columns:
        message = f"needs the treatment {treatment}"
        raise NotRecorded(message)
    return (means[treatment] - means[BUFFERS[0]]).drop_nulls().to_numpy()


def level(view: StudyView, point: str, metric: str) -> np.ndarray:
    """Mean delta of a treatment, one number per home, percent."""
    means, treatment = _by_home(view, point, metric)
    if treatment not in means.columns:
        message = f"needs the treatment {treatment}"
        raise NotRecorded(message)
    return means[treatment].drop_nulls().to_numpy()


def spread(view: StudyView, point: str, metric: str) -> float:
    """Interquartile range of all deltas of a treatment, percent."""
    part, middle, _ = point.split("/")
    direction, _, treatment = middle.partition("-")
    found = deltas(view, part, direction, metric).filter(pl.col("treatment") == treatment)
    low, high = np.quantile(found["delta"].to_numpy(), (0.25, 0.75))
    return float(high - low)


def calendar(view: StudyView, point: str, metric: str) -> float:
    """Return the smallest p value of days and hours for a target, times the number of such tests in the whole trial."""
    direction = point.split("/")[1].partition("-")[0]
    analysis = analysis_of(view)
    found = analysis.target(f"{STREAMS[direction]}_{metric}")
    tests = {
        target.target.name: [test for test in target.fit.factors if test.factor in CALENDAR]
        for target in analysis.targets
    }
    if found is None or not tests[found.target.name]:
        message = "needs tests at several hours"
        raise NotRecorded(message)
    smallest = min(test.p if math.isnan(test.cluster_p) else test.cluster_p for test in tests[found.target.name])
    return min(1.0, smallest * sum(len(many) for many in tests.values()))


# ---- in words and pictures ---------------------------------------------------------------------------


@lru_cache(maxsize=2)
def analysis_of(view: StudyView) -> Analysis:
    """Analyse the three weeks of the simulated trial as a real one."""
    both: list[pl.DataFrame] = []
    for direction in STREAMS:
        tests = trial(view, "trial", direction)
        both.append(tests.filter(pl.col("treatment").is_in(BUFFERS)))
    return analyse(pl.concat(both))


def findings(ask: Ask) -> Sequence[str]:
    """Say what `trial analyse` says of it."""
    return headlines(analysis_of(ask.view))


def managers(ask: Ask) -> Sequence[str]:
    """Say what the queue managers did in the same homes."""
    said: list[str] = []
    for treatment, title in zip(MANAGERS, ("DOCSIS-PIE", "FQ-CoDel"), strict=True):
        point = f"trial/up-{treatment}/home-01"
        latency = float(np.mean(level(ask.view, point, "latency")))
        throughput = float(np.mean(level(ask.view, point, "throughput")))
        over = 100 + float(np.mean(level(ask.view, "trial/up-96KB/home-01", "latency")))
        large = 100 + float(np.mean(level(ask.view, "trial/up-96KB/home-01", "throughput")))
        said.append(
            f"{title}, without tuning: {100 * (100 + latency) / over:.0f} % of the upload latency of 96 KB, "
            f"{100 * (100 + throughput) / large:.0f} % of its throughput."
        )
    return said


def _figure(ask: Ask, item: str) -> PlotSpec:
    found = [one.plot for one in figures(analysis_of(ask.view)) if one.item == item]
    if not found:
        message = f"the trial has too few tests for {item}"
        raise NotRecorded(message)
    return found[0]


def deltas_figure(ask: Ask) -> PlotSpec:
    """Draw the distributions of percent deltas by week."""
    return _figure(ask, "percent-deltas")


def homes_figure(ask: Ask) -> PlotSpec:
    """Draw each home."""
    return _figure(ask, "homes")


def sweet_spot_figure(ask: Ask) -> PlotSpec:
    """Draw latency against throughput of all five treatments."""
    from sojourn.plots.spec import Axis, Dots, Line, Mark, Panel
    from sojourn.stats.estimate import mean_of

    marks: list[Mark] = []
    for number, treatment in enumerate((*BUFFERS, *MANAGERS)):
        point = f"trial/up-{treatment}/home-01"
        try:
            x, y = (mean_of(level(ask.view, point, name)) for name in ("latency", "throughput"))
        except NotRecorded:
            continue
        name = ask.points.short("treatment", treatment)
        look = f"cycle-{number}"
        middle = np.array([x.value or 0.0])
        if y.low is not None and y.high is not None:
            marks.append(Line(np.repeat(middle, 2), np.array([y.low, y.high]), look, solid=True))
        low, high = (None if end is None else np.array([end]) for end in (x.low, x.high))
        marks.append(Dots(middle, np.array([y.value or 0.0]), look, name, low=low, high=high, texts=(name,)))
    if not marks:
        message = "needs the trial"
        raise NotRecorded(message)
    return PlotSpec(
        name="sweet-spot",
        title="Latency against throughput of uploads",
        panels=(
            Panel(
                Axis("mean percent delta of latency (left is better)", "%"),
                Axis("mean percent delta of throughput", "%"),
                tuple(marks),
            ),
        ),
        width=150.0,
        height=90.0,
        description="One point per treatment: mean percent delta of throughput over that of latency",
    )
