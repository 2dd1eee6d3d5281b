"""Measurements of a probe, until the collector has them.

    waiting/   measured and not yet sent
    sent/      the collector has them; the newest are kept
    refused/   it will never take them

A file enters `waiting` by a rename when it is complete and on disk, and leaves it by a rename when the collector has
said that it has it. Whatever stops the probe in between, the file is in one of the three places.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from sojourn.base.errors import EnvironmentFailure
from sojourn.base.files import read_file


class Disk(Protocol):
    """Operations of a file system that a spool needs; every call may raise `OSError`."""

    def make_folder(self, path: Path) -> None:
        """Make a folder and those above it, unless it is there."""
        ...

    def files(self, folder: Path) -> list[Path]:
        """Return the files of a folder by name."""
        ...

    def read(self, path: Path) -> bytes:
        """Return the content of a file."""
        ...

    def write(self, path: Path, content: bytes) -> None:
        """Write a file anew; its content is on disk when this returns, its name perhaps not."""
        ...

    def move(self, path: Path, target: Path) -> None:
        """Give a file another name; both names are on disk when this returns."""
        ...

    def remove(self, path: Path) -> None:
        """Take a file away, if it is there."""
        ...

    def age(self, path: Path) -> float:
        """Return a number that is larger for a file that was written later."""
        ...


class _SystemDisk:
    """The file system of this machine."""

    def make_folder(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)

    def files(self, folder: Path) -> list[Path]:
        return sorted(path for path in folder.iterdir() if path.is_file())

    def read(self, path: Path) -> bytes:
        return read_file(path)

    def write(self, path: Path, content: bytes) -> None:
        path.unlink(missing_ok=True)
        with path.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())

    def move(self, path: Path, target: Path) -> None:
        path.replace(target)
        for folder in dict.fromkeys((target.parent, path.parent)):
            _to_disk(folder)

    def remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)

    def age(self, path: Path) -> float:
        return path.stat().st_mtime


DISK: Disk = _SystemDisk()
"""The file system of this machine."""

T = TypeVar("T")


class Spool:
    """The folders of a probe.

    Raises `EnvironmentFailure` if they cannot be made; so does every method if the disk refuses.

    Parameters
    ----------
    folder
        Where they are; made if it is not there.
    keep
        How many sent files to keep.
    disk
        Where that is.
    """

    def __init__(self, folder: Path, keep: int = 500, disk: Disk = DISK) -> None:
        self.waiting = folder / "waiting"
        self.sent = folder / "sent"
        self.refused = folder / "refused"
        self.unfinished = folder / "unfinished"
        self._keep = keep
        self._disk = disk
        for place in (self.waiting, self.sent, self.refused, self.unfinished):
            self._told(disk.make_folder, place)

    def _told(self, call: Callable[..., T], *arguments: object) -> T:
        """Call the disk; an error becomes a sentence."""
        try:
            return call(*arguments)
        except OSError as error:
            raise EnvironmentFailure(f"cannot write the spool: {error.strerror}") from error

    def add(self, file: Path) -> Path:
        """Take over a complete file, wherever it is. It keeps its name, unless that is taken."""
        taken = {path.name for path in (*self.files(), *self._told(self._disk.files, self.sent))}
        name, number = file.name, 2
        while name in taken:  # the clock has been set back
            name, number = f"{number}-{file.name}", number + 1
        temporary, target = self.unfinished / f"{name}.part", self.waiting / name
        self._told(self._disk.write, temporary, self._told(self._disk.read, file))
        self._told(self._disk.move, temporary, target)
        self._told(self._disk.remove, file)
        return target

    def files(self) -> list[Path]:
        """Return what waits, oldest names first."""
        return self._told(self._disk.files, self.waiting)

    def content(self, file: Path) -> bytes:
        """Return what a waiting file holds."""
        return self._told(self._disk.read, file)

    def done(self, file: Path) -> None:
        """Put a file away that the collector has."""
        self._told(self._disk.move, file, self.sent / file.name)
        sent = sorted(self._told(self._disk.files, self.sent), key=self._disk.age)
        for old in sent[: max(0, len(sent) - self._keep)]:
            self._told(self._disk.remove, old)

    def refuse(self, file: Path, reason: str) -> None:
        """Put a file aside that the collector will never take, with its reason."""
        words = f"{reason}\n".encode()
        self._told(self._disk.write, self.refused / f"{file.name}.txt", words)
        self._told(self._disk.move, file, self.refused / file.name)


def _to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
