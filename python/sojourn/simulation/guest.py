"""A run in which TCP of a Linux kernel carries connections: it is made in a guest that this kernel runs, in virtual time.

The engine runs there too, and its time is the guest's. The guest reads the job from a folder and leaves the files of the run in it.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.base.errors import EnvironmentFailure, InterruptedRun, RunError
from sojourn.base.memory import budget
from sojourn.linux.build import of_digest
from sojourn.linux.virtual import INFINITE
from sojourn.linux.virtual import run as run_command
from sojourn.process.isolated import python_command
from sojourn.store.shelf import listing_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import sojourn._engine as _engine
    from sojourn.scenario.scenario_file import Scenario

MEMORY = 512 * 2**20
"""Bytes of a run at most. chosen: half of the guest's memory; interpreter and tables have the rest."""

ANSWER = "answer.json"
"""File of the guest's answer, beside those of the run."""

ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "POLARS_MAX_THREADS": "1",
}
"""Environment of a run: that of the user has no part in it."""


def simulate_in_guest(
    scenario: Scenario,
    seed: int,
    *,
    cancel: _engine.CancelToken | None = None,
    watch: Callable[[float], None] | None = None,
    memory: int | None = None,
    beside: dict[str, Any] | None = None,
) -> dict[str, bytes]:
    """Make a run in a guest of the kernel that the scenario asks for; return its files as `sojourn.store.pack` does.

    Parameters
    ----------
    scenario, seed
        What to run.
    cancel
        What stops it from another thread.
    watch
        Called with the share that is done.
    memory
        Bytes that the run may take.
    beside
        Directories for packets and connections, as `sojourn.simulation.engine.Beside` has them.

    Raises
    ------
    UsageError
        If the kernel was not built on this machine.
    RunError
        If the run failed.
    InterruptedRun
        If `cancel` was used.
    """
    kernel = of_digest(scenario.compiled.kernel)
    if scenario.has_plugin or scenario.is_prototype:
        raise RunError(
            "a run with the TCP of a kernel takes no plugin", "another stack, or a queue manager of the engine's own"
        )
    said, share = b"", 0.0

    def look(data: bytes) -> None:
        nonlocal said, share
        if cancel is not None and cancel.cancelled:
            raise InterruptedRun("the run was interrupted")
        *whole, said = (said + data).split(b"\n")
        share = float(whole[-1]) if whole else share
        if watch is not None:
            watch(share)

    with tempfile.TemporaryDirectory(prefix="sojourn-run-") as folder:
        place = Path(folder)
        job = {
            "scenario": scenario.canonical(),
            "seed": seed,
            "key": scenario.key(seed),
            "memory": min(MEMORY, budget() if memory is None else memory),
            "kernel": [kernel.name, kernel.digest, kernel.controllers],
            "beside": beside or {},
        }
        (place / "job.json").write_text(json.dumps(job), encoding="utf-8")
        command = python_command("from sojourn.simulation.guest_child import main; main()", is_repeatable=True)
        began = time.monotonic()
        ended = run_command(kernel, [*command, folder], ENVIRONMENT, seed, INFINITE, look)
        took_s = time.monotonic() - began
        answer: dict[str, Any] = {}
        if (place / ANSWER).exists():
            answer = json.loads((place / ANSWER).read_text(encoding="utf-8"))
        if "failed" in answer:
            raise RunError(answer["failed"], answer["hint"])
        if "files" not in answer:
            raise EnvironmentFailure(f"the guest of {kernel.name} ended with status {ended.status} before the run did")
        files = {name: (place / "files" / name).read_bytes() for name in answer["files"]}
    return files | {"run.json": _with_time(files["run.json"], took_s, ended.processor_s)}


def _with_time(listing: bytes, took_s: float, processor_s: float) -> bytes:
    """Return the listing of a run with the time of the host: the guest's own clock says how long was simulated."""
    info: dict[str, Any] = json.loads(listing)
    del info["digest"]
    return listing_of({**info, "statistics": {**info["statistics"], "wall_s": took_s, "cpu_s": processor_s}})
