"""Writing a result directory: tables of all runs, the study itself, the manifest.

Rows stand in the order of the plan and carry no wall-clock time (that is in `runs.parquet`), so
`metrics.parquet` has the same bytes for any number of jobs.
"""

import contextlib
import io
import itertools
import os
import re
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from typing import IO, Any

import polars as pl

from sojourn.base.errors import EnvironmentFailure, why
from sojourn.base.files import allow_many, new_file, open_file, place_of, read_file, write_file
from sojourn.base.formulas import without_formulas
from sojourn.base.on_disk import list_files
from sojourn.store import RUN, Kept, SegmentRun
from sojourn.study.definition import StudyDefinition
from sojourn.study.files import copy_companions
from sojourn.study.library import Study
from sojourn.study.manifest import write_json
from sojourn.study.plan import Plan, RunSpec
from sojourn.study.pool import with_pools
from sojourn.study.result import METRICS_SCHEMA, StudyResult, missing_runs

COMPRESSION_LEVEL = 1  # chosen: a quarter less time than level 3, for 6 % more bytes

_FILE = "file of the store"
"""Column that says where a row is from while tables are put together; no record has one of that name."""


def write_result(directory: Path, plan: Plan, entries: Sequence[Kept], manifest: dict[str, Any]) -> StudyResult:
    """Fill an empty directory and return its result.

    Raises `OSError` or `EnvironmentFailure` if it cannot be written.

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
    """
    finished = list(zip(plan.runs, entries, strict=True))
    definition = plan.study.definition
    metrics, runs = metrics_of(finished, definition), _runs(plan, finished)
    write_table(metrics, directory / "metrics.parquet")
    write_table(runs, directory / "runs.parquet")
    damages = tuple(missing_runs(manifest))
    result = StudyResult(directory, definition, metrics, runs, manifest, damages)
    _write_records(directory / "records", definition, finished)
    write_study(directory, plan.study)
    files = [path for folder in (directory, directory / "records") for path in folder.glob("*.parquet")]
    manifest["files"] = list_files(directory, files)
    write_json(directory / "manifest.json", manifest)
    return result


def write_study(directory: Path, study: Study) -> None:
    """Write a study's own files and its base scenario into a result's directory.

    Raises `OSError` if they cannot be written.
    """
    write_file(directory / "study.toml", read_file(study.path))
    copy_companions(study.path, study.definition, directory)
    scenarios = directory / "scenarios"
    scenarios.mkdir()
    base = scenarios / study.base_path.name
    write_file(base, study.base if study.settings else read_file(study.base_path))


def write_summary(result: StudyResult) -> None:
    """Write `summary.parquet` and `summary.csv` into a result's directory.

    Raises `OSError` if they cannot be written.
    """
    directory, summary = result.directory, result.summary
    write_table(summary, directory / "summary.parquet")
    write_file(directory / "summary.csv", without_formulas(summary).write_csv())


def write_table(table: pl.DataFrame, path: Path) -> None:
    """Write a Parquet file with the settings that all results share.

    Raises `OSError` if it cannot be written; polars itself would raise its own errors, and not say why.
    """
    buffer = io.BytesIO()
    table.write_parquet(buffer, compression="zstd", compression_level=COMPRESSION_LEVEL)
    write_file(path, buffer.getbuffer())


def metrics_of(finished: Sequence[tuple[RunSpec, Kept]], study: StudyDefinition) -> pl.DataFrame:
    """Return the metrics of finished runs as in `metrics.parquet`, with those of the study's pools behind them.

    Raises `EnvironmentFailure` if one of them has changed since it was found.
    """
    try:
        with rows_of("metrics", finished) as found:
            rows = found.select(
                pl.lit(study.name).alias("study"), "point", "seed", "subject", "metric", "value", "unit"
            ).collect()
        rows = rows.cast(dict(METRICS_SCHEMA))  # pyright: ignore[reportArgumentType]
        return with_pools(rows, study.pool).rechunk()
    except pl.exceptions.PolarsError as error:
        # Each was read before; what has changed meanwhile is found and repaired by the next run.
        raise EnvironmentFailure(
            f"cannot read the metrics of finished runs again: {_why(error)}",
            "a file of the store has changed meanwhile; run the study again",
        ) from error


