"""A simulated trial is read as a real one, and its files say what the simulation measured."""

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sojourn.base.errors import UsageError
from sojourn.field.assignments import read_schedule
from sojourn.field.design import schedule
from sojourn.field.importer import import_files
from sojourn.field.population import DEFAULT, Population, calendar_factors, circumstances, draw_homes
from sojourn.field.simulate import (
    _scenario,  # pyright: ignore[reportPrivateUsage]
    _tests_of,  # pyright: ignore[reportPrivateUsage]
    queue_of,
    quick_part,
    simulate_trial,
    unfinished,
)
from sojourn.provisioning import encode
from sojourn.simulation.engine import simulate
from sojourn.study.library import load_study
from support import CommandLine

FAITHFUL = Population(missing=0.0, dropout=0.0)
"""Everybody stays, and nothing is missing."""

TREATMENTS = ("8KB", "96KB")


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    whole = schedule(["home-1", "home-2"], TREATMENTS, date(2016, 5, 2), order="talk")
    first_days = whole.group_by("probe", "week", "direction", maintain_order=True).head(2)
    return first_days.select(whole.columns).sort("probe", "time")


@pytest.fixture(scope="module")
def base() -> str:
    return load_study("klatsky2016").base


@pytest.fixture(scope="module")
def folder(table: pl.DataFrame, base: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("trial") / "files"
    queues = {name: queue_of(name) for name in TREATMENTS}
    assert simulate_trial(table, queues, out, base=base, population=FAITHFUL, jobs=2) == 16
    return out


def test_files_of_a_simulated_trial_pass_the_importer(folder: Path, table: pl.DataFrame) -> None:
    imported = import_files(folder)
    assert imported.skipped == ()
    tests = imported.tests
    assert tests.height == table.height
    assert set(tests["flags"].to_list()) == {""}
    assert set(tests["latency_kind"].to_list()) == {"UDP"}
    labels = ["probe", "week", "treatment", "direction"]
    assert tests.select(labels).sort(labels).equals(table.select(labels).sort(labels))


def test_the_same_trial_is_the_same_files(folder: Path, table: pl.DataFrame, base: str, tmp_path: Path) -> None:
    queues = {name: queue_of(name) for name in TREATMENTS}
    again = tmp_path / "again"
    some = table.filter(pl.col("probe") == "home-1")
    whole = pl.concat([some, table.filter(pl.col("probe") == "home-2").head(1)])
    simulate_trial(whole, queues, again, base=base, population=FAITHFUL)
    for path in (again / "home-1").iterdir():
        assert path.read_bytes() == (folder / "home-1" / path.name).read_bytes()


def test_a_trial_that_was_stopped_goes_on_with_what_is_finished(
    folder: Path, table: pl.DataFrame, base: str, tmp_path: Path
) -> None:
    queues = {name: queue_of(name) for name in TREATMENTS}
    again = tmp_path / "again"

    def stop_at(most: int) -> Callable[[int, int], None]:
        def progress(done: int, total: int) -> None:
            assert total == 16
            if done == most:
                raise KeyboardInterrupt

        return progress

    with pytest.raises(KeyboardInterrupt):
        simulate_trial(table, queues, again, base=base, population=FAITHFUL, progress=stop_at(6))
    assert not again.exists()
    kept = {path: path.stat().st_mtime_ns for path in unfinished(again).rglob("*.gz")}
    assert len(kept) >= 6
    with pytest.raises(UsageError, match="another trial"):
        simulate_trial(table, queues, again, base=base, population=FAITHFUL, seed=2)
    with pytest.raises(KeyboardInterrupt):
        simulate_trial(table, queues, again, base=base, population=FAITHFUL, progress=stop_at(16))
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert simulate_trial(table, queues, again, base=base, population=FAITHFUL) == 16
    assert not unfinished(again).exists()
    made, whole = (
        {path.relative_to(one): path.read_bytes() for path in one.rglob("*") if path.is_file()}
        for one in (again, folder)
    )
    assert made == whole


def test_a_quick_simulation_has_the_first_day_of_each_treatment_in_twelve_homes() -> None:
    whole = schedule([f"home-{number:02}" for number in range(1, 51)], ("8KB", "96KB"), date(2016, 5, 2))
    quick = quick_part(whole)
    assert quick["probe"].n_unique() == 12
    assert quick.group_by("probe", "week").len()["len"].unique().to_list() == [6]
    assert quick.group_by("probe").agg(pl.col("treatment").n_unique())["treatment"].unique().to_list() == [2]
    assert quick_part(quick).equals(quick)


def test_the_importer_finds_what_the_simulation_measured(folder: Path, table: pl.DataFrame, base: str) -> None:
    tests = import_files(folder).tests
    made, _ = _tests_of(table, FAITHFUL, 1)
    for one in made:
        scenario = _scenario(base, one, queue_of(one.treatment))
        metrics = {(s, m): v for s, m, v, _ in simulate(scenario.compiled, one.place).metrics()}
        around = circumstances(FAITHFUL, 1, one.number, one.week, one.direction, one.place)
        word = {"up": "upload", "down": "download"}[one.direction]
        marks = ("be", "bk", "cs5", "ef")
        rates = [metrics[f"test-{word}-{mark}", "goodput_loaded"] for mark in marks]
        pings = [metrics[f"test-ping-udp-{mark}", "rtt_mean"] for mark in ("be", "bk", "ef")]
        row = tests.filter(
            (pl.col("probe") == one.home.name) & (pl.col("week") == one.week) & (pl.col("direction") == one.direction)
        ).sort("time")[one.place - 1]
        # Payload that left the queue against payload that arrived: what is on its way at the end.
        assert row["throughput_mbps"].item() == pytest.approx(np.mean(rates) * around.throughput, rel=0.03)
        # A lost ping is missing from its series only, so means of steps differ a little from means of pings.
        assert row["latency_ms"].item() == pytest.approx(np.mean(pings) * around.latency, rel=0.03)


def test_homes_that_left_and_tests_that_are_missing_are_not_there(table: pl.DataFrame) -> None:
    everybody = Population(missing=0.0, dropout=1.0, dropout_days=(3.0, 3.0))
    made, homes = _tests_of(table, everybody, 1)
    assert homes == ["home-1", "home-2"]
    assert {test.week for test in made} == {1}
    nothing, _ = _tests_of(table, Population(missing=1.0), 1)
    assert nothing == []
    assert sum(home.left_after_days < 30 for home in draw_homes(400, 1, DEFAULT)) in range(20, 61)


def test_treatments_go_by_size_or_by_manager() -> None:
    assert queue_of("8 KB")["limit"] == "8 KiB"
    assert queue_of("docsis-pie") == {"kind": "docsis-pie"}
    with pytest.raises(UsageError, match="no treatment"):
        queue_of("better")


MODEM = """schema = 1
[[tlv]]
network_access = 1
[[tlv]]
[tlv.upstream_service_flow]
service_flow_reference = 1
max_sustained_rate = 5000000
buffer_control = { target = 8192 }
aqm = { disable = 1 }
[[tlv]]
[tlv.downstream_service_flow]
service_flow_reference = 2
max_sustained_rate = 25000000
"""


def test_a_configuration_file_is_a_treatment(sojourn: CommandLine, tmp_path: Path, table: pl.DataFrame) -> None:
    (tmp_path / "small.cm").write_bytes(encode(MODEM).octets)
    one = table.filter(pl.col("treatment") == "8KB").head(1)
    one.with_columns(treatment=pl.lit("small")).write_csv(tmp_path / "schedule.csv")
    said = ["--treatment", 'small={ kind = "drop-tail", limit = "8192 B" }']
    for name, how in (("file", ["--bootfile", "small=small.cm"]), ("said", said)):
        done = sojourn("trial", "simulate", "schedule.csv", "--out", name, *how, "--seed", "3")
        assert done.status == 0, done.stderr
    files = {name: sorted((tmp_path / name).rglob("*.gz")) for name in ("file", "said")}
    assert [path.read_bytes() for path in files["file"]] == [path.read_bytes() for path in files["said"]]
    assert len(files["file"]) == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["small"], "--bootfile small: a name and a file are needed"),
        (["small=a.cm", "small=b.cm"], "--bootfile names small twice"),
        (["small=none.cm"], "none.cm"),
    ],
)
def test_what_names_no_configuration_file_is_refused(
    sojourn: CommandLine, tmp_path: Path, table: pl.DataFrame, given: list[str], message: str
) -> None:
    table.write_csv(tmp_path / "schedule.csv")
    options = [part for text in given for part in ("--bootfile", text)]
    refused = sojourn("trial", "simulate", "schedule.csv", "--out", "x", *options)
    assert refused.status == 2
    assert message in refused.stderr
    assert not (tmp_path / "x").exists()


