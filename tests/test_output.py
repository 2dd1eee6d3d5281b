"""New directories for results."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from sojourn.base.errors import EnvironmentFailure, UsageError
from sojourn.base.output import new_directory, owner


def test_a_directory_appears_when_it_is_complete(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    with new_directory(out) as unfinished:
        (unfinished / "file").write_text("data")
        assert not out.exists()
    assert (out / "file").read_text() == "data"
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    def fail_half_way() -> None:
        with new_directory(tmp_path / "out") as unfinished:
            (unfinished / "file").write_text("data")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("data")
    with pytest.raises(UsageError), new_directory(tmp_path):
        pass
    with pytest.raises(UsageError), new_directory(tmp_path / "file"):
        pass
    assert (tmp_path / "file").read_text() == "data"


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    gone = tmp_path / f".a.unfinished-{socket.gethostname()}.{dead.pid}"
    alive = tmp_path / f".b.unfinished-{socket.gethostname()}.{os.getppid()}"
    far = tmp_path / ".c.unfinished-another-host.1"
    for path in (gone, alive, far):
        path.mkdir()
    with new_directory(tmp_path / "out"):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([alive.name, far.name, "out"])


def test_a_place_that_cannot_be_made_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(EnvironmentFailure, match="not a directory") as caught, new_directory(tmp_path / "file" / "out"):
        pass
    assert "--out" in caught.value.hint


def test_this_process_is_named_by_host_and_number() -> None:
    assert owner() == f"{socket.gethostname()}.{os.getpid()}"
