"""The dumbbell in Sojourn, with the command line and the output of the drivers of ns-2 and ns-3.

usage: python dumbbell_sojourn.py --peer ns-3 --queue codel [--flows N] [--seed N] [--duration S]
                                  [--warmup S] [--measure 0|1]
"""

import argparse
import json
from typing import Any

from peer_worlds import World, managers, scenario

from sojourn import _engine

NS = 1e9
"""Nanoseconds in a second."""


def measure(records: "_engine.Records", duration_s: float, warm_up_s: float) -> dict[str, float]:
    """Throughput of the line and waits of the stream after the warm-up."""
    import polars as pl

    lines = pl.DataFrame(records.table("series"))
    lines = lines.filter((pl.col("link") == "upstream") & (pl.col("start_ns") >= warm_up_s * NS))
    datagrams = pl.DataFrame(records.table("datagrams"))
    datagrams = datagrams.filter(pl.col("sent_ns") >= warm_up_s * NS)
    arrived = datagrams.filter(pl.col("arrived_ns").is_not_null())
    waits = sorted((arrived["queue_ns"].cast(pl.Float64) * 1e-6).to_list())
    return {
        "throughput_mbps": float(lines["forwarded_bytes"].sum()) * 8e-6 / (duration_s - warm_up_s),
        "delay_mean_ms": sum(waits) / max(1, len(waits)),
        "delay_p50_ms": quantile(waits, 0.5),
        "delay_p95_ms": quantile(waits, 0.95),
        "losses": int(lines["dropped_packets"].sum()),
        "stream_losses": int(datagrams.filter(pl.col("lost_at").is_not_null()).height),
        "stream_packets": len(waits),
    }


def quantile(ordered: list[float], p: float) -> float:
    """Return the smallest value that at least the share `p` does not exceed."""
    if not ordered:
        return 0.0
    rank = -int(-p * len(ordered) // 1)
    return ordered[max(rank, 1) - 1]


def main() -> None:
    """Run once and print one JSON object."""
    parser = argparse.ArgumentParser(description="The dumbbell in Sojourn.")
    parser.add_argument("--peer", choices=["ns-2", "ns-3"], default="ns-3")
    parser.add_argument("--queue", choices=managers(), default="codel")
    parser.add_argument("--flows", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--duration", type=float, default=600.0)
    parser.add_argument("--warmup", type=float, default=5.0)
    parser.add_argument("--measure", type=int, choices=[0, 1], default=1)
    options = parser.parse_args()
    world = World(options.peer, options.queue, options.flows)
    text = scenario(world, options.duration, measure=bool(options.measure))
    records = _engine.run(_engine.Scenario.parse(text), options.seed)
    result: dict[str, Any] = dict(
        measure(records, options.duration, options.warmup) if options.measure else {}
    )
    result["run_cpu_s"] = records.statistics["cpu_s"]
    result["packet_hops"] = records.statistics["packet_hops"]
    print(json.dumps(result))


if __name__ == "__main__":
    main()
