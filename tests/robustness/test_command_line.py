"""Odd command lines and full devices end in words."""

import subprocess
from pathlib import Path

import pytest

from sojourn.base.output import dated
from support import CommandLine, words_only, write_scenario, write_study


@pytest.mark.parametrize("command", [["--help"], ["study", "list"], ["run", "household.toml"]])
def test_a_full_device_is_told(sojourn: CommandLine, tmp_path: Path, command: list[str]) -> None:
    write_scenario(tmp_path)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            sojourn.command(*command),
            cwd=tmp_path,
            env=sojourn.environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "no space left" in done.stderr


def test_more_seeds_than_anybody_can_run_are_refused(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path)
    done = sojourn("study", "run", "study.toml", "--seeds", "99999999999")
    assert done.status == 2
    assert words_only(done)


def test_results_that_begin_in_the_same_second_have_directories_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert len({dated("study") for _ in range(5)}) == 5


def test_a_byte_order_mark_is_no_part_of_a_file(sojourn: CommandLine, tmp_path: Path) -> None:
    for path in (write_scenario(tmp_path), write_study(tmp_path)):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
        assert sojourn("check", path.name).status == 0


def test_what_is_not_a_number_is_not_told_to_need_a_unit(sojourn: CommandLine, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    done = sojourn("run", "household.toml", "--set", "duration=nan")
    assert done.status == 2
    assert "nan is not a length of time" in done.stderr
