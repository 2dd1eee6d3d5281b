"""A finished study on disk, as the authors of reports, tables and figures read it.

The directory is complete in itself: nothing here looks into the store or runs anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, Self

import polars as pl

from sojourn.base.errors import RecordError, nearest, plain
from sojourn.base.files import folder_names, open_file
from sojourn.base.on_disk import open_listed, read_listing, read_table, refuse_nested, shape
from sojourn.headline.said import Headline
from sojourn.stats.level import CONFIDENCE, at_level
from sojourn.stats.precision import LEVEL
from sojourn.study.competitors import with_competitors
from sojourn.study.definition import SUMMARY_COLUMNS, StudyDefinition, load_definition
from sojourn.study.files import study_folder_of
from sojourn.study.pool import of_summary
from sojourn.study.precision import Stop
from sojourn.study.summary import summarise

METRICS_SCHEMA: dict[str, pl.DataType] = {
    "study": pl.String(),
    "point": pl.String(),
    "seed": pl.UInt64(),
    "subject": pl.String(),
    "metric": pl.String(),
    "value": pl.Float64(),
    "unit": pl.String(),
}
"""Columns of `metrics.parquet`, one row per point, seed, subject and metric."""


def _verdicts() -> dict[str, int]:
    return {"match": 0, "miss": 0, "unjudged": 0}


def _uses() -> dict[str, dict[str, int]]:
    return {use: {"holds": 0, "fails": 0, "not_run": 0} for use in ("gate", "unit", "report")}


@dataclass(frozen=True)
class ReportSummary:
    """Counts of a report; `sojourn study run --json` prints them."""

    comparison: dict[str, int] = field(default_factory=_verdicts)
    """Printed cells by verdict: match, miss, unjudged."""
    claims: dict[str, dict[str, int]] = field(default_factory=_uses)
    """Claims by use (gate, unit, report) and verdict: holds, fails, not_run."""
    headline: Headline | None = None
    """The first sentence of the page."""
    failures: tuple[str, ...] = ()
    """Declared items that failed, with their reasons."""
    judged: tuple[str, ...] = ()
    """Each of these claims with its verdict, as a sentence."""


@dataclass(frozen=True, repr=False)
class StudyResult:
    """A result directory, loaded.

    Examples
    --------
    >>> result = StudyResult.load("results/white2012/latest")  # doctest: +SKIP
    >>> result.metrics.filter(pl.col("metric") == "goodput")  # doctest: +SKIP
    """

    directory: Path
    """Its directory; reports write beside the records."""
    definition: StudyDefinition
    """The study as it was run."""
    metrics: pl.DataFrame
    """`study, point, seed, subject, metric, value, unit`, in the order of points and seeds."""
    runs: pl.DataFrame
    """One row per run: `point, seed, key, simulated_s, wall_s, packet_hops, events`, and the labels
    of the point as further columns (null where a point lacks a label)."""
    manifest: dict[str, Any]
    """Provenance; see `sojourn.study.manifest`."""
    damages: tuple[str, ...] = ()
    """A sentence for each damaged or invalid file of the directory, which is left out."""
    damaged_tables: Mapping[str, str] = field(default_factory=dict[str, str])
    """Fault of each record table that is not as it was written."""

    @classmethod
    def load(cls, directory: str | Path) -> Self:
        """Read a result directory.

        Raises `RecordError` if it is not a result directory, or a file in it cannot be read.
        """
        directory = Path(directory)
        if not directory.is_dir():
            raise RecordError(
                f"{directory} is not a directory", "give a directory that `sojourn study run` has written"
            )
        try:
            manifest, wrong = shape(read_listing(directory, "manifest.json"), MANIFEST_KINDS)
            listing = manifest.get("files", {})
            metrics = _metrics(directory, listing)
            runs, damages = _runs(directory, listing)
        except RecordError as error:
            raise RecordError(
                f"{directory} is not a complete result directory: {error.message}",
                "run the study again: `sojourn study run`; finished runs come from the store",
            ) from error
        wrongs = [f"manifest.json: {key} is not valid" for key in wrong]
        damages = [*wrongs, *missing_runs(manifest), *damages]
        known = metrics.join(runs, on=["point", "seed"], how="semi", maintain_order="left")
        if known.height < metrics.height:
            damages.append("metrics.parquet has runs that runs.parquet does not have")
        definition = load_definition(study_folder_of(directory) / "study.toml", root=directory)
        definition = with_competitors(definition, _added(manifest), _stacks(manifest))
        damaged = _damaged_tables(directory, listing)
        return cls(directory, definition, known, runs, manifest, (*damages, *damaged.values()), damaged)

    def __repr__(self) -> str:
        """Name the result and its size."""
        return f"<StudyResult {self.overview}>"

    @property
    def overview(self) -> str:
        """Its name and size in a line."""
        less = f" ({self.reduced} run)" if self.reduced else ""
        return f"{self.name}{less}: {self.points.height} points, {self.runs.height} runs"

    @property
    def study_folder(self) -> Path:
        """Directory of the study's own files in this result."""
        return study_folder_of(self.directory)

    @property
    def name(self) -> str:
        """Name of the study."""
        return self.definition.name

    @property
    def builtin(self) -> bool:
        """True if the study came with the package (its tables and figures live there, too)."""
        return bool(self.manifest.get("builtin", False))

    @property
    def quick(self) -> bool:
        """True if durations and seeds were shortened by `--quick`."""
        return bool(self.manifest.get("quick", False))

    @property
    def reduced(self) -> str:
        """Difference of the runs from the whole study: `quick`, `shortened`, `partial`; empty if there is none.

        Verdicts have to say so.
        """
        return str(self.manifest.get("reduced", "quick" if self.quick else ""))

    @property
    def added(self) -> list[str]:
        """Names of plugins that competed without being in the study's file."""
        return _added(self.manifest)

    @property
    def stacks(self) -> list[str]:
        """Names of plugins that are stacks."""
        return _stacks(self.manifest)

    @property
    def plugins(self) -> list[str]:
        """Names of the queue managers that were the user's own."""
        return list(self.manifest.get("plugins", {}))

    @cached_property
    def labels(self) -> list[str]:
        """Names of the label columns of `points` and `runs`."""
        return [column for column in self.runs.columns if column not in RUNS_SCHEMA]

    @property
    def label_units(self) -> dict[str, str]:
        """Units of labels that are numbers, by label; a label that is missing here has none."""
        return dict(self.manifest.get("label_units", {}))

    @cached_property
    def points(self) -> pl.DataFrame:
        """One row per point: `point` and its labels, in the order of the study."""
        return self.runs.select("point", *self.labels).unique(keep="first", maintain_order=True)

    @cached_property
    def summary(self) -> pl.DataFrame:
        """One row per point, subject and metric: labels, `n, mean, low, high, median`; see `summarise`.

        Homes of one name are one subject if the study has a `pool`.
        """
        with at_level(self.level, anytime=self.is_anytime):
            metrics = of_summary(self.metrics, self.definition)
            return summarise(metrics, self.runs, self.labels)

    @property
    def level(self) -> float:
        """Level of its intervals and tests: another one than usual if what runs showed said how many there are."""
        return LEVEL if self.stopped else CONFIDENCE

    @property
    def is_anytime(self) -> bool:
        """True if its intervals hold at every number of runs: because the study says so, or it is not complete yet."""
        return self.manifest.get("rule") == "anytime"

    @cached_property
    def stopped(self) -> dict[str, Stop]:
        """Stop of each point; empty if the seeds were fixed before."""
        said = self.manifest.get("stopped")
        if not said:
            return {}
        seeds = dict(self.runs.group_by("point").len().iter_rows())
        return {
            point: Stop.from_json(int(seeds[point]), said[point]) for point in self.points["point"] if point in said
        }

    @property
    def is_unfinished(self) -> bool:
        """True if it is a look at what there was so far: its numbers hold, and it decides nothing."""
        return float(self.manifest.get("share", 1.0)) < 1

    @property
    def most_seeds(self) -> int:
        """Seeds that a point could have got, if the seeds were not fixed before."""
        return int(self.manifest.get("most_seeds", 0))

    @property
    def budget_runs(self) -> int:
        """Runs that all points could have got together; 0 if as many as their seeds."""
        return int(self.manifest.get("budget_runs", 0))

    def tables(self) -> list[str]:
        """Names of the record tables that were kept."""
        return _kept_tables(self.directory)

    def records(self, table: str) -> pl.LazyFrame:
        """Return one record table over all runs, with `point` and `seed` as first columns.

        Raises `RecordError` if the study did not keep that table.
        """
        path = self.directory / "records" / f"{table}.parquet"
        if table in self.damaged_tables:
            raise RecordError(self.damaged_tables[table])
        try:
            with open_file(path, root=self.directory) as file:
                found = pl.scan_parquet(file)  # which keeps a descriptor of its own
            refuse_nested(path.name, found.collect_schema())
        except pl.exceptions.PolarsError as error:
            raise RecordError(f"{path.name} is damaged") from error
        except OSError as error:
            raise RecordError(
                f'the records of {self.directory} hold no table "{table}"',
                nearest(table, self.tables()) or f'add "{table}" to `keep` in study.toml and run the study again',
            ) from error
        return found


