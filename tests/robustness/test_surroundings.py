"""Odd surroundings: no stdout, other encodings, names that are no UTF-8, full disks, and ends at any moment."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support import CommandLine, words_only, write_scenario, write_study

ODD = os.fsdecode(b"x\xff")
"""A name that is no UTF-8."""

MEASURED = Path(__file__).parents[1] / "field" / "files"


def closed(sojourn: CommandLine, redirections: str, *words: str | Path) -> int:
    """Run a command with standard files closed, and return its status."""
    command = ["sh", "-c", f'exec "$@" {redirections}', "sh", *sojourn.command(*words)]
    return subprocess.run(command, cwd=sojourn.directory, env=sojourn.environment, check=False).returncode


# ---- standard files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("redirections", [">&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_service_without_standard_files_does_its_work(
    sojourn: CommandLine, tmp_path: Path, redirections: str
) -> None:
    write_scenario(tmp_path)
    assert sojourn("run", "household.toml", "--out", "usual").status == 0
    assert closed(sojourn, redirections, "run", "household.toml", "--out", "service") == 0
    assert closed(sojourn, redirections, "keys", "rate") == 0
    for one in (tmp_path / "usual").glob("*.parquet"):  # nothing that is printed stands in a file
        assert (tmp_path / "service" / one.name).read_bytes() == one.read_bytes()


def test_a_study_of_a_service_without_standard_files_is_whole(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path, "200 ms")
    assert closed(sojourn, ">&- 2>&-", "study", "run", "study.toml", "--out", "out", "--no-figures") == 0
    assert (tmp_path / "out" / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_an_output_in_ascii_has_escapes_and_json_the_same_values(sojourn: CommandLine, tmp_path: Path) -> None:
    text = write_scenario(tmp_path, name="household").read_text()
    (tmp_path / "household.toml").write_text(text.replace('name = "bulk"', 'name = "büro"'), encoding="utf-8")
    usual = sojourn("run", "household.toml", "--json").json()["metrics"]
    sojourn.environment |= {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    done = sojourn("run", "household.toml")
    assert done.status == 0, done.stderr
    assert "b\\xfcro" in done.stdout
    done = sojourn("run", "household.toml", "--json")
    assert done.stdout.isascii()
    assert done.json()["metrics"] == usual
    for words in (("study", "list"), ("keys", "marking"), ("study", "show", "l4s2021"), ("run", "ä.toml")):
        done = sojourn(*words)
        assert "Traceback" not in done.stderr
        assert (done.stdout + done.stderr).isascii()


# ---- names that are no UTF-8 -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("run", "household.toml", "--out", ODD, "--report"),
        ("run", "household.toml", "--json", "--store", ODD),
        ("run", "household.toml", "--pcap", ODD),
        ("run", "household.toml", "--qlog", ODD),
        ("study", "run", "study.toml", "--no-figures", "--out", ODD),
        ("golden", "record", "household.toml", "--out", ODD),
        ("check-aqm", "drop-tail", "--quick", "--out", ODD),
        ("trace", "make", "lte", "--for", "1s", "--out", ODD),
        ("recipe", "copy", "low-latency", ODD),
        ("trial", "import", "measured", "--out", ODD),
    ],
    ids=" ".join,
)
def test_a_place_whose_name_is_no_text_takes_what_is_written(
    sojourn: CommandLine, tmp_path: Path, words: tuple[str, ...]
) -> None:
    write_study(tmp_path, "200 ms")
    write_scenario(tmp_path, duration="200 ms")
    shutil.copytree(MEASURED, tmp_path / "measured")
    process = subprocess.run(
        sojourn.command(*words), cwd=tmp_path, env=sojourn.environment, capture_output=True, check=False
    )
    said = process.stderr.decode()
    assert process.returncode == 0, said
    assert (tmp_path / ODD).exists()


@pytest.mark.parametrize(
    "words",
    [
        ("keys", ODD),
        ("query", f"select '{ODD}'"),
        ("run", "household.toml", "--set", f"name={ODD}"),
        ("study", "run", ODD),
        ("check", ODD),
        ("provision", "show", ODD),
        ("capture", "show", ODD),
        (ODD,),
    ],
    ids=lambda words: ascii(words[0]),
)
def test_a_word_that_is_no_text_is_refused_in_words(sojourn: CommandLine, tmp_path: Path, words: tuple[str]) -> None:
    write_scenario(tmp_path)
    done = sojourn(*words)
    assert done.status in (1, 2)
    assert words_only(done)


# ---- full disks ------------------------------------------------------------------------------------------


def small_disk(sojourn: CommandLine, kilobytes: int, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command whose folder `disk` has so much room, in namespaces of its own; say last what it left there."""
    there = ["unshare", "--mount", *(["--map-root-user"] if os.geteuid() else [])]
    if subprocess.run([*there, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no namespace in which a small disk can be mounted")
    (sojourn.directory / "disk").mkdir(exist_ok=True)
    script = (
        f'mount -t tmpfs -o size={kilobytes}k none disk; "$@"; status=$?; echo "left: $(ls -A disk)" >&2; exit $status'
    )
    return subprocess.run(
        [*there, "sh", "-c", script, "sh", *sojourn.command(*words)],
        cwd=sojourn.directory,
        env=sojourn.environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("kilobytes", [8, 16, 20, 28, 40, 80, 160])
def test_a_result_for_which_a_disk_has_no_room_is_refused_by_the_systems_word(
    sojourn: CommandLine, tmp_path: Path, kilobytes: int
) -> None:
    write_study(tmp_path, "200 ms", keep=["series", "datagrams", "delays"])
    done = small_disk(sojourn, kilobytes, "study", "run", "study.toml", "--no-figures", "--out", "disk/out")
    assert done.returncode == 1, done.stderr
    assert "no space left on device" in done.stderr
    assert "hrift" not in done.stderr
    assert done.stderr.endswith("left: \n")


@pytest.mark.parametrize(
    "words",
    [
        ("run", "household.toml", "--out", "disk/out"),
        ("run", "household.toml", "--store", "disk/store"),
        ("run", "household.toml", "--pcap", "disk/pcap"),
        ("run", "household.toml", "--qlog", "disk/qlog"),
        ("run", "household.toml", "--qlog", "disk/qlog", "--pcap", "disk/pcap"),
        ("golden", "record", "household.toml", "--out", "disk/golden"),
        ("trial", "import", "measured", "--out", "disk/trial"),
    ],
    ids=" ".join,
)
def test_what_has_no_room_is_said_so_and_leaves_no_half_under_its_name(
    sojourn: CommandLine, tmp_path: Path, words: tuple[str, ...]
) -> None:
    write_scenario(tmp_path)
    shutil.copytree(MEASURED, tmp_path / "measured")
    done = small_disk(sojourn, 4, *words)
    assert done.returncode == 1, done.stderr
    assert "no space left on device\n" in done.stderr
    assert "Traceback" not in done.stderr
    left = done.stderr.rpartition("left: ")[2].split()
    assert left in ([], ["store"])


# ---- ends at any moment ----------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--pcap", "--qlog"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_what_is_written_beside_a_run_has_its_name_when_it_is_whole(
    sojourn: CommandLine, tmp_path: Path, option: str, number: signal.Signals
) -> None:
    write_scenario(tmp_path, duration="1000 s")
    process = sojourn.start("run", "household.toml", option, "out")
    deadline = time.monotonic() + 60
    while not any(one.is_file() for one in tmp_path.glob(".out.*/*")):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    process.communicate(timeout=30)
    assert not (tmp_path / "out").exists()
    left = list(tmp_path.glob(".out.*"))
    assert len(left) == (1 if number == signal.SIGKILL else 0)
    # The next call removes what a killed one has left.
    write_scenario(tmp_path)
    assert sojourn("run", "household.toml", option, "out").status == 0
    assert list((tmp_path / "out").iterdir())
    assert not list(tmp_path.glob(".out.*"))


# ---- hard links ------------------------------------------------------------------------------------------


def test_a_page_shows_no_text_that_has_a_second_name_elsewhere(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path, "200 ms", notes="notes.md")
    (tmp_path / "notes.md").write_text("Notes.\n")
    write_scenario(tmp_path)
    assert sojourn("run", "household.toml", "--out", "run").status == 0
    assert sojourn("study", "run", "study.toml", "--no-figures", "--out", "study").status == 0
    secret = tmp_path / "secret"
    secret.write_text("SECRET = 1\n")
    for place in ("run/scenario.toml", "study/study/notes.md", "study/scenarios/base.toml"):
        (tmp_path / place).unlink()
        (tmp_path / place).hardlink_to(secret)
    for name in ("run", "study"):
        done = sojourn("report", name)
        page = (tmp_path / name / "report.html").read_text(encoding="utf-8")
        assert "SECRET" not in page + done.stdout + done.stderr
    assert "scenario.toml cannot be read: has a second name elsewhere (a hard link)" in sojourn("report", "run").stderr


def test_a_json_of_a_result_names_a_place_that_is_no_text(sojourn: CommandLine, tmp_path: Path) -> None:
    write_scenario(tmp_path, duration="200 ms")
    said = subprocess.run(
        sojourn.command("run", "household.toml", "--json", "--out", ODD),
        cwd=tmp_path,
        env=sojourn.environment,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    assert json.loads(said.decode())["out"] == ODD
    assert sys.getfilesystemencoding() != "utf-8" or os.fsencode(ODD) == b"x\xff"
