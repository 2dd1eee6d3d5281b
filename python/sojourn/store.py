"""The store of finished runs: content-addressed, safe to kill at any time.

Each run is a folder named by its key, which stands for scenario, seed and engine version. It holds one
Parquet file per record table and `run.json`, which lists the files with sizes and digests. A folder is
written under a temporary name and renamed when it is complete, so that what has a key for a name is
whole; what turned out damaged is reported, ignored and computed again.
"""

import contextlib
import io
import json
import os
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import sojourn._engine as _engine
from sojourn.errors import EnvironmentFailure, RecordError, plain, why
from sojourn.files import (
    folder_names,
    make_folder,
    move,
    open_file,
    read_file,
    remove,
    write_file,
)
from sojourn.on_disk import digest_of, size_and_digest
from sojourn.output import owner, owner_is_gone

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Entry", "Store", "default_directory", "pack"]

LAYOUT = "v1"
"""Folder of the store's layout; a new layout gets a new folder and leaves the old one alone."""

COMPRESSION_LEVEL = 1  # chosen: zstd 1 halves the files at 500 MB/s; higher levels cost run time
STALE_AFTER_S = (
    7 * 86400
)  # chosen: no run takes a week, so what is older was left by a dead process


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

        return pl.read_parquet(self.path(name), glob=False)


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
        listing[f"{name}.parquet"] = {
            "bytes": len(content),
            "digest": digest_of(content),
            "rows": frame.height,
        }
    info = {
        "key": key,
        "seed": seed,
        "engine_version": _engine.engine_version(),
        "statistics": dict(records.statistics),
        "files": listing,
        "scenario": scenario,
    }
    files["run.json"] = json.dumps({"digest": _digest_of(info), **info}, indent=1).encode()
    return files


def _digest_of(info: Mapping[str, Any]) -> str:
    return digest_of(json.dumps(info, sort_keys=True).encode())


class Store:
    """Finished runs by key.

    Parameters
    ----------
    directory
        Where it lies; made when the first run is stored.
    on_damage
        Called with one line of text for each damaged run that is met.
    """

    def __init__(
        self, directory: str | Path | None = None, on_damage: Callable[[str], None] | None = None
    ) -> None:
        self.directory = Path(directory) if directory is not None else default_directory()
        self._runs = self.directory / LAYOUT
        self._temporary = self._runs / "tmp"
        self._on_damage = on_damage or _ignore

    def get(self, key: str) -> Entry | None:
        """Return the run of that key, whole and checked, or nothing."""
        directory = self._home(key)
        if not os.path.lexists(directory):
            return None
        try:
            return Entry(directory, _verified(directory, key, self.directory))
        except (OSError, RecordError) as error:
            self._on_damage(f"run {key[:12]} in the store is damaged and will be repeated: {error}")
            return None

    def holds(self, key: str) -> bool:
        """Whether there is a run of that key; whether it is whole, only `get` can tell."""
        return self._home(key).is_dir()

    def put(self, key: str, files: Mapping[str, bytes]) -> Entry:
        """Keep a run.

        Raises
        ------
        EnvironmentFailure
            If it cannot be written.
        """
        home = self._home(key)
        temporary = self._temporary_name(key)
        try:
            make_folder(temporary, root=self.directory)
            for name, content in files.items():
                write_file(temporary / name, content, root=self.directory)
            make_folder(home.parent, root=self.directory)
            self._publish(temporary, home, key)
        except OSError as error:
            remove(temporary, root=self.directory)
            reason = (error.strerror or str(error)).lower()
            raise EnvironmentFailure(
                f"cannot write to the store {self.directory}: {reason}",
                "choose another place with --store DIR or the variable SOJOURN_STORE",
            ) from error
        return Entry(home, json.loads(files["run.json"]))

    def check_writable(self) -> None:
        """Fail now rather than after the first run if nothing can be written.

        Raises
        ------
        EnvironmentFailure
            If the store cannot be written.
        """
        probe = self._temporary_name("probe")
        try:
            make_folder(probe, root=self.directory)
            probe.rmdir()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise EnvironmentFailure(
                f"cannot write to the store {self.directory}: {reason}",
                "choose another place with --store DIR or the variable SOJOURN_STORE",
            ) from error

    def sweep(self) -> int:
        """Remove what dead processes have left half-written; return how many folders that were."""
        removed = 0
        with contextlib.suppress(OSError):
            for name in folder_names(self._temporary, root=self.directory):
                if _is_abandoned(self._temporary / name):
                    remove(self._temporary / name, root=self.directory)
                    removed += 1
        return removed

    def _home(self, key: str) -> Path:
        return self._runs / key[:2] / key

    def _temporary_name(self, key: str) -> Path:
        return self._temporary / f"{key[:16]}-{uuid.uuid4().hex[:8]}-{owner()}"

    def _publish(self, temporary: Path, home: Path, key: str) -> None:
        root = self.directory
        try:
            move(temporary, home, root=root)
        except OSError:
            if not os.path.lexists(home):
                raise
            # Somebody was faster, or something else is in the way: a damaged run, a file, a link.
            try:
                _verified(home, key, root)
            except (OSError, RecordError):
                discarded = self._temporary_name(key)
                move(home, discarded, root=root)
                try:
                    move(temporary, home, root=root)
                finally:
                    remove(discarded, root=root)
            else:
                remove(temporary, root=root)


def _ignore(_: str) -> None:
    """Say nothing about damage; the run is repeated all the same."""


def _verified(directory: Path, key: str, root: Path) -> dict[str, Any]:
    """Return `run.json` after checking all that it lists."""
    try:
        info: dict[str, Any] = json.loads(read_file(directory / "run.json", root=root))
        expected = info.pop("digest")
        if info["key"] != key or _digest_of(info) != expected:
            raise RecordError("run.json has been changed")
        files: dict[str, dict[str, Any]] = info["files"]
        for name, listed in files.items():
            if Path(name).name != name:
                raise RecordError("run.json names files elsewhere")
            with open_file(directory / name, root=root) as file:
                size, digest = size_and_digest(file)
            if size != listed["bytes"]:
                raise RecordError(f"{name} has {size} bytes instead of {plain(listed['bytes'])}")
            if digest != listed["digest"]:
                raise RecordError(f"{name} has been changed")
    except FileNotFoundError as error:
        raise RecordError(f"{Path(error.filename).name} is missing") from error
    except OSError as error:
        raise RecordError(f"{Path(str(error.filename)).name}: {why(error)}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RecordError("run.json is not readable") from error
    return info


def _is_abandoned(path: Path) -> bool:
    """Whether the process that was writing there is gone."""
    if owner_is_gone(path.name.split("-", 2)[-1]):
        return True
    return time.time() - path.lstat().st_mtime > STALE_AFTER_S
