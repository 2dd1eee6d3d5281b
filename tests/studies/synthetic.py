"""A study result made up from the printed values, in which every claim holds.

Tests change single values of it and see which verdicts follow. No engine is involved.
"""

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sojourn.published.white2012 as package
from sojourn.answers.claims import Outcome
from sojourn.answers.judging import judge_claim
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.view import StudyView
from sojourn.declarations.answers import Declarations
from sojourn.study.definition import load_definition
from sojourn.study.library import load_study
from sojourn.study.result import METRICS_SCHEMA, StudyResult

HOME = Path(package.__file__).parent
SEEDS = (1, 2, 3)
CASES = tuple(f"{n:02d}" for n in range(1, 10))
MANAGERS = ("droptail-417", "droptail-21", "codel")
LIMITS = {"droptail-417": 417, "droptail-21": 21, "droptail-31250B": 21, "codel": 417}
WIDTH_S = 0.1
LENGTH_S = 30.0

STUDY = OpenStudy.of(load_study("white2012"))
"""The study as it is published."""

CLAIMS = {
    claim.identifier: claim
    for claim in STUDY.definition.claim
    if claim.holds or claim.function or claim.all_of or claim.not_run
}
"""Claims that runs decide, by identifier."""


def outcome(claim: str, view: StudyView) -> Outcome:
    """Judge one claim."""
    return judge_claim(STUDY, STUDY.ask(view), CLAIMS[claim]).outcome


Metrics = dict[tuple[str, str, str], list[float]]
Shape = dict[str, np.ndarray]


def point_of(case: str, manager: str) -> str:
    return f"C{case}" if manager == "codel" else f"D{case}-{manager.removeprefix('droptail-')}"


def alone_point_of(case: str, manager: str) -> str:
    return f"F{case}-{manager.removeprefix('droptail-')}"


