"""Measure the engine, and write docs/results/speed.md and speed.svg.

usage: python tools/bench-speed [--keep | --pairs] [--repetitions N] [--floor COMMAND] [--out DIRECTORY]

Takes some six minutes. Other work on the machine makes times longer; of the repetitions the fastest counts.
`--keep` keeps the present build of the engine in target/bench and measures nothing; later builds are measured in
turns with it. `--pairs` prints these pairs alone. `--floor` names a program that handles the events of the first dumbbell and
nothing else, and prints `N ns/hop`: it is measured in turns with ours.
"""

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from speed_drawing import draw
from speed_measure import (
    Cost,
    MeasurementError,
    beside_floor,
    count_instructions,
    counter,
    fixed_world,
    fixed_worlds,
    in_turn,
    pairs,
    sized_world,
    threads,
)
from speed_page import Results, floor_text, page, pairs_text
from speed_worlds import Sized, World, by_duration, by_flows, by_rate, crowded, of_study, quiet_days

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "target" / "bench"
RUNS_ON_THREADS = 24

Size = TypeVar("Size", float, str)


def say(text: str) -> None:
    """Print progress."""
    print(text, file=sys.stderr, flush=True)


def growing(name: str, worlds: Mapping[Size, World], repetitions: int) -> dict[Size, Cost]:
    """Measure worlds of growing size."""
    say(f"measuring {name}: {', '.join(str(size) for size in worlds)}")
    return {size: sized_world(world, repetitions) for size, world in worlds.items()}


def alternating(worlds: Mapping[str, World], rounds: int) -> dict[str, list[Cost]]:
    """Measure worlds in turn."""
    say(f"measuring in turn: {', '.join(worlds)}")
    return dict(zip(worlds, in_turn(list(worlds.values()), rounds), strict=True))


def keep() -> None:
    """Keep the present build of the engine, in the place of an earlier one."""
    from sojourn import _engine

    described = subprocess.run(
        ["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    )
    shutil.rmtree(KEPT, ignore_errors=True)
    KEPT.mkdir(parents=True)
    name = f"_engine-{described.stdout.strip() or 'unknown'}.so"
    shutil.copyfile(str(_engine.__file__), KEPT / name)
    say(f"kept {name}")


def beside_the_kept(repetitions: int) -> tuple[str, dict[str, list[tuple[Cost, Cost]]]]:
    """Measure worlds in turns with this build and the kept one; return what that is called, and the costs."""
    kept = next(iter(KEPT.glob("_engine-*.so")), None)
    if kept is None:
        return "", {}
    name = kept.stem.removeprefix("_engine-")
    worlds: dict[str, World] = {"dumbbell, 600 s": Sized(), **of_study()}
    say(f"measuring in turns with {name}: {', '.join(worlds)}")
    found: dict[str, list[tuple[Cost, Cost]]] = {}
    for world, described in worlds.items():
        try:
            found[world] = pairs(described, kept, repetitions)
        except MeasurementError as error:
            say(f"{world}: {error}")
            found[world] = []
    return name, found


def measure(repetitions: int, floor: str) -> Results:
    """Measure everything."""
    fixed: dict[str, list[Cost]] = {}
    for name in fixed_worlds():
        say(f"measuring {name}")
        fixed[name] = fixed_world(name, repetitions)
    how, command = counter()
    say(f"instructions: {how}")
    say(f"measuring {RUNS_ON_THREADS} runs on 1 and 2 threads")
    wall = {jobs: threads(Sized(), RUNS_ON_THREADS, jobs, repetitions) for jobs in (1, 2)}
    few = max(2, repetitions // 2)
    kept, both = beside_the_kept(few)
    return Results(
        fixed=fixed,
        study=growing("points of a study", of_study(), few),
        kept=kept,
        pairs=both,
        floor=beside_floor(floor, Sized(), repetitions) if floor else [],
        flows=growing("uploads", by_flows(), few),
        rates=growing("rates", by_rate(), few),
        crowded=alternating(crowded(), repetitions),
        durations=growing("durations", by_duration(written=False), few),
        durations_written=growing("durations, with tables", by_duration(written=True), few),
        quiet=growing("a quiet day", quiet_days(), few),
        runs=RUNS_ON_THREADS,
        wall_by_jobs=wall,
        counter=how,
        instructions=count_instructions(list(fixed), command) if command else {},
    )


def main() -> int:
    """Measure and write both files; return the exit status."""
    parser = argparse.ArgumentParser(description="Measure the engine.")
    parser.add_argument("--repetitions", type=int, default=15)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--keep", action="store_true", help="keep the present build")
    what.add_argument("--pairs", action="store_true", help="print the pairs with the kept build")
    parser.add_argument("--floor", default="", metavar="COMMAND", help="what prints `N ns/hop`")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "results")
    options = parser.parse_args()
    if options.repetitions < 1:
        parser.error("--repetitions has to be 1 or more")
    if options.keep:
        keep()
        return 0
    if options.pairs:
        kept, both = beside_the_kept(options.repetitions)
        print(pairs_text(kept, both))
        if options.floor:
            print(floor_text(beside_floor(options.floor, Sized(), options.repetitions)))
        return 0
    began = time.monotonic()
    try:
        results = measure(options.repetitions, options.floor)
    except MeasurementError as error:
        say(f"error: {error}")
        return 1
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "speed.md").write_text(page(results, options.repetitions), encoding="utf-8")
    draw(results.curves(), options.out / "speed.svg")
    say(f"wrote speed.md and speed.svg after {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
