"""A result of White 2013 made up from what the document says, in which every claim holds.

Tests change single values of it and see which verdicts follow. No engine is involved, and no file.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

import polars as pl

from sojourn.answers.view import StudyView
from sojourn.base.errors import RecordError
from sojourn.study.result import METRICS_SCHEMA, StudyResult
from studies.cases_2013 import (
    BITTORRENT,
    BUFFER_CONTROL,
    BUFFERBLOAT,
    CODEL,
    LOADS,
    MANAGERS,
    PIE,
    RF_LEVELS,
    SFQ,
    SFQ_CODEL,
    SFQ_PIE,
    point_of,
)
from studies.shapes_2013 import SHAPES, Shape

SEEDS = (1, 2)

SLOWER = {"none": 1.0, "light": 2.0, "moderate": 2.94}
"""Delay of a full buffer under congestion over that without: 5/2.5 and 5/1.7."""


@dataclass(frozen=True)
class Delays:
    """Delays in ms of 1000 packets: first percentile, median, 95th and 99th percentile, largest."""

    first: float
    middle: float
    high: float
    top: float
    largest: float

    @property
    def rows(self) -> list[tuple[float, int]]:
        """Delays and how many packets had them."""
        values = (self.first, self.middle, self.high, self.top, self.largest)
        return list(zip(values, (10, 840, 110, 30, 10), strict=True))


IDLE = Delays(5.5, 7.0, 8.0, 8.5, 9.0)


def delays_of(manager: str, load: str, rf: str) -> Delays:
    """Return what sections 4.1.1 and 5 say of a condition, in numbers."""
    slower, group = SLOWER[rf], LOADS[load].group
    if load == "x01":
        return IDLE
    if manager == BUFFERBLOAT:
        middle = 150.0 if load in BITTORRENT else 900.0 + 30 * slower
        return Delays(5.5, middle, 970 * slower, 990 * slower, 1003 * slower)
    if manager == BUFFER_CONTROL:
        return Delays(5.5, 44 + 2 * slower, 49 * slower, 51 * slower, 53 * slower)
    if manager == CODEL:
        return Delays(5.5, 14, 15 + 12 * slower, 60, 200)
    if manager == PIE:
        return Delays(5.5, 10, 19 + 2 * slower, 40, 120)
    heavy = {"x12": 30.0, "x13": 30.0, "x14": 40.0, "x15": 40.0, "x16": 80.0, "x17": 90.0}
    high = heavy.get(load, 8.0 + slower)
    if manager == SFQ and group == "heavy":
        high *= 2
    return Delays(1.1, 3.0 + (group == "heavy"), high, 1.5 * high, 300)


def loss_of(manager: str, load: str, rf: str) -> float:
    """Return the percentage of game packets that section 4.1.2 says are lost."""
    step = ("light", "moderate", "heavy").index(LOADS[load].group)
    few = {BUFFERBLOAT: (0.1, 0.3, 0.5), BUFFER_CONTROL: (0.2, 0.8, 1.5), CODEL: (1.0, 2.5, 5.0), PIE: (0.2, 0.5, 1.0)}
    if manager in few:
        return 10.0 if manager == PIE and load in BITTORRENT else few[manager][step]
    heavy = {"x12": 0.5, "x13": 0.5, "x14": 5.0, "x15": 5.0, "x16": 11.0, "x17": 28.0}
    return heavy.get(load, 0.001 + 0.001 * step) * (1 + 0.05 * (SLOWER[rf] - 1))


def score_of(manager: str, load: str, rf: str) -> float:
    """Return the score that section 4.3 gives a call."""
    group = LOADS[load].group
    if load == "x01":
        return 4.4
    if manager == BUFFERBLOAT:
        return 1.1
    if manager == BUFFER_CONTROL:
        return {"none": 4.3, "light": 3.9, "moderate": 3.5}[rf]
    if manager == CODEL:
        return 3.8 if group == "heavy" else 4.05
    if manager == PIE:
        return 3.6 if load in BITTORRENT else 4.3
    return 3.9 if group == "heavy" else 4.38


LOAD_TIMES = {BUFFERBLOAT: 16.0, BUFFER_CONTROL: 4.0, CODEL: 2.8, SFQ_CODEL: 1.7, PIE: 1.9}
"""Median page load time in s."""

Metrics = dict[tuple[str, str, str], float]


class World:
    """Metrics, delays, pages and series that tests may change before they look at them."""

    def __init__(self) -> None:
        self.metrics: Metrics = {}
        self.delays: dict[tuple[str, str], Delays] = {}
        self.times: dict[str, float] = {}
        self.shapes: dict[str, Shape] = {name: make() for name, make in SHAPES.items()}
        self.losses_beside = {0: 0.5, 1: 20.0, 2: 28.0, 3: 34.0}
        """Loss in % of the games in BitTorrent, by the number of uploads in their sub-flow."""
        self.duration_s = 7200.0
        self.quick = False
        for load in LOADS:
            for rf in RF_LEVELS:
                for manager in MANAGERS:
                    self._condition(load, rf, manager)
            for manager in (SFQ, SFQ_PIE):
                self._game(point_of(load, "none", manager), manager, load, "none")
        self.metrics[point_of("x16", "none", SFQ_PIE), "game", "lost"] = 14.0
        self._pages()
        self._buffers()
        self._others()

    # ---- filling -------------------------------------------------------------------------------

    def _game(self, point: str, manager: str, load: str, rf: str) -> None:
        self.set_delays(point, delays_of(manager, load, rf))
        middle = self.delays[point, "upstream"].middle
        self.metrics[point, "game", "delay_mean"] = middle * (0.95 if LOADS[load].uploads == 1 else 1)
        self.metrics[point, "game", "lost"] = loss_of(manager, load, rf)
        for name in ("mos", "mos_loss_only"):
            self.metrics[point, "game", name] = score_of(manager, load, rf)

    def _condition(self, load: str, rf: str, manager: str) -> None:
        point = point_of(load, rf, manager)
        self._game(point, manager, load, rf)
        self.times[point] = LOAD_TIMES[manager]
        self.metrics[point, "page", "page_load_time_mean"] = LOAD_TIMES[manager]
        per_hour = {"light": 700.0, "moderate": 300.0, "heavy": 900.0}[LOADS[load].group]
        self.metrics[point, "page", "pages_completed"] = per_hour * self.duration_s / 3600
        if LOADS[load].uploads:
            goodput = {BUFFERBLOAT: 4.8, SFQ_CODEL: 4.68}.get(manager, 4.7)
            self.metrics[point, "upload", "goodput"] = goodput
            self.metrics[point, "upload", "forwarded_volume"] = goodput * self.duration_s / 8e-3

    def _pages(self) -> None:
        for added in (0, 50, 100, 200):
            for year, start in (("2012", 2.7), ("2013", 1.45)):
                self.set_page(f"page-{year}-add-{added}", start + 14 * added / 1000)
        for side in ("upstream", "downstream"):
            self.set_page(f"page-2013-add-100-later-{side}", 2.85)
        for rate, time in ((2, 3.5), (4, 2.1), (6, 1.7), (8, 1.6), (10, 1.5), (20, 1.45)):
            self.set_page(f"page-2013-down-{rate}", time)
        for load in ("x02", "x05", "x10", "x13", "x16"):
            for manager in MANAGERS:
                group = LOADS[load].group
                hurt = (manager == CODEL and group != "light") or (manager, group) == (SFQ_CODEL, "heavy")
                point = f"{load}-names-{manager}"
                mean = LOAD_TIMES[manager] + (0.5 if hurt else 0.1)
                self.metrics[point, "page", "page_load_time_mean"] = mean

    def _buffers(self) -> None:
        for load in ("x02", "x04"):
            for size in (50, 100, 250, 500, 1000, 2000, 4000):
                point = f"{load}-buffer-{size}ms"
                self.metrics[point, "game", "delay_mean"] = 0.9 * size
                self.set_page(point, 14 * size / 1000)

    def _others(self) -> None:
        self.metrics["x04-light-codel-two-queues", "game", "delay_p95"] = 130.0
        for load in ("x02", "x03"):
            for manager in (BUFFERBLOAT, BUFFER_CONTROL):
                one = self.metrics[point_of(load, "none", manager), "game", "delay_mean"]
                self.metrics[f"sessions/{load}-{manager}", "game", "delay_mean"] = 1.05 * one
        for load, household in LOADS.items():
            if household.group in ("light", "moderate") or load in ("x14", "x15"):
                for rf in RF_LEVELS:
                    self.metrics[f"lottery/{load}-{rf}", "game", "lost"] = loss_of(SFQ_CODEL, load, rf)
        for load in ("x14", "x16"):
            for bins, factor in ((8, 2.0), (16, 1.4), (32, 1.0), (64, 1.3), (128, 1.6)):
                self.metrics[f"{load}-bins-{bins}", "game", "lost"] = 5 * factor
                self.metrics[f"{load}-bins-{bins}", "game", "delay_p95"] = 40 * factor
        for name, rate in (
            ("download-no-upload", 19.4),
            ("download-with-upload", 0.3),
            ("download-with-upload-acknowledgements-first", 19.1),
        ):
            self.metrics[name, "download", "goodput_downstream"] = rate
        self.metrics["ledbat-against-cubic", "ledbat", "goodput"] = 0.2
        self.metrics["ledbat-against-cubic", "upload", "goodput"] = 4.6
        for name, middle in (
            ("downstream-no-download", 1.0),
            ("downstream-with-download", 640.0),
            ("downstream-with-download-codel", 9.9),
        ):
            self.delays[name, "downstream"] = replace(IDLE, middle=middle)

    # ---- changing ------------------------------------------------------------------------------

    def set_delays(self, point: str, delays: Delays) -> None:
        """Give a game its delays, as a histogram and as metrics."""
        self.delays[point, "upstream"] = delays
        for name, value in (
            ("delay_min", delays.first),
            ("delay_p01", delays.first),
            ("delay_p50", delays.middle),
            ("delay_p95", delays.high),
            ("delay_max", delays.largest),
        ):
            self.metrics[point, "game", name] = value

    def change_delays(self, chosen: Callable[[str], bool], **changes: float) -> None:
        """Change the delays of all points whose names are chosen."""
        for point, direction in list(self.delays):
            if direction == "upstream" and chosen(point):
                self.set_delays(point, replace(self.delays[point, direction], **changes))

    def set_page(self, point: str, seconds: float) -> None:
        """Give a point its median page load time."""
        self.metrics[point, "page", "page_load_time_median"] = seconds

    def change(self, subject: str, metric: str, value: float, chosen: Callable[[str], bool]) -> None:
        """Change a metric of all points whose names are chosen."""
        for point, owner, name in list(self.metrics):
            if (owner, name) == (subject, metric) and chosen(point):
                self.metrics[point, owner, name] = value

    def drop(self, point: str) -> None:
        """Forget a point."""
        self.metrics = {key: v for key, v in self.metrics.items() if key[0] != point}
        self.delays = {key: v for key, v in self.delays.items() if key[0] != point}
        self.shapes.pop(point, None)
        self.times.pop(point, None)

    # ---- looking -------------------------------------------------------------------------------

    def view(self) -> StudyView:
        """Open the result."""
        return StudyView(cast("StudyResult", Result(self)))

    def points(self) -> list[str]:
        """All points."""
        named = {point for point, _, _ in self.metrics} | {point for point, _ in self.delays}
        return sorted(named | set(self.shapes) | set(self.times))

    def length_s(self, point: str) -> float:
        """Return the simulated seconds of a point's runs."""
        shape = self.shapes.get(point)
        return shape.seconds if shape and not self.quick else self.duration_s


