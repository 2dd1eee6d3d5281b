"""The worker's side of `sojourn.cluster.maker`: a process that is asked for units, and started again when one kills it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.base.errors import EnvironmentFailure, plain, why
from sojourn.base.files import read_file, write_file
from sojourn.base.output import owner, owner_is_gone
from sojourn.cluster.maker import UNDER_WAY
from sojourn.cluster.shared_plan import SharedPlan
from sojourn.process.isolated import python_command

MAKE = "from sojourn.cluster.maker import main; main()"
"""Code of the process; tests replace it."""


@dataclass(frozen=True)
class Death:
    """How a process ended that should have answered."""

    key: str
    """Of the run that was under way; empty if none was."""
    how: str
    """In words: a signal, or a status."""
    peak_bytes: int
    """Memory that the process has taken at most."""


PREFIX = "sojourn-worker-"


def _sweep() -> None:
    """Remove the folders of this user's workers that were killed."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        with contextlib.suppress(OSError):
            found = path.lstat()
            is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
            # The name that `mkdtemp` draws has no hyphen: what follows it is the owner.
            if is_own and owner_is_gone(path.name.removeprefix(PREFIX).partition("-")[2]):
                shutil.rmtree(path, ignore_errors=True)


class Maker:
    """A process that makes the runs of units.

    Raises `EnvironmentFailure` if there is no place for temporary files.

    Parameters
    ----------
    shared
        The plan.
    share
        How many such processes share the memory of this machine.
    statements
        What the process does.
    """

    def __init__(self, shared: SharedPlan, share: int, statements: str = MAKE) -> None:
        try:
            _sweep()
            self.folder = Path(tempfile.mkdtemp(prefix=PREFIX, suffix=f"-{owner()}"))
            write_file(self.folder / "plan.json", shared.model_dump_json(by_alias=True))
        except OSError as error:
            raise EnvironmentFailure(
                f"no place for temporary files: {why(error)}", "set TMPDIR to another folder"
            ) from error
        self._share, self._statements = share, statements
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._is_closed = False

    def ask(self, request: dict[str, Any]) -> dict[str, Any] | Death:
        """Let a request be done; see `make_unit`.

        Returns
        -------
        dict or Death
            The answer, or how the process ended.
        """
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(OSError):
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        line = process.stdout.readline()
        if line.endswith(b"\n"):
            return json.loads(line)
        return self._ended(process)

    def _started(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._is_closed:
                raise EnvironmentFailure("the process that makes runs was ended")
            if self._process is None:
                folder = self.folder / "work"
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                command = python_command(self._statements)
                arguments = [str(self.folder / "plan.json"), str(folder), str(self._share)]
                self._process = subprocess.Popen(
                    [*command, *arguments],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    # An interrupt of the terminal is the worker's to answer.
                    start_new_session=True,
                )
            return self._process

    def _ended(self, process: subprocess.Popen[bytes]) -> Death:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        _close_pipes(process)
        key = ""
        with contextlib.suppress(OSError):
            key = read_file(self.folder / "work" / UNDER_WAY, most=200).decode(errors="replace")
        with self._lock:
            self._process = None
        return Death(plain(key), _how(process.returncode), used.ru_maxrss * 1024)

    @property
    def work(self) -> Path:
        """Folder with the segments of the last answer."""
        return self.folder / "work"

    def close(self) -> None:
        """End the process and remove its files; its current run is lost."""
        with self._lock:
            process, self._is_closed = self._process, True
        if process is not None:
            with contextlib.suppress(OSError):
                process.kill()
            with contextlib.suppress(OSError):
                process.wait()
            _close_pipes(process)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def is_closed(self) -> bool:
        """True if the process was ended from this side."""
        return self._is_closed


def _close_pipes(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _how(status: int) -> str:
    if status >= 0:
        return f"exit status {status}"
    with contextlib.suppress(ValueError):
        return signal.Signals(-status).name
    return f"signal {-status}"