MANIFEST_KINDS: dict[str, Any] = {
    "builtin": bool,
    "quick": bool,
    "reduced": str,
    "seeds": list[int],
    "label_units": dict[str, str],
    "machine": dict[str, Any],
    "points": dict[str, dict[str, Any]],
    "files": dict[str, dict[str, Any]],
    "plugins": dict[str, dict[str, Any]],
    "most_seeds": int,
    "budget_runs": int,
    "rule": str,
    "share": float | int,
    "missing": list[str],
    "stopped": dict[str, dict[str, int | float | str | None]],
}
"""Types of what is used of a manifest."""


def missing_runs(manifest: Mapping[str, Any]) -> list[str]:
    """Return what a manifest says of runs that could not be made, a sentence each, and the last says how many more."""
    said: list[str] = manifest.get("missing", [])
    listed = 20  # chosen: a page is for what is there
    more = [f"{len(said) - listed} more runs could not be made"] if len(said) > listed else []
    return [*map(plain, said[:listed]), *more]


def _added(manifest: Mapping[str, Any]) -> list[str]:
    """Return the names of plugins that competed without being in the study's file."""
    plugins: Mapping[str, Mapping[str, Any]] = manifest.get("plugins", {})
    return [name for name, about in plugins.items() if about.get("added") is True]


