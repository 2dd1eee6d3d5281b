"""Reading uploads in a process of its own, which has little memory, little time and no files to write.

An upload comes from a stranger with a token. What reading it may cost is bounded here and not by its words: whatever
it does to the process that reads it, the collector goes on.

One process reads one upload after the other. Each is a line of JSON (`file`, `probe`, `bytes`) followed by that number of bytes; the
answer is a line, `tests` or `refused`, and whether it takes `more`. A process that has grown, or has died, is followed by
another.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from datetime import datetime
from typing import IO, Any

from sojourn.field.importer import read_upload
from sojourn.field.reading import Unreadable
from sojourn.field.records import FieldTest
from sojourn.process.isolated import python_command

MEMORY = 512 * 2**20
"""Bytes that reading an upload may take; chosen: ten minutes of Flent's largest test take 40 MiB."""

CPU_S = 10
"""Seconds of computing that it may take; chosen: ten minutes of Flent's largest test take a third of one."""

DEAR_S, REST = 0.5, 30.0
"""Seconds of computing after which the next upload of the same probe waits for this multiple of them: one stolen token takes a
thirtieth of the reader's time and not all of it. chosen: ten minutes of Flent's largest test take a third of a second, and
come each quarter of an hour.
"""

PATIENCE_S = 60.0
"""Seconds that an answer may take on a machine that is busy; chosen: several times as long."""

GROWTH = 128 * 2**20
"""Bytes by which a process may have grown and still read the next upload; chosen."""

EXPENSIVE = "takes more memory or time than a measurement does"


class ReaderFailed(Exception):
    """An upload could not be read now, through no fault of its own that is known; it may be sent again."""


class Reader:
    """Reads uploads, one at a time. The process is started with the first of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rests: dict[str, float] = {}
        """Until when nothing is read of probes whose uploads were dear, by the clock of this machine."""
        self._process: subprocess.Popen[bytes] | None = None

    def __call__(self, body: bytes, file: str, probe: str) -> list[FieldTest]:
        """Return the tests in a measurement file, as `read_upload` does.

        Raises `Unreadable` if it is none, or reading it takes too much; `ReaderFailed` if the machine did not get it
        done.
        """
        with self._lock:
            if time.monotonic() < self._rests.get(probe, 0.0):
                raise ReaderFailed("comes from a probe whose last upload took long to read")
            process = self._started()
            head = json.dumps({"file": file, "probe": probe, "bytes": len(body)}).encode()
            watch = threading.Timer(PATIENCE_S, process.kill)
            watch.start()
            try:
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write(head + b"\n" + body)
                process.stdin.flush()
                line = process.stdout.readline()
            except OSError:
                line = b""
            finally:
                watch.cancel()
            answer: dict[str, Any] = json.loads(line) if line.endswith(b"\n") else {}
            spent = answer.get("cpu_s", CPU_S)
            if spent > DEAR_S:
                self._rests[probe] = time.monotonic() + REST * spent
            if answer.get("more"):
                self._process = process
            else:
                _close(process)
        if not answer:
            # It ended by itself, or by a signal from outside.
            if process.returncode in {0, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT}:
                raise ReaderFailed("was not read in time")
            raise Unreadable(EXPENSIVE)
        return _tests(answer)

    def _started(self) -> subprocess.Popen[bytes]:
        """Return a process that waits for an upload, and forget it: it is kept if it can take more than this one."""
        process, self._process = self._process, None
        if process is not None:
            if process.poll() is None:
                return process
            _close(process)
        # One thread each: those of libraries would count as memory, and there is one upload.
        alone = {"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        return subprocess.Popen(
            python_command("from sojourn.field.collector.reader import main; main()"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd="/",
            env=os.environ | alone,
            start_new_session=True,  # a signal to the collector ends the collector, which ends this
        )

    def close(self) -> None:
        """End the process; it has nothing to lose."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            _close(process)


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:  # what was not written will not be
                continue
    process.wait()


def _tests(answer: dict[str, Any]) -> list[FieldTest]:
    if "refused" in answer:
        raise Unreadable(str(answer["refused"]))
    return [FieldTest(**(test | {"time": datetime.fromisoformat(test["time"])})) for test in answer["tests"]]


# ---- in the process ------------------------------------------------------------------------------------


def main() -> None:
    """Read uploads from the standard input until it ends."""
    import gc
    import resource

    # Reading makes many small objects and no circles.
    gc.disable()
    uploads, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints, prints no answer
    largest = _address_space() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (largest, largest))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    while head := uploads.readline():
        used = resource.getrusage(resource.RUSAGE_SELF)
        seconds = int(used.ru_utime + used.ru_stime) + 1 + CPU_S
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))
        answer = _answer(json.loads(head), uploads)
        after = resource.getrusage(resource.RUSAGE_SELF)
        answer["cpu_s"] = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
        answer["more"] = (after.ru_maxrss - used.ru_maxrss) * 1024 <= GROWTH
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()
        if not answer["more"]:
            break


def _answer(head: dict[str, Any], uploads: IO[bytes]) -> dict[str, Any]:
    body = uploads.read(head["bytes"])
    try:
        tests = read_upload(body, head["file"], head["probe"])
    except Unreadable as reason:
        return {"refused": str(reason)}
    except MemoryError:
        return {"refused": EXPENSIVE}
    return {"tests": [asdict(test) | {"time": test.time.isoformat()} for test in tests]}


def _address_space() -> int:
    """Return how many bytes of addresses this process has: libraries take many, and touch few of them."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - a file of the system
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
