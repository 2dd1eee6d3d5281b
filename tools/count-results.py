"""Write docs/results/counts.json: what pages of results count, from whole results of the published studies.

usage: .venv/bin/python tools/count-results.py RESULT...

A study whose result is not given keeps what stands there. tests/test_result_pages.py holds the pages against it.
"""

import csv
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from sojourn.study.result import StudyResult

COUNTS = Path(__file__).resolve().parent.parent / "docs" / "results" / "counts.json"


def counted(directory: Path) -> dict[str, Any]:
    """Count runs, cells and claims of a result whose report was built."""
    result = StudyResult.load(directory)
    with (directory / "claims.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with (directory / "comparison.csv").open(newline="", encoding="utf-8") as file:
        cells = Counter(row["verdict"] for row in csv.DictReader(file))
    claims = {
        use: {
            verdict: [r["id"] for r in rows if (r["use"], r["verdict"]) == (use, verdict)]
            for verdict in ("holds", "fails", "not-run")
        }
        for use in ("gate", "unit", "report")
    }
    return {
        "reduced": result.reduced,
        "points": result.points.height,
        "runs": result.runs.height,
        "simulated_s": round(float(result.runs["simulated_s"].sum())),
        "packet_hops": int(result.runs["packet_hops"].sum()),
        "cells": {verdict: cells[verdict] for verdict in ("match", "miss", "unjudged")},
        "claims": claims,
    }


def main() -> None:
    """Count the results that are named on the command line."""
    known: dict[str, Any] = json.loads(COUNTS.read_text("utf-8")) if COUNTS.exists() else {}
    for name in sys.argv[1:]:
        known[StudyResult.load(name).name] = counted(Path(name))
    text = json.dumps(dict(sorted(known.items())), indent=1)
    COUNTS.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
