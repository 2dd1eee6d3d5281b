"""A store that many machines share: objects that are written once, whole, and never change.

Four things are asked of it: create an object if there is none of that name, read one, list names, delete. A path on a
shared disk is one; a bucket of an S3-compatible server is another, see `sojourn.store.buckets`.
"""

from __future__ import annotations

import contextlib
import stat
import uuid
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Protocol

from sojourn.base.errors import StoreUnreachable, why
from sojourn.base.files import create_file, folder_names, make_folder, read_file, remove
from sojourn.base.output import owner

LARGEST_OBJECT = 1 << 30
"""Bytes of an object that is read. chosen: tables that a study keeps, of a segment of some hundred runs."""


DEPTH_OF_PLANS = 3
"""Folders around what a plan has in a store: `v2/plans/PLAN`."""


class Objects(Protocol):
    """Objects by name, such as `v2/plans/PLAN/plan.json`."""

    address: str
    """As a user names it."""

    def create(self, name: str, content: bytes) -> bool:
        """Keep an object unless there is one of that name; return whether there was none.

        Raises `StoreUnreachable` if it cannot be written.
        """
        ...

    def read(self, name: str) -> bytes | None:
        """Return an object; nothing if there is none.

        Raises `StoreUnreachable` if it cannot be read.
        """
        ...

    def names(self, folder: str) -> list[str]:
        """Return the names of all objects below a folder, without it, in their order.

        Raises `StoreUnreachable` if they cannot be listed.
        """
        ...

    def delete(self, name: str) -> None:
        """Remove an object, if it is there.

        Raises `StoreUnreachable` if the store does not answer.
        """
        ...


class FolderObjects:
    """Objects as files below a folder, which may lie on a disk that machines share.

    Parameters
    ----------
    root
        The folder; made when the first object is written. No link below it is followed.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.address = str(root.absolute())
        self._temporary = root / "v2" / "tmp"

    def create(self, name: str, content: bytes) -> bool:
        """Keep an object unless there is one of that name; return whether there was none."""
        path = self._path(name)
        unfinished = self._temporary / f"object-{uuid.uuid4().hex[:16]}-{owner()}"
        try:
            make_folder(self._temporary, root=self.root)
            try:
                make_folder(path.parent, root=self.root)
            except OSError:
                if not self._clear_way(name):
                    raise
                make_folder(path.parent, root=self.root)
            return create_file(path, content, temporary=unfinished, root=self.root)
        except OSError as error:
            raise self._refused("write to", error) from error

    def _clear_way(self, name: str) -> bool:
        """Remove what stands where a folder of a plan should be, and is none: no store has put it there; whether there was any."""
        place = self.root
        for depth, part in enumerate(PurePosixPath(name).parts[:-1]):
            place /= part
            if place.is_symlink() or not place.is_dir():
                if depth >= DEPTH_OF_PLANS:
                    remove(place, root=self.root)
                return depth >= DEPTH_OF_PLANS
        return False

    def read(self, name: str) -> bytes | None:
        """Return an object; nothing if there is none, or something that no store has put there, such as a pipe."""
        try:
            found = self._path(name).lstat()
            if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_OBJECT:
                return None
            return read_file(self._path(name), root=self.root, most=LARGEST_OBJECT)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise self._refused("read", error) from error

    def names(self, folder: str) -> list[str]:
        """Return the names of all objects below a folder, without it, in their order."""
        return sorted(self._below(self._path(folder), ""))

    def _below(self, path: Path, prefix: str) -> Iterator[str]:
        for name in folder_names(path, root=self.root):
            with contextlib.suppress(OSError):  # it may go meanwhile
                found = (path / name).lstat()
                if stat.S_ISDIR(found.st_mode):
                    yield from self._below(path / name, f"{prefix}{name}/")
                elif stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST_OBJECT:
                    yield f"{prefix}{name}"

    def delete(self, name: str) -> None:
        """Remove an object, if it is there."""
        remove(self._path(name), root=self.root)

    def _path(self, name: str) -> Path:
        return self.root.joinpath(*PurePosixPath(name).parts)

    def _refused(self, verb: str, error: OSError) -> StoreUnreachable:
        return StoreUnreachable(
            f"cannot {verb} the store {self.root}: {why(error)}", "the same command goes on when that is mended"
        )
