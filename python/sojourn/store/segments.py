"""Many finished runs in one folder: what a study keeps of them, a file per table.

A run of ten seconds is simulated in two milliseconds, and thirteen files of its own take ten. A segment holds the
metrics of some hundred runs and those record tables that the study asked for, with a column `run` that counts from 0.
`runs.parquet` says of each its key, seed and scenario. Files of a segment follow from its runs, but for its listing,
`segment.json`, which holds the time that each took.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import sojourn._engine as _engine
from sojourn.base.errors import RecordError, plain
from sojourn.base.files import folder_names, is_file, remove
from sojourn.base.on_disk import digest_of, read_table
from sojourn.store.shelf import Shelf, listing_of

if TYPE_CHECKING:
    import polars as pl

LAYOUT = "v2"
LISTING = "segment.json"

RUN = "run"
"""Column that says whose a row is: the run's place in the segment."""

METRICS = "metrics"
_READ = ("key", "simulated_s", "packet_hops", "events")
"""Columns of `runs.parquet` that are read again here; scenarios and seeds are for who asks the store."""

COMPRESSION_LEVEL = 1  # chosen: as for single runs
HEAD = 8
"""Digits of each key that a listing has. chosen: 32 bits tell in which of 10,000 segments to look, for 8 bytes a run."""


@dataclass(frozen=True)
class PackedRun:
    """Files of a run that has just been made."""

    key: str
    seed: int
    scenario: str
    """In canonical form."""
    statistics: _engine.RunStatistics
    tables: dict[str, pl.DataFrame]
    """Its metrics and those tables that are asked for and that it recorded."""

    @classmethod
    def of(cls, records: _engine.Records, key: str, seed: int, scenario: str, asked: Iterable[str]) -> PackedRun:
        """Take what is kept out of the records of a run."""
        import polars as pl

        wanted = set(asked) - {METRICS}
        # Who asks for names has all other tables made.
        names = [METRICS, *sorted(wanted.intersection(records.table_names()) if wanted else ())]
        tables = {name: pl.DataFrame(records.table(name)) for name in names}
        return cls(key, seed, scenario, records.statistics, tables)

    @property
    def size(self) -> int:
        """Bytes that it takes in memory, roughly."""
        return sum(int(table.estimated_size()) for table in self.tables.values())


def pack_segment(runs: Sequence[PackedRun], asked: Iterable[str]) -> tuple[str, dict[str, bytes]]:
    """Return the name of a segment and its files.

    Parameters
    ----------
    runs
        Its runs in their order.
    asked
        Record tables that are kept beside the metrics, of those runs that have them.
    """
    import polars as pl

    tables = sorted(set(asked) - {METRICS})
    name = digest_of("\n".join([*tables, *(run.key for run in runs)]).encode())
    frames = {
        "runs": pl.DataFrame(
            {
                "key": [run.key for run in runs],
                "seed": pl.Series([run.seed for run in runs], dtype=pl.UInt64),
                "scenario": [run.scenario for run in runs],
                "simulated_s": [run.statistics["simulated_s"] for run in runs],
                "packet_hops": pl.Series([run.statistics["packet_hops"] for run in runs], dtype=pl.UInt64),
                "events": pl.Series([run.statistics["events"] for run in runs], dtype=pl.UInt64),
            }
        )
    }
    for table in (METRICS, *tables):
        parts = [(place, run.tables[table]) for place, run in enumerate(runs) if table in run.tables]
        if parts:
            frames[table] = _together(parts)
    files: dict[str, bytes] = {}
    for table, frame in frames.items():
        buffer = io.BytesIO()
        frame.write_parquet(buffer, compression="zstd", compression_level=COMPRESSION_LEVEL, statistics=False)
        files[f"{table}.parquet"] = buffer.getvalue()
    info = {
        "key": name,
        "engine_version": _engine.engine_version(),
        "asked": tables,
        "runs": len(runs),
        "heads": "".join(run.key[:HEAD] for run in runs),
        "files": {file: {"bytes": len(content), "digest": digest_of(content)} for file, content in files.items()},
        "wall_s": " ".join(f"{run.statistics['wall_s']:.3g}" for run in runs),
        "cpu_s": " ".join(f"{run.statistics['cpu_s']:.3g}" for run in runs),
    }
    files[LISTING] = listing_of(info)
    return name, files