def printed(name: str) -> list[dict[str, str]]:
    with (HOME / "printed" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def score(loss_percent: float) -> float:
    """Return the rating of section 3.2.2 without its delay term, mapped by G.107 Annex B."""
    rating = 94.2 - 30.0 * math.log(1.0 + 0.15 * loss_percent)
    value = 1 + 0.035 * rating + 7e-6 * rating * (rating - 60) * (100 - rating)
    return max(1.0, value)


def spread(value: float, size: float = 0.002) -> list[float]:
    """One value per seed, evenly around `value`."""
    return [value * (1 + size * (number - 1)) for number in range(len(SEEDS))]


class World:
    """Metrics and series that tests may change before they build a result from them."""

    def __init__(self) -> None:
        self.metrics: Metrics = {}
        self.shapes: dict[str, Shape] = {}
        self.occupancy: dict[str, dict[int, float]] = {}
        self.delays: dict[str, dict[str, float]] = {}
        self.duration_s = 600.0
        self.quick = False
        self.builtin = True
        self._voice()
        self._web()
        self._volume()
        self._queues()
        self._congestion()

    def set(self, point: str, subject: str, metric: str, value: float) -> None:
        """Give a metric a value, spread a little over seeds."""
        self.metrics[point, subject, metric] = spread(value)

    def drop(self, point: str) -> None:
        """Forget a point."""
        self.metrics = {key: v for key, v in self.metrics.items() if key[0] != point}
        self.shapes.pop(point, None)

    def _voice(self) -> None:
        for row in printed("voip"):
            codel = row["queue_manager"] == "CoDel"
            if codel and row["source"].endswith("4"):
                continue
            point = row["test_case"] if codel else f"{row['test_case']}-{row['buffer_packets']}"
            self.set(point, "call", "lost", float(row["lost_pct"]))
            self.set(point, "call", "late", float(row["late_pct"]))
            self.set(point, "call", "loss_total", float(row["total_plr_pct"]))
            self.set(point, "call", "mos_loss_only", score(float(row["total_plr_pct"])))
            self.set(point, "call", "mos", score(float(row["total_plr_pct"])) - 0.02)
            self.set(point, "call", "delay_p95", 12.0)

        for point in ("S04", "S06"):
            self.set(point, "call", "loss_total", 0.01)

    def _web(self) -> None:
        for row in printed("web"):
            codel = row["queue_manager"] == "CoDel"
            if codel and row["source"].endswith("6"):
                continue
            point = row["test_case"] if codel else f"{row['test_case']}-{row['buffer_packets']}"
            self.set(point, "page", "pages_completed", float(row["page_loads_completed"]))
            self.set(point, "page", "connections", 1000.0)
            self.set(point, "page", "connect_retries", 400.0 if point == "D04-21" else 5.0)
            if row["median_plt_right_censored"] == "0":
                self.set(point, "page", "page_load_time_median", float(row["median_plt_s"]))
                self.set(point, "page", "page_load_time_mad", float(row["mad_plt_s"]))
        self.set("D05-21", "page", "page_load_time_max", 84.0)
        self.set("D07-21", "page", "page_load_time_max", 160.0)
        for case in CASES:
            point = f"D{case}-31250B"
            self.set(point, "page", "page_load_time_median", 2.8 if case == "01" else 3.6)
            self.set(point, "page", "page_load_time_mad", 0.01)
            self.set(point, "page", "pages_completed", 70.0)
            self.set(point, "page", "connections", 1000.0)
            self.set(point, "page", "connect_retries", 10.0)

    def _volume(self) -> None:
        for row in printed("summary"):
            codel = row["queue_manager"] == "CoDel"
            if codel and row["source"].endswith("8"):
                continue
            point = row["test_case"] if codel else f"{row['test_case']}-{row['buffer_packets']}"
            volume = float(row["ftp_kbytes_in_600s"])
            call = 6540 * (1 - self.metrics[point, "call", "lost"][1] / 100)
            self.metrics[point, "call", "forwarded_volume"] = [call] * len(SEEDS)
            if volume:
                self.metrics[point, "bulk", "forwarded_volume"] = [volume] * len(SEEDS)
            idle = row["test_case"].endswith("01")
            total = 20_000.0 if idle else 375_000.0 if row["test_case"].endswith("09") else 384_950.0
            self.metrics[point, "upstream", "forwarded_volume"] = [total] * len(SEEDS)
        self.metrics["D02-31250B", "bulk", "forwarded_volume"] = [374_500.0] * len(SEEDS)
        self.set("C06", "cbr", "lost", 9.0)
        self.set("D06-417", "cbr", "lost", 2.0)

    def _queues(self) -> None:
        ramps = {"droptail-417": 0.6, "droptail-21": 9.0, "codel": 0.7}
        five = {"droptail-417": 0.5, "droptail-21": 4.0, "codel": 0.6}
        for manager in MANAGERS:
            for case in CASES:
                point = point_of(case, manager)
                many = case in ("04", "05", "06", "07")
                self.shapes[point] = shape_of(manager, (five if many else ramps)[manager], many=many)
                self.set(point, "upstream", "sojourn_p50", 45.0 if manager == "droptail-21" else 2.0)
                self.metrics[point, "upstream", "sojourn_max"] = [
                    {"droptail-417": 1000.0, "droptail-21": 50.3, "codel": 370.0}[manager]
                ] * len(SEEDS)
                self.occupancy[point] = {0: 0.96, 5: 0.04}
                self.delays[point] = {"queue": 8.0, "request_wait": 3.0, "grant_wait": 2.0, "wire": 1.0}
        self.occupancy["D04-21"] = {10: 0.015, 18: 0.485, 21: 0.5}
        for manager in MANAGERS:
            for case in ("02", "03", "04", "05"):
                point = alone_point_of(case, manager)
                self.shapes[point] = self.shapes[point_of(case, manager)]
                self.set(point, "upstream", "sojourn_max", 370.0)
        for name in ("F03-codel-130", "F03-codel-170"):
            self.shapes[name] = shape_of("droptail-417", 0.6, many=False)
            self.set(name, "upstream", "sojourn_max", 100.0)
        for case in CASES:
            self.shapes[f"D{case}-31250B"] = shape_of("droptail-21", 9.0, many=False)

    def _congestion(self) -> None:
        p95 = {"drop": 60.0, "both": 40.0, "back": 30.0}
        for case in range(1, 10):
            for manager in MANAGERS:
                for coupling, value in p95.items():
                    if coupling == "both" and manager != "codel":
                        continue
                    point = f"{point_of(f'1{case}', manager)}-{coupling}"
                    self.set(point, "call", "delay_p95", value + (manager != "codel"))
                    self.delays[point] = {"queue": 2.0, "request_wait": 5.0, "grant_wait": 30.0}
        self.set("C15-drop-txq16", "call", "delay_p95", 35.0)
        self.set("D15-417-drop-txq16", "call", "delay_p95", 36.0)
        self.shapes["C13-drop"] = congested_shape()

    # ---- building ------------------------------------------------------------------------------

    def build(self, directory: Path) -> StudyResult:
        """Write records and return the result."""
        directory.mkdir(parents=True, exist_ok=True)
        points = sorted({point for point, _, _ in self.metrics})
        units = {"loss": "%", "lost": "%", "late": "%"}
        rows = [
            ("white2012", point, seed, subject, metric, float(value), units.get(metric, ""))
            for (point, subject, metric), values in self.metrics.items()
            for seed, value in zip(SEEDS, values, strict=True)
            if math.isfinite(value)
        ]
        metrics = pl.DataFrame(rows, schema=dict(METRICS_SCHEMA), orient="row")
        runs = pl.DataFrame(
            {
                "point": [point for point in points for _ in SEEDS],
                "seed": [seed for _ in points for seed in SEEDS],
                "key": ["0" * 64] * (len(points) * len(SEEDS)),
                "simulated_s": [self.duration_s] * (len(points) * len(SEEDS)),
                "wall_s": [0.2] * (len(points) * len(SEEDS)),
                "packet_hops": [1_000_000] * (len(points) * len(SEEDS)),
                "events": [2_000_000] * (len(points) * len(SEEDS)),
                "queue_manager": ["codel"] * (len(points) * len(SEEDS)),
            },
            schema_overrides={"seed": pl.UInt64},
        )
        records = directory / "records"
        records.mkdir(exist_ok=True)
        self._write_series(records)
        self._write_occupancy(records)
        self._write_delays(records)
        manifest: dict[str, Any] = {
            "study": "white2012",
            "builtin": self.builtin,
            "quick": self.quick,
            "version": "0.0.0",
            "engine_version": "synthetic",
            "commit": None,
            "dirty": None,
            "started_at": "2026-01-01T00:00:00+00:00",
            "machine": {"system": "Linux", "processor": "none", "cores": 2, "python": "3.11"},
            "seeds": list(SEEDS),
            "points": {
                point: {"scenario_sha256": "0" * 64, "duration_s": self.duration_s, "labels": {}} for point in points
            },
        }
        definition = load_definition(HOME / "study.toml")
        if not self.builtin:  # a study of the same runs that declares no answers
            fields = Declarations.model_fields.items()
            blank = {name: field.get_default(call_default_factory=True) for name, field in fields}
            definition = definition.model_copy(update=blank)
        return StudyResult(directory, definition, metrics, runs, manifest)

    def view(self, directory: Path) -> StudyView:
        """Build a result and open it."""
        return StudyView(self.build(directory))

    def _write_series(self, directory: Path) -> None:
        frames: list[pl.DataFrame] = []
        for point, shape in self.shapes.items():
            count = len(shape["rate"])
            start = (np.arange(count) * WIDTH_S * 1e9).astype(np.int64)
            for seed in SEEDS:
                data = shape["rate"] * 1e6 / 8 * WIDTH_S
                frames.append(
                    pl.DataFrame(
                        {
                            "point": [point] * count,
                            "seed": pl.Series([seed] * count, dtype=pl.UInt64),
                            "link": ["upstream"] * count,
                            "start_ns": start,
                            "width_ns": [int(WIDTH_S * 1e9)] * count,
                            "forwarded_bytes": data.astype(np.int64),
                            "forwarded_packets": (data / 1500).astype(np.int64),
                            "dropped_packets": [0] * count,
                            "sojourn_mean_ns": shape["delay"] * 1e6,
                            "sojourn_max_ns": (shape["delay"] * 1e6).astype(np.int64),
                            "backlog_packets_mean": shape["backlog"],
                            "backlog_packets_max": shape["backlog"].astype(np.int64),
                            "staged_packets_mean": shape["staged"],
                        }
                    )
                )
        if frames:
            pl.concat(frames).write_parquet(directory / "series.parquet")

    def _write_occupancy(self, directory: Path) -> None:
        rows = [
            (point, seed, "upstream", packets, int(share * 600e9))
            for point, shares in self.occupancy.items()
            for seed in SEEDS
            for packets, share in shares.items()
        ]
        names = ["point", "seed", "link", "packets", "time_ns"]
        pl.DataFrame(rows, schema=names, orient="row").write_parquet(directory / "occupancy.parquet")

    def _write_delays(self, directory: Path) -> None:
        rows = [
            (point, seed, "call", "upstream", cause, 30_000, int(mean * 30_000 * 1e6))
            for point, parts in self.delays.items()
            for seed in SEEDS
            for cause, mean in parts.items()
        ]
        names = ["point", "seed", "traffic", "direction", "cause", "packets", "total_ns"]
        pl.DataFrame(rows, schema=names, orient="row").write_parquet(directory / "delays.parquet")


def shape_of(manager: str, ramp_s: float, *, many: bool) -> Shape:
    """Return a burst at 20 Mb/s after a linear ramp, then 5 Mb/s, with the queue that the text describes."""
    count = round(LENGTH_S / WIDTH_S)
    time = (np.arange(count) + 0.5) * WIDTH_S
    wanted = np.minimum(20.0, 20.0 * (time + 0.05) / ramp_s)
    if manager == "codel" and not many:
        wanted = np.where(time > 2.5, 15.0, wanted)
    rate = np.empty(count)
    level = 10e6
    for number in range(count):
        refill = 5e6 / 8 * WIDTH_S
        most = (level + refill) * 8 / WIDTH_S / 1e6
        rate[number] = min(wanted[number], most)
        level = min(10e6, level + refill - rate[number] * 1e6 / 8 * WIDTH_S)
    slow = rate < 5.01
    end = float(time[np.flatnonzero(slow & (time > ramp_s))[0]])
    if manager == "droptail-417":
        delay = np.where(slow & (time > ramp_s), 1000.0, 245.0)
        backlog = np.full(count, 350.0)
    elif manager == "droptail-21":
        delay = np.where(slow & (time > ramp_s), 48.0, 11.0)
        backlog = np.full(count, 19.0)
    else:
        delay = np.full(count, 2.0)
        spike = (time > end) & (time < end + 2.5)
        delay[spike] = 300.0 * np.exp(-(time[spike] - end) / 0.7)
        backlog = np.full(count, 3.0)
    return {"rate": rate, "delay": delay, "backlog": backlog, "staged": np.full(count, 2.0)}


def congested_shape() -> Shape:
    """Five megabits per second from the start, with a transmit queue that is never empty."""
    count = round(LENGTH_S / WIDTH_S)
    return {
        "rate": np.full(count, 5.0),
        "delay": np.full(count, 5.0),
        "backlog": np.full(count, 3.0),
        "staged": np.full(count, 20.0),
    }
