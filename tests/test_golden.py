"""The engine as it is installed gives the golden results, bit for bit.

`crates/sojourn-engine/tests/golden.rs` holds the same hashes against the build of its tests, which is hardly optimized
and is not told which paths are hot. So neither optimization nor what was noted of hot paths moves a result.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from blake3 import blake3

import sojourn
from sojourn.scenario.scenario_file import load_scenario

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = (ROOT / "crates/sojourn-engine/tests/golden/columns.txt").read_text(encoding="utf-8")
STUDIES = {"akhtar2013": ["record.objects=true", "record.series=100 ms"]}
"""Studies whose base stands beside the examples there, with the rows recorded besides."""


def hash_column(column: pl.Series) -> str:
    """Hash each value's length and octets; what is missing has a length that nothing has."""
    if column.dtype == pl.Categorical:
        values = (word if word is None else word.encode() for word in column.cast(pl.String))
    else:
        wide = column if column.dtype == pl.Float64 else column.cast(pl.UInt64)
        octets = wide.fill_null(0).to_numpy().tobytes()
        values = (octets[8 * row : 8 * row + 8] if there else None for row, there in enumerate(column.is_not_null()))
    hasher = blake3()
    for value in values:
        hasher.update(b"\xff" * 8 if value is None else len(value).to_bytes(8, "little") + value)
    return hasher.hexdigest()[:32]


@pytest.mark.parametrize("name", dict.fromkeys(line.split()[2] for line in GOLDEN.splitlines()))
def test_the_installed_engine_gives_the_golden_results(name: str) -> None:
    scenario = f"python/sojourn/published/{name}/scenarios/base.toml" if name in STUDIES else f"scenarios/{name}.toml"
    settings = ["duration=20 s", *STUDIES.get(name, [])]
    finished = sojourn.run(load_scenario(ROOT / scenario, settings), seed=1)
    found = {
        f"{hash_column(column)} {len(column):5} {name} {table}.{column.name}"
        for table, columns in finished.tables.items()
        if table != "metrics"
        for column in columns
    }
    assert found == {line for line in GOLDEN.splitlines() if line.split()[2] == name}
