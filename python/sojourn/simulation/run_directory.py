"""The directory of a single run, as `sojourn run --out` wrote it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import polars as pl

from sojourn.base.errors import RecordError
from sojourn.base.files import folder_names, is_file
from sojourn.base.on_disk import read_listing, read_table, shape
from sojourn.stats.level import CONFIDENCE

_MANIFEST: dict[str, Any] = {
    "scenario": str,
    "seed": int,
    "key": str,
    "version": str,
    "engine_version": str,
    "commit": str | None,
    "dirty": bool | None,
    "statistics": dict[str, float],
    "files": dict[str, dict[str, Any]],
}
"""Types of what is used of a manifest."""


def is_run(directory: Path) -> bool:
    """Return whether a directory holds one run rather than a study."""
    names = ("scenario.toml", "study.toml")
    scenario, study = (is_file(directory / name, root=directory) for name in names)
    return scenario and not study


def read_run(directory: Path) -> tuple[dict[str, Any], dict[str, pl.DataFrame], list[str]]:
    """Read manifest and tables of a directory that `sojourn run --out` wrote.

    Raises `RecordError` if there is no manifest or there are no metrics.

    Returns
    -------
    tuple
        The manifest, tables by name, and a sentence for each thing that is damaged and was left out.
    """
    tables: dict[str, pl.DataFrame] = {}
    damages: list[str] = []
    try:
        manifest, wrong = shape(read_listing(directory, "manifest.json"), _MANIFEST)
        if not {"simulated_s", "wall_s", "packet_hops"} <= set(manifest.get("statistics", {})):
            manifest.pop("statistics", None)
            wrong = sorted({*wrong, "statistics"})
        damages += [f"manifest.json: {key} is not valid" for key in wrong]
        listing = manifest.get("files", {})
        there = folder_names(directory)
        names = {name for name in there if name.endswith(".parquet")} | {"metrics.parquet"}
        names |= {name for name in listing if Path(name).name == name}
        for name in sorted(names):
            try:
                needed = ("subject", "metric", "value", "unit") if name == "metrics.parquet" else ()
                tables[name.removesuffix(".parquet")] = read_table(directory, name, listing, needed)
            except RecordError as error:
                if name == "metrics.parquet":
                    raise
                damages.append(error.message)
    except RecordError as error:
        raise RecordError(
            f"{directory} does not hold a complete run: {error.message}", "run the scenario again with --out"
        ) from error
    return manifest, tables, damages


@dataclass(frozen=True, repr=False)
class SingleRun:
    """A run as a result of one point and one seed, to be compared with another."""

    directory: Path
    metrics: pl.DataFrame
    """`point` (empty), `seed, subject, metric, value, unit`."""
    reduced: str = ""
    """A run is whole; see `StudyResult.reduced`."""
    level: float = CONFIDENCE
    """Level of tests; see `StudyResult.level`."""
    is_anytime: bool = False
    """As `StudyResult.is_anytime`."""

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Read the directory of a run.

        Raises `RecordError` if it does not hold a whole run.
        """
        manifest, tables, _ = read_run(directory)
        names = pl.col("subject", "metric", "unit").cast(pl.String())
        metrics = tables["metrics"].select(
            pl.lit("").alias("point"), pl.lit(manifest.get("seed", 1), pl.UInt64()).alias("seed"), names, "value"
        )
        return cls(directory, metrics)
