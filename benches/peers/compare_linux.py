"""Run the same links around simulated and around real TCP, and write what agrees into docs/results/emulation.md.

usage: python benches/peers/compare_linux.py [--repetitions N] [--draws N] [--warmup S] [--jobs N] [--only WORD] [--again] [--out FILE]

Each world is simulated with `sojourn run` and emulated with `sojourn emulate --virtual`, one upload through the Linux of
`sojourn linux build`; both leave the same tables, from which both columns are worked out in the same way. In virtual time nothing that the
machine does beside it counts, so emulations may run side by side. Simulations take seconds, so there are more of them: what draws decide
shows in their spread.
What has been measured is kept beside the page as a CSV file, and only what is missing of it is measured: `--again` forgets the
simulations, after a change of the simulated TCP.
"""

import argparse
import csv
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, stdev

import polars as pl

ROOT = Path(__file__).resolve().parents[2]
SOJOURN = [sys.executable, "-m", "sojourn"]


@dataclass(frozen=True)
class World:
    """A link and who sends over it."""

    rate: int
    """Of the upstream link, in Mb/s; the downstream one has ten times that, and carries acknowledgements."""
    rtt: int
    """In ms."""
    queue: str
    controller: str

    @property
    def label(self) -> str:
        """Name of the row."""
        return f"{self.rate} Mb/s, {self.rtt} ms, {self.queue}, {self.controller}"

    @property
    def duration_s(self) -> float:
        """How long it runs: where a queue drops at random, and a handful of packets in half a minute, for two minutes."""
        is_rare = self.rate * self.rtt >= 3000 and self.queue in ("PIE", "DOCSIS-PIE", "dual queue")
        return 120.0 if is_rare and self.controller != "BBR" else 35.0


QUEUES = {
    "drop-tail": '{ kind = "drop-tail", limit = "100 ms" }',
    "CoDel": '{ kind = "codel", profile = "rfc8289", limit = "1000 packets" }',
    "FQ-CoDel": '{ kind = "fq-codel" }',
    "PIE": '{ kind = "pie" }',
    "DOCSIS-PIE": '{ kind = "docsis-pie", limit = "100 ms" }',
    "dual queue": '{ kind = "docsis-dual-queue", limit = "100 ms" }',
}
STACKS = {"CUBIC": ("linux-6-cubic", "cubic"), "Reno": ("linux-6-reno", "reno"), "BBR": ("bbr1", "bbr")}
"""The controller of the simulator, and that of the kernel."""

WORLDS = [
    World(rate, rtt, queue, controller)
    for rate, rtt in ((10, 30), (20, 20), (50, 60))
    for queue in QUEUES
    for controller in STACKS
]

PYTHON = [sys.executable, "-I", "-S", "-c"]
TAKES = """
import socket
peer, _ = socket.create_server(("", 5201)).accept()
while peer.recv(1 << 18):
    pass
"""
SENDS = """
import socket, sys, time
peer, data = socket.create_connection(("100.64.0.1", 5201)), bytes(1 << 17)
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    peer.sendall(data)
"""
"""An upload. iperf3 would ask in a loop, until the server's first word has come, whether it may write: a second of computing for 10 ms."""

COLUMNS = ("utilisation", "sojourn_ms", "p95_ms", "dropped", "marked", "first_dropped")

TEXT = """
schema = 1
name = "linux"
duration = "{duration} s"

[access.upstream]
link = {{ kind = "serial", rate = "{rate} Mb/s" }}
queue = {queue}

[access.downstream]
link = {{ kind = "serial", rate = "{down} Mb/s" }}
queue = {{ kind = "drop-tail", limit = "1000 packets" }}

[record]
datagrams = false

[[traffic]]
name = "bulk"
app = {{ kind = "bulk", direction = "upstream", file = "endless" }}
stack = "{stack}"
rtt = "{rtt} ms"
"""


