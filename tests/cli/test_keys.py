"""`sojourn keys`, `schema`, `completion` and `study new`: finding out what files and commands may say."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any, cast

import pytest

from support import CommandLine, write_study
from test_plugins import FIFO


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("dsl", 'kind = "serial"'),
        ("game", 'kind = "game"'),
        ("cubic", 'kind = "linux-cubic"'),
        ("bufferbloat", "limit"),
        ("voip", 'kind = "voice"'),
        ("access.upstream.queue.target", "target"),
        ("lag", "fixed round-trip time"),
        ("fairness", 'kind = "fq-codel"'),
        ("Wi-Fi", "hold_packets"),
        ("wifi", "standard"),
        ("tlv", "maximum traffic burst"),
        ("jitter", "jitter"),
        ("bandwidth", "rate"),
        ("seeds", "seeds"),
        ("overlays", "overlays"),
    ],
)
def test_keys_are_found_by_path_and_by_what_people_say(sojourn: CommandLine, word: str, found: str) -> None:
    done = sojourn("keys", word)
    assert done.status == 0, done.stderr
    assert found in done.stdout


def test_of_wi_fi_is_said_what_there_is_and_what_is_not(sojourn: CommandLine) -> None:
    for word in ("wifi", "Wi-Fi"):
        done = sojourn("keys", word)
        for part in ("`hold`", "`rate`", "`jitter`", "not modelled: docs/concepts/not-modelled.md"):
            assert part in done.stderr
    paths = {row["path"] for row in sojourn("keys", "Wi-Fi", "--json").json()["keys"]}
    assert {f"access.DIRECTION.conditions.NAME.{key}" for key in ("hold", "jitter")} <= paths


def test_a_word_finds_the_kinds_of_a_table_and_names_each_key_once(sojourn: CommandLine) -> None:
    lines = [line.strip() for line in sojourn("keys", "queue").stdout.splitlines()]
    for kind in ("drop-tail", "codel", "fq-codel", "pie"):
        assert sum(line.startswith(f'kind = "{kind}"') for line in lines) == 1
    paths = {row["path"] for row in sojourn("keys", "bufferbloat", "--json").json()["keys"]}
    assert "access.DIRECTION.queue.limit" in paths
    assert not any(path.startswith(("link.", "home.")) for path in paths)
    below = sojourn("keys", "link.NAME.upstream.queue.limit", "--json").json()["keys"]
    assert below  # who asks for a path gets it


def test_a_key_comes_with_its_unit_default_bounds_and_origin(sojourn: CommandLine) -> None:
    rows = sojourn("keys", "access.upstream.queue.target", "--json").json()["keys"]
    codel = next(row for row in rows if "codel" in row["kind"].split(", "))
    assert codel["path"] == "access.DIRECTION.queue.target"
    assert codel["value"] == "length of time"
    assert "5 ms" in codel["default"]
    assert codel["origin"] == "RFC 8289 §5.3"


def test_the_outline_is_short_and_all_has_every_key(sojourn: CommandLine) -> None:
    outline, everything = sojourn("keys").stdout, sojourn("keys", "--all").stdout
    assert len(outline.splitlines()) < 220
    assert everything.count("\n") > 300
    for word in ("Scenario file:", "Study file:", "duration", "matrix"):
        assert word in outline


def test_a_word_that_fits_nothing_is_wrong_usage_with_the_nearest(sojourn: CommandLine) -> None:
    done = sojourn("keys", "targt")
    assert done.status == 2
    assert "did you mean target?" in done.stderr
    assert sojourn("keys", "zzzzzz").status == 2


def test_every_key_of_the_schema_of_studies_is_listed_and_described(sojourn: CommandLine) -> None:
    schema = json.loads(sojourn("schema", "study").stdout)
    rows = sojourn("keys", "--all", "--json").json()["keys"]
    listed = {part for row in rows if row["file"] == "study" for part in row["path"].split(".")}
    wanted: set[str] = set()

    def walk(node: object) -> None:
        """Collect the properties of all tables, those of alternatives and of named tables included."""
        if isinstance(node, dict):
            table = cast("dict[str, Any]", node)
            properties = table.get("properties", {})
            wanted.update(properties)
            for value in table.values():
                walk(value)
        elif isinstance(node, list):
            for value in cast("list[object]", node):
                walk(value)

    walk(schema)
    assert wanted - listed == set()
    for key in ("figure.facet", "figure.panels.traces.weight", "axes.NAME.from"):
        assert key in {row["path"] for row in rows}
    assert [row["path"] for row in rows if not row["about"]] == []


def test_a_study_of_more_points_than_a_list_holds_is_checked(sojourn: CommandLine, tmp_path: Path) -> None:
    # `study plan` and `study run` take it, so `check` does: 300 rates and 335 round trips.
    study = write_study(tmp_path, "200 ms")
    text = study.read_text(encoding="utf-8").split("\n[", 1)[0]
    axis = '{ key = "traffic.bulk.rtt", from = "10 ms", to = "ROOM ms", steps = 335 }'
    rates = 'rate = { key = "access.upstream.link.rate", from = "5 Mb/s", to = "10 Mb/s", steps = 300 }'
    for most, status in (("100", 0), ("-100", 2)):
        study.write_text(f"{text}\n[axes]\n{rates}\nrtt = {axis.replace('ROOM', most)}\n", encoding="utf-8")
        done = sojourn("check", study)
        assert done.status == status, done.stderr
    study.write_text(f"{text}\n[axes]\n{rates}\nrtt = {axis.replace('ROOM', '100')}\n", encoding="utf-8")
    assert "of up to 100,500 points checked" in sojourn("check", study).stderr


def test_a_new_study_checks_shows_and_runs_as_it_is(sojourn: CommandLine, tmp_path: Path) -> None:
    made = sojourn("study", "new", "mine")
    assert (made.status, made.stdout) == (0, "mine/study.toml\n")
    assert sojourn("check", "mine/study.toml", "mine/scenario.toml").status == 0
    assert "20ms-fq-codel" in sojourn("study", "show", "mine").stdout
    done = sojourn("study", "run", "mine", "--duration", "1 s", "--seeds", "1", "--out", "out")
    assert done.status == 0, done.stderr
    assert (tmp_path / "out" / "report.html").exists()
    summary = (tmp_path / "out" / "summary.csv").read_text(encoding="utf-8")
    for asked in ("call,delay_p99", "game,delay_round_trip_p99"):  # each waits where the upload is
        assert f"fq-codel,{asked}," in summary
    (tmp_path / "own.py").write_text(FIFO)
    own = sojourn(
        "study",
        "run",
        "mine",
        "--plugin",
        "own.py",
        "--duration",
        "1 s",
        "--seeds",
        "1",
        "--out",
        "own",
        "--no-figures",
    )
    assert own.status == 0, own.stderr
    assert "20ms-own,20,own,call,delay_p99," in (tmp_path / "own" / "summary.csv").read_text(encoding="utf-8")
    assert "--plugin" in (tmp_path / "mine" / "study.toml").read_text(encoding="utf-8")
    again = sojourn("study", "new", "mine")
    assert again.status == 2
    assert "there already" in again.stderr


def test_a_study_by_name_is_checked_too(sojourn: CommandLine) -> None:
    done = sojourn("check", "white2012")
    assert (done.status, done.stderr) == (0, "white2012: valid study\n")


def test_shells_can_complete_commands_and_options(sojourn: CommandLine, tmp_path: Path) -> None:
    script = sojourn("completion", "bash").stdout
    (tmp_path / "complete.sh").write_text(script)
    subprocess.run(["bash", "-n", "complete.sh"], cwd=tmp_path, check=True)
    assert {"study", "keys", "--report", "--set"} <= set(re.findall(r"[-\w]+", script))
    assert sojourn("completion", "fsh").status == 2


def test_fish_completes_commands_with_their_words_and_options(sojourn: CommandLine) -> None:
    done = sojourn("completion", "fish")
    assert done.status == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("complete -c sojourn")]
    assert any(" -a home " in line and "-d " in line for line in lines), lines[:5]
    assert any("-l uploads" in line for line in lines)