def test_what_is_no_schedule_is_refused(tmp_path: Path, table: pl.DataFrame) -> None:
    file = tmp_path / "schedule.csv"
    table.write_csv(file)
    assert read_schedule(file).equals(table)
    file.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(UsageError, match="no column probe"):
        read_schedule(file)
    with pytest.raises(UsageError, match="cannot read"):
        read_schedule(tmp_path / "none.csv")


def test_days_and_hours_move_all_homes_alike_and_by_as_much_as_was_asked(
    folder: Path, table: pl.DataFrame, base: str, tmp_path: Path
) -> None:
    queues = {name: queue_of(name) for name in TREATMENTS}
    moved = replace(FAITHFUL, hour_sigma=0.5, day_sigma=0.2)
    out = tmp_path / "moved"
    simulate_trial(table, queues, out, base=base, population=moved, jobs=2)
    before, after = (import_files(one).tests for one in (folder, out))
    for row in range(before.height):
        time = table.sort("probe", "time")["time"][row]
        throughput, latency = calendar_factors(moved, 1, time)
        assert after["throughput_mbps"][row] / before["throughput_mbps"][row] == pytest.approx(throughput, rel=1e-3)
        assert after["latency_ms"][row] / before["latency_ms"][row] == pytest.approx(latency, rel=1e-3)
    hours = {calendar_factors(moved, 1, datetime(2016, 5, 2, hour)) for hour in range(24)}
    assert len(hours) == 24
    spread = [math.log(calendar_factors(moved, seed, datetime(2016, 5, 2, 8))[1]) for seed in range(400)]
    assert np.std(spread) == pytest.approx(math.hypot(0.5, 0.2), rel=0.12)
