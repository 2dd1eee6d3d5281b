"""Writing a result directory: tables of all runs, the study itself, the manifest.

Rows stand in the order of the plan and carry no wall-clock time (that is in `runs.parquet`), so
`metrics.parquet` has the same bytes for any number of jobs.
"""

import shutil
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.errors import RecordError
from sojourn.store import Entry
from sojourn.study.manifest import write_json
from sojourn.study.plan import Plan, RunSpec
from sojourn.study.result import METRICS_SCHEMA

__all__ = ["write_result"]


def write_result(
    directory: Path, plan: Plan, entries: list[Entry], manifest: dict[str, Any]
) -> None:
    """Fill an empty directory.

    Parameters
    ----------
    directory
        Where to; has to exist.
    plan
        What was run.
    entries
        The finished runs, one per run of the plan and in its order.
    manifest
        Provenance.

    Raises
    ------
    OSError
        If it cannot be written.
    RecordError
        If the study keeps a table that runs do not have.
    """
    finished = list(zip(plan.runs, entries, strict=True))
    definition = plan.study.definition
    _metrics(definition.name, finished).write_parquet(
        directory / "metrics.parquet", compression="zstd", compression_level=3
    )
    _runs(plan, finished).write_parquet(directory / "runs.parquet")
    _write_records(directory / "records", definition.keep, finished)
    shutil.copyfile(plan.study.path, directory / "study.toml")
    scenarios = directory / "scenarios"
    scenarios.mkdir()
    shutil.copyfile(plan.study.base_path, scenarios / plan.study.base_path.name)
    write_json(directory / "manifest.json", manifest)


def _metrics(study: str, finished: list[tuple[RunSpec, Entry]]) -> pl.DataFrame:
    frames = [
        entry.table("metrics").select(
            pl.lit(study).alias("study"),
            pl.lit(spec.point).alias("point"),
            pl.lit(spec.seed, pl.UInt64).alias("seed"),
            "subject",
            "metric",
            "value",
            "unit",
        )
        for spec, entry in finished
    ]
    return pl.concat(frames).cast(dict(METRICS_SCHEMA)).rechunk()  # pyright: ignore[reportArgumentType]


def _runs(plan: Plan, finished: list[tuple[RunSpec, Entry]]) -> pl.DataFrame:
    labels = {item.point.name: item.point.labels for item in plan.points}
    names = list(dict.fromkeys(name for point in labels.values() for name in point))
    mixed = {
        name
        for name in names
        if len({type(point[name]) for point in labels.values() if name in point}) > 1
    }
    rows: list[dict[str, Any]] = []
    for spec, entry in finished:
        own = labels[spec.point]
        statistics = entry.statistics
        row: dict[str, Any] = {
            "point": spec.point,
            "seed": spec.seed,
            "key": spec.key,
            "simulated_s": statistics["simulated_s"],
            "wall_s": statistics["wall_s"],
            "packet_hops": statistics["packet_hops"],
            "events": statistics["events"],
        }
        for name in names:
            value = own.get(name)
            row[name] = str(value) if name in mixed and value is not None else value
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None).cast({"seed": pl.UInt64})


def _write_records(
    directory: Path, tables: list[str], finished: list[tuple[RunSpec, Entry]]
) -> None:
    if not tables:
        return
    directory.mkdir()
    for table in tables:
        missing = [spec.point for spec, entry in finished if not entry.path(table).exists()]
        if missing:
            raise RecordError(
                f'the study keeps the table "{table}", which runs of {missing[0]} do not record',
                "switch it on in `record` of the scenario, or take it out of `keep`",
            )
        frames = [
            pl.scan_parquet(entry.path(table)).select(
                pl.lit(spec.point).alias("point"),
                pl.lit(spec.seed, pl.UInt64).alias("seed"),
                pl.all(),
            )
            for spec, entry in finished
        ]
        pl.concat(frames).sink_parquet(
            directory / f"{table}.parquet", compression="zstd", compression_level=3
        )