def worked_out(series: pl.DataFrame, rate: int, warm_up_s: float, duration_s: float) -> dict[str, float]:
    """Work out a row of a link's time series: the steady state, and what the start lost."""
    start = pl.col("start_ns") / 1e9
    steady = series.filter((start >= warm_up_s) & (start < duration_s - 0.1))
    first = series.filter(start < warm_up_s)
    packets = steady["forwarded_packets"].sum()
    means = steady.filter(pl.col("forwarded_packets") > 0)
    weighted = (means["sojourn_mean_ns"] * means["forwarded_packets"]).sum() / max(1, packets)
    return {
        "utilisation": steady["forwarded_bytes"].sum() / (steady["width_ns"].sum() * rate / 8000),
        "sojourn_ms": weighted / 1e6,
        "p95_ms": (means["sojourn_mean_ns"].quantile(0.95) or 0.0) / 1e6,
        "dropped": float(steady["dropped_packets"].sum()),
        "marked": float(steady["marked_packets"].sum()),
        "first_dropped": float(first["dropped_packets"].sum()),
    }


def run(world: World, seed: int, side: str, warm_up_s: float) -> dict[str, object]:
    """Simulate a world, or emulate it in virtual time."""
    duration_s = world.duration_s
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        text = TEXT.format(
            duration=duration_s,
            rate=world.rate,
            down=world.rate * 10,
            queue=QUEUES[world.queue],
            stack=STACKS[world.controller][0],
            rtt=world.rtt,
        )
        (place / "world.toml").write_text(text, encoding="utf-8")
        out = str(place / "out")
        if side == "simulated":
            command = ["run", "world.toml", "--seed", str(seed), "--out", out, "--json"]
        else:
            command = [
                *("emulate", "world.toml", "--virtual", "--seed", str(seed), "--json"),
                *("--record", out, "--tcp", STACKS[world.controller][1], "--far", shlex.join([*PYTHON, TAKES])),
                *("--", *PYTHON, SENDS, f"{duration_s:g}"),
            ]
        done = subprocess.run(
            [*SOJOURN, *command], cwd=place, capture_output=True, text=True, check=False, timeout=60 * duration_s
        )
        if done.returncode != 0:
            raise RuntimeError(f"{world.label}, {side}: {done.stderr}")
        said = json.loads(done.stdout)
        late = said.get("lateness", {}).get("upstream", {})
        series = pl.read_parquet(Path(out) / "series.parquet").filter(pl.col("link") == "upstream")
        return {
            "rate": world.rate,
            "rtt": world.rtt,
            "queue": world.queue,
            "controller": world.controller,
            "side": side,
            "seed": seed,
            "duration": duration_s,
            "grade": said.get("grade", ""),
            "late_p99_us": late.get("p99_ns", 0) / 1e3,
            "kernel": said.get("kernel", {}).get("version", ""),
            **worked_out(series, world.rate, warm_up_s, duration_s),
        }


def kept(file: Path) -> list[dict[str, str]]:
    """Return what was measured earlier."""
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def keep(file: Path, rows: list[dict[str, str]]) -> None:
    """Write what was measured."""
    with file.open("w", encoding="utf-8", newline="") as text:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def runs_of(rows: list[dict[str, str]], world: World, side: str) -> list[dict[str, str]]:
    """Return a world's runs; of poor emulations none is used."""
    return [
        row
        for row in rows
        if (row["rate"], row["rtt"]) == (str(world.rate), str(world.rtt))
        and (row["queue"], row["controller"], row["side"]) == (world.queue, world.controller, side)
        and row["grade"] != "poor"
        and float(row["duration"]) == world.duration_s
    ]


def means(mine: list[dict[str, str]]) -> dict[str, float]:
    """Return the means of runs."""
    return {column: fmean(float(row[column]) for row in mine) for column in COLUMNS}


def verdict(simulated: dict[str, float], emulated: dict[str, float]) -> str:
    """Say what lies beyond the bounds: 1 point, 5 % of the mean, 10 % of P95, a factor of 1.5 or 5 packets, before second 10 as well."""
    wrong: list[str] = []
    if abs(simulated["utilisation"] - emulated["utilisation"]) > 0.01:
        wrong.append("utilisation")
    for column, bound, words in (("sojourn_ms", 0.05, "delay"), ("p95_ms", 0.10, "P95")):
        if abs(simulated[column] / emulated[column] - 1) > bound:
            wrong.append(words)
    for column, words in (("dropped", "drops"), ("first_dropped", "drops before")):
        drops = simulated[column], emulated[column]
        if abs(drops[0] - drops[1]) > 5 and max(drops) > 1.5 * min(drops):
            wrong.append(words)
    return ", ".join(wrong) if wrong else "agrees"


