"""A result that goes to an archive is verified by making it again; what strangers put there is refused in words."""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sojourn.archive.crate import METADATA, copy_whole, read_crate
from sojourn.base.errors import RecordError
from support import CommandLine, write_scenario, write_study

pytest.importorskip("rocrate", reason="rocrate is not installed (pip install 'sojourn[crate]')")


@pytest.fixture(scope="module")
def archived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with a study, a run, and a crate of each."""
    directory = tmp_path_factory.mktemp("archived")
    command = CommandLine(directory)
    write_study(directory)
    write_scenario(directory, "scenario.toml")
    for words in (
        ("study", "run", "study.toml", "--quick", "--no-figures", "--out", "result"),
        ("run", "scenario.toml", "--seed", "7", "--set", "duration=1 s", "--out", "one"),
        ("export", "result", "--ro-crate", "study-crate", "--license", "https://spdx.org/licenses/CC-BY-4.0"),
        ("export", "one", "--ro-crate", "run-crate", "--author", "A. Author"),
    ):
        done = command(*words)
        assert done.status == 0, done.stderr
    return directory


@pytest.fixture
def crates(archived: Path, tmp_path: Path) -> Path:
    """Return a directory with copies of both crates and nothing of what they were made from."""
    for name in ("study-crate", "run-crate"):
        shutil.copytree(archived / name, tmp_path / name)
    return tmp_path


def graph(crate: Path) -> dict[str, dict[str, Any]]:
    """Return the entities of a crate by their identity."""
    content = json.loads((crate / METADATA).read_text(encoding="utf-8"))
    return {entity["@id"]: entity for entity in content["@graph"]}


def test_a_crate_says_what_made_it_from_what(archived: Path) -> None:
    entities = graph(archived / "study-crate")
    manifest = json.loads((archived / "result" / "manifest.json").read_text())
    assert entities["#sojourn"]["softwareVersion"] == manifest["engine_version"]
    action = entities["#run"]
    assert action["@type"] == "CreateAction"
    assert action["instrument"] == {"@id": "#sojourn"}
    assert {"@id": "study.toml"} in action["object"]
    assert {"@id": "metrics.parquet"} in action["result"]
    assert action["description"] == "sojourn verify makes it again; seeds 1"
    assert entities["./"]["license"] == {"@id": "https://spdx.org/licenses/CC-BY-4.0"}
    assert entities["./"]["name"] == "A small study"
    assert graph(archived / "run-crate")["#author"]["name"] == "A. Author"
    there = {
        path.relative_to(archived / "result").as_posix() for path in (archived / "result").rglob("*") if path.is_file()
    }
    assert {name for name, one in entities.items() if one["@type"] == "File"} == there


@pytest.mark.parametrize(("crate", "made"), [("study-crate", 4), ("run-crate", 9)])
def test_a_crate_verifies_where_nothing_of_it_was_run(crates: Path, crate: str, made: int) -> None:
    done = CommandLine(crates)("verify", crate, "--json")
    assert done.status == 0, done.stderr + done.stdout
    found = done.json()
    assert found["differences"] == []
    assert len(found["compared"]) >= made
    assert found["made_by"] == found["here"]
    assert found["files"] == len(read_crate(crates / crate))


@pytest.mark.parametrize(
    ("crate", "name", "at"),
    [
        ("study-crate", "metrics.parquet", 100),
        ("study-crate", "records/series.parquet", 500),
        ("study-crate", "summary.csv", 60),
        ("run-crate", "metrics.parquet", 33),
        ("run-crate", "series.parquet", 1000),
    ],
)
def test_a_changed_byte_is_named(crates: Path, crate: str, name: str, at: int) -> None:
    path = crates / crate / name
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)
    done = CommandLine(crates)("verify", crate)
    assert done.status == 1
    first = done.stdout.splitlines()[0]
    was, now = f"0x{content[at]:02x}", f"0x{content[at] ^ 1:02x}"
    assert first.startswith(f"differs: {name} differs from byte {at} on: {was} in the crate, {now} when made again")


def test_a_changed_page_a_missing_file_and_another_scenario_are_named(crates: Path) -> None:
    (crates / "study-crate" / "report.html").write_text("other")
    (crates / "study-crate" / "claims.csv").unlink()
    done = CommandLine(crates)("verify", "study-crate", "--json")
    assert done.status == 1
    told = "\n".join(done.json()["differences"])
    assert "report.html: has another size" in told
    assert "claims.csv: " in told
    scenario = crates / "run-crate" / "scenario.toml"
    scenario.write_text(scenario.read_text().replace("50 packets", "10 packets"))
    done = CommandLine(crates)("verify", "run-crate", "--json")
    assert done.status == 1
    assert any(one.startswith("scenario.toml is not the file") for one in done.json()["differences"])
    assert any(one.startswith("metrics.parquet differs from byte ") for one in done.json()["differences"])
    (crates / "run-crate" / "manifest.json").write_text("{}")
    done = CommandLine(crates)("verify", "run-crate")
    assert done.status == 1
    assert "manifest.json: has another size" in done.stderr


def described_anew(crate: Path, *names: str) -> None:
    """Have a crate describe files as they are, as an author of malice would."""
    for name in names:
        content = (crate / name).read_bytes()
        told = {"sha256": hashlib.sha256(content).hexdigest(), "contentSize": str(len(content))}
        changed(crate, lambda entities, name=name, told=told: entities[name].update(told))


def changed(crate: Path, change: Callable[[dict[str, dict[str, Any]]], object]) -> None:
    """Change entities of a crate's description."""
    path = crate / METADATA
    content = json.loads(path.read_text(encoding="utf-8"))
    change({entity["@id"]: entity for entity in content["@graph"]})
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("@id", "../outside", "is no file of the crate"),
        ("@id", "/etc/passwd", "is no file of the crate"),
        ("@id", "records/../../outside", "is no file of the crate"),
        ("@id", "a\0b", "is no file of the crate"),
        ("@id", 5, "is no file of the crate"),
        ("@id", "manifest.json", "stands twice"),
        ("sha256", "../x", "has no sha256"),
        ("sha256", None, "has no sha256"),
        ("contentSize", "-1", "has no contentSize"),
        ("contentSize", str(2**45), "files of more than 8 GiB"),
        ("contentSize", "9" * 100_000, "has no contentSize"),
    ],
)
def test_a_description_that_leads_elsewhere_is_refused(crates: Path, key: str, value: object, told: str) -> None:
    changed(crates / "run-crate", lambda entities: entities["series.parquet"].update({key: value}))
    before = sorted(path.name for path in crates.rglob("*"))
    done = CommandLine(crates)("verify", "run-crate")
    assert done.status == 1
    assert done.stdout == ""
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in crates.rglob("*")) == before


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"@graph": 5}', '{"@graph": [5, {}, null]}', "[" * 10_000, "{" * 500]
)
def test_a_description_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / METADATA).write_text(text)
    with pytest.raises(RecordError):
        read_crate(tmp_path)


