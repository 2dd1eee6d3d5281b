"""The store of finished runs: content-addressed, safe to kill at any time.

A run is known by its key, which stands for scenario, seed and engine version. A single run is a folder named by it,
with one Parquet file per record table and `run.json`, which lists the files with sizes and digests. Runs of a study
lie together in segments, which hold what the study keeps of them. A folder is written under a temporary name and
renamed when it is complete, so that what has its name is whole; what turned out damaged is reported, ignored and
computed again.
"""

import io
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import sojourn._engine as _engine
from sojourn.base.errors import RecordError
from sojourn.base.files import folder_names, open_file
from sojourn.base.on_disk import digest_of
from sojourn.store.segments import LAYOUT as SEGMENTS_LAYOUT
from sojourn.store.segments import RUN, PackedRun, SegmentRun, Segments, pack_segment
from sojourn.store.shelf import STALE_AFTER_S, Shelf, listing_of

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "LAYOUT",
    "RUN",
    "SEGMENTS_LAYOUT",
    "STALE_AFTER_S",
    "Entry",
    "Kept",
    "PackedRun",
    "SegmentRun",
    "Store",
    "default_directory",
    "pack",
    "pack_segment",
]

LAYOUT = "v1"
"""Folder of the layout of single runs; a new layout gets a new folder and leaves the old one alone."""

COMPRESSION_LEVEL = 1  # chosen: zstd 1 halves the files at 500 MB/s; higher levels cost run time


def default_directory() -> Path:
    """Return where runs are kept unless something else is asked for.

    The environment variable `SOJOURN_STORE` names it; otherwise it is in the user's cache directory.
    """
    chosen = os.environ.get("SOJOURN_STORE")
    if chosen:
        return Path(chosen)
    from platformdirs import user_cache_path

    return user_cache_path("sojourn") / "store"


@dataclass(frozen=True)
class Entry:
    """One finished run in the store."""

    directory: Path
    info: dict[str, Any]
    """Content of `run.json`."""

    @property
    def statistics(self) -> "_engine.RunStatistics":
        """Simulated and wall time, packet-hops and events of the run."""
        return cast("_engine.RunStatistics", self.info["statistics"])

    def table_names(self) -> list[str]:
        """Return the names of the record tables."""
        return [Path(name).stem for name in self.info["files"]]

    def path(self, table: str) -> Path:
        """Return the Parquet file of a table."""
        return self.directory / f"{table}.parquet"

    def table(self, name: str) -> "pl.DataFrame":
        """Return a record table."""
        import polars as pl

        with open_file(self.path(name), root=self.directory) as file:  # Polars takes no name that is no text
            return pl.read_parquet(file)


Kept: TypeAlias = Entry | SegmentRun
"""A finished run: single, with all its records, or in a segment."""


def pack(records: _engine.Records, key: str, seed: int, scenario: str) -> dict[str, bytes]:
    """Return the files of a run's folder by name, `run.json` last.

    Parameters
    ----------
    records
        What the run has recorded.
    key
        Its key.
    seed
        Its seed.
    scenario
        Its scenario in canonical form.
    """
    import polars as pl

    files: dict[str, bytes] = {}
    listing: dict[str, dict[str, int | str]] = {}
    for name in records.table_names():
        frame = pl.DataFrame(records.table(name))
        buffer = io.BytesIO()
        frame.write_parquet(buffer, compression="zstd", compression_level=COMPRESSION_LEVEL)
        content = buffer.getvalue()
        files[f"{name}.parquet"] = content
        listing[f"{name}.parquet"] = {"bytes": len(content), "digest": digest_of(content), "rows": frame.height}
    info = {
        "key": key,
        "seed": seed,
        "engine_version": _engine.engine_version(),
        "statistics": dict(records.statistics),
        "files": listing,
        "scenario": scenario,
    }
    files["run.json"] = listing_of(info)
    return files


class Store:
    """Finished runs by key.

    Parameters
    ----------
    directory
        Where it lies; made when the first run is stored.
    on_damage
        Called with one line of text for each damaged run or segment that is met.
    """

    def __init__(self, directory: str | Path | None = None, on_damage: Callable[[str], None] | None = None) -> None:
        self.directory = Path(directory) if directory is not None else default_directory()
        self._on_damage = on_damage or _ignore
        self._shelf = Shelf(self.directory, LAYOUT, "run.json")
        self.segments = Segments(self.directory, self._on_damage)
        """Runs of studies, kept together."""

    def get(self, key: str) -> Entry | None:
        """Return the run of that key with all its records, whole and checked, or nothing."""
        directory = self._home(key)
        if not os.path.lexists(directory):
            return None
        try:
            info = self._shelf.listed(directory)
            self._shelf.verify(directory, info)
        except (OSError, RecordError) as error:
            self._on_damage(f"run {key[:12]} in the store is damaged and will be repeated: {error}")
            return None
        return Entry(directory, info)

    def find(self, wanted: Mapping[str, frozenset[str]]) -> dict[str, Kept]:
        """Return those of many runs that are there, whole and checked: from segments, or single.

        Parameters
        ----------
        wanted
            Record tables that are needed beside the metrics, by key.
        """
        found: dict[str, Kept] = {**self.segments.find(wanted)}
        for key in wanted:
            if key not in found and (entry := self.get(key)) is not None:
                found[key] = entry
        return found

    def keys(self) -> set[str]:
        """Return the keys of all runs that are there; of single ones, only `get` can tell whether they are whole."""
        runs = self._shelf.place
        single = {
            key
            for shelf in folder_names(runs, root=self.directory)
            if len(shelf) == SHELF_DIGITS
            for key in folder_names(runs / shelf, root=self.directory)
        }
        return single | set(self.segments.keys())

    def put(self, key: str, files: Mapping[str, bytes]) -> Entry:
        """Keep a single run.

        Raises `EnvironmentFailure` if it cannot be written.
        """
        self._shelf.put(self._home(key), files)
        return Entry(self._home(key), json.loads(files["run.json"]))

    def put_together(self, runs: Sequence[PackedRun], asked: Iterable[str]) -> list[SegmentRun]:
        """Keep runs of a study in a segment, with those tables that are asked for.

        Raises `EnvironmentFailure` if they cannot be written.
        """
        return self.segments.put(runs, asked)

    def check_writable(self) -> None:
        """Fail now rather than after the first run if nothing can be written.

        Raises `EnvironmentFailure` if the store cannot be written.
        """
        self._shelf.check_writable()
        self.segments.shelf.check_writable()

    def sweep(self) -> int:
        """Remove what dead processes have left half-written; return how many folders that were."""
        return self._shelf.sweep() + self.segments.shelf.sweep()

    def _home(self, key: str) -> Path:
        return self._shelf.place / key[:SHELF_DIGITS] / key


SHELF_DIGITS = 2
"""Digits of a key that name the folder around it. chosen: 256 folders keep each of them short."""


def _ignore(_: str) -> None:
    """Say nothing about damage; the run is repeated all the same."""