class Result:
    """What a view reads of a result, from memory."""

    def __init__(self, world: World) -> None:
        self.reduced = "quick" if world.quick else ""
        self.is_unfinished = False
        points = world.points()
        self.runs = pl.DataFrame(
            {
                "point": [point for point in points for _ in SEEDS],
                "seed": [seed for _ in points for seed in SEEDS],
                "simulated_s": [world.length_s(point) for point in points for _ in SEEDS],
            },
            schema_overrides={"seed": pl.UInt64},
        )
        keys = list(world.metrics)
        self.metrics = pl.DataFrame(
            {
                "study": ["white2013"] * (len(keys) * len(SEEDS)),
                "point": [key[0] for key in keys for _ in SEEDS],
                "seed": [seed for _ in keys for seed in SEEDS],
                "subject": [key[1] for key in keys for _ in SEEDS],
                "metric": [key[2] for key in keys for _ in SEEDS],
                "value": [value for value in world.metrics.values() for _ in SEEDS],
                "unit": [""] * (len(keys) * len(SEEDS)),
            },
            schema=METRICS_SCHEMA,
        )
        self._world = world

    def records(self, table: str) -> pl.LazyFrame:
        """Return one record table."""
        makers: dict[str, Callable[[World], pl.DataFrame]] = {
            "delay_histogram": _histograms,
            "flows": _flows,
            "pages": _pages,
            "series": _series,
        }
        if table not in makers:
            message = f"no table {table}"
            raise RecordError(message)
        return makers[table](self._world).lazy()


