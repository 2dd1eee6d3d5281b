"""Measure BBR alone and beside CUBIC, and write docs/results/bbr.md.

usage: python benches/coexistence/bbr.py [--seconds S] [--out FILE]

One flow of BBR, version 1 or 3, or of CUBIC, alone and beside one of CUBIC, over 50 Mb/s and 40 ms, through drop-tail
queues of one and four bandwidth-delay products (BDP) and through FQ-CoDel. Two processors need half a minute.
"""

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import polars as pl

from sojourn import _engine

ROOT = Path(__file__).resolve().parents[2]
NS = 1e9
"""Nanoseconds in a second."""
WARM_UP_S = 20
"""Left out. chosen: the end of each slow start, and four probes of the round trip."""
RATE = 50
"""Mb/s. chosen: the upstream of White 2019."""
RTT = 40
"""Milliseconds; the BDP is 167 packets of 1500 B."""
QUEUES = {
    "drop-tail, 1 BDP": '{ kind = "drop-tail", limit = "167 packets" }',
    "drop-tail, 4 BDP": '{ kind = "drop-tail", limit = "667 packets" }',
    "FQ-CoDel": '{ kind = "fq-codel" }',
}
STACKS = {"BBRv1": "bbr1", "BBRv3": "bbr3", "CUBIC": "linux-cubic"}


class Measured(NamedTuple):
    """Results of a run after the warm-up."""

    rate: float
    """Mb/s of all flows."""
    share: float
    """Of the first flow."""
    wait: float
    """Mean milliseconds in the queue."""


def run(stack: str, queue: str, others: int, seconds: int, seed: int) -> Measured:
    """Simulate a flow beside `others` flows of CUBIC, none or one."""
    other = '[[traffic]]\nname = "other"\napp = { kind = "bulk" }\nstack = "linux-cubic"\n'
    text = f"""schema = 1
name = "bbr"
duration = "{seconds} s"
[access.upstream]
link = {{ kind = "serial", rate = "{RATE} Mb/s" }}
queue = {queue}
[access.downstream]
link = {{ kind = "serial", rate = "{10 * RATE} Mb/s" }}
queue = {{ kind = "drop-tail", limit = "1000 packets" }}
[[traffic]]
name = "own"
app = {{ kind = "bulk" }}
stack = "{stack}"
rtt = "{RTT} ms"
{other + f'rtt = "{RTT} ms"' if others else ""}
"""
    records = _engine.run(_engine.Scenario.parse(text), seed)
    flows = pl.DataFrame(records.table("traffic_series")).filter(
        (pl.col("link") == "upstream") & (pl.col("start_ns") >= WARM_UP_S * NS)
    )
    line = pl.DataFrame(records.table("series")).filter(
        (pl.col("link") == "upstream") & (pl.col("start_ns") >= WARM_UP_S * NS)
    )
    own = int(flows.filter(pl.col("traffic") == "own")["forwarded_bytes"].sum())
    total = int(flows["forwarded_bytes"].sum())
    backlog = float(line["backlog_bytes_mean"].mean() or 0.0)  # pyright: ignore[reportArgumentType]
    rate = 8e-6 * total / (seconds - WARM_UP_S)
    # Little's law: what waits, by the rate at which it leaves.
    return Measured(rate, own / total, backlog * 8e-3 / rate)


def mean(runs: list[Measured]) -> Measured:
    """Mean over seeds."""
    return Measured(*(sum(values) / len(runs) for values in zip(*runs, strict=True)))


def page(seconds: int, seeds: int) -> str:
    """Return the whole page."""
    cases = [(name, queue, others) for queue in QUEUES for name in STACKS for others in (0, 1)]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        waiting = {
            case: [
                pool.submit(run, STACKS[case[0]], QUEUES[case[1]], case[2], seconds, seed)
                for seed in range(1, seeds + 1)
            ]
            for case in cases
        }
        by_case = {case: mean([future.result() for future in futures]) for case, futures in waiting.items()}
    rows: list[str] = []
    for queue in QUEUES:
        for name in STACKS:
            alone, beside = by_case[name, queue, 0], by_case[name, queue, 1]
            rows.append(
                f"| {queue} | {name} | {alone.rate:.1f} Mb/s | {alone.wait:.1f} ms | "
                f"{beside.share:.2f} | {beside.rate:.1f} Mb/s | {beside.wait:.1f} ms |"
            )
    text = (Path(__file__).parent / "bbr.md").read_text(encoding="utf-8")
    return text.replace("@SECONDS@", str(seconds)).replace("@SEEDS@", str(seeds)).replace("@ROWS@", "\n".join(rows))


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=int, default=140, help="simulated, with the warm-up")
    parser.add_argument("--seeds", type=int, default=2, help="runs of each case")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "results" / "bbr.md")
    options = parser.parse_args()
    options.out.write_text(page(options.seconds, options.seeds), encoding="utf-8")


if __name__ == "__main__":
    main()
