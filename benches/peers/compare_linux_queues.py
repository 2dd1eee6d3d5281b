"""Fill Linux's own queue disciplines and the managers beside them with TCP, and write what agrees into docs/results/linux-queue-managers.md.

usage: python benches/peers/compare_linux_queues.py [--jobs N] [--only WORD] [--sides SIDES] [--again] [--out FILE]

Each world is measured three times over: the simulated manager under the simulated TCP (`sojourn run`), the same manager under Linux's TCP
(`sojourn emulate --virtual`), and Linux's own discipline below `htb` under Linux's TCP, in a guest of user-mode Linux (`qdisc_router.py`). All
three are judged as `compare_linux.py` does. What has been measured is kept beside the page as a CSV file, and only what is missing of it
is measured: `--sides simulated --again` forgets the simulations, after a change of the simulated TCP.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl
from compare_linux import (
    PYTHON,
    ROOT,
    SENDS,
    SOJOURN,
    STACKS,
    TAKES,
    TEXT,
    kept,
    means,
    measure,
    side_by_side,
    verdict,
    worked_out,
    write_table,
)

from sojourn.linux import virtual
from sojourn.linux.build import find

DURATION_S, WARM_UP_S, BIN_NS = 35.0, 10.0, 100_000_000
LINES = ((10, 30), (23, 44))
"""Mb/s and ms of round trip."""

SIDES = ("simulated", "emulated", "kernel")
BEGIN, END = "<!-- table under TCP -->", "<!-- end of table under TCP -->"


@dataclass(frozen=True)
class Discipline:
    """A queue discipline of Linux, and the manager that stands beside it."""

    tc: str
    queue: str
    draws: bool = False
    """It signals at random: each side runs several times, and simulations take seconds, so there are more of them."""

    def runs(self, side: str) -> int:
        """Return how often a side runs."""
        return {"simulated": 12}.get(side, 3) if self.draws else 1


CODEL = 'target = "5 ms", interval = "100 ms", variant = "linux", floor = "1514 B"'
PIE = 'reference = "15 ms", derandomise = true, mean_packet = "1514 B", high_delay = "250 ms"'

DISCIPLINES = {
    "pfifo": Discipline("pfifo limit 150", 'kind = "drop-tail", limit = "150 packets"'),
    "codel": Discipline("codel noecn", f'kind = "codel", limit = "1000 packets", {CODEL}'),
    "fq_codel": Discipline("fq_codel noecn", f'kind = "fq-codel", {CODEL}'),
    "cake": Discipline(
        "cake besteffort flows raw no-split-gso memlimit 64mb",
        'kind = "cake", tins = "besteffort", hosts = "flows", memory = "64 MB", first_wait = false',
    ),
    "pie": Discipline(
        "pie limit 1000 target 15ms tupdate 15ms alpha 2 beta 20 noecn",
        f'kind = "pie", limit = "1000 packets", {PIE}',
        draws=True,
    ),
    "fq_pie": Discipline(
        "fq_pie target 15ms tupdate 15ms alpha 2 beta 20 noecn", f'kind = "fq-pie", {PIE}', draws=True
    ),
    "red": Discipline(
        "red limit 400000 min 15000 max 45000 avpkt 1000 burst 60 probability 0.1 bandwidth RATE",
        'kind = "red", limit = "400000 B", minimum = "15000 B", maximum = "45000 B", max_probability = 0.1,'
        ' weight = 0.0078125, mean_packet = "1000 B", wait = false',
        draws=True,
    ),
    "sfq": Discipline("sfq limit 127", 'kind = "sfq", limit = "127 packets", bins = 1024, quantum = "1514 B"'),
}


@dataclass(frozen=True)
class World:
    """A line, a queue and who sends."""

    rate: int
    rtt: int
    queue: str
    controller: str

    @property
    def label(self) -> str:
        """Name of the row."""
        return f"{self.rate} Mb/s, {self.rtt} ms, {self.queue}, {self.controller}"


WORLDS = [
    World(rate, rtt, queue, controller)
    for rate, rtt in LINES
    for controller in ("CUBIC", "Reno")
    for queue in DISCIPLINES
    if controller == "CUBIC" or queue in ("codel", "fq_codel", "pie")
]


def run(world: World, seed: int, side: str) -> dict[str, object]:
    """Measure one column of a row."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        series = of_kernel(world, seed, place) if side == "kernel" else of_manager(world, seed, side, place)
    row = {"rate": world.rate, "rtt": world.rtt, "queue": world.queue, "controller": world.controller}
    return {**row, "side": side, "seed": seed, **worked_out(series, world.rate, WARM_UP_S, DURATION_S)}


