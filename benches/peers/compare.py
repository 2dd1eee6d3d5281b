"""Run Sojourn beside ns-2 and ns-3, and write what agrees and what it costs into docs/results/agreement.md.

usage: python benches/peers/compare.py [--repetitions N] [--duration S] [--warmup S] [--out FILE]

Simulators that are not installed are skipped with one line each. The whole comparison takes some five minutes on
two cores; `--duration 600 --repetitions 10` makes every interval half as wide and takes forty.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from peer_drivers import DriverError, Measured, Peer, command, find_peers, run, run_alone, typed_s
from peer_page import Cost, page
from peer_worlds import OWN_GROWTH, WORLDS, World, scenario

ROOT = Path(__file__).resolve().parents[2]

COST_WORLDS = [
    *(World("ns-2", "drop-tail", flows) for flows in (1, 5)),
    *(World("ns-2", "drop-tail", flows, tuned=True) for flows in (1, 5)),
    *(World("ns-3", "codel", flows, OWN_GROWTH, device_queue=True) for flows in (1, 5)),
]
"""Scenarios for processor time: each simulator as its users have it, and ns-2 also at its best."""
COST_DURATION_S = 600.0
COST_REPETITIONS = {"ns-2": 7, "ns-3": 3}
"""How often a pair is measured, in turns; a run of ns-3 takes some fifteen seconds."""

Runs = dict[World, tuple[list[dict[str, float]], list[dict[str, float]]]]


def agreement(peers: dict[str, Peer], repetitions: int, duration_s: float, warm_up_s: float) -> Runs:
    """Run all worlds, as many at a time as there are processors; processor time is not taken."""
    tasks = [
        (world, seed, peer)
        for seed in range(1, repetitions + 1)
        for world in WORLDS
        if not peers[world.peer].skipped
        for peer in (None, peers[world.peer])
    ]
    said = time.monotonic()

    def one(task: tuple[World, int, Peer | None]) -> dict[str, float]:
        world, seed, peer = task
        # A run of ns-2 costs little, and its losses come in storms that last a minute.
        seconds = max(duration_s, 600.0) if world.peer == "ns-2" else duration_s
        return run(command(peer, world, seed=seed, duration_s=seconds, warm_up_s=warm_up_s, measure=True))

    runs: Runs = {world: ([], []) for world in WORLDS if not peers[world.peer].skipped}
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for number, ((world, _, peer), result) in enumerate(zip(tasks, pool.map(one, tasks), strict=True), start=1):
            runs[world][peer is not None].append(result)
            if time.monotonic() - said > 20 or number == len(tasks):
                said = time.monotonic()
                say(f"agreement: {number} of {len(tasks)} runs")
    return runs


def costs(peers: dict[str, Peer], scratch: Path) -> list[Cost]:
    """Take processor time of the simulators in turns, one run at a time."""
    measured: list[Cost] = []
    for world in COST_WORLDS:
        peer = peers[world.peer]
        if peer.skipped:
            continue
        say(f"processor time: {world.peer}, {world.name}")
        file = scratch / "dumbbell.toml"
        file.write_text(scenario(world, COST_DURATION_S, measure=False), encoding="utf-8")
        turns = [
            (_cost(None, world, seed), _cost(peer, world, seed), typed_s(file, seed))
            for seed in range(1, COST_REPETITIONS[world.peer] + 1)
        ]
        nothing = _cost(peer, world, 1, duration_s=0.1).cpu_s
        ours, theirs, typed = zip(*turns, strict=True)
        measured.append(Cost(world, ours, theirs, nothing, typed))
    return measured


def _cost(peer: Peer | None, world: World, seed: int, duration_s: float = COST_DURATION_S) -> Measured:
    return run_alone(command(peer, world, seed=seed, duration_s=duration_s, warm_up_s=0.0, measure=False))


def say(text: str) -> None:
    """Print progress."""
    print(text, file=sys.stderr, flush=True)


def main(arguments: Iterable[str] | None = None) -> int:
    """Compare and write the page; return the exit status."""
    parser = argparse.ArgumentParser(description="Sojourn beside ns-2 and ns-3.")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--duration", type=float, default=150.0, help="simulated seconds (ns-3)")
    parser.add_argument("--warmup", type=float, default=5.0, help="seconds that do not count")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "results" / "agreement.md")
    options = parser.parse_args(None if arguments is None else list(arguments))
    if options.repetitions < 2 or not 0 <= options.warmup < options.duration:
        parser.error("--repetitions has to be 2 or more, and --duration longer than --warmup")
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        peers = find_peers(Path(scratch))
        for peer in peers.values():
            if peer.skipped:
                say(f"skipped {peer.name}: {peer.skipped}")
        if all(peer.skipped for peer in peers.values()):
            say("nothing to compare with; the page stays as it is")
            return 0
        try:
            measured = costs(peers, Path(scratch))
            runs = agreement(peers, options.repetitions, options.duration, options.warmup)
        except DriverError as error:
            say(f"error: {error}")
            return 1
    text = page(peers, runs, measured, duration_s=options.duration, warm_up_s=options.warmup)
    options.out.write_text(text, encoding="utf-8")
    say(f"wrote {options.out.name} after {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
