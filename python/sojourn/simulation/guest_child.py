"""A run in a guest: what the process there does.

It reads its job from a folder, prints how far it is, and leaves an answer: what went wrong, or the names of the run's files beside it.
"""

from __future__ import annotations

import ctypes
import json
import struct
import sys
import time
from pathlib import Path
from typing import Any

import sojourn._engine as _engine
from sojourn.base.errors import RunError, SojournError
from sojourn.simulation.guest import ANSWER

SET_TIMERSLACK = 29
"""Option of prctl(2): how late timers may be, in ns."""

ABSOLUTE = 1
"""TIMER_ABSTIME of clock_nanosleep(2)."""

RESTS_S = 10
"""Seconds of the guest after which its own work is done. chosen: a hundred times the age at which it writes pages."""

STEP = 0.01
"""Share of a run between two lines about it."""


def main() -> None:
    """Do the job of the folder that is the argument."""
    place = Path(sys.argv[-1])
    try:
        answer = _work(json.loads((place / "job.json").read_text(encoding="utf-8")), place)
    except SojournError as error:
        answer = {"failed": error.message, "hint": error.hint}
    except OSError as error:
        answer = {"failed": str(error), "hint": ""}
    (place / ANSWER).write_text(json.dumps(answer), encoding="utf-8")


def _work(job: dict[str, Any], place: Path) -> dict[str, Any]:
    _engine.enter_kernel(*job["kernel"])  # before there is a second thread
    from sojourn.scenario.scenario_file import Scenario
    from sojourn.simulation.engine import Beside, simulate
    from sojourn.store import pack

    _settle()
    scenario = Scenario.parse(job["scenario"])
    if scenario.key(job["seed"]) != job["key"]:
        raise RunError("the guest has another version of Sojourn")
    beside = Beside(**job["beside"])
    records = simulate(scenario.compiled, job["seed"], watch=_watch(), memory=job["memory"], beside=beside)
    files = pack(records, job["key"], job["seed"], scenario.canonical())
    (place / "files").mkdir()
    for name, content in files.items():
        (place / "files" / name).write_bytes(content)
    return {"files": list(files), "written": records.written}


def _settle() -> None:
    """Wait until the guest is at rest, to a fixed time.

    Each look at the clock passes some time. How often a program looks before it runs depends on its user and its paths; after this wait
    nothing of that is left but the time, which is a multiple of `RESTS_S`.
    """
    libc = ctypes.CDLL(None)
    libc.prctl(SET_TIMERSLACK, 1, 0, 0, 0)
    until = (time.monotonic_ns() // (RESTS_S * 10**9) + 1) * RESTS_S
    libc.clock_nanosleep(time.CLOCK_MONOTONIC, ABSOLUTE, struct.pack("qq", until, 0), None)


def _watch() -> Any:  # noqa: ANN401 - a function with a memory
    told = 0.0

    def watch(share: float) -> None:
        nonlocal told
        if share >= told + STEP:
            told = share
            print(share, flush=True)

    return watch