def of_manager(world: World, seed: int, side: str, place: Path) -> pl.DataFrame:
    """Return the time series of a simulation or an emulation."""
    text = TEXT.format(
        duration=DURATION_S,
        rate=world.rate,
        down=world.rate * 10,
        queue=f"{{ {DISCIPLINES[world.queue].queue} }}",
        stack=STACKS[world.controller][0],
        rtt=world.rtt,
    )
    (place / "world.toml").write_text(text, encoding="utf-8")
    command = ["run", "world.toml", "--seed", str(seed), "--out", "out"]
    if side == "emulated":
        command = [
            *("emulate", "world.toml", "--virtual", "--seed", str(seed), "--isolated", "--record", "out"),
            *("--tcp", STACKS[world.controller][1], "--far", shlex.join([*PYTHON, TAKES])),
            *("--", *PYTHON, SENDS, f"{DURATION_S:g}"),
        ]
    done = subprocess.run([*SOJOURN, *command], cwd=place, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{world.label}, {side}: {done.stderr}")
    return pl.read_parquet(place / "out" / "series.parquet").filter(pl.col("link") == "upstream")


def of_kernel(world: World, seed: int, place: Path) -> pl.DataFrame:
    """Return the time series of Linux's own discipline."""
    job = place / "job"
    said = {
        "controller": STACKS[world.controller][1],
        "rate": world.rate * 1_000_000,
        "rtt_ms": world.rtt,
        "discipline": DISCIPLINES[world.queue].tc.replace("RATE", f"{world.rate}mbit"),
        "sender": [*PYTHON, SENDS, f"{DURATION_S:g}"],
        "receiver": [*PYTHON, TAKES],
    }
    job.write_text(json.dumps(said), encoding="utf-8")
    program = Path(__file__).with_name("qdisc_router.py")
    printed: list[bytes] = []
    command = [sys.executable, str(program), str(job)]
    ended = virtual.run(find(None), command, {"PATH": os.environ["PATH"]}, seed, look=printed.append, as_root=True)
    if ended.status != 0:
        raise RuntimeError(f"{world.label}: the guest ended with {ended.status}: {b''.join(printed).decode()}")
    done = json.loads(job.with_name("job.out").read_text(encoding="utf-8"))
    sent = pl.DataFrame(done["sent"], ["entered", "left", "bytes"], orient="row")
    dropped = pl.DataFrame(done["dropped"], ["left", "function"], orient="row", schema_overrides={"left": pl.Int64})
    bins = pl.DataFrame({"bin": range(round(DURATION_S * 1e9) // BIN_NS)})
    packets = sent.group_by(bin=pl.col("left") // BIN_NS).agg(
        forwarded_bytes=pl.col("bytes").sum(),
        forwarded_packets=pl.len(),
        sojourn_mean_ns=(pl.col("left") - pl.col("entered")).mean(),
    )
    drops = dropped.group_by(bin=pl.col("left") // BIN_NS).agg(dropped_packets=pl.len())
    return (
        bins.join(packets, "bin", "left")
        .join(drops, "bin", "left")
        .with_columns(pl.col("forwarded_bytes", "forwarded_packets", "dropped_packets").fill_null(0))
        .with_columns(start_ns=pl.col("bin") * BIN_NS, width_ns=pl.lit(BIN_NS, pl.Int64), marked_packets=pl.lit(0))
    )


def runs_of(rows: list[dict[str, str]], world: World, side: str) -> list[dict[str, str]]:
    """Return what was measured of a column of a row."""
    wanted = (str(world.rate), str(world.rtt), world.queue, world.controller, side)
    return [row for row in rows if (row["rate"], row["rtt"], row["queue"], row["controller"], row["side"]) == wanted]


def table(rows: list[dict[str, str]]) -> str:
    """Return the table of the page."""
    lines = [
        "| rate, round trip | controller | discipline | utilisation | mean queueing delay, ms | P95, ms | dropped | dropped before"
        " | manager | with the simulated TCP |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for world in WORLDS:
        mine = [runs_of(rows, world, side) for side in SIDES]
        if not all(mine):
            continue
        simulated, emulated, kernel = map(means, mine)
        said = [f"{world.rate} Mb/s, {world.rtt} ms", world.controller, f"`{world.queue}`", *side_by_side(mine)]
        lines.append(f"| {' | '.join([*said, verdict(emulated, kernel), verdict(simulated, kernel)])} |")
    return "\n".join(lines)


def main() -> None:
    """Measure what is missing and write table and numbers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--only", default="", help="worlds whose label holds this")
    parser.add_argument("--sides", default=",".join(SIDES))
    parser.add_argument("--again", action="store_true", help="measure these columns again")
    parser.add_argument("--most", type=int, default=12, help="runs of each column at most")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/results/linux-queue-managers.md")
    options = parser.parse_args()
    numbers = options.out.with_suffix(".csv")
    rows = kept(numbers)
    columns = [(world, side) for world in WORLDS for side in options.sides.split(",") if options.only in world.label]
    if options.again:
        earlier = [row for column in columns for row in runs_of(rows, *column)]
        rows = [row for row in rows if row not in earlier]
    wanted = [
        (world, seed, side)
        for world, side in columns
        for seed in range(1, min(options.most, DISCIPLINES[world.queue].runs(side)) + 1)
        if str(seed) not in {row["seed"] for row in runs_of(rows, world, side)}
    ]
    measure([partial(run, *each) for each in wanted], options.jobs, rows, numbers)
    write_table(options.out, (BEGIN, END), table(rows))


if __name__ == "__main__":
    main()