def _histograms(world: World) -> pl.DataFrame:
    rows = [
        (point, seed, "game", direction, round(value * 1e6), packets)
        for (point, direction), delays in world.delays.items()
        for seed in SEEDS
        for value, packets in delays.rows
    ]
    names = ["point", "seed", "traffic", "direction", "delay_ns", "packets"]
    return pl.DataFrame(rows, schema=names, orient="row")


def _flows(world: World) -> pl.DataFrame:
    """Game n of BitTorrent is in sub-flow n, beside the uploads that it shares it with."""
    rows = [
        row
        for load in BITTORRENT
        for rf in RF_LEVELS
        for seed in SEEDS
        for game, (uploads, lost) in enumerate(world.losses_beside.items())
        for row in [
            (point_of(load, rf, SFQ_CODEL), seed, "game", "upstream", game, None, 10_000, lost * 100),
            *[(point_of(load, rf, SFQ_CODEL), seed, "upload", "upstream", game, None, None, None)] * uploads,
            # What counts neither: a connection that has ended, and the other direction.
            (point_of(load, rf, SFQ_CODEL), seed, "upload", "upstream", 0, 10**9, None, None),
            (point_of(load, rf, SFQ_CODEL), seed, "upload", "downstream", None, None, None, None),
        ]
    ]
    names = ["point", "seed", "traffic", "direction", "sub_flow", "ended_ns"]
    return pl.DataFrame(rows, schema=[*names, "datagrams", "lost_datagrams"], orient="row")


def _pages(world: World) -> pl.DataFrame:
    rows = [
        (point, seed, "page", 10**9, round((1 + time * factor) * 1e9))
        for point, time in world.times.items()
        for seed in SEEDS
        for factor in (0.9, 1.0, 1.0, 1.0, 1.1, 2.0)
    ]
    names = ["point", "seed", "traffic", "started_ns", "ended_ns"]
    return pl.DataFrame(rows, schema=names, orient="row")


def _series(world: World) -> pl.DataFrame:
    frames = [
        shape.frame(point).with_columns(pl.lit(seed).alias("seed"))
        for point, shape in world.shapes.items()
        for seed in SEEDS
    ]
    return pl.concat(frames)
