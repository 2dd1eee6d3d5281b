"""`sojourn check`, and what bad input looks like."""

from pathlib import Path
from typing import Any

import pytest
import tomli_w

from support import HOUSEHOLD, CommandLine, words_only, write_scenario, write_study


def changed(path: str, value: object) -> str:
    """Return `HOUSEHOLD` as TOML with one value changed."""
    import copy

    document: dict[str, Any] = copy.deepcopy(HOUSEHOLD)
    *parents, last = path.split(".")
    place = document
    for part in parents:
        place = place[part]
    place[last] = value
    return tomli_w.dumps(document)


def test_valid_files_are_told_on_stderr(sojourn: CommandLine, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    write_study(tmp_path)
    done = sojourn("check", "household.toml", "study.toml")
    assert (done.status, done.stdout) == (0, "")
    assert done.stderr == "household.toml: valid scenario\nstudy.toml: valid study\n"


MODEM = {"kind": "docsis30-single", "rate": "50 Mb/s", "burst": "3044 B"}


def test_a_link_that_cannot_reach_its_rate_is_told_and_still_valid(sojourn: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "modem.toml").write_text(changed("access.upstream.link", MODEM), encoding="utf-8")
    for command in (["check", "modem.toml"], ["run", "modem.toml", "--set", "duration=10ms"]):
        done = sojourn(*command)
        assert done.status == 0, done.stderr
        told = done.stderr
        assert "the link reaches 12.1 Mb/s of its rate of 50 Mb/s" in told
        assert 'burst = "625000 B", which is 100 ms at the rate' in told


def test_the_published_studies_reach_their_rates() -> None:
    from sojourn.study.library import builtin_names, load_study
    from sojourn.study.plan import RunOptions, make_plan, only_runs

    # A point of White 2019 with long prefixes has MAPs that are longer than the bucket of its peak rate: that is told.
    for name in builtin_names():
        told = make_plan(load_study(name), RunOptions(), only_runs).warnings
        assert not [problem for problem in told if "of its rate of" in problem.message], name


LIMIT = "access.upstream.queue.limit"

BAD = {
    "misspelt key": (tomli_w.dumps({**HOUSEHOLD, "durration": "1 s"}), "durration", "duration"),
    "wrong unit": (changed(LIMIT, "50 volts"), LIMIT, "packets"),
    "bare number": (changed("duration", 600), "duration", "600 s"),
    "negative value": (changed("duration", "-5 s"), "duration", ""),
    "absurd value": (changed("access.upstream.link.rate", "5000 Tb/s"), "rate", ""),
    "unknown manager": (
        changed("access.upstream.queue", {"kind": "droptail", "limit": "1 s"}),
        "access.upstream.queue.kind",
        "drop-tail",
    ),
    "missing key": (
        tomli_w.dumps({key: value for key, value in HOUSEHOLD.items() if key != "duration"}),
        "duration",
        "",
    ),
}


@pytest.mark.parametrize("command", ["check", "run"])
@pytest.mark.parametrize("case", BAD)
def test_a_bad_value_is_told_with_its_path_and_what_would_be_right(
    sojourn: CommandLine, tmp_path: Path, command: str, case: str
) -> None:
    text, path, right = BAD[case]
    (tmp_path / "bad.toml").write_text(text)
    done = sojourn(command, "bad.toml")
    assert (done.status, done.stdout) == (2, "")
    assert words_only(done)
    assert done.stderr.startswith("error: bad.toml")
    assert path in done.stderr
    assert right in done.stderr


@pytest.mark.parametrize("command", ["check", "run"])
@pytest.mark.parametrize(
    "content",
    [b"= = =", b"", b"\x00\x01\x02", b"\xff\xfe", b"a = 1\na = 2", b'x = "'],
    ids=["not TOML", "empty", "binary", "not UTF-8", "twice", "open string"],
)
def test_what_is_no_scenario_at_all_is_told(sojourn: CommandLine, tmp_path: Path, command: str, content: bytes) -> None:
    (tmp_path / "bad.toml").write_bytes(content)
    done = sojourn(command, "bad.toml")
    assert (done.status, done.stdout) == (2, "")
    assert words_only(done)


@pytest.mark.parametrize("command", [["check"], ["run"], ["study", "run"], ["study", "show"]])
def test_a_file_that_is_not_there_is_wrong_usage(sojourn: CommandLine, command: list[str]) -> None:
    done = sojourn(*command, "absent.toml")
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr == "error: absent.toml: no such file or directory\n"


def test_a_directory_is_no_scenario(sojourn: CommandLine, tmp_path: Path) -> None:
    done = sojourn("run", tmp_path)
    assert done.status == 2
    assert "is a directory" in done.stderr


def test_all_problems_of_all_files_are_told_at_once(sojourn: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(tomli_w.dumps({**HOUSEHOLD, "durration": "1 s", "duration": 5}))
    (tmp_path / "two.toml").write_text('schema = 1\nname = "x"\nscenario = "absent.toml"\n')
    write_scenario(tmp_path, "three.toml")
    done = sojourn("check", "one.toml", "two.toml", "three.toml")
    assert done.status == 2
    assert "durration" in done.stderr
    assert "duration: " in done.stderr
    assert "two.toml: points: a study needs points, axes or a matrix" in done.stderr
    assert "three.toml: valid scenario" in done.stderr


def test_a_study_whose_points_are_no_scenarios_is_told_with_the_point(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path, overlays={"wrong": {"duration": "5"}}, matrix=[], points={"p": {"overlays": ["wrong"]}})
    done = sojourn("check", "study.toml")
    assert done.status == 2
    assert done.stderr.startswith("error: study.toml: duration: ")
    assert "(point p)" in done.stderr
