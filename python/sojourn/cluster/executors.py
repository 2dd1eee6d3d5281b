"""Executors bring workers to a plan: processes of this machine, SLURM, Dask, or a person who starts commands.

An executor knows a plan by name and nothing of its runs. Its processes decide only whether new ones are started: the
store says which units are missing.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from sojourn.base.errors import EnvironmentFailure, UsageError
from sojourn.process.isolated import python_command
from sojourn.study.execute import dask_client


class Executor(Protocol):
    """Brings workers to a plan, and tells whether some are left."""

    def start(self, plan: str, store: str, workers: int) -> None:
        """Start workers.

        Raises `EnvironmentFailure` if none can be started.
        """
        ...

    def is_alive(self) -> bool:
        """Return whether a worker that was started waits, or works."""
        ...

    def stop(self, *, is_done: bool) -> None:
        """End the workers that were started; those that have nothing more to do end by themselves."""
        ...

    def describe(self) -> str:
        """Return its description in a few words."""
        ...


def worker_command(plan: str, store: str, *more: str) -> list[str]:
    """Return the command of a worker, as this Python runs it from any directory."""
    main = "from sojourn.cli import main; main()"
    return [*python_command(main), "worker", plan, "--store", store, "--claim", *more]


class ProcessExecutor:
    """Workers on this machine."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, plan: str, store: str, workers: int) -> None:
        """Start one process that works on `workers` units at a time."""
        command = worker_command(plan, store, "--jobs", str(workers))
        # An interrupt of the terminal goes to the driver, which ends its workers.
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
        )

    def is_alive(self) -> bool:
        """Return whether the process is there."""
        return self._process is not None and self._process.poll() is None

    def stop(self, *, is_done: bool) -> None:
        """End it; if all is done, it finds that out."""
        if self._process is None or not self.is_alive():
            return
        if is_done:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=ENDS_WITHIN_S)
                return
        self._process.terminate()
        try:
            self._process.wait(timeout=ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def describe(self) -> str:
        """Return its description in a few words."""
        return "worker processes"


ENDS_WITHIN_S = 30.0
"""chosen: a worker gives units back after 20 s."""


class PrintExecutor:
    """Prints the worker command for a person to run.

    Parameters
    ----------
    tell
        Takes the command.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell

    def start(self, plan: str, store: str, workers: int) -> None:
        """Tell the command that starts a worker."""
        del workers
        self._tell(shlex.join(["sojourn", "worker", plan, "--store", store, "--claim"]))

    def is_alive(self) -> bool:
        """Not known: the store shows the results."""
        return True

    def stop(self, *, is_done: bool) -> None:
        """Leave them: who has started them ends them."""

    def describe(self) -> str:
        """Return its description in a few words."""
        return "workers that a person starts"


class SlurmExecutor:
    """Array jobs of SLURM.

    Raises `EnvironmentFailure` if there is no SLURM.

    Parameters
    ----------
    partition
        Where; the site's default if empty.
    more
        Further options of `sbatch`, such as `--time=04:00:00`.
    logs
        Folder for what workers say, which all nodes see.

    Source: the page of SLURM on job arrays: the largest index is `MaxArraySize` - 1.
    Deviations: a job that was killed is not started again by SLURM, so its state decides nothing.
    """

    def __init__(self, partition: str, more: Sequence[str], logs: Path) -> None:
        self._partition, self._more, self._logs = partition, list(more), logs
        self._jobs: list[str] = []
        config = _slurm("scontrol", "show", "config")
        found = re.search(r"^MaxArraySize\s*=\s*(\d+)", config, re.MULTILINE)
        self._most = max(1, int(found[1]) - 1) if found else 1000
        version = re.search(r"^SLURM_VERSION\s*=\s*(\S+)", config, re.MULTILINE)
        self._version = version[1] if version else "unknown"

    def start(self, plan: str, store: str, workers: int) -> None:
        """Submit the workers, in as few arrays as the site allows."""
        self._logs.mkdir(parents=True, exist_ok=True)
        self._jobs = []
        left = workers
        while left:
            count = min(left, self._most)
            left -= count
            self._jobs.append(self._submit(plan, store, count))

    def _submit(self, plan: str, store: str, count: int) -> str:
        command = worker_command(plan, store)
        options = [
            f"--array=0-{count - 1}",
            f"--job-name=sojourn-{plan[:8]}",
            "--ntasks=1",
            "--cpus-per-task=1",
            "--signal=B:TERM@60",
            "--open-mode=append",
            f"--output={self._logs.absolute()}/%A_%a.log",
            *([f"--partition={self._partition}"] if self._partition else []),
            *self._more,
        ]
        script = f"#!/bin/sh\nexec {shlex.join(command)}\n"
        said = _slurm("sbatch", "--parsable", *options, script=script)
        return said.strip().partition(";")[0]

    def is_alive(self) -> bool:
        """Return whether a job of them waits or runs; what cannot be asked is taken for alive."""
        try:
            jobs = ",".join(self._jobs)
            return bool(_slurm("squeue", "--noheader", "--jobs", jobs, "--format=%A").strip())
        except EnvironmentFailure as error:
            # A job that ended a while ago is not known any more.
            return "invalid job id" not in error.message.lower()

    def stop(self, *, is_done: bool) -> None:
        """Cancel the jobs that wait or run."""
        del is_done
        if self._jobs:
            with contextlib.suppress(EnvironmentFailure):
                _slurm("scancel", *self._jobs)

    def describe(self) -> str:
        """Return its description in a few words."""
        where = f", partition {self._partition}" if self._partition else ""
        return f"slurm {self._version}{where}"


SLURM_ANSWERS_WITHIN_S = 60.0
"""chosen: a busy controller answers in seconds."""


def _slurm(*command: str, script: str | None = None) -> str:
    """Run a command of SLURM and return its output.

    Raises `EnvironmentFailure` if it fails, or is not there.
    """
    try:
        done = subprocess.run(
            command, input=script, capture_output=True, text=True, check=False, timeout=SLURM_ANSWERS_WITHIN_S
        )
    except FileNotFoundError as error:
        raise EnvironmentFailure(
            f"there is no {command[0]} on this machine", "start the study where jobs are submitted"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise EnvironmentFailure(f"{command[0]} does not answer") from error
    if done.returncode != 0:
        raise EnvironmentFailure(f"{command[0]}: {(done.stderr.strip() or 'failed').splitlines()[0]}")
    return done.stdout


class DaskExecutor:
    """Tasks of a Dask scheduler, one for each worker that is wanted: each claims units until none is left.

    Raises `MissingExtra` if the package `distributed` is not installed; `EnvironmentFailure` if the scheduler does not
    answer.

    Parameters
    ----------
    address
        Of the scheduler, such as `tcp://127.0.0.1:8786`.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._futures: list[Any] = []
        _, self._client = dask_client(address, "--on dask")

    def start(self, plan: str, store: str, workers: int) -> None:
        """Submit a task per worker."""
        if self._client.status != "running":
            raise EnvironmentFailure(
                f"the scheduler at {self._address} is gone",
                "start it again, with its workers; the same command goes on",
            )
        self._futures = [
            self._client.submit(work_for_dask, plan, store, number, pure=False, retries=3, key=f"{plan}-{number}")
            for number in range(workers)
        ]

    def is_alive(self) -> bool:
        """Return whether a task waits or runs, and the scheduler is there."""
        if self._client.status != "running":
            return False
        return any(future.status == "pending" for future in self._futures)

    def stop(self, *, is_done: bool) -> None:
        """Cancel the tasks; a unit that has begun is finished."""
        del is_done
        with contextlib.suppress(Exception):  # whatever a scheduler that is gone makes of it
            self._client.cancel(self._futures)
        with contextlib.suppress(Exception):
            self._client.close(timeout=5)

    def describe(self) -> str:
        """Return its description in a few words."""
        return f"dask, {self._address}"


def work_for_dask(plan: str, store: str, number: int) -> int:
    """Work on a plan as a task of Dask; return how many units that were."""
    del number  # tells tasks apart
    from sojourn.cluster.shared_plan import read_plan
    from sojourn.cluster.worker import Worker
    from sojourn.store.shared import open_objects

    objects = open_objects(store)
    return Worker(objects, read_plan(objects, plan)).run().units


def executor_of(words: str, tell: Callable[[str], None], more: Sequence[str], logs: Path) -> Executor:
    """Return what `--on` names.

    Raises `UsageError` if there is none of that name.

    Parameters
    ----------
    words
        `workers`, `slurm`, `slurm:PARTITION`, `dask://HOST:PORT` or `print`.
    tell
        Called with commands that a person has to start.
    more, logs
        Further options of `sbatch`, and a folder for what its jobs say.
    """
    name, _, rest = words.partition(":")
    if name == "workers" and not rest:
        return ProcessExecutor()
    if name == "slurm":
        return SlurmExecutor(rest, more, logs)
    if name == "dask" and rest.startswith("//"):
        return DaskExecutor(f"tcp:{rest}")
    if name == "print" and not rest:
        return PrintExecutor(tell)
    known = "workers, slurm, slurm:PARTITION, dask://HOST:PORT, print"
    raise UsageError(f'--on: nothing is known of "{words}"', f"known: {known}, threads")
