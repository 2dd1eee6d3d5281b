"""Files whose outside does not tell their size: every command that reads them stays within a limit that the system keeps, and says why."""

import gzip
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from robustness.damage import make_results
from support import Finished, words_only, write_scenario

CASES = Path(__file__).parents[1] / "cases"

LIMIT = 2 * 2**30
"""Bytes of address space. chosen: importing the packages of tables and of drawings takes 1.2 GB of it, most of it untouched."""

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), int(sys.argv[1])))
from sojourn.cli import run_command
sys.exit(run_command(sys.argv[2:]))
"""


def limited(folder: Path, *arguments: str | Path) -> Finished:
    """Run a command whose memory the system limits."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(LIMIT), *map(str, arguments)],
        cwd=folder,
        env=os.environ | {"SOJOURN_STORE": str(folder / "store"), "NO_COLOR": "1", "OPENBLAS_NUM_THREADS": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return Finished(done.returncode, done.stdout, done.stderr)


def lists(path: Path) -> None:
    path.write_bytes(gzip.compress(b"[" + b"[]," * 21_000_000 + b"[]]", 1))


def objects(path: Path) -> None:
    path.write_bytes(gzip.compress(b'{"metadata":[' + b"{}," * 2_500_000 + b"{}]}", 1))


def names(path: Path) -> None:
    path.write_bytes(gzip.compress(b"{" + b",".join(b'"%07d":1' % number for number in range(2_400_000)) + b"}", 1))


def blank(path: Path) -> None:
    path.write_bytes(gzip.compress(b" " * 2**28, 1))


def wide(path: Path) -> None:
    """Write a table whose heading is 16 million columns."""
    path.write_bytes(b"," * 2**24 + b"\n")


def many_rows(path: Path) -> None:
    path.write_bytes(b"time_s,rtt_ms\n" + b"1,1\n" * 8_000_000)


def opportunities(path: Path) -> None:
    path.write_bytes(b"1\n" * 2**24)


def pads(path: Path) -> None:
    path.write_bytes(bytes(2**25))


def key(path: Path) -> None:
    path.write_text("a" * 900_000 + " = 1\n")


BOMBS: list[tuple[list[str], Callable[[Path], None], str]] = [
    *(
        (command, bomb, said)
        for command in (["score"], ["calibrate", "--access", "pon"], ["trace", "record", "--out", "x.csv"])
        for bomb, said in (
            (lists, "MiB in memory, more than"),
            (objects, "is JSON of no tool"),
            (names, "is JSON of no tool"),
            (blank, "unpacks to more than 64 MiB"),
        )
    ),
    (["score"], wide, ""),
    (["score"], many_rows, ""),
    (["histogram"], wide, ""),
    (["trace", "record", "--out", "x.csv"], wide, ""),
    (["trace", "record", "--out", "x.csv"], many_rows, "has no column"),
    (["trace", "convert", "--out", "x.csv"], many_rows, "has no column"),
    (["trace", "show"], opportunities, ""),
    (["provision", "show"], pads, "has more than"),
    (["provision", "decode"], pads, "has more than"),
    (["provision", "expand"], pads, "has more than"),
    (["capture", "show"], pads, "is no packet capture"),
    (["check"], key, "aaa… (900,0"),
    (["run"], key, "aaa… (900,0"),
    (["study", "plan"], key, "aaa… (900,0"),
    (["golden", "replay"], blank, ""),
]


def takes_long(command: list[str], bomb: Callable[[Path], None]) -> bool:
    """Return whether a bomb is left to the night: eight million rows that are read, and JSON whose one reader `score` tries by day."""
    return (command[0], bomb) == ("score", many_rows) or (bomb in (objects, names) and command[0] != "score")


@pytest.mark.parametrize(
    ("command", "bomb", "said"),
    [
        pytest.param(
            *one,
            id=f"{' '.join(one[0][:2])} {one[1].__name__}",
            marks=[pytest.mark.slow] if takes_long(one[0], one[1]) else [],
        )
        for one in BOMBS
    ],
)
def test_a_bomb_is_refused_within_the_limit(
    command: list[str], bomb: Callable[[Path], None], said: str, tmp_path: Path
) -> None:
    endings: dict[Callable[[Path], None], str] = {
        key: "toml",
        wide: "csv",
        many_rows: "csv",
        pads: "cm",
        opportunities: "trace",
    }
    path = tmp_path / f"bomb.{endings.get(bomb, 'json')}"
    bomb(path)
    words = command[: 2 if command[0] in ("trace", "provision", "capture", "study", "golden") else 1]
    done = limited(tmp_path, *words, path, *command[len(words) :])
    assert done.status in ((0, 1, 2) if not said else (1, 2)), done.stderr[-2000:]
    assert words_only(done) or done.status == 0
    assert len(done.stderr) < 4000
    assert said in done.stderr


def test_an_import_goes_past_every_bomb_of_a_folder(tmp_path: Path) -> None:
    for bomb in (lists, objects, names, blank):
        bomb(tmp_path / f"{bomb.__name__}.json")
    shutil.copy(CASES / "13-flent-series-names" / "torrent.flent.gz", tmp_path)
    done = limited(tmp_path, "trial", "import", tmp_path, "--out", tmp_path / "out")
    assert done.status == 0, done.stderr
    assert "1 test of 1 home from 5 files, 4 skipped" in done.stderr or "from 5 files, 4 skipped" in done.stderr


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_results(tmp_path_factory.mktemp("made"))[0]


@pytest.mark.parametrize("command", ["compare", "report"])
@pytest.mark.parametrize("bomb", ["lists", "holes"])
def test_a_table_of_a_result_is_known_before_it_is_unpacked(
    command: str, bomb: str, result: Path, tmp_path: Path
) -> None:
    given = Path(shutil.copytree(result, tmp_path / "given"))
    metrics = given / "metrics.parquet"
    if bomb == "lists":
        shutil.copy(CASES / "28-parquet-list" / "tests.parquet", metrics)
        manifest = given / "manifest.json"
        manifest.write_text(manifest.read_text().replace('"metrics.parquet"', '"others.parquet"'))
    else:
        with metrics.open("r+b") as file:
            file.truncate(2**40)
    done = limited(tmp_path, command, given, *([result, "--all"] if command == "compare" else []))
    assert "holds lists" in done.stderr if bomb == "lists" else "bytes instead of" in done.stderr, done.stderr


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_a_device_is_no_file(device: str, tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    for arguments in (
        ["run", path, "--set", f"access.upstream.conditions=@{device}"],
        ["check", device],
        ["trace", "show", device],
        ["provision", "show", device],
    ):
        done = limited(tmp_path, *arguments)
        assert done.status == 2
        assert "is a device and no file" in done.stderr


def test_a_pipe_that_is_open_already_is_read(tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "sojourn", "check", "/dev/stdin"],
        input=path.read_text(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
