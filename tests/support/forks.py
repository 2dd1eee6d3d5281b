"""Commands as forks of one process that has loaded what commands load: half of what a short command takes.

The process serves a line of JSON per command, and answers with the exit status and the processor time of command and children.
"""

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from threading import Timer

LOADED = (
    "matplotlib.figure",
    "polars",
    "sojourn.cli.arguments",
    "sojourn.cli.console",
    "sojourn.report.builder",
    "sojourn.stats.special",
    "sojourn.study.runner",
)
"""Modules that the process loads; chosen: what takes more than a tenth of a second, and what needs it."""

READ_EARLY = ("PYTHON", "LC_", "LANG", "MPL", "POLARS_", "OPENBLAS_", "TZ")
"""Beginnings of the names of variables that Python or its libraries read when they start."""

SERVE = """
import importlib, json, os, signal, sys
sys.path = [place for place in sys.path if place]
for name in sys.argv[1:]: importlib.import_module(name)
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
for line in os.fdopen(os.dup(0)):
    asked = json.loads(line)
    child = os.fork()
    if child == 0:
        for number, name in enumerate((os.devnull, asked["stdout"], asked["stderr"])):
            handle = os.open(name, os.O_RDWR)
            os.dup2(handle, number)
            os.close(handle)
        os.closerange(3, 64)
        os.setsid()
        os.chdir(asked["directory"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        sys.argv = ["sojourn", *asked["arguments"]]
        from sojourn.cli import main
        main()
    answers.write(f"{child}\\n")
    answers.flush()
    _, status, used = os.wait4(child, 0)
    answers.write(json.dumps([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime]) + "\\n")
    answers.flush()
"""


class Forks:
    """The process, which starts with the first command."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def _serving(self) -> "subprocess.Popen[str]":
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-c", SERVE, *LOADED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            atexit.register(self._end, self._process)
        return self._process

    @staticmethod
    def _end(process: "subprocess.Popen[str]") -> None:
        process.kill()
        process.wait()

    @staticmethod
    def takes(environment: Mapping[str, str]) -> bool:
        """Return whether a command with these variables can be a fork: none of those that are read early differs."""
        names = {name for name in {*environment, *os.environ} if name.startswith(READ_EARLY)}
        return hasattr(os, "fork") and all(environment.get(name) == os.environ.get(name) for name in names)

    def run(
        self, arguments: list[str], directory: Path, environment: Mapping[str, str], files: Path, timeout_s: float
    ) -> tuple[int, str, str, float]:
        """Return exit status, stdout, stderr and processor time of a command.

        Raises `subprocess.TimeoutExpired` if it does not end.
        """
        process = self._serving()
        assert process.stdin is not None
        assert process.stdout is not None
        stdout, stderr = files / "stdout", files / "stderr"
        for file in (stdout, stderr):
            file.write_bytes(b"")
        asked = {"arguments": arguments, "directory": str(directory), "environment": dict(environment)}
        process.stdin.write(json.dumps({**asked, "stdout": str(stdout), "stderr": str(stderr)}) + "\n")
        process.stdin.flush()
        child = int(process.stdout.readline())
        late = Timer(timeout_s, os.killpg, (child, 9))
        late.start()
        status, used = json.loads(process.stdout.readline())
        if not late.is_alive():
            raise subprocess.TimeoutExpired(arguments, timeout_s)
        late.cancel()
        return status, stdout.read_text(encoding="utf-8"), stderr.read_text(encoding="utf-8"), used


FORKS = Forks()
"""One process for all tests of this one."""