@contextlib.contextmanager
def rows_of(table: str, finished: Sequence[tuple[RunSpec, Kept]]) -> Generator[pl.LazyFrame]:
    """Give the rows of a table of all runs, in their order, with `point` and `seed` beside them.

    One scan of all files: a scan of each and a chain of them take twenty times as long. A file of a segment is
    opened once for each stretch of runs that stand in it as they do here.
    """
    allow_many()
    with contextlib.ExitStack() as opened:
        chain: list[pl.LazyFrame] = []
        for is_single, alike in itertools.groupby(finished, lambda item: _row(item[1]) is None):
            # Opened here, and by what was opened again: what has the name may be swapped for a pipe meanwhile.
            places: list[str] = []
            rows: list[tuple[str, int, str, int]] = []
            for stretch in _stretches(alike):
                entry = stretch[0][1]
                file = open_file(entry.path(table), root=entry.directory)
                places.append(place_of(opened.enter_context(file)))
                rows += [(places[-1], _row(entry) or 0, spec.point, spec.seed) for spec, entry in stretch]
            chain.append(_joined(places, rows, is_single=is_single))
        yield chain[0] if len(chain) == 1 else pl.concat(chain)


def _row(entry: Kept) -> int | None:
    return entry.row if isinstance(entry, SegmentRun) else None


def _stretches(finished: Iterable[tuple[RunSpec, Kept]]) -> Generator[list[tuple[RunSpec, Kept]]]:
    """Give runs that stand in one file in the same order, together."""
    stretch: list[tuple[RunSpec, Kept]] = []
    for item in finished:
        if stretch:
            last, row, before = stretch[-1][1], _row(item[1]), _row(stretch[-1][1])
            is_next = row is not None and before is not None and before < row
            if not (is_next and last.directory == item[1].directory):
                yield stretch
                stretch = []
        stretch.append(item)
    if stretch:
        yield stretch


def _joined(files: list[str], rows: list[tuple[str, int, str, int]], *, is_single: bool) -> pl.LazyFrame:
    runs = pl.LazyFrame(
        rows, schema={_FILE: pl.String, RUN: pl.UInt32, "point": pl.String, "seed": pl.UInt64}, orient="row"
    )
    found = pl.scan_parquet(files, include_file_paths=_FILE, glob=False, hive_partitioning=False)
    if is_single:
        runs = runs.drop(RUN)
        return found.join(runs, on=_FILE, how="left", maintain_order="left")
    return found.join(runs, on=[_FILE, RUN], how="inner", maintain_order="left").drop(RUN)


def _runs(plan: Plan, finished: Sequence[tuple[RunSpec, Kept]]) -> pl.DataFrame:
    labels = {item.point.name: item.point.labels for item in plan.points}
    names = list(dict.fromkeys(name for point in labels.values() for name in point))
    mixed = {name for name in names if len({type(point[name]) for point in labels.values() if name in point}) > 1}
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


def _write_records(directory: Path, definition: StudyDefinition, finished: Sequence[tuple[RunSpec, Kept]]) -> None:
    if not definition.keep:
        return
    directory.mkdir()
    for table in definition.keep:
        kept = [
            (spec, entry)
            for spec, entry in finished
            if definition.keeps(table, spec.point) and entry.path(table).exists()
        ]
        if not kept:
            continue
        try:
            # Streamed: the records of a long study need not fit into memory.
            with rows_of(table, kept) as rows, new_file(directory / f"{table}.parquet") as file:
                chosen = rows.select("point", "seed", pl.exclude("point", "seed", _FILE))
                try:
                    chosen.sink_parquet(file, compression="zstd", compression_level=COMPRESSION_LEVEL)
                except pl.exceptions.PolarsError as error:
                    raise EnvironmentFailure(
                        f'cannot write the records of table "{table}": {_refusal(file) or _why(error)}',
                        "the disk may be full; finished runs are in the store",
                    ) from error
        except pl.exceptions.PolarsError as error:
            raise EnvironmentFailure(
                f'cannot read the records of table "{table}" again: {_why(error)}',
                "a file of the store has changed meanwhile; run the study again",
            ) from error


def _refusal(file: IO[bytes]) -> str:
    """Return why the system takes no more of a file that Polars could not write, where Polars may say that a transport failed."""
    try:
        file.seek(0, os.SEEK_END)
        file.write(bytes(LEAST_ROOM))
        file.flush()
        os.fsync(file.fileno())
    except OSError as error:
        return why(error)
    return ""


LEAST_ROOM = 2**20
"""Bytes that a disk has to take which is not full. chosen: more than Polars writes at once of a table that it has begun."""


def _why(error: Exception) -> str:
    """Return what the system said; Polars may call a full disk a file against its specification."""
    told = re.search(r"\(os error (\d+)\)", str(error))
    return os.strerror(int(told[1])).lower() if told else str(error).splitlines()[0]