def test_too_many_files_are_refused_soon(tmp_path: Path) -> None:
    entity = {"@type": "File", "sha256": "0" * 64, "contentSize": "0"}
    many = [{**entity, "@id": f"f{number}"} for number in range(100_000)]
    (tmp_path / METADATA).write_text(json.dumps({"@graph": many}))
    began = time.process_time()
    with pytest.raises(RecordError, match="more than 10000 files"):
        read_crate(tmp_path)
    assert time.process_time() - began < 5


def test_links_pipes_and_growing_files_are_not_read(crates: Path, tmp_path: Path) -> None:
    crate = crates / "run-crate"
    listed = read_crate(crate)
    secret = tmp_path / "secret"
    secret.write_bytes((crate / "series.parquet").read_bytes())
    (crate / "series.parquet").unlink()
    (crate / "series.parquet").symlink_to(secret)  # of the right size and digest
    (crate / "signals.parquet").unlink()
    os.mkfifo(crate / "signals.parquet")
    with (crate / "delays.parquet").open("ab") as file:
        file.truncate(2**40)
    target = tmp_path / "target"
    target.mkdir()
    wrong = copy_whole(crate, listed, target)
    assert {sentence.partition(":")[0] for sentence in wrong} == {"series.parquet", "signals.parquet", "delays.parquet"}
    assert not (target / "series.parquet").exists()
    assert not (target / "delays.parquet").exists()


def test_a_folder_that_is_a_link_leads_nowhere(crates: Path, tmp_path: Path) -> None:
    crate = crates / "study-crate"
    shutil.move(crate / "records", tmp_path / "elsewhere")
    (crate / "records").symlink_to(tmp_path / "elsewhere")
    target = tmp_path / "target"
    target.mkdir()
    wrong = copy_whole(crate, read_crate(crate), target)
    assert {sentence.partition(":")[0] for sentence in wrong} == {"records/series.parquet"}


def test_a_study_of_strangers_reads_no_file_outside_and_runs_no_module(crates: Path) -> None:
    crate = crates / "study-crate"
    (crates / "evil.py").write_text("from pathlib import Path\nPath('ran').touch()\n")
    shutil.copy(crates / "evil.py", crate / "evil.py")
    study = crate / "study.toml"
    text = study.read_text().replace('scenario = "base.toml"', 'scenario = "../../../etc/passwd"')
    assert "/etc/passwd" in text
    study.write_text(f'module = "evil.py"\n{text}')
    described_anew(crate, "study.toml")
    done = CommandLine(crates)("verify", "study-crate")
    assert done.status != 0
    assert not list(crates.rglob("ran"))
    assert "root:" not in done.stdout + done.stderr


def test_runs_of_a_plugin_are_refused(crates: Path) -> None:
    manifest = crates / "study-crate" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"plugins": {}', '"plugins": {"mine": "x"}'))
    described_anew(crates / "study-crate", "manifest.json")
    done = CommandLine(crates)("verify", "study-crate")
    assert done.status == 2
    assert "runs of a plugin" in done.stderr


def test_what_is_no_result_is_not_exported(sojourn: CommandLine) -> None:
    (sojourn.directory / "empty").mkdir()
    done = sojourn("export", "empty", "--ro-crate", "crate")
    assert done.status != 0
    assert "Traceback" not in done.stderr
    assert not (sojourn.directory / "crate").exists()
