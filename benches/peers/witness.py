"""The end that closes a web connection: the same pages, uploads and CoDel in ns-2 and in Sojourn.

usage: python benches/peers/witness.py [--ns PROGRAM] [--repetitions N] [--duration S]

White 2013 says that the browser closes, and five uploads behind CoDel lose three times as many SYNs when the server
does. ns-2 is a witness that is not our own. Its release 2.35 has no CoDel: `--ns` names a build that has.
"""

import argparse
import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from peer_agreement import Comparison, compare
from peer_drivers import DriverError, run

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WARM_UP_S = 5.0
CLOSING = {"browser": "the browser closes, as White 2013 says", "server": "the server closes"}
PAGES = {"white2012": "100 objects of 25 kB", "white2013": "the 100 objects of Appendix A"}
METRICS = {
    "page_median_s": "median page, s",
    "page_mean_s": "mean page, s",
    "syns_lost_per_page": "SYNs lost per page",
    "throughput_mbps": "throughput of the line, Mb/s",
}

LIST = ROOT / "crates" / "sojourn-apps" / "data" / "white2012-appendix-a.csv"

SCENARIO = """
schema = 1
name = "witness"
duration = "DURATION s"

[access.upstream]
link = { kind = "serial", rate = "5 Mb/s" }
queue = { kind = "codel", variant = "nichols2013", limit = "417 packets" }

[access.downstream]
link = { kind = "serial", rate = "100 Mb/s" }
queue = { kind = "drop-tail", limit = "10000 packets" }

[[traffic]]
name = "bulk"
app = { kind = "bulk", lanes = 5, start_jitter = "1 s" }
stack = { kind = "ns2-linux-cubic", receive_window = 667 }
rtt = "20 ms"

[[traffic]]
name = "page"
app = { kind = "web", profile = "PAGE", closing = "CLOSING", start = "1 s", start_jitter = "20 ms", think = "5 s" }
stack = "ns2-bsd-sack"
rtt = ["20 ms", "30 ms", "50 ms", "100 ms"]

[record]
datagrams = false
objects = false
transfers = false
occupancy = false
delays = false
series = "off"
"""
"""The world of `page.tcl`; capitals are filled in."""

World = tuple[str, str]
"""A page and who closes."""


def has_codel(program: str) -> bool:
    """Return whether this ns knows the queue CoDel."""
    asked = subprocess.run(
        [program, "-"],
        input="new Simulator\nnew Queue/CoDel\nputs known\nexit 0\n",
        capture_output=True,
        text=True,
        check=False,
    )
    return "known" in asked.stdout


def objects(page: str) -> tuple[int, list[tuple[int, int]]]:
    """Return the size of a page's index in bytes, and server and size of its other objects."""
    if page == "white2012":
        return 100_000, [(server, 25_000) for server in range(4) for _ in range(25)]
    with LIST.open(encoding="utf-8") as lines:
        listed = [(int(row["server"]) - 1, int(row["bytes"])) for row in csv.DictReader(lines)]
    return listed[0][1], listed[1:]


def commands(program: str, world: World, seed: int, duration_s: float) -> tuple[list[str], ...]:
    """Return the commands of Sojourn and of ns-2."""
    page, closing = world
    index, sizes = objects(page)
    text = SCENARIO.replace("DURATION", f"{duration_s:g}")
    text = text.replace("PAGE", page).replace("CLOSING", closing)
    ours = [sys.executable, str(HERE / "witness_sojourn.py"), text, str(seed), f"{WARM_UP_S:g}"]
    options = {
        "-closing": closing,
        "-seed": seed,
        "-duration": f"{duration_s:g}",
        "-warmup": f"{WARM_UP_S:g}",
        "-index": index,
        "-sizes": " ".join(f"{server}:{size}" for server, size in sizes),
    }
    script = [program, str(HERE / "page.tcl")]
    return ours, [*script, *(str(part) for pair in options.items() for part in pair)]


def compare_worlds(program: str, repetitions: int, duration_s: float) -> dict[World, dict[str, Comparison]]:
    """Run every world in both simulators and compare all quantities."""
    worlds = [(page, closing) for page in PAGES for closing in CLOSING]
    tasks = [
        command
        for world in worlds
        for seed in range(1, repetitions + 1)
        for command in commands(program, world, seed, duration_s)
    ]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        results = list(pool.map(run, tasks))
    compared: dict[World, dict[str, Comparison]] = {}
    for number, world in enumerate(worlds):
        mine = results[2 * repetitions * number : 2 * repetitions * (number + 1)]
        ours, theirs = mine[0::2], mine[1::2]
        compared[world] = {
            metric: compare([one[metric] for one in ours], [one[metric] for one in theirs]) for metric in METRICS
        }
    return compared


def rows(compared: dict[World, dict[str, Comparison]]) -> list[str]:
    """Return the table's rows in Markdown."""
    lines = ["| page | who closes | quantity | Sojourn | ns-2 |", "|---|---|---|---|---|"]
    for (page, closing), quantities in compared.items():
        first = [PAGES[page], CLOSING[closing]]
        for metric, comparison in quantities.items():
            values = [
                f"{estimate.mean:.2f} ± {estimate.half_width:.2f}" for estimate in (comparison.ours, comparison.theirs)
            ]
            lines.append("| " + " | ".join([*first, METRICS[metric], *values]) + " |")
            first = ["", ""]
    return lines


def main(arguments: Iterable[str] | None = None) -> int:
    """Compare and print the table; return the exit status."""
    parser = argparse.ArgumentParser(description="Who closes a web connection, in two simulators.")
    parser.add_argument("--ns", default="ns", help="an ns-2 with CoDel")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--duration", type=float, default=600.0, help="simulated seconds")
    options = parser.parse_args(None if arguments is None else list(arguments))
    named: str = options.ns
    program = shutil.which(named)
    if program is None or not has_codel(program):
        missing = "there is no such command" if program is None else "it has no queue CoDel"
        print(f"skipped: {named}: {missing}; see benches/peers/README.md", file=sys.stderr)
        return 0
    try:
        compared = compare_worlds(program, options.repetitions, options.duration)
    except DriverError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print("\n".join(rows(compared)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
