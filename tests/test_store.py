"""The store of finished runs: whole or absent, whatever happens."""

import io
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
from sojourn.base.errors import EnvironmentFailure
from sojourn.scenario.scenario_file import Scenario, load_scenario
from sojourn.store import STALE_AFTER_S, PackedRun, Store, default_directory, pack
from sojourn.store.catalogue import Catalogue
from sojourn.store.shelf import listing_of
from sojourn.study.library import load_study
from sojourn.study.plan import RunOptions, make_plan, only_runs
from sojourn.study.runner import kept_runs
from sojourn.study.write import write_result
from support import write_scenario, write_study


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


def test_what_was_put_is_got_back(tmp_path: Path, scenario: Scenario, files: dict[str, bytes]) -> None:
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


def test_the_files_of_a_run_have_the_same_bytes_each_time(scenario: Scenario, files: dict[str, bytes]) -> None:
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


def packed(scenario: Scenario, seeds: range, asked: tuple[str, ...] = ()) -> list[PackedRun]:
    """Make runs as a study keeps them."""
    keys = scenario.keys(seeds.start, len(seeds))
    text = scenario.canonical()
    return [
        PackedRun.of(_engine.run(scenario.compiled, seed), key, seed, text, asked)
        for seed, key in zip(seeds, keys, strict=True)
    ]


def test_keys_of_many_seeds_are_those_of_each(scenario: Scenario) -> None:
    assert scenario.keys(5, 3) == [scenario.key(5), scenario.key(6), scenario.key(7)]


def test_runs_that_are_kept_together_are_found_by_key_with_the_tables_that_were_asked_for(
    tmp_path: Path, scenario: Scenario
) -> None:
    runs = packed(scenario, range(1, 6), ("series", "no-such-table"))
    store, said = damaged_store(tmp_path)
    store.put_together(runs, ("series", "no-such-table"))
    keys = [run.key for run in runs]
    assert store.keys() == set(keys)
    found = store.find({key: frozenset({"series"}) for key in [*keys, scenario.key(99)]})
    assert list(found) == keys
    for place, (run, entry) in enumerate(zip(runs, found.values(), strict=True)):
        rows = pl.read_parquet(entry.path("series")).filter(pl.col("run") == place).drop("run")
        assert rows.equals(run.tables["series"])
        assert entry.statistics["packet_hops"] == run.statistics["packet_hops"]
        assert entry.statistics["wall_s"] == pytest.approx(run.statistics["wall_s"], rel=0.01)
    # Who needs a table that was not asked for makes the run again; who needs all asks for a single run.
    assert not store.find(dict.fromkeys(keys, frozenset({"delays"})))
    assert store.get(keys[0]) is None
    assert not said


def test_a_segment_takes_half_a_kilobyte_a_run(tmp_path: Path) -> None:
    scenario = load_scenario(Path(__file__).parents[1] / "scenarios" / "dsl-small-buffer.toml")
    scenario = scenario.with_settings({"duration": "10 s"})
    store = Store(tmp_path)
    store.put_together(packed(scenario, range(1, 101)), ())
    size = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert size <= 100 * 500


def test_a_segment_has_the_same_bytes_each_time_but_for_what_runs_took(tmp_path: Path, scenario: Scenario) -> None:
    for place in ("one", "two"):
        Store(tmp_path / place).put_together(packed(scenario, range(1, 4), ("series",)), ("series",))
    first, second = (
        {path.name: path.read_bytes() for path in (tmp_path / place).glob("v2/runs/*/*/*.parquet")}
        for place in ("one", "two")
    )
    assert first == second
    assert set(first) == {"runs.parquet", "metrics.parquet", "series.parquet"}


@pytest.mark.parametrize("name", ["segment.json", "runs.parquet", "metrics.parquet"])
@pytest.mark.parametrize("damage", ["truncated", "empty", "absent", "one bit"])
def test_a_damaged_segment_is_told_in_one_line_and_replaced(
    tmp_path: Path, scenario: Scenario, name: str, damage: str
) -> None:
    runs = packed(scenario, range(1, 4))
    wanted = {run.key: frozenset[str]() for run in runs}
    store, said = damaged_store(tmp_path)
    (path, *_) = {entry.directory for entry in store.put_together(runs, ())}
    content = (path / name).read_bytes()
    middle = len(content) // 2
    flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    if damage == "absent":
        (path / name).unlink()
    else:
        changed = {"truncated": content[:middle], "empty": b"", "one bit": flipped}
        (path / name).write_bytes(changed[damage])
    assert not store.find(wanted)
    (line,) = said
    assert path.name[:12] in line
    assert "\n" not in line
    store.put_together(runs, ())
    assert len(store.find(wanted)) == 3
    assert len(said) == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"heads": 1},
        {"heads": ""},
        {"runs": "3"},
        {"asked": "series"},
        {"wall_s": "a b c"},
        {"wall_s": "1"},
        {"files": {"../../secret": {"bytes": 1, "digest": ""}}},
        {"files": {}},
    ],
)
def test_a_listing_that_says_other_things_with_a_digest_that_fits_is_damage_and_no_crash(
    tmp_path: Path, scenario: Scenario, changed: dict[str, object]
) -> None:
    runs = packed(scenario, range(1, 4))
    store, said = damaged_store(tmp_path)
    (path, *_) = {entry.directory for entry in store.put_together(runs, ())}
    info = json.loads((path / "segment.json").read_bytes())
    del info["digest"]
    (path / "segment.json").write_bytes(listing_of(info | changed))
    found = store.find({run.key: frozenset[str]() for run in runs})
    assert not found
    assert len(said) == (0 if changed == {"heads": ""} else 1)


