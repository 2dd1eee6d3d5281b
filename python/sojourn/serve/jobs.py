"""Studies that the page has started: child processes, one at a time, the others wait.

A crash or a limit of memory takes the child away and not the page. To cancel is what Ctrl-C is in a terminal; the store
keeps each finished run, so the same study goes on from there.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

MOST_WAITING = 20
"""Jobs that wait at most. chosen: more are not asked for on purpose."""

MOST_KEPT = 100
"""Jobs that are over and still told; chosen."""

PATIENCE_S = ((signal.SIGINT, 10.0), (signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0))
"""Signals to a cancelled child, and how long each has; chosen: a study ends within a second of the first."""

LAST_LINES = 20
"""Last lines of a child's output that are shown; chosen."""

State = Literal["waiting", "running", "done", "failed", "cancelled"]


class Full(Exception):
    """Too many jobs wait."""


@dataclass(frozen=True)
class Order:
    """Order of a run."""

    study: str
    """Its name, as pages show it."""
    source: str
    """A name of the package, or a file that the command line has named."""
    points: tuple[str, ...] = ()
    seeds: int | None = None
    quick: bool = False
    settings: tuple[str, ...] = ()

    def arguments(self) -> list[str]:
        """Return what `sojourn study run` takes; no word of it can become an option of its own."""
        made = [f"--points={glob}" for glob in self.points]
        made += [f"--set={setting}" for setting in self.settings]
        if self.seeds is not None:
            made.append(f"--seeds={self.seeds}")
        if self.quick:
            made.append("--quick")
        return made


@dataclass
class Job:
    """A study that waits, runs, or is over."""

    order: Order
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    state: State = "waiting"
    done: int = 0
    total: int = 0
    left_s: float | None = None
    words: list[str] = field(default_factory=list[str])
    """The last lines that the child has said."""
    result: str | None = None
    """Directory of its result."""
    cancelled: bool = False

    def told(self) -> dict[str, Any]:
        """Return what the page shows of it."""
        return {
            "id": self.id,
            "study": self.order.study,
            "quick": self.order.quick,
            "state": self.state,
            "done": self.done,
            "total": self.total,
            "left_s": self.left_s,
            "words": list(self.words),
        }


class Jobs:
    """All jobs of a server.

    Parameters
    ----------
    results
        Where results go: a directory for each study, and in it one for each run of it.
    extra
        Further options of `sojourn study run`: store, memory, how many runs at a time.
    """

    def __init__(self, results: Path, extra: Iterable[str] = ()) -> None:
        self._results = results
        self._extra = list(extra)
        self._jobs: dict[str, Job] = {}
        self._changed = threading.Condition()
        self._child: subprocess.Popen[str] | None = None
        self._ending = False
        self._worker = threading.Thread(target=self._work, name="jobs", daemon=True)
        self._worker.start()

    def told(self) -> list[dict[str, Any]]:
        """Return what the page shows of all jobs, the newest first."""
        with self._changed:
            return [job.told() for job in reversed(self._jobs.values())]

    def add(self, order: Order) -> Job:
        """Let a study wait for its turn.

        Raises `Full` if too many wait.
        """
        with self._changed:
            over = [one.id for one in self._jobs.values() if one.state not in {"waiting", "running"}]
            for old in over[: max(0, len(over) - MOST_KEPT + 1)]:
                del self._jobs[old]
            if sum(one.state == "waiting" for one in self._jobs.values()) >= MOST_WAITING:
                raise Full
            job = Job(order)
            self._jobs[job.id] = job
            self._changed.notify_all()
            return job

    def cancel(self, number: str) -> bool:
        """End a job, or do not begin it; return whether there is one."""
        with self._changed:
            job = self._jobs.get(number)
            if job is None:
                return False
            if job.state == "waiting":
                job.state = "cancelled"
            elif job.state == "running" and not job.cancelled:
                job.cancelled = True
                if self._child is not None:
                    threading.Thread(target=_end, args=(self._child,), daemon=True).start()
            return True

    def running(self) -> bool:
        """Return whether a study is under way."""
        with self._changed:
            return any(job.state == "running" for job in self._jobs.values())

    def close(self) -> bool:
        """End all; return whether a study was cut off."""
        with self._changed:
            cut = [job for job in self._jobs.values() if job.state in {"waiting", "running"}]
            self._ending = True
            self._changed.notify_all()
        for job in cut:
            self.cancel(job.id)
        self._worker.join(sum(seconds for _, seconds in PATIENCE_S))
        return bool(cut)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._ending or self._next() is not None)
                job = self._next()
                if self._ending or job is None:
                    return
                job.state = "running"
                place = self._place(job)
                child = self._child = self._begin(job, place)
            try:
                self._listen(job, child)
                status = child.wait()
            finally:
                with self._changed:
                    self._child = None
            with self._changed:
                if job.cancelled:
                    job.state = "cancelled"
                else:
                    job.state = "done" if status == 0 else "failed"
                job.left_s = None
                if status == 0:
                    job.result = str(place)

    def _next(self) -> Job | None:
        return next((job for job in self._jobs.values() if job.state == "waiting"), None)

    def _place(self, job: Job) -> Path:
        stamp = time.strftime("%Y-%m-%dT%H-%M-%S")
        # The name in a study's file is not trusted; a directory has the file's name, or the package's.
        return self._results / Path(job.order.source).stem / f"{stamp}-{job.id[:4]}"

    def _begin(self, job: Job, place: Path) -> subprocess.Popen[str]:
        place.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "sojourn", "study", "run", job.order.source]
        command += [*job.order.arguments(), *self._extra, f"--out={place}"]
        return subprocess.Popen(
            [*command, "--progress=json"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C in the terminal is the server's, which ends its children in turn
            env={**os.environ, "NO_COLOR": "1"},
        )

    def _listen(self, job: Job, child: subprocess.Popen[str]) -> None:
        if child.stderr is None:
            return
        for line in child.stderr:
            told = _progress(line)
            with self._changed:
                if told is None:
                    job.words.append(line.rstrip()[:500])
                    del job.words[:-LAST_LINES]
                else:
                    job.done, job.total, job.left_s = told


def _progress(line: str) -> tuple[int, int, float | None] | None:
    """Return how far a study is, if a line tells it."""
    if not line.startswith('{"done"'):
        return None
    with contextlib.suppress(ValueError, KeyError, TypeError):
        said = cast("dict[str, Any]", json.loads(line))
        return int(said["done"]), int(said["total"]), said["left_s"]
    return None


def _end(child: subprocess.Popen[str]) -> None:
    """End a child and its own children, by SIGTERM first."""
    for wish, seconds in PATIENCE_S:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, wish)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(seconds)
            return