def side_by_side(columns: list[list[dict[str, str]]]) -> list[str]:
    """Return the cells of a row, of which each has the means of all columns: utilisation, mean delay, P95, drops, drops before."""
    forms = (
        ("utilisation", ".3f"),
        ("sojourn_ms", ".2f"),
        ("p95_ms", ".1f"),
        ("dropped", ".0f"),
        ("first_dropped", ".0f"),
    )
    cells: list[str] = []
    for name, form in forms:
        values = [[float(run[name]) for run in runs] for runs in columns]
        spread = [f" ± {stdev(one):.2f}" if name == "sojourn_ms" and len(one) > 1 else "" for one in values]
        cells.append(
            " / ".join(f"{means(runs)[name]:{form}}{more}" for runs, more in zip(columns, spread, strict=True))
        )
    return cells


def table(rows: list[dict[str, str]]) -> str:
    """Return the table of the page."""
    lines = [
        "| rate, round trip | queue | controller | runs | utilisation | mean queueing delay, ms | P95, ms | dropped | dropped before | verdict |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for world in WORLDS:
        mine = [runs_of(rows, world, side) for side in ("simulated", "emulated")]
        if not all(mine):
            continue
        cells = side_by_side(mine)
        where = f"{world.rate} Mb/s, {world.rtt} ms"
        result = verdict(*map(means, mine))
        if world.controller == "BBR":
            result = f"for information: {result}"
        said = [where, world.queue, world.controller, " / ".join(str(len(runs)) for runs in mine), *cells, result]
        lines.append(f"| {' | '.join(said)} |")
    return "\n".join(lines)


BEGIN, END = "<!-- table -->", "<!-- end of table -->"


def measure(
    wanted: Sequence[Callable[[], Mapping[str, float | str]]], jobs: int, rows: list[dict[str, str]], numbers: Path
) -> None:
    """Run what is wanted, and keep each result as soon as it is there; one that fails costs no other."""
    with ThreadPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(each) for each in wanted]):
            if done.exception() is not None:
                print(done.exception(), file=sys.stderr)
                continue
            row = done.result()
            rows.append(
                {name: f"{value:.6g}" if isinstance(value, float) else str(value) for name, value in row.items()}
            )
            keep(numbers, rows)
            print(row, file=sys.stderr)


def write_table(file: Path, marks: tuple[str, str], made: str) -> None:
    """Write a table between its marks in a page."""
    begin, end = marks
    page = file.read_text(encoding="utf-8")
    head, _, rest = page.partition(begin)
    _, _, tail = rest.partition(end)
    file.write_text(f"{head}{begin}\n\n{made}\n\n{end}{tail}", encoding="utf-8")


def main() -> None:
    """Measure what is missing and write table and numbers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=2, help="emulations of each row")
    parser.add_argument("--draws", type=int, default=5, help="simulations of each row")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--warmup", type=float, default=10.0)
    parser.add_argument("--only", default="", help="worlds whose label holds this")
    parser.add_argument("--again", action="store_true", help="simulate these worlds again")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/results/emulation.md")
    options = parser.parse_args()
    numbers = options.out.with_suffix(".csv")
    rows = kept(numbers)
    worlds = [world for world in WORLDS if options.only in world.label]
    if options.again:
        earlier = [row for world in worlds for row in runs_of(rows, world, "simulated")]
        rows = [row for row in rows if row not in earlier]
    wanted = [
        (world, seed, side)
        for side, count in (("simulated", options.draws), ("emulated", options.repetitions))
        for seed in range(1, count + 1)
        for world in worlds
        if str(seed) not in {row["seed"] for row in runs_of(rows, world, side)}
    ]
    measure([partial(run, *each, options.warmup) for each in wanted], options.jobs, rows, numbers)
    write_table(options.out, (BEGIN, END), table(rows))


if __name__ == "__main__":
    main()