def test_a_result_of_single_runs_and_segments_is_that_of_either(tmp_path: Path) -> None:
    """Whoever ran some of it alone, in whatever order, gets the same rows."""
    write_study(tmp_path)
    plan = make_plan(load_study(str(tmp_path)), RunOptions(), only_runs)
    mixed, singles, together = (Store(tmp_path / name) for name in ("mixed", "singles", "together"))
    made: list[PackedRun] = []
    for number, spec in enumerate(plan.runs):
        records = _engine.run(spec.scenario.compiled, spec.seed)
        text = spec.scenario.canonical()
        made.append(PackedRun.of(records, spec.key, spec.seed, text, spec.keep))
        files = pack(records, spec.key, spec.seed, text)
        singles.put(spec.key, files)
        if number % 3 == 1:
            mixed.put(spec.key, files)
    keep = plan.runs[0].keep
    together.put_together(made, keep)
    mixed.put_together([run for number, run in enumerate(made) if number % 3 != 1][::-1], keep)
    written: list[dict[str, bytes]] = []
    for store in (mixed, singles, together):
        found = kept_runs(plan, store)
        out = tmp_path / f"out-{len(written)}"
        out.mkdir()
        write_result(out, plan, [found[spec.key] for spec in plan.runs], {})
        names = ("metrics.parquet", "records/series.parquet")
        written.append({name: (out / name).read_bytes() for name in names})
    assert written[0]["metrics.parquet"] == written[1]["metrics.parquet"]
    assert written[1]["metrics.parquet"] == written[2]["metrics.parquet"]
    series = [pl.read_parquet(io.BytesIO(one["records/series.parquet"])) for one in written]
    assert series[0].equals(series[1])
    assert series[1].equals(series[2])
    assert series[0].height > 0


@pytest.mark.parametrize("table", ["metrics", "series"])
def test_a_file_that_changes_between_two_looks_ends_in_words(tmp_path: Path, table: str) -> None:
    write_study(tmp_path)
    plan = make_plan(load_study(str(tmp_path)), RunOptions(), only_runs)
    store = Store(tmp_path / "store")
    for spec in plan.runs:
        records = _engine.run(spec.scenario.compiled, spec.seed)
        store.put(spec.key, pack(records, spec.key, spec.seed, spec.scenario.canonical()))
    found = kept_runs(plan, store)
    swapped = found[plan.runs[1].key].path(table)
    swapped.unlink()
    swapped.write_bytes(b"not what it was")
    (tmp_path / "out").mkdir()
    with pytest.raises(EnvironmentFailure, match=f"cannot (read|write) the .*{table}|records"):
        write_result(tmp_path / "out", plan, [found[spec.key] for spec in plan.runs], {})


def test_the_catalogue_lists_single_runs_and_segments_in_one_order(tmp_path: Path) -> None:
    write_study(tmp_path)
    plan = make_plan(load_study(str(tmp_path)), RunOptions(), only_runs)
    store = Store(tmp_path / "store")
    made: list[PackedRun] = []
    for number, spec in enumerate(plan.runs):
        records = _engine.run(spec.scenario.compiled, spec.seed)
        text = spec.scenario.canonical()
        if number < 2:
            store.put(spec.key, pack(records, spec.key, spec.seed, text))
        else:
            made.append(PackedRun.of(records, spec.key, spec.seed, text, spec.keep))
    (*_, last) = store.put_together(made, plan.runs[0].keep)
    catalogue = Catalogue(tmp_path / "store")
    listed = list(catalogue.runs())
    specs = {spec.key: spec for spec in plan.runs}
    assert [run.key for run in listed] == sorted(specs)
    assert all(run.seed == specs[run.key].seed for run in listed)
    assert {run.name.partition("/")[0] for run in listed} == {"small"}
    assert list(catalogue.runs(after=listed[3].key)) == listed[4:]
    for run in listed:
        spec = specs[run.key]
        assert catalogue.scenario(run.key) == (spec.scenario.canonical(), spec.seed)
    assert catalogue.scenario("no-such-run") is None
    # What is damaged is left out by who looks for the first time.
    (last.directory / "runs.parquet").write_bytes(b"")
    singles = {spec.key for spec in plan.runs[:2]}
    assert {run.key for run in Catalogue(tmp_path / "store").runs()} == singles
