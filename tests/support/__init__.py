"""What several tests need: the command line as a subprocess, small scenarios and studies."""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import tomli_w

from support.forks import FORKS

HOUSEHOLD: dict[str, Any] = {
    "schema": 1,
    "name": "household",
    "duration": "2 s",
    "access": {
        "upstream": {
            "link": {"kind": "serial", "rate": "5 Mb/s", "delay": "1 ms"},
            "queue": {"kind": "drop-tail", "limit": "50 packets"},
        },
        "downstream": {
            "link": {"kind": "serial", "rate": "20 Mb/s", "delay": "1 ms"},
            "queue": {"kind": "drop-tail", "limit": "100 packets"},
        },
    },
    "traffic": [
        {"name": "bulk", "app": {"kind": "bulk"}, "stack": "linux-cubic", "rtt": "20 ms"},
        {"name": "call", "app": {"kind": "voice"}},
    ],
}
"""A small valid scenario: an upload and a call over a line of constant rate."""

SUMMARY = """
schema = 1
[[test]]
method = "flent"
load = "up"
rate = { value = "4.74 Mb/s", where = "sender" }
idle = { p50 = "25.5 ms", samples = 15 }
loaded = { mean = "98 ms", p50 = "100 ms", p95 = "117 ms", max = "121 ms", samples = 40, every = "200 ms" }
loss = 0.0
"""
"""Numbers of the result page of one upload: a summary file for `sojourn calibrate`."""

WITH_LIMIT = """
import os, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
os.execv(sys.argv[2], sys.argv[2:])
"""
"""A program that limits the size of files and becomes another program."""

STUDY: dict[str, Any] = {
    "schema": 1,
    "name": "small",
    "title": "A small study",
    "scenario": "base.toml",
    "seeds": {"first": 1, "count": 2},
    "quick": {"duration": "500 ms"},
    "keep": ["series"],
    "overlays": {
        "short": {"access": {"upstream": {"queue": {"limit": "10 packets"}}}},
        "long": {"access": {"upstream": {"queue": {"limit": "200 packets"}}}},
        "near": {"traffic": {"bulk": {"rtt": "10 ms"}}},
        "far": {"traffic": {"bulk": {"rtt": "100 ms"}}},
    },
    "matrix": [{"axes": {"rtt": ["near", "far"], "buffer": ["short", "long"]}}],
}
"""A study of four points and two seeds over `HOUSEHOLD`."""


def write_scenario(directory: Path, name: str = "household.toml", **changes: object) -> Path:
    """Write `HOUSEHOLD` with changed top-level keys."""
    path = directory / name
    path.write_text(tomli_w.dumps({**HOUSEHOLD, **changes}), encoding="utf-8")
    return path


def write_study(directory: Path, duration: str = "2 s", **changes: object) -> Path:
    """Write `STUDY` with changed top-level keys, and its base scenario."""
    write_scenario(directory, "base.toml", duration=duration)
    path = directory / "study.toml"
    path.write_text(tomli_w.dumps({**STUDY, **changes}), encoding="utf-8")
    return path


@dataclass(frozen=True)
class Finished:
    """How a command ended."""

    status: int
    stdout: str
    stderr: str
    processor_s: float = 0.0
    """Processor time of the command and its children."""

    def json(self) -> dict[str, Any]:
        """Return stdout, which has to be one JSON object."""
        content = json.loads(self.stdout)
        assert isinstance(content, dict)
        return cast("dict[str, Any]", content)


class CommandLine:
    """`sojourn` in a directory of its own, with a store of its own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.store = directory / "store"
        self.environment = os.environ | {"SOJOURN_STORE": str(self.store), "NO_COLOR": "1", "COLUMNS": "80"}

    @staticmethod
    def command(*arguments: str | Path) -> list[str]:
        """Return the command with the interpreter that runs the tests."""
        return [sys.executable, "-m", "sojourn", *map(str, arguments)]

    def __call__(self, *arguments: str | Path) -> Finished:
        """Run a command to its end, as a fork of a process that has loaded what commands load."""
        if not FORKS.takes(self.environment):
            return self.fresh(*arguments)
        with tempfile.TemporaryDirectory() as files:
            words = [str(argument) for argument in arguments]
            return Finished(*FORKS.run(words, self.directory, self.environment, Path(files), timeout_s=300))

    def fresh(self, *arguments: str | Path) -> Finished:
        """Run a command to its end in a process of its own, as a user starts it."""
        before = os.times()
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        after = os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        return Finished(done.returncode, done.stdout, done.stderr, used)

    def start(self, *arguments: str | Path, largest_file: int | None = None) -> "subprocess.Popen[str]":
        """Start a command, if asked for with a limit on the size of the files that it may write."""
        command = self.command(*arguments)
        if largest_file is not None:
            command = [sys.executable, "-c", WITH_LIMIT, str(largest_file), *command]
        return subprocess.Popen(
            command,
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def stored_runs(self) -> list[str]:
        """Return the keys of finished runs in the store."""
        from sojourn.store import Store

        return sorted(Store(self.store).keys())

    def wait_for_runs(self, count: int, timeout_s: float = 60.0) -> None:
        """Wait until the store holds so many runs."""
        deadline = time.monotonic() + timeout_s
        while len(self.stored_runs()) < count:
            assert time.monotonic() < deadline, "no runs appear in the store"
            time.sleep(0.01)


def words_only(finished: Finished) -> bool:
    """Return whether an error was told in words, without the insides of any program."""
    leaks = ("Traceback", "panicked", "RUST_BACKTRACE", "site-packages")
    return bool(finished.stderr.strip()) and not any(leak in finished.stderr for leak in leaks)
