"""The world of `witness.py` in Sojourn, with the output of `page.tcl`.

usage: python witness_sojourn.py SCENARIO SEED WARMUP
"""

import json
import statistics
import sys

import polars as pl

from sojourn import _engine

NS = 1e9
"""Nanoseconds in a second."""


def measure(records: "_engine.Records", warm_up_s: float) -> dict[str, float]:
    """Pages that began after the warm-up and ended; lost SYNs and throughput of the whole run."""
    pages = pl.DataFrame(records.table("pages"))
    pages = pages.filter((pl.col("started_ns") >= warm_up_s * NS) & pl.col("ended_ns").is_not_null())
    times: list[float] = ((pages["ended_ns"] - pages["started_ns"]).cast(pl.Float64) / NS).to_list()
    traffic = pl.DataFrame(records.table("traffic")).filter(pl.col("direction") == "upstream")
    retries = int(traffic.filter(pl.col("traffic") == "page")["connect_retries"].sum())
    simulated_s = float(records.statistics["simulated_s"])
    return {
        "pages": len(times),
        "page_mean_s": statistics.fmean(times),
        "page_median_s": statistics.median_low(times),
        "syns_lost_per_page": retries / len(times),
        "throughput_mbps": float(traffic["forwarded_bytes"].sum()) * 8e-6 / simulated_s,
    }


def main() -> None:
    """Run once and print one JSON object."""
    scenario, seed, warm_up = sys.argv[1:]
    records = _engine.run(_engine.Scenario.parse(scenario), int(seed))
    print(json.dumps(measure(records, float(warm_up))))


if __name__ == "__main__":
    main()
