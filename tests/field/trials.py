"""Synthetic measurements for the tests of field trials."""

import gzip
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sojourn.field.records import FieldTest, frame_of_tests

FILES = Path(__file__).parent / "files"
"""Real results of Flent 2.1.1: CUBIC over a token bucket of 5 Mb/s with 8 and 48 KB; ICMP pings only."""

LEVELS = ("8KB", "48KB", "96KB")


def vector_rows() -> pl.DataFrame:
    """Return 162 observations whose regression was worked out independently of this project.

    Six homes with different levels, three weeks at 0.70, 0.97 and 1.33 of them, and a small integer pattern
    in place of noise.
    """
    rows: list[tuple[str, str, str, str, float]] = []
    for p, base in enumerate((20, 35, 50, 28, 42, 60)):
        for w, level in enumerate((0.70, 0.97, 1.33)):
            for d in range(3):
                for t in range(3):
                    n = ((7 * p + 3 * w + 5 * d + 2 * t + p * w + d * t + 4 * p * d) % 11) - 5
                    value = base * (level + 0.02 * n)
                    rows.append((f"p{p}", str(w + 1), f"d{d + 1}", f"t{t + 1}", value))
    frame = pl.DataFrame(rows, schema=["probe", "week", "day", "hour", "value"], orient="row")
    mean = pl.col("value").mean().over("probe")
    return frame.with_columns(delta=100.0 * (pl.col("value") - mean) / mean)


VECTOR_FACTORS = (("week", ("1", "2", "3")), ("day", ("d1", "d2", "d3")), ("hour", ("t1", "t2", "t3")))


def field_test(**changes: Any) -> FieldTest:  # noqa: ANN401 - any field
    """Return one valid upload test."""
    fields: dict[str, Any] = {
        "probe": "home-1",
        "time": datetime(2016, 3, 7, 8, tzinfo=UTC),
        "direction": "up",
        "throughput_mbps": 5.0,
        "latency_ms": 30.0,
        "latency_kind": "UDP",
        "latency_loaded_ms": 32.0,
        "latency_idle_ms": 20.0,
        "samples": 350,
        "expected_samples": 350,
        "treatment": "",
        "week": None,
        "zone": "",
        "flags": "",
        "test": "rrul_up",
        "tool": "flent",
        "file": "a.flent.gz",
    }
    return FieldTest(**(fields | changes))


def trial(
    homes: int = 12,
    latency: tuple[float, ...] = (0.70, 0.97, 1.33),
    throughput: tuple[float, ...] = (0.91, 1.045, 1.045),
    noise: float = 0.05,
    seed: int = 1,
) -> pl.DataFrame:
    """Return a trial as the talk ran it: one treatment a week for all homes, three tests a day."""
    generator = np.random.default_rng(seed)
    monday = datetime(2016, 3, 7, tzinfo=UTC)
    tests: list[FieldTest] = []
    for home in range(homes):
        rtt, rate = float(generator.lognormal(3.5, 0.4)), float(generator.choice([3.0, 5.0, 10.0]))
        for week, level in enumerate(LEVELS):
            for day in range(7):
                for hour in (8, 12, 17):
                    moment = monday + timedelta(weeks=week, days=day, hours=hour)
                    for direction in ("up", "down"):
                        up = direction == "up"
                        factor = 1.0 + noise * generator.standard_normal(2)
                        tests.append(
                            field_test(
                                probe=f"home-{home + 1:02d}",
                                time=moment,
                                direction=direction,
                                throughput_mbps=rate * float(factor[0]) * (throughput[week] if up else 5.0),
                                latency_ms=rtt * float(factor[1]) * (latency[week] if up else 1.0),
                                treatment=level,
                                week=week + 1,
                                file=f"{home}-{week}-{day}-{hour}-{direction}.flent.gz",
                            )
                        )
    return frame_of_tests(tests)


def flent_document(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    """Return a small complete Flent result: two uploads, one UDP ping, 20 samples of a second."""
    x = [float(k) for k in range(20)]
    loaded = [5 <= k <= 15 for k in range(20)]
    document: dict[str, Any] = {
        "version": 4,
        "metadata": {
            "NAME": "rrul_up",
            "TITLE": "probe=home-07 buffer=48KB week=2",
            "TIME": "2016-03-15T12:00:10.5Z",
            "LOCAL_HOST": "vm",
            "LENGTH": 10,
            "TOTAL_LENGTH": 20,
            "STEP_SIZE": 1.0,
        },
        "x_values": x,
        "results": {
            "TCP upload BE": [4.0 if on else None for on in loaded],
            "TCP upload BK": [2.0 if on else None for on in loaded],
            "TCP upload BE::tcp_cwnd": [99.0 for _ in x],
            "Ping (ms) UDP BE": [40.0 if on else 20.0 for on in loaded],
            "Ping (ms) UDP EF": [50.0 if on else 20.0 for on in loaded],
            "Ping (ms) ICMP": [1000.0 for _ in x],
        },
        "raw_values": {"Ping (ms) ICMP": [{"t": 1458043210.0, "val": 1.0}]},
    }
    return document | changes


def write_packed(path: Path, document: object) -> Path:
    """Write a document as `.flent.gz`."""
    path.write_bytes(gzip.compress(json.dumps(document).encode()))
    return path
