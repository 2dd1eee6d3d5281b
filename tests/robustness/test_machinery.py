"""Kills, faults of the file system, full disks, several writers, other versions: nothing is lost and nothing lies."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from robustness.damage import make_results
from sojourn.scenario.scenario_file import load_scenario
from sojourn.store import Store, pack
from support import CommandLine, words_only, write_scenario, write_study

TESTS = Path(__file__).resolve().parents[1]


def campaign(*arguments: str) -> str:
    """Run a campaign in a process of its own, which may fork; return what it prints."""
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_twenty_kills_lose_nothing_and_change_nothing() -> None:
    said = campaign("robustness.kills", "20", "1")
    assert "all runs kept, all results the same bytes" in said


@pytest.mark.skipif(sys.platform != "linux", reason="the C library is replaced as Linux does it")
@pytest.mark.parametrize(("target", "every"), [("store", "5"), ("segments", "5"), ("collector", "12"), ("study", "16")])
def test_a_write_that_fails_is_told_and_loses_nothing(target: str, every: str) -> None:
    said = campaign("robustness.faults", "--target", target, "--every", every)
    assert "told" in said


def test_two_writers_on_one_store_do_not_meet(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path, "1 s")
    both = [sojourn.start("study", "run", "study.toml", "--out", out, "--no-figures") for out in ("first", "second")]
    for process in both:
        _, said = process.communicate(timeout=300)
        assert process.returncode == 0, said
    first, second = ((tmp_path / out / "metrics.parquet").read_bytes() for out in ("first", "second"))
    assert first == second
    damage: list[str] = []
    store = Store(sojourn.store, on_damage=damage.append)
    assert len(store.find(dict.fromkeys(sojourn.stored_runs(), frozenset()))) == 8
    assert len(sojourn.stored_runs()) == 8
    assert not damage
    assert not list(sojourn.store.glob("v?/tmp/*"))


def test_a_store_of_another_version_is_left_alone_and_not_believed(tmp_path: Path) -> None:
    scenario = load_scenario(write_scenario(tmp_path, duration="100 ms"))
    from sojourn import _engine

    key = scenario.key(1)
    files = pack(_engine.run(scenario.compiled, 1), key, 1, scenario.canonical())
    store = Store(tmp_path / "store")
    # Another version has another key for the same run, and its own folder if it has another layout.
    other = f"{'0' * 8}{key[8:]}"
    info = json.loads(files["run.json"]) | {"engine_version": "0.0.1+other"}
    store.put(other, files | {"run.json": json.dumps(info).encode()})
    later = tmp_path / "store" / "v3" / "runs.db"
    later.parent.mkdir()
    later.write_bytes(b"of another layout")
    assert store.get(key) is None
    assert store.put(key, files).directory.name == key
    assert store.get(key) is not None
    # What lies under a key that is not its own is damage, whatever its files say.
    said: list[str] = []
    assert Store(tmp_path / "store", on_damage=said.append).get(other) is None
    assert len(said) == 1
    assert later.read_bytes() == b"of another layout"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Give a directory with a file system of 400 kB of its own."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("mounting a small file system takes root")
    command = [mount, "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no small file system can be mounted here: {done.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=False)


@pytest.mark.parametrize("what", ["store", "results"])
def test_a_disk_that_is_full_is_told_and_what_was_finished_stays(
    sojourn: CommandLine, tmp_path: Path, small_disk: Path, what: str
) -> None:
    write_study(tmp_path, "4 s", keep=["series", "traffic_series", "delay_histogram"])
    place = {"store": str(sojourn.store), "results": "out"} | {what: str(small_disk / "here")}
    command = ["study", "run", "study.toml", "--jobs", "1", "--store", place["store"]]
    some = sojourn(*command, "--points", "near-*", "--out", tmp_path / "some", "--no-figures")
    assert some.status == 0, some.stderr
    filler = small_disk / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        for _ in range(400_000 // 4096 if what == "store" else 380_000 // 4096):
            file.write(bytes(4096))
    refused = sojourn(*command, "--out", place["results"])
    assert refused.status == 1
    assert words_only(refused)
    assert "cannot write" in refused.stderr
    assert "no space left" in refused.stderr
    assert not Path(tmp_path, place["results"]).exists()
    kept = len(Store(place["store"]).keys())
    assert kept == (4 if what == "store" else 8)
    filler.unlink()
    if what == "store":
        shutil.copytree(small_disk / "here", sojourn.store)
        place["store"] = command[-1] = str(sojourn.store)
    done = sojourn(*command, "--out", "whole", "--no-figures", "--json")
    assert done.status == 0, done.stderr
    assert done.json()["runs"] == {"computed": 8 - kept, "reused": kept}


def test_a_killed_study_leaves_no_directory_that_looks_like_a_result(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path, "100000 s", keep=[])
    process = sojourn.start("study", "run", "study.toml")
    place = tmp_path / "results" / "small"
    for _ in range(600):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
        if list(place.glob(".*.unfinished-*")):
            break
    process.kill()
    process.communicate()
    assert list(place.glob(".*.unfinished-*"))
    assert not [path for path in place.iterdir() if not path.name.startswith(".")]
    write_study(tmp_path, "100 ms", keep=[])
    done = sojourn("study", "run", "study.toml", "--no-figures")
    assert done.status == 0, done.stderr
    assert len(list(place.glob("[0-9]*"))) == 1
    assert not list(place.glob(".*"))


def test_results_list_their_data_files(tmp_path: Path) -> None:
    study, run = make_results(tmp_path)
    for directory, names in ((study, {"metrics.parquet", "runs.parquet"}), (run, {"metrics.parquet"})):
        listed = json.loads((directory / "manifest.json").read_text())["files"]
        assert names <= set(listed)
        assert all((directory / name).stat().st_size == one["bytes"] for name, one in listed.items())
