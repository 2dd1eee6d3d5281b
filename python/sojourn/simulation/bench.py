"""Measuring the engine: each world in a process of its own, so that its peak memory is its own."""

import json
import subprocess
from typing import cast

import sojourn._engine as _engine
from sojourn.base.errors import RunError
from sojourn.process.isolated import python_command


def world_names() -> list[str]:
    """Return the names of the fixed worlds."""
    return _engine.bench_worlds()


def measure(world: str) -> "_engine.BenchWorld":
    """Run one world in a new process and return its cost.

    Raises `RunError` if the process fails.
    """
    command = python_command(f"from sojourn.simulation.bench import work; work({world!r})")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
        raise RunError(f"the world {world} could not be measured: {last}")
    return cast("_engine.BenchWorld", json.loads(done.stdout))


def work(world: str) -> None:
    """Run one world and print its cost; the whole life of a process of `measure`."""
    print(json.dumps(_engine.bench(world)))
