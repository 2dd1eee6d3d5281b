"""The laboratory of measuring methods: its vectors, where its lines come from, and what asking with every packet is worth."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sojourn
from sojourn.answers.open_study import OpenStudy
from sojourn.scenario.scenario_file import Scenario
from sojourn.scenario.settings import apply_settings
from sojourn.scores.observed import paired_trips
from sojourn.stats.estimate import wilson
from sojourn.study.library import Study, load_study
from sojourn.traces.link_traces import LTE, make_lte, make_starlink
from support import CommandLine


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study("methods")


@pytest.fixture(scope="module")
def trips(study: Study) -> dict[str, np.ndarray]:
    """Round trips of 20 s behind drop-tail beside rrul_be: of echoes each 5 ms, and of pairs that are answered within 0.2 ms."""
    point = next(one for one in study.points() if one.name == "table/tail-rrul-be")
    settings = ["duration=25 s", "traffic.stream.app.down_interval=0.2 ms"]
    run = sojourn.run(Scenario.parse(apply_settings(point.text, settings)), seed=1)
    echoes = run.tables["transfers"].filter(pl.col("traffic") == "truth")
    stream = run.tables["datagrams"].filter(pl.col("traffic") == "stream").sort("sent_ns")
    ways = [stream.filter(pl.col("direction") == way) for way in ("upstream", "downstream")]
    at_s, paired = paired_trips(*ways)
    took = (echoes["ended_ns"].cast(pl.Float64) - echoes["started_ns"]) / 1e6
    counted = (echoes["started_ns"] >= 7_000_000_000) & took.is_not_null()
    return {"echoes": took.filter(counted).to_numpy(), "pairs": paired[(at_s >= 7) & np.isfinite(paired)]}


def test_asking_with_every_packet_is_the_truth(trips: dict[str, np.ndarray]) -> None:
    echoes, pairs = (np.quantile(trips[one], 0.99) for one in ("echoes", "pairs"))
    assert echoes == pytest.approx(pairs, rel=0.005)


def test_tests_of_n_samples_miss_the_tail_as_often_as_chance_has_it(trips: dict[str, np.ndarray]) -> None:
    # C4: 0.99^n of tests see nothing above the 99th percentile, if they ask at random times.
    random = np.random.default_rng(35)
    whole: list[float] = np.sort(trips["echoes"]).tolist()
    limit = whole[math.ceil(0.99 * len(whole)) - 1]
    above = sum(one > limit for one in whole) / len(whole)
    for samples, chance in ((10, 0.904), (50, 0.605), (100, 0.366), (300, 0.049)):
        drawn: np.ndarray = random.choice(whole, (2000, samples))
        largest: list[float] = drawn.max(axis=1).tolist()
        low, high = wilson(sum(one <= limit for one in largest), len(largest))
        assert low <= (1 - above) ** samples <= high
        assert (1 - above) ** samples == pytest.approx(chance, abs=0.03)


def test_means_and_rates_are_those_of_the_vectors() -> None:
    mean_ms = (10 * 25 + 60 * 240) / 70
    assert round(mean_ms, 1) == 209.3  # E1
    for delay_ms, rpm in ((113.8, 527), (39.7, 1511), (25.2, 2381)):  # E2
        assert round(60_000 / delay_ms) == rpm


def opportunities(link: dict[str, Any]) -> list[int]:
    times: list[int] = []
    now = 0
    for word in str(link["opportunities"]).split():
        gap, _, count = word.partition("*")
        now += int(gap)
        times += [now] * int(count or 1)
    return times


def test_lines_are_what_the_generators_make(study: Study) -> None:
    lines = study.definition.overlays
    lte = lines["lte"]["access"]
    assert opportunities(lte["downstream"]["link"]) == make_lte(LTE["att"], 60.0, 1).tolist()
    assert opportunities(lte["upstream"]["link"]) == make_lte(LTE["att"], 60.0, 2, 2.5).tolist()
    for way, direction in (("up", "upstream"), ("down", "downstream")):
        made = {
            (f"{at:g} s", f"{rate:.4g} Mb/s", f"{delay:.3f} ms", loss)
            for at, rate, delay, loss in make_starlink(75.0, 1, way)
        }
        told = [
            (row["at"], row["rate"], row["delay"], row["loss"])
            for row in lines["starlink"]["access"][direction]["conditions"]
        ]
        assert set(told) <= made
        at = [float(row[0].split()[0]) for row in told]
        assert max(np.diff(at)) <= 0.61
        assert {row for row in made if row[1] == "0 Mb/s"} <= set(told)


class Numbers:
    """Answers what a study's module asks: the same of all methods, and more of those that report a percentile."""

    def __init__(self, tails: float) -> None:
        self.tails = tails

    def numbers(self, measure: str, *, method: list[str], **_where: object) -> dict[str, float]:
        """Return 80 % of each method that reports a mean."""
        assert measure in {"in_order", "of_own", "of_felt"}
        return {one: self.tails if one in {"rrul", "tcp-upload"} else 80.0 for one in method}


def test_the_first_sentence_says_which_methods_tell_lines_apart(study: Study) -> None:
    functions = OpenStudy.of(study).functions
    told = functions["answer"](Numbers(95.0))
    assert told.startswith("To tell lines apart, ask for the 99th percentile of a minute: ")
    assert "puts 95 % of all pairs" in told
    assert told.endswith("put 80 to 80 %.")
    assert functions["answer"](Numbers(70.0)).startswith("No kind of report tells lines apart")
    assert "roughly right about their own load (80 to 80 %" in functions["at_home"](Numbers(95.0))


def test_the_prototype_stands_beside_ours(sojourn: CommandLine, tmp_path: Path) -> None:
    command = ["study", "run", "methods", "--points", "table/fq-codel-*", "--seeds", "1"]
    command += ["--duration", "12 s", "--no-figures", "--out", "page", "--store", str(tmp_path)]
    done = sojourn(*command)
    assert done.status == 0, done.stderr
    rows = pl.read_csv(tmp_path / "page" / "references.csv", infer_schema_length=None)
    ours = dict(zip(rows["case"] + " " + rows["metric"], rows["ours"], strict=True))
    assert 25 < ours["fq-codel rrul-be paired_p99"] < 28
    assert 25 < ours["fq-codel rpm paired_p99"] < 26
