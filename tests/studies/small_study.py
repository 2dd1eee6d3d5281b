"""A small study by path with a made-up result: what the framework is tested on, without a published study."""

from pathlib import Path
from typing import Any

import polars as pl

from sojourn.study.definition import load_definition
from sojourn.study.result import METRICS_SCHEMA, StudyResult

BASE = """
schema = 1
name = "base"
duration = "10 s"
[access.upstream]
link = { kind = "serial", rate = "5 Mb/s", delay = "1 ms" }
queue = { kind = "drop-tail", limit = "100 packets" }
[access.downstream]
link = { kind = "serial", rate = "20 Mb/s", delay = "1 ms" }
queue = { kind = "drop-tail", limit = "100 packets" }
[[traffic]]
name = "call"
app = { kind = "voice" }
rtt = "20 ms"
"""

STUDY = """
schema = 1
name = "small"
scenario = "base.toml"
[overlays.tail]
[overlays.codel.access.upstream]
queue = { kind = "codel" }
[overlays.near]
[overlays.far.traffic.call]
rtt = "100 ms"
[[matrix]]
axes = { queue = ["tail", "codel"], place = ["near", "far"] }
"""

DELAYS = {"tail-near": 100.0, "tail-far": 200.0, "codel-near": 10.0, "codel-far": 30.0}
"""Delays in ms by point; three seeds each differ by 1 ms."""


def write(folder: Path, answers: str, module: str = "", top: str = "") -> Path:
    """Write a study whose answers stand in a file of their own; return the study file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "base.toml").write_text(BASE, encoding="utf-8")
    (folder / "answers.toml").write_text(answers, encoding="utf-8")
    head = 'include = ["answers.toml"]\n' + top
    if module:
        (folder / "study.py").write_text(module, encoding="utf-8")
        head += 'module = "study.py"\n'
    (folder / "study.toml").write_text(head + STUDY, encoding="utf-8")
    return folder / "study.toml"


def result_of(study: Path, delays: dict[str, float] | None = None, *, quick: bool = False) -> StudyResult:
    """Return a result of the study, made up."""
    found = DELAYS if delays is None else delays
    seeds = (1, 2, 3)
    rows = [
        ("small", point, seed, "call", "delay_p95", value + seed - 2, "ms")
        for point, value in found.items()
        for seed in seeds
    ]
    rows += [
        ("small", point, seed, "call", "lost", 1.0 if point.startswith("tail") else 0.5, "%")
        for point in found
        for seed in seeds
    ]
    metrics = pl.DataFrame(rows, schema=dict(METRICS_SCHEMA), orient="row")
    pairs = [(point, seed) for point in found for seed in seeds]
    runs = pl.DataFrame(
        {
            "point": [point for point, _ in pairs],
            "seed": [seed for _, seed in pairs],
            "key": ["0" * 64] * len(pairs),
            "simulated_s": [10.0] * len(pairs),
            "wall_s": [0.1] * len(pairs),
            "packet_hops": [1] * len(pairs),
            "events": [1] * len(pairs),
            "queue": [point.split("-")[0] for point, _ in pairs],
            "place": [point.split("-")[1] for point, _ in pairs],
        },
        schema_overrides={"seed": pl.UInt64},
    )
    manifest: dict[str, Any] = {"study": "small", "builtin": False, "quick": quick, "points": {}}
    return StudyResult(study.parent, load_definition(study), metrics, runs, manifest)