def _stacks(manifest: Mapping[str, Any]) -> list[str]:
    """Return the names of plugins that are stacks."""
    plugins: Mapping[str, Mapping[str, Any]] = manifest.get("plugins", {})
    return [name for name, about in plugins.items() if about.get("stack") is True]


def _kept_tables(directory: Path) -> list[str]:
    names = folder_names(directory / "records", root=directory)
    return [name.removesuffix(".parquet") for name in names if name.endswith(".parquet")]


def _damaged_tables(directory: Path, listing: Mapping[str, Any]) -> dict[str, str]:
    """Return what is wrong with each record table of a result that is not as it was written."""
    found: dict[str, str] = {}
    folder = PurePosixPath("records")
    listed = {PurePosixPath(name).stem for name in listing if PurePosixPath(name).parent == folder}
    for table in sorted({*_kept_tables(directory), *listed}):
        name = f"records/{table}.parquet"
        try:
            if name in listing:
                open_listed(directory, name, listing).close()
            else:  # its digest is not known: it has to be read
                read_table(directory, name, listing, ["point", "seed"])
        except RecordError as error:
            found[table] = error.message
    return found


def _metrics(directory: Path, listing: Mapping[str, Any]) -> pl.DataFrame:
    name = "metrics.parquet"
    table = read_table(directory, name, listing, METRICS_SCHEMA)
    try:
        return table.select(list(METRICS_SCHEMA)).cast(dict(METRICS_SCHEMA))  # pyright: ignore[reportArgumentType]
    except pl.exceptions.PolarsError as error:
        raise RecordError(f"{name}: seeds are not whole numbers") from error


def _runs(directory: Path, listing: Mapping[str, Any]) -> tuple[pl.DataFrame, list[str]]:
    """Read the table of runs; return it with the labels that can be used, and what is wrong with the others."""
    name = "runs.parquet"
    table = read_table(directory, name, listing, RUNS_SCHEMA)
    try:
        table = table.cast(dict(RUNS_SCHEMA))  # pyright: ignore[reportArgumentType]
    except pl.exceptions.PolarsError as error:
        raise RecordError(f"{name}: numbers are not whole where they count") from error
    if table.is_empty():
        raise RecordError(f"{name} holds no runs")
    fixed = table.select(list(RUNS_SCHEMA))
    if any(column.null_count() for column in fixed) or fixed.select("point", "seed").is_duplicated().any():
        raise RecordError(f"{name} has a run without point or seed, or one of them twice")
    labels = [label for label in table.columns if label not in RUNS_SCHEMA]
    wrong = [label for label in labels if label in SUMMARY_COLUMNS or not is_label(table.schema[label])]
    damages = [f"{name}: {plain(label)} is no label" for label in wrong]
    return table.drop(wrong), damages


def is_label(kind: pl.DataType) -> bool:
    """Return whether labels of points may have this type."""
    return kind.is_numeric() or isinstance(kind, pl.String | pl.Categorical | pl.Enum | pl.Boolean)


RUNS_SCHEMA: dict[str, pl.DataType] = {
    "point": pl.String(),
    "seed": pl.UInt64(),
    "key": pl.String(),
    "simulated_s": pl.Float64(),
    "wall_s": pl.Float64(),
    "packet_hops": pl.UInt64(),
    "events": pl.UInt64(),
}
"""Columns of `runs.parquet` beside the labels."""
