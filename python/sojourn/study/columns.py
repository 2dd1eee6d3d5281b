"""Results of studies that have too many runs for a row of each run and metric in memory: column by column, out of segments.

`runs.parquet` has a row for each run, as in any result, and says in which file of `metrics/` it stands: these are files of
segments as they are. `sums.parquet` has each metric over all runs, `measures.parquet` those that the report is about: a
column each, in the order of `runs.parquet`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl

from sojourn.base.errors import RecordError
from sojourn.base.files import is_file, read_file, write_file
from sojourn.base.on_disk import list_files, read_listing, read_table, shape
from sojourn.store import Store
from sojourn.store.objects import LARGEST_OBJECT
from sojourn.study.definition import StudyDefinition, load_definition
from sojourn.study.files import study_folder_of
from sojourn.study.library import Study
from sojourn.study.manifest import write_json
from sojourn.study.point_table import point_table
from sojourn.study.result import MANIFEST_KINDS, is_label
from sojourn.study.write import write_study, write_table

LOOKED_AT = 32
"""Segments that say which measures a report is about, where the study does not. chosen: of a million runs a thirtieth."""

AT_A_TIME = 4
"""Segments that are read at a time. chosen: each takes tens of megabytes."""


class Measured(NamedTuple):
    """A metric of a traffic entry or link."""

    subject: str
    metric: str
    unit: str

    @property
    def column(self) -> str:
        """Name of its column."""
        return f"{self.subject} {self.metric}"


Choose = Callable[[StudyDefinition, pl.DataFrame], list[Measured]]
"""Says which metrics a report is about, given sums of some runs."""

SUMS = {
    "subject": pl.String(),
    "metric": pl.String(),
    "unit": pl.String(),
    "n": pl.UInt32(),
    "mean": pl.Float64(),
    "m2": pl.Float64(),
    "least": pl.Float64(),
    "most": pl.Float64(),
}
"""Columns of `sums.parquet`: runs with a value, their mean, the sum of squared distances from it, and the ends."""


@dataclass(frozen=True)
class Columns:
    """Such a result, loaded."""

    directory: Path
    definition: StudyDefinition
    runs: pl.DataFrame
    """As in any result, with the labels of points, and with `file` and `run`."""
    sums: pl.DataFrame
    measures: dict[Measured, pl.Series]
    """In the order of `runs`."""
    manifest: dict[str, Any]
    _read: dict[tuple[str, str], np.ndarray] = field(default_factory=dict[tuple[str, str], np.ndarray], repr=False)
    """Further metrics, read when they are used."""

    @property
    def labels(self) -> list[str]:
        """Names of the label columns of `runs`."""
        return self.runs.columns[len(_RUN) :]

    def values(self, subject: str, metric: str) -> np.ndarray | None:
        """Return a metric of all runs, in their order, NaN where a run has none; nothing if no run has it.

        Raises `RecordError` if a file of `metrics/` is damaged.
        """
        is_it = (pl.col("subject") == subject) & (pl.col("metric") == metric)
        known = [Measured._make(row) for row in _keys(self.sums.filter(is_it))]
        if not known:
            return None
        if known[0] in self.measures:
            return self.measures[known[0]].to_numpy()
        if (subject, metric) not in self._read:
            listing = self.manifest.get("files", {})

            def of_file(number: int) -> np.ndarray:
                name = f"metrics/{number:05}.parquet"
                metrics = read_table(self.directory, name, listing, _METRIC)
                return _values(metrics, known[0], int(counts[number]))

            counts = np.bincount(self.runs["file"].to_numpy())
            with ThreadPoolExecutor(AT_A_TIME) as readers:
                parts = list(readers.map(of_file, range(len(counts))))
            self._read[subject, metric] = np.concatenate(parts)
        return self._read[subject, metric]

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Read a result directory.

        Raises `RecordError` if it is not such a result, or a file in it cannot be read.
        """
        manifest, _ = shape(read_listing(directory, "manifest.json"), MANIFEST_KINDS)
        listing = manifest.get("files", {})
        runs = read_table(directory, "runs.parquet", listing, _RUN)
        labels = [name for name in runs.columns if name not in _RUN and is_label(runs.schema[name])]
        runs = runs.select(*_RUN, *labels)
        sums = read_table(directory, "sums.parquet", listing, SUMS)
        values = read_table(directory, "measures.parquet", listing)
        known = {one.column: one for one in map(Measured._make, _keys(sums))}
        if values.height != runs.height or not all(name in known for name in values.columns):
            raise RecordError("measures.parquet has other runs, or other metrics")
        if not all(kind.is_numeric() for kind in values.schema.values()) or runs.is_empty():
            raise RecordError("measures.parquet or runs.parquet holds no numbers")
        if any(column.null_count() for column in (*runs.select(_RUN), *sums.select(list(SUMS)))):
            raise RecordError("runs.parquet or sums.parquet has empty places")
        definition = load_definition(study_folder_of(directory) / "study.toml", root=directory)
        measures = {known[name]: values[name] for name in values.columns}
        return cls(directory, definition, runs, sums, measures, manifest)


def is_columns(directory: Path) -> bool:
    """Return whether a directory holds such a result, which may be damaged."""
    return is_file(directory / "sums.parquet", root=directory)


def _keys(sums: pl.DataFrame) -> list[tuple[str, str, str]]:
    return sums.select("subject", "metric", "unit").rows()


_RUN = ("point", "seed", "key", "simulated_s", "wall_s", "packet_hops", "events", "file", "run")
"""Columns of `runs.parquet` before the labels."""


