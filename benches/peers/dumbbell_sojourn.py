"""A world in Sojourn, with the output of the drivers of ns-2 and ns-3.

usage: python dumbbell_sojourn.py SCENARIO SEED [WARMUP]

SCENARIO is the text of a scenario (`peer_worlds.scenario`). Throughput and waits after WARMUP seconds are printed if it
is given; without, only what the run has cost. Nothing is imported that a run does not need, because the processor time
of this process is compared.
"""

import sys

from sojourn import _engine

NS = 1e9
"""Nanoseconds in a second."""


def measure(records: "_engine.Records", warm_up_s: float) -> dict[str, float]:
    """Throughput of the line and waits of the stream after the warm-up."""
    import polars as pl

    simulated_s = float(records.statistics["simulated_s"])
    lines = pl.DataFrame(records.table("series"))
    lines = lines.filter((pl.col("link") == "upstream") & (pl.col("start_ns") >= warm_up_s * NS))
    datagrams = pl.DataFrame(records.table("datagrams"))
    datagrams = datagrams.filter(pl.col("sent_ns") >= warm_up_s * NS)
    arrived = datagrams.filter(pl.col("arrived_ns").is_not_null())
    waits = sorted((arrived["queue_ns"].cast(pl.Float64) * 1e-6).to_list())
    return {
        "throughput_mbps": float(lines["forwarded_bytes"].sum()) * 8e-6 / (simulated_s - warm_up_s),
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
    scenario, seed, *warm_up = sys.argv[1:]
    records = _engine.run(_engine.Scenario.parse(scenario), int(seed))
    result = measure(records, float(warm_up[0])) if warm_up else {}
    result["run_cpu_s"] = records.statistics["cpu_s"]
    result["packet_hops"] = records.statistics["packet_hops"]
    # What `json` would print, without the time to import it.
    print("{" + ", ".join(f'"{key}": {value!r}' for key, value in result.items()) + "}")


if __name__ == "__main__":
    main()
