"""Measurements: each in a process of its own, repeated, of which the fastest counts."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from speed_worlds import World

HERE = Path(__file__).resolve().parent
Numbers = dict[str, float]

ENOUGH_S, MOST_RUNS = 1.0, 100
"""Processor time to spend on a generated world, in how many runs at most. chosen: a run of 10 ms is doubled by one
other process that takes its turn, but not all of many runs are."""

INSTRUCTION_DURATIONS_S = (120.0, 40.0)
"""Instructions are counted over two durations; their difference is free of the start of Python."""


class MeasurementError(Exception):
    """A measured process failed."""


@dataclass(frozen=True)
class Cost:
    """Cost of one run of a world."""

    cpu_s: float
    wall_s: float
    simulated_s: float
    packet_hops: int
    peak_bytes: int
    start_bytes: int = 0
    """Of that, before the run: Python and the engine's code."""

    @property
    def ns_per_hop(self) -> float:
        """Return processor time per packet-hop in nanoseconds."""
        return self.cpu_s * 1e9 / max(1, self.packet_hops)

    @property
    def speed(self) -> float:
        """Return simulated seconds per second of processor time."""
        return self.simulated_s / self.cpu_s


def _run(command: Sequence[str], text: str = "") -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = next(reversed(done.stderr.strip().splitlines()), f"status {done.returncode}")
        raise MeasurementError(last)
    return done.stdout


def fixed_worlds() -> list[str]:
    """Return the names of the worlds of `sojourn bench`."""
    from sojourn.simulation.bench import world_names

    return world_names()


def fixed_world(name: str, repetitions: int) -> list[Cost]:
    """Measure a world of `sojourn bench`, `repetitions` times."""
    from sojourn.simulation.bench import measure

    runs = [measure(name) for _ in range(repetitions)]
    return [
        Cost(run["cpu_s"], run["wall_s"], run["simulated_s"], run["packet_hops"], run["peak_rss_bytes"]) for run in runs
    ]


def sized_world(world: World, repetitions: int) -> Cost:
    """Measure a world given as a scenario `repetitions` times, and the more often the shorter it is."""
    costs: list[Cost] = []
    while len(costs) < repetitions or (len(costs) < MOST_RUNS and sum(cost.cpu_s for cost in costs) < ENOUGH_S):
        costs.append(_one_run(world))
    return least(costs)


def in_turn(worlds: Sequence[World], rounds: int) -> list[list[Cost]]:
    """Measure worlds one after the other, `rounds` times: other work of the machine meets all of them.

    Returns the costs by world.
    """
    costs = [[_one_run(world) for world in worlds] for _ in range(rounds)]
    return [list(column) for column in zip(*costs, strict=True)]


def pairs(world: World, kept: Path, rounds: int) -> list[tuple[Cost, Cost]]:
    """Measure a world with this build and with a kept one in turns, `rounds` times: other work of the machine meets both.

    Who begins changes from pair to pair, since the first of two may find a cooler processor.
    """
    found: list[tuple[Cost, Cost]] = []
    for number in range(rounds):
        if number % 2:
            before = _one_run(world, kept)
            found.append((_one_run(world), before))
        else:
            found.append((_one_run(world), _one_run(world, kept)))
    return found


def beside_floor(command: str, world: World, rounds: int) -> list[tuple[float, float]]:
    """Measure a world and a program that does only the necessary work in turns, `rounds` times.

    Raises `MeasurementError` if one of them fails, or the program prints no such number.

    Parameters
    ----------
    command
        The program with its arguments; its output has `13.1 ns/hop`.
    world
        The world of which it does the same.
    rounds
        How often.

    Returns
    -------
    list
        Nanoseconds per packet-hop of the world and of the program.
    """
    found: list[tuple[float, float]] = []
    for _ in range(rounds):
        ours = _one_run(world).ns_per_hop
        try:
            said = _run(shlex.split(command))
        except OSError as error:
            raise MeasurementError(f"the floor cannot be run: {error}") from error
        number = re.search(r"([0-9.]+) ns/hop", said)
        if number is None:
            raise MeasurementError(f"the floor printed no `ns/hop`: {said[:80]!r}")
        found.append((ours, float(number[1])))
    return found


def least(costs: Iterable[Cost]) -> Cost:
    """Return the cost of the repetition that took the least processor time."""
    return min(costs, key=lambda cost: cost.cpu_s)


def _one_run(world: World, engine: Path | None = None) -> Cost:
    rest = [] if engine is None else ["1", "1", str(engine)]
    text = _run([sys.executable, str(HERE / "one_run.py"), *rest], world.scenario())
    run = cast("Numbers", json.loads(text))
    return Cost(
        run["cpu_s"],
        run["wall_s"],
        run["simulated_s"],
        int(run["packet_hops"]),
        int(run["peak_bytes"]),
        int(run["start_bytes"]),
    )


def threads(world: World, runs: int, count: int, repetitions: int) -> float:
    """Return the least wall time of `runs` runs on `count` threads, in seconds."""
    command = [sys.executable, str(HERE / "one_run.py"), str(runs), str(count)]
    text = world.scenario()
    return min(float(json.loads(_run(command, text))["wall_s"]) for _ in range(repetitions))


def counter() -> tuple[str, list[str]]:
    """Return how instructions can be counted here: name and command; the command is empty if not at all."""
    if shutil.which("perf") is not None:
        command = ["perf", "stat", "-x", ",", "-e", "instructions:u"]
        done = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
        if done.returncode == 0 and parse_instructions(done.stderr) is not None:
            return "perf", command
    if shutil.which("valgrind") is not None:
        return "valgrind", [*("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")]
    return "skipped: neither perf (with a counter of instructions) nor valgrind is there", []


def parse_instructions(text: str) -> int | None:
    """Return the number of instructions that `perf stat -x ,` or cachegrind reports; nothing without one."""
    found = re.search(r"^([\d]+),[^,]*,instructions", text, re.MULTILINE)
    if found is None:
        found = re.search(r"I\s+refs:\s+([\d,]+)", text)
    return int(found[1].replace(",", "")) if found else None


def count_instructions(names: Sequence[str], command: Sequence[str]) -> dict[str, float]:
    """Return instructions per packet-hop of the fixed worlds. The load of the machine does not matter."""

    def one(name: str) -> float:
        return _instructions(name, command)

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(names, pool.map(one, names), strict=True))


def _instructions(name: str, command: Sequence[str]) -> float:
    counts: list[int] = []
    hops: list[int] = []
    for seconds in INSTRUCTION_DURATIONS_S:
        program = f"from sojourn import _engine; _engine.bench({name!r}, {seconds!r})"
        done = subprocess.run([*command, sys.executable, "-c", program], capture_output=True, text=True, check=False)
        counted = parse_instructions(done.stderr)
        if done.returncode != 0 or counted is None:
            raise MeasurementError(f"{command[0]} counted nothing for the world {name}")
        counts.append(counted)
        # A bench runs half the duration first, to count allocations of the second half.
        hops.append(sum(_hops(name, part) for part in (seconds / 2, seconds)))
    return (counts[0] - counts[1]) / (hops[0] - hops[1])


def _hops(name: str, seconds: float) -> int:
    from sojourn import _engine

    return _engine.bench(name, seconds)["packet_hops"]