def write_columns(
    directory: Path, study: Study, store: Store, segments: Sequence[str], choose: Choose, manifest: dict[str, Any]
) -> Columns:
    """Fill an empty directory out of segments, and return its columns.

    Raises `RecordError` if a segment is damaged; `OSError` if something cannot be written.

    Parameters
    ----------
    directory
        Where to; has to exist.
    study
        What was run.
    store
        Where the segments are.
    segments
        Their names in the order of the runs.
    choose
        Says which metrics the report is about.
    manifest
        Provenance.
    """
    definition = study.definition
    some = segments[:: -(-len(segments) // LOOKED_AT)]
    looked_at = [_sums(store.segments.open(name).table("metrics", _METRIC)) for name in some]
    wanted = choose(definition, merge_sums(looked_at))
    (directory / "metrics").mkdir()
    parts = list(_parts(directory, definition.name, store, segments, wanted))
    runs = pl.concat([part.runs for part in parts])
    labels = point_table(definition)
    runs = runs.join(labels, on="point", how="left", maintain_order="left")
    sums = merge_sums([part.sums for part in parts])
    values = np.concatenate([part.values for part in parts], axis=1)
    measures = {one: pl.Series(one.column, row) for one, row in zip(wanted, values, strict=True)}
    write_table(runs, directory / "runs.parquet")
    write_table(sums, directory / "sums.parquet")
    write_table(pl.DataFrame(list(measures.values())), directory / "measures.parquet")
    write_study(directory, study)
    files = [*directory.glob("*.parquet"), *(directory / "metrics").glob("*.parquet")]
    manifest["files"] = list_files(directory, files)
    write_json(directory / "manifest.json", manifest)
    return Columns(directory, definition, runs, sums, measures, manifest)


@dataclass(frozen=True)
class _Part:
    """Part of a segment that a result takes."""

    runs: pl.DataFrame
    sums: pl.DataFrame
    values: np.ndarray
    """A row for each measure, NaN where a run has none."""


def _parts(
    directory: Path, study: str, store: Store, segments: Sequence[str], wanted: list[Measured]
) -> Iterator[_Part]:
    """Read segments and copy their metrics; what is read waits for its turn, so that the order is theirs."""

    def part(number: int) -> _Part:
        segment = store.segments.open(segments[number])
        source = segment.directory / "metrics.parquet"
        content = read_file(source, root=store.directory, most=LARGEST_OBJECT)
        write_file(directory / "metrics" / f"{number:05}.parquet", content)
        metrics = segment.table("metrics", _METRIC)
        runs = segment.table("runs", ("seed", "key", "scenario", *_COUNTS))
        wall = pl.Series("wall_s", [one["wall_s"] for one in segment.statistics])
        name = pl.col("scenario").str.extract(r'(?m)^name = "(.*)"$')
        runs = runs.with_columns(
            name.str.strip_prefix(f"{study}/").alias("point"),
            wall,
            pl.lit(number, dtype=pl.UInt32).alias("file"),
            pl.int_range(pl.len(), dtype=pl.UInt32).alias("run"),
        ).select(_RUN)
        values = [_values(metrics, one, runs.height) for one in wanted]
        return _Part(runs, _sums(metrics), np.array(values).reshape(-1, runs.height))

    with ThreadPoolExecutor(AT_A_TIME) as readers:
        yield from readers.map(part, range(len(segments)))


_METRIC = ("run", "subject", "metric", "value", "unit")
_COUNTS = ("simulated_s", "packet_hops", "events")


def _values(metrics: pl.DataFrame, one: Measured, runs: int) -> np.ndarray:
    is_it = (pl.col("subject") == one.subject) & (pl.col("metric") == one.metric)
    rows = metrics.filter(is_it).select("run", "value").drop_nulls()
    values = np.full(runs, np.nan)
    places = rows["run"].to_numpy()
    if places.size and places.max() >= runs:
        raise RecordError("metrics.parquet has other runs than runs.parquet")
    values[places] = rows["value"].to_numpy()
    return values


def _sums(metrics: pl.DataFrame) -> pl.DataFrame:
    value = pl.col("value")
    return (
        metrics.lazy()
        .filter(value.is_finite())
        .group_by("subject", "metric", "unit", maintain_order=True)
        .agg(
            pl.len().alias("n"),
            value.mean().alias("mean"),
            (value.var(ddof=0) * pl.len()).alias("m2"),
            value.min().alias("least"),
            value.max().alias("most"),
        )
        .cast(SUMS)  # pyright: ignore[reportArgumentType]
        .collect()
    )


def merge_sums(sums: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return the sums of several parts as one; the order of the parts is that of the bits.

    Source: Chan, Golub, LeVeque, The American Statistician 37 (1983), for more than two parts.

    Examples
    --------
    >>> part = pl.DataFrame({"subject": "s", "metric": "m", "unit": "", "n": 2, "m2": 2.0})
    >>> ends = [pl.lit(0.0).alias("least"), pl.lit(4.0).alias("most")]
    >>> parts = [part.with_columns(pl.lit(mean).alias("mean"), *ends) for mean in (1.0, 3.0)]
    >>> merge_sums(parts).select("n", "mean", "m2").rows()
    [(4, 2.0, 8.0)]
    """
    n, mean = pl.col("n").cast(pl.Float64), pl.col("mean")
    centre = (n * mean).sum() / n.sum()
    merged = pl.concat([part.select(list(SUMS)) for part in sums]).group_by(
        "subject", "metric", "unit", maintain_order=True
    )
    return merged.agg(
        pl.col("n").sum(),
        centre.alias("mean"),
        (pl.col("m2") + n * (mean - centre) ** 2).sum().alias("m2"),
        pl.col("least").min(),
        pl.col("most").max(),
    )
