"""The three simulators as commands: whether they are there, how they are run, what they print."""

import json
import resource
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from peer_worlds import World, scenario

__all__ = ["DriverError", "Measured", "Peer", "command", "find_peers", "parse", "run", "run_alone", "typed_s"]

HERE = Path(__file__).resolve().parent
NS3_MODULES = ["applications", "internet", "point-to-point", "traffic-control", "network", "core"]


class DriverError(Exception):
    """A driver failed or printed something else than a result."""


@dataclass(frozen=True)
class Peer:
    """A simulator beside Sojourn: either its command, or why it is not compared."""

    name: str
    version: str = ""
    program: Sequence[str] = ()
    skipped: str = ""
    """One sentence; empty if the simulator can be run."""


@dataclass(frozen=True)
class Measured:
    """Output and cost of one run of a driver."""

    values: dict[str, float]
    cpu_s: float
    """Processor time of the whole process and its children."""


def parse(output: str) -> dict[str, float]:
    """Return the numbers of the only line of a driver's output that is a JSON object.

    Truth values become 0 and 1.

    Raises
    ------
    DriverError
        If there is none, or more than one, or a value is no number.
    """
    lines = [line for line in output.splitlines() if line.startswith("{")]
    if len(lines) != 1:
        raise DriverError(f"expected one line of JSON, got {len(lines)}: {output[:200]!r}")
    # ns-2 says something behind its result, without a line of its own.
    try:
        content, _ = json.JSONDecoder().raw_decode(lines[0])
    except json.JSONDecodeError as error:
        raise DriverError(f"not JSON ({error}): {lines[0][:200]!r}") from error
    values: dict[str, float] = {}
    for key, value in cast("dict[str, Any]", content).items():
        if not isinstance(value, int | float):
            raise DriverError(f"{key} is no number: {value!r}")
        values[key] = float(value)
    return values


def find_peers(scratch: Path) -> dict[str, Peer]:
    """Look for ns-2 and ns-3, and compile the driver of the latter into `scratch`."""
    return {"ns-2": _find_ns2(), "ns-3": _find_ns3(scratch)}


def _find_ns2() -> Peer:
    program = shutil.which("ns")
    if program is None:
        return Peer("ns-2", skipped="there is no command `ns`; Debian: apt-get install ns2")
    asked = subprocess.run(
        [program, "-"], input="puts [ns-version]\nexit 0\n", capture_output=True, text=True, check=False
    )
    version = asked.stdout.strip() or "2"
    return Peer("ns-2", version, (program, str(HERE / "dumbbell.tcl")))


def _find_ns3(scratch: Path) -> Peer:
    needed = "needs pkg-config, g++ and libns3-dev; Debian: apt-get install pkgconf g++ libns3-dev"
    if shutil.which("pkg-config") is None or shutil.which("g++") is None:
        return Peer("ns-3", skipped=needed)
    packages = [f"ns3-{module}" for module in NS3_MODULES]
    version = _ask("pkg-config", "--modversion", "ns3-core")
    flags = _ask("pkg-config", "--cflags", "--libs", *packages)
    if version is None or flags is None:
        return Peer("ns-3", skipped=needed)
    binary = scratch / "dumbbell-ns3"
    compiler = ["g++", "-std=c++17", "-O2", "-o", str(binary), str(HERE / "dumbbell-ns3.cc")]
    done = subprocess.run([*compiler, *_usable(flags)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        first = next(iter(done.stderr.strip().splitlines()), f"status {done.returncode}")
        return Peer("ns-3", skipped=f"the driver cannot be compiled: {first}")
    return Peer("ns-3", version, (str(binary),))


def _ask(*question: str) -> str | None:
    """Return what a program answers; nothing if it fails."""
    asked = subprocess.run(question, capture_output=True, text=True, check=False)
    return asked.stdout.strip() if asked.returncode == 0 else None


def _usable(flags: str) -> list[str]:
    """Return the flags for places and libraries of ns-3; its lists also name what is not there."""
    parts = shlex.split(flags)
    places = [part for part in parts if part.startswith("-I") and Path(part[2:]).is_dir()]
    # The usual place must not come before those of the compiler, which knows it already.
    places = [place for place in places if place != "-I/usr/include"]
    libraries = [part for part in parts if part.startswith(("-L", "-l"))]
    run_time = [f"-Wl,-rpath,{part[2:]}" for part in libraries if part.startswith("-L")]
    return [*places, *libraries, *run_time]


def command(
    peer: Peer | None, world: World, *, seed: int, duration_s: float, warm_up_s: float, measure: bool
) -> list[str]:
    """Return the command of one run; without a peer, that of Sojourn."""
    if peer is None:
        text = scenario(world, duration_s, measure=measure)
        rest = [f"{warm_up_s:g}"] if measure else []
        return [sys.executable, str(HERE / "dumbbell_sojourn.py"), text, str(seed), *rest]
    if peer.name == "ns-2":
        options = {
            "-flows": world.flows,
            "-seed": seed,
            "-duration": f"{duration_s:g}",
            "-warmup": f"{warm_up_s:g}",
            "-trace": int(measure),
            "-tuned": int(world.tuned),
        }
        return [*peer.program, *(str(part) for pair in options.items() for part in pair)]
    # One packet fewer in the disc where one more waits in the device.
    options = {
        "--queue": world.queue,
        "--limit": f"{417 - int(world.device_queue)}p",
        "--flows": world.flows,
        "--seed": seed,
        "--duration": f"{duration_s:g}",
        "--warmup": f"{warm_up_s:g}",
        "--growth": world.growth,
        "--rto": world.minimum_timeout.replace(" ", ""),
        "--device-queue": int(world.device_queue),
        "--measure": int(measure),
    }
    return [*peer.program, *(f"{key}={value}" for key, value in options.items())]


def run(arguments: Sequence[str]) -> dict[str, float]:
    """Run a driver and return the printed values.

    Raises
    ------
    DriverError
        If it fails.
    """
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = next(reversed(done.stderr.strip().splitlines()), f"status {done.returncode}")
        # What follows the program can be a whole scenario.
        raise DriverError(f"{' '.join(arguments[:2])} failed: {last}")
    return parse(done.stdout)


def run_alone(arguments: Sequence[str]) -> Measured:
    """Run a driver while no other does, so that the processor time of its process can be taken.

    Raises
    ------
    DriverError
        If it fails.
    """
    before = _children_s()
    values = run(arguments)
    return Measured(values, _children_s() - before)


def typed_s(scenario_file: Path, seed: int) -> float:
    """Return the processor time of `sojourn run` of a file, from the start of the program to its last word.

    Raises
    ------
    DriverError
        If it fails.
    """
    program = Path(sys.executable).with_name("sojourn")
    arguments = [str(program), "run", str(scenario_file), "--seed", str(seed)]
    before = _children_s()
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise DriverError(f"sojourn run failed: {done.stderr.strip()[-200:]}")
    return _children_s() - before


def _children_s() -> float:
    """Return the processor time of the children of this process that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
