"""Folders that are whole or absent: written under a temporary name, renamed when complete, checked when they are read.

Each has a listing, a JSON file with sizes and digests of the others and a digest of itself. A damaged folder is
reported, ignored and made again.
"""

import contextlib
import json
import os
import time
import uuid
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

from sojourn.base.errors import EnvironmentFailure, RecordError, plain, why
from sojourn.base.files import folder_names, make_folder, move, open_file, read_file, remove, write_file
from sojourn.base.on_disk import digest_of, size_and_digest
from sojourn.base.output import owner, owner_is_gone

STALE_AFTER_S = 7 * 86400  # chosen: no run takes a week, so what is older was left by a dead process


def listing_of(info: Mapping[str, Any]) -> bytes:
    """Return a listing as a file, with the digest of its content."""
    return json.dumps({"digest": _digest_of(info), **info}, indent=1).encode()


def _digest_of(info: Mapping[str, Any]) -> str:
    return digest_of(json.dumps(info, sort_keys=True).encode())


class Shelf:
    """Folders of one layout of a store.

    Parameters
    ----------
    root
        The store. No link below it is followed.
    layout
        Name of the layout's folder in it.
    listing
        Name of the listing in each folder; under `key` it has the folder's own name.
    """

    def __init__(self, root: Path, layout: str, listing: str) -> None:
        self.root = root
        self.place = root / layout
        self.listing = listing
        self._temporary = self.place / "tmp"

    def put(self, home: Path, files: Mapping[str, bytes]) -> None:
        """Write a folder, whole or not at all; a whole one that is there stays.

        Raises `EnvironmentFailure` if it cannot be written.
        """
        temporary = self._temporary_name(home.name)
        with self._telling():
            try:
                make_folder(temporary, root=self.root)
                for name, content in files.items():
                    write_file(temporary / name, content, root=self.root)
                make_folder(home.parent, root=self.root)
                self._publish(temporary, home)
            except OSError:
                remove(temporary, root=self.root)
                raise

    def check_writable(self) -> None:
        """Fail now rather than after the first run if nothing can be written.

        Raises `EnvironmentFailure` if the store cannot be written.
        """
        probe = self._temporary_name("probe")
        with self._telling():
            make_folder(probe, root=self.root)
            probe.rmdir()

    def sweep(self) -> int:
        """Remove what dead processes have left half-written; return how many folders that were."""
        removed = 0
        with contextlib.suppress(OSError):
            for name in folder_names(self._temporary, root=self.root):
                if _is_abandoned(self._temporary / name):
                    remove(self._temporary / name, root=self.root)
                    removed += 1
        return removed

    def listed(self, home: Path) -> dict[str, Any]:
        """Return the listing of a folder; the other files are not looked at.

        Raises `RecordError` if it is not what was written.
        """
        with _damage(self.listing):
            info: dict[str, Any] = json.loads(read_file(home / self.listing, root=self.root))
            expected = info.pop("digest")
            if info["key"] != home.name or _digest_of(info) != expected:
                raise RecordError(f"{self.listing} has been changed")
            for name in info["files"]:
                if Path(name).name != name:
                    raise RecordError(f"{self.listing} names files elsewhere")
            return info

    def verify(self, home: Path, info: Mapping[str, Any]) -> None:
        """Check all files that a listing names.

        Raises `RecordError` if one is not what was written.
        """
        with _damage(self.listing):
            for name, listed in info["files"].items():
                with open_file(home / name, root=self.root) as file:
                    size, digest = size_and_digest(file)
                if size != listed["bytes"]:
                    raise RecordError(f"{name} has {size} bytes instead of {plain(listed['bytes'])}")
                if digest != listed["digest"]:
                    raise RecordError(f"{name} has been changed")

    def _temporary_name(self, name: str) -> Path:
        return self._temporary / f"{name[:16]}-{uuid.uuid4().hex[:8]}-{owner()}"

    def _publish(self, temporary: Path, home: Path) -> None:
        try:
            move(temporary, home, root=self.root)
        except OSError:
            if not os.path.lexists(home):
                raise
            # Another process was faster, or something else is in the way: a damaged folder, a file, a link.
            try:
                self.verify(home, self.listed(home))
            except RecordError:
                discarded = self._temporary_name(home.name)
                move(home, discarded, root=self.root)
                try:
                    move(temporary, home, root=self.root)
                finally:
                    remove(discarded, root=self.root)
            else:
                remove(temporary, root=self.root)

    @contextlib.contextmanager
    def _telling(self) -> Generator[None]:
        """Say where it was that something could not be written.

        Raises `EnvironmentFailure` if that was so.
        """
        try:
            yield
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise EnvironmentFailure(
                f"cannot write to the store {self.root}: {reason}",
                "choose another place with --store DIR or the variable SOJOURN_STORE",
            ) from error


@contextlib.contextmanager
def _damage(listing: str) -> Generator[None]:
    """Say in a sentence what is wrong with a folder.

    Raises `RecordError` if something is.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise RecordError(f"{Path(error.filename).name} is missing") from error
    except OSError as error:
        raise RecordError(f"{Path(str(error.filename)).name}: {why(error)}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RecordError(f"{listing} is not readable") from error


def _is_abandoned(path: Path) -> bool:
    """Return whether the process that was writing there is gone."""
    if owner_is_gone(path.name.split("-", 2)[-1]):
        return True
    return time.time() - path.lstat().st_mtime > STALE_AFTER_S