def _together(parts: Sequence[tuple[int, pl.DataFrame]]) -> pl.DataFrame:
    """Return tables of several runs as one, with the column that tells them apart."""
    import numpy as np
    import polars as pl

    counts = [frame.height for _, frame in parts]
    owners = np.repeat(np.array([place for place, _ in parts], dtype=np.uint32), counts)
    rows = pl.concat([frame for _, frame in parts])
    return rows.insert_column(0, pl.Series(RUN, owners)).rechunk()


@dataclass
class Segment:
    """A whole segment of a store."""

    directory: Path
    info: dict[str, Any]
    """Content of `segment.json`."""
    runs: pl.DataFrame = field(repr=False)

    def table(self, name: str, columns: Iterable[str]) -> pl.DataFrame:
        """Return columns of a table of all its runs.

        Raises `RecordError` if it is damaged, or has no such table.
        """
        columns = list(columns)
        found = read_table(self.directory, f"{name}.parquet", self.info["files"], columns)
        return found.select(columns)

    @cached_property
    def statistics(self) -> list[_engine.RunStatistics]:
        """Cost of each run."""
        walls, cpus = ([float(word) for word in self.info[name].split()] for name in ("wall_s", "cpu_s"))
        columns = self.runs.select("simulated_s", "packet_hops", "events").iter_rows()
        return [
            {"simulated_s": simulated, "wall_s": wall, "cpu_s": cpu, "packet_hops": hops, "events": events}
            for (simulated, hops, events), wall, cpu in zip(columns, walls, cpus, strict=True)
        ]


@dataclass(frozen=True)
class SegmentRun:
    """One finished run in a segment."""

    segment: Segment
    row: int
    """Its place there."""

    @property
    def directory(self) -> Path:
        """The folder of the segment."""
        return self.segment.directory

    @property
    def statistics(self) -> _engine.RunStatistics:
        """Simulated and wall time, packet-hops and events of the run."""
        return self.segment.statistics[self.row]

    def path(self, table: str) -> Path:
        """Return the Parquet file of a table, which has rows of other runs, too."""
        return self.segment.directory / f"{table}.parquet"


