"""Laws that each transport library keeps over random lines, counted in one process that has loaded it.

usage: laws.py LIBRARY NAME COUNT [FIRST]     a line of JSON for each random line that breaks a law, then the digest of all
"""

import hashlib
import io
import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Protocol

import polars as pl

from sojourn.plugins import read_plugin
from sojourn.plugins.stack_library import add_stack
from sojourn.scenario.scenario_file import Scenario
from sojourn.simulation.engine import simulate
from sojourn.store import pack

LINE = """
schema = 1
name = "line"
duration = "{duration}"
[access]
upstream = {{ link = {{ kind = "serial", rate = "{rate} Mb/s" }}, queue = {queue}, conditions = [{loss}] }}
downstream = {{ link = {{ kind = "serial", rate = "{rate} Mb/s" }}, queue = {queue} }}
[[traffic]]
name = "own"
app = {{ kind = "bulk", direction = "{direction}"{file} }}
rtt = "{rtt} ms"
stack = {{ kind = "library", name = "{name}", controller = "{controller}" }}
"""
LOSS = '{{ from = "0 s", for = "1 h", loss = {loss} }}'
CONTROLLERS = {"quinn": ("cubic", "reno", "bbr"), "s2n-quic": ("cubic", "bbr"), "smoltcp": ("cubic", "reno", "none")}
ROOMY = '{ kind = "drop-tail", limit = "100000 packets" }'


class Digest(Protocol):
    """Something that bytes are added to."""

    def update(self, data: bytes, /) -> None:
        """Add bytes."""


def lines(controllers: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Yield lines of the same draws in every process."""
    draw = Random(52)
    while True:
        manager, packets = draw.choice(("drop-tail", "codel", "fq-codel", "pie")), draw.randint(5, 400)
        yield {
            "rate": draw.choice((0.5, 2.0, 7.3, 20.0, 60.0)),
            "rtt": draw.randint(1, 150),
            "queue": f'{{ kind = "{manager}", limit = "{packets} packets" }}',
            "loss": draw.choice((0.0, 0.0, 0.001, 0.02)),
            "direction": draw.choice(("upstream", "downstream")),
            "controller": draw.choice(controllers),
            "seed": draw.getrandbits(32),
        }


def numbers(text: str, seed: int, digest: Digest) -> dict[tuple[str, str], float]:
    """Return the metrics of a run, and add all of its bytes to a digest."""
    scenario = Scenario.parse(text)
    files = pack(simulate(scenario.compiled, seed), scenario.key(seed), seed, scenario.canonical())
    for name in sorted(files.keys() - {"run.json"}):  # which has the time that it took
        digest.update(files[name])
    rows = pl.read_parquet(io.BytesIO(files["metrics.parquet"])).rows()
    return {(row[0], row[1]): row[2] for row in rows}


def broken(name: str, of: dict[str, Any], digest: Digest) -> Iterator[str]:
    """Yield each law that a library breaks on a line."""
    loss = LOSS.format(**of) if of["loss"] else ""
    found = numbers(LINE.format(**{**of, "loss": loss}, name=name, duration="2 s", file=""), of["seed"], digest)
    way = of["direction"]
    packet = 1514 * 8 / (2e6 * of["rate"])  # one that is on the line at the end counts whole
    if not 0 <= found["own", "goodput"] <= of["rate"] or found[way, "utilisation"] > 1.0 + packet:
        yield f"rate: {found['own', 'goodput']} Mb/s, {found[way, 'utilisation']} of the line"
    kilobytes = math.ceil(of["rate"] * 25)  # 0.2 s of the line
    roomy = {**of, "queue": ROOMY, "loss": "", "file": f', file = "{kilobytes} kB", gap = "1 h"'}
    found = numbers(LINE.format(**roomy, name=name, duration="20 s"), of["seed"], digest)
    if found["own", "transfers_completed"] != 1:
        yield f"end: {found['own', 'transfers_completed']} of one transfer ended"
    if lost := found["upstream", "dropped_packets"] + found["downstream", "dropped_packets"]:
        yield f"loss: {lost} packets of an unlimited queue"


def main() -> None:
    """Run lines, and print those that break a law."""
    path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    plugin = read_plugin(Path(path))
    plugin.announce()
    add_stack(path, plugin)
    digest = hashlib.sha256()
    words = CONTROLLERS.get(name, ("fixed",))
    for number, of in zip(range(first + count), lines(words), strict=False):
        for law in broken(name, of, digest) if number >= first else ():
            print(json.dumps({"number": number, "law": law, **of}), flush=True)
    print(digest.hexdigest())


if __name__ == "__main__":
    main()
