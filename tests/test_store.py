"""The store of finished runs: whole or absent, whatever happens."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from sojourn import _engine
from sojourn.errors import EnvironmentFailure
from sojourn.scenario import Scenario, load_scenario
from sojourn.store import STALE_AFTER_S, Store, default_directory, pack
from support import write_scenario


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    return load_scenario(write_scenario(tmp_path, duration="200 ms"))


@pytest.fixture
def files(scenario: Scenario) -> dict[str, bytes]:
    records = _engine.run(scenario.compiled, 1)
    return pack(records, scenario.key(1), 1, scenario.canonical())


def damaged_store(directory: Path) -> tuple[Store, list[str]]:
    said: list[str] = []
    return Store(directory, on_damage=said.append), said


def test_what_was_put_is_got_back(
    tmp_path: Path, scenario: Scenario, files: dict[str, bytes]
) -> None:
    key = scenario.key(1)
    store = Store(tmp_path / "store")
    assert store.get(key) is None
    store.put(key, files)
    entry = store.get(key)
    assert entry is not None
    records = _engine.run(scenario.compiled, 1)
    assert sorted(entry.table_names()) == sorted(records.table_names())
    for name in entry.table_names():
        assert entry.table(name).equals(pl.DataFrame(records.table(name)))
    assert entry.statistics["packet_hops"] == records.statistics["packet_hops"]


def test_the_files_of_a_run_have_the_same_bytes_each_time(
    scenario: Scenario, files: dict[str, bytes]
) -> None:
    again = pack(_engine.run(scenario.compiled, 1), scenario.key(1), 1, scenario.canonical())
    tables = {name for name in files if name.endswith(".parquet")}
    assert {name: files[name] for name in tables} == {name: again[name] for name in tables}


@pytest.mark.parametrize("name", ["metrics.parquet", "run.json"])
@pytest.mark.parametrize("damage", ["truncated", "empty", "absent", "changed"])
def test_a_damaged_run_is_told_in_one_line_and_replaced(
    tmp_path: Path, scenario: Scenario, files: dict[str, bytes], name: str, damage: str
) -> None:
    key = scenario.key(1)
    store, said = damaged_store(tmp_path / "store")
    path = store.put(key, files).directory / name
    content = path.read_bytes()
    if damage == "absent":
        path.unlink()
    else:
        middle = len(content) // 2
        flipped = bytes([content[middle] ^ 1])
        path.write_bytes(
            {
                "truncated": content[:middle],
                "empty": b"",
                "changed": content[:middle] + flipped + content[middle + 1 :],
            }[damage]
        )
    assert store.get(key) is None
    (line,) = said
    assert key[:12] in line
    assert "\n" not in line
    store.put(key, files)
    assert store.get(key) is not None
    assert len(said) == 1


@pytest.mark.parametrize("content", [b"[]", b"null", b'"text"', b'{"digest": 1}', b"\xff\xfe"])
def test_any_json_in_place_of_the_listing_is_damage_and_no_crash(
    tmp_path: Path, scenario: Scenario, files: dict[str, bytes], content: bytes
) -> None:
    key = scenario.key(1)
    store, said = damaged_store(tmp_path / "store")
    (store.put(key, files).directory / "run.json").write_bytes(content)
    assert store.get(key) is None
    assert len(said) == 1


def test_the_second_to_store_a_run_leaves_the_first_alone(
    tmp_path: Path, scenario: Scenario, files: dict[str, bytes]
) -> None:
    key = scenario.key(1)
    store = Store(tmp_path / "store")
    first = store.put(key, files).directory
    inode = first.stat().st_ino
    Store(tmp_path / "store").put(key, files)
    assert first.stat().st_ino == inode
    assert not list((tmp_path / "store" / "v1" / "tmp").iterdir())


def test_sweeping_removes_what_dead_processes_left_and_nothing_else(tmp_path: Path) -> None:
    temporary = tmp_path / "v1" / "tmp"
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    host = socket.gethostname()
    names = {
        "dead": f"0123-aaaa-{host}.{dead.pid}",
        "ours": f"0123-bbbb-{host}.{os.getpid()}",
        "alive": f"0123-cccc-{host}.{os.getppid()}",
        "elsewhere": "0123-dddd-another-host.1",
        "elsewhere, long ago": "0123-eeee-another-host.1",
    }
    for name in names.values():
        (temporary / name).mkdir(parents=True)
        (temporary / name / "metrics.parquet").write_bytes(b"half")
    long_ago = time.time() - STALE_AFTER_S - 60
    os.utime(temporary / names["elsewhere, long ago"], (long_ago, long_ago))
    assert Store(tmp_path).sweep() == 2
    left = {path.name for path in temporary.iterdir()}
    assert left == {names["ours"], names["alive"], names["elsewhere"]}


def test_sweeping_a_store_that_does_not_exist_is_nothing(tmp_path: Path) -> None:
    assert Store(tmp_path / "none").sweep() == 0
    assert not (tmp_path / "none").exists()


def test_a_place_that_cannot_be_written_is_told_with_a_way_out(tmp_path: Path) -> None:
    in_the_way = tmp_path / "store"
    in_the_way.write_text("a file, not a directory")
    with pytest.raises(EnvironmentFailure) as caught:
        Store(in_the_way).check_writable()
    assert "SOJOURN_STORE" in caught.value.hint


def test_the_listing_holds_what_is_needed_to_tell_where_a_run_comes_from(
    scenario: Scenario, files: dict[str, bytes]
) -> None:
    info = json.loads(files["run.json"])
    assert info["engine_version"] == _engine.engine_version()
    assert info["scenario"] == scenario.canonical()
    assert info["files"]["metrics.parquet"]["bytes"] == len(files["metrics.parquet"])


def test_the_environment_names_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOJOURN_STORE", "/somewhere/else")
    assert default_directory() == Path("/somewhere/else")
    monkeypatch.delenv("SOJOURN_STORE")
    assert default_directory().name == "store"