class Segments:
    """The segments of a store that the engine's version has made; keys of another version never match.

    Parameters
    ----------
    root
        The store.
    on_damage
        Called with one line of text for each damaged segment that is met.
    """

    def __init__(self, root: Path, on_damage: Callable[[str], None]) -> None:
        self.shelf = Shelf(root, LAYOUT, LISTING)
        self._home = self.shelf.place / "runs" / _engine.engine_version()
        self._on_damage = on_damage

    def put(self, runs: Sequence[PackedRun], asked: Iterable[str]) -> list[SegmentRun]:
        """Keep runs together.

        Raises `EnvironmentFailure` if they cannot be written.
        """
        import polars as pl

        name, files = pack_segment(runs, asked)
        home = self._home / name
        self.shelf.put(home, files)
        table = pl.read_parquet(io.BytesIO(files["runs.parquet"]), columns=list(_READ))
        segment = Segment(home, json.loads(files[LISTING]), table)
        return [SegmentRun(segment, row) for row in range(len(runs))]

    def receive(self, name: str, files: Mapping[str, bytes]) -> None:
        """Keep a segment that another machine has made.

        Raises `RecordError` if it is not what its listing says; `EnvironmentFailure` if it cannot be written.
        """
        if not (name.isalnum() and all(Path(file).name == file for file in files)):
            raise RecordError(f"{plain(name)} is no segment")
        home = self._home / name
        self.shelf.put(home, files)
        try:
            self._opened(home, _refuse_others(self.shelf.listed(home)))
        except RecordError:
            remove(home, root=self.shelf.root)
            raise

    def has(self, name: str) -> bool:
        """Return whether there is a segment of that name, which may be damaged."""
        return name.isalnum() and is_file(self._home / name / LISTING, root=self.shelf.root)

    def names(self) -> list[str]:
        """Return the names of all segments, which may be damaged."""
        return folder_names(self._home, root=self.shelf.root)

    def is_whole(self, name: str) -> bool:
        """Return whether there is a segment of that name that is as it was written; a damaged one is reported."""
        home = self._home / name
        try:
            self.shelf.verify(home, _refuse_others(self.shelf.listed(home)))
        except RecordError as error:
            self._tell(home, error)
            return False
        return True

    def open(self, name: str) -> Segment:
        """Return a segment.

        Raises `RecordError` if it is damaged, or not there.
        """
        home = self._home / name
        return self._opened(home, _refuse_others(self.shelf.listed(home)))

    def find(self, wanted: Mapping[str, frozenset[str]], among: Iterable[str] | None = None) -> dict[str, SegmentRun]:
        """Return those runs that are there, whole and checked.

        Parameters
        ----------
        wanted
            Record tables that are needed beside the metrics, by key.
        among
            Names of the segments to look into; all if left out.
        """
        heads = {key[:HEAD] for key in wanted}
        found: dict[str, SegmentRun] = {}
        for home, info in self._listings(among):
            theirs = str(info["heads"])
            if not any(theirs[place : place + HEAD] in heads for place in range(0, len(theirs), HEAD)):
                continue
            try:
                segment = self._opened(home, info)
            except RecordError as error:
                self._tell(home, error)
                continue
            asked = set(info["asked"])
            for row, key in enumerate(segment.runs["key"]):
                if key not in found and key in wanted and wanted[key] <= asked:
                    found[key] = SegmentRun(segment, row)
        return found

    def keys(self) -> Iterator[str]:
        """Give the keys of all runs in whole segments."""
        for home, info in self._listings():
            try:
                yield from self._opened(home, info).runs["key"]
            except RecordError as error:
                self._tell(home, error)

    def _listings(self, among: Iterable[str] | None = None) -> Iterator[tuple[Path, dict[str, Any]]]:
        names = folder_names(self._home, root=self.shelf.root) if among is None else among
        for name in names:
            home = self._home / name
            try:
                info = _refuse_others(self.shelf.listed(home))
            except RecordError as error:
                self._tell(home, error)
                continue
            yield home, info

    def _opened(self, home: Path, info: dict[str, Any]) -> Segment:
        """Check a segment and return it.

        Raises `RecordError` if it is damaged.
        """
        self.shelf.verify(home, info)
        runs = read_table(home, "runs.parquet", info["files"], _READ).select(_READ)
        segment = Segment(home, info, runs)
        if runs.height != info["runs"] or len(info["heads"]) != HEAD * runs.height:
            raise RecordError("runs.parquet has other runs")
        try:
            _ = segment.statistics
        except ValueError as error:
            raise RecordError(f"{LISTING} is not readable") from error
        return segment

    def _tell(self, home: Path, error: RecordError) -> None:
        self._on_damage(
            f"segment {home.name[:12]} in the store is damaged and its runs will be repeated: {error.message}"
        )


def _refuse_others(info: dict[str, Any]) -> dict[str, Any]:
    """Return a listing if its values have the right types.

    Raises `RecordError` if it has not.
    """
    asked = info.get("asked")
    is_right = (
        all(isinstance(info.get(name), str) for name in ("heads", "wall_s", "cpu_s"))
        and isinstance(info.get("runs"), int)
        and isinstance(asked, list)
        and all(isinstance(name, str) for name in cast("list[object]", asked))
        and {"metrics.parquet", "runs.parquet"} <= set(info["files"])
    )
    if not is_right:
        raise RecordError(f"{LISTING} is not readable")
    return info
