"""What the last version promised is there, or the changelog says where it went."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def promises() -> ModuleType:
    """Return the tool that keeps names."""
    spec = importlib.util.spec_from_file_location("promises", ROOT / "tools" / "promises.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_name_of_the_last_version_is_there_or_announced(promises: ModuleType) -> None:
    kept = promises.KEPT.read_text(encoding="utf-8")
    assert promises.broken(kept, promises.names(), promises.CHANGELOG.read_text(encoding="utf-8")) == []


def test_names_are_read_as_they_were_kept(promises: ModuleType) -> None:
    version, names = promises.kept(promises.KEPT.read_text(encoding="utf-8"))
    assert f"\n## {version} " in promises.CHANGELOG.read_text(encoding="utf-8")
    assert len(names) > 3000
    assert promises.kept(promises.as_text(version, names)) == (version, names)


@pytest.mark.parametrize(
    ("group", "name"),
    [
        ("metrics in ms", "delay_up_p99"),
        ("scenario file, keys of access.DIRECTION.link, serial", "delay"),
        ("scenario file, kinds of access.DIRECTION.queue", "codel"),
        ("scenario file, words of access.DIRECTION.link.service", "low-latency"),
        ("study file, keys of seeds", "count"),
        ("columns of datagrams in ns", "sent_ns"),
        ("columns of summary.csv of a result", "median"),
        ("commands", "study-run"),
        ("options of study run", "--seeds"),
        ("Python names of sojourn.StudyResult", "metrics"),
        ("parameters of sojourn.run", "seed"),
        ("C header", "uint32_tsjq_abi(void);"),
    ],
)
def test_a_name_that_is_renamed_fails_with_the_place_to_announce_it(
    promises: ModuleType, group: str, name: str
) -> None:
    now = promises.names()
    assert (group, name) in now
    before = promises.as_text("0.2.0", now)
    renamed = (now - {(group, name)}) | {(group, f"{name}_new")}
    changelog = "# Changelog\n\n## Unreleased\n\n{}\n## 0.2.0 - 2026-11-28\n\n### Renamed and removed\n\n- `old`\n"
    (sentence,) = promises.broken(before, renamed, changelog.format(""))
    assert sentence.startswith(f"{name} ({group}) of version 0.2.0 is gone. Announce it in CHANGELOG.md above ")
    told = f"### Renamed and removed\n\n- `{name}` is `{name}_new`.\n"
    assert promises.broken(before, renamed, changelog.format(told)) == []
    assert len(promises.broken(before, renamed, changelog.format(told.replace("Renamed", "Moved")))) == 1


def test_a_metric_that_the_engine_calls_otherwise_is_noticed(
    promises: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    schemas = promises._engine.metric_schemas()
    other = [{**one, "name": one["name"].replace("delay_up_p99", "delay_up_99")} for one in schemas]
    monkeypatch.setattr(promises._engine, "metric_schemas", lambda: other)
    gone = promises.broken(promises.KEPT.read_text(encoding="utf-8"), promises.names(), "")
    assert [re.match(r"\w+", sentence) and sentence.split()[0] for sentence in gone] == [
        "delay_up_p99",
        "delay_up_p999",
    ]
