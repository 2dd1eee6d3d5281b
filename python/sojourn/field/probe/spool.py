"""Measurements of a probe, until the collector has them.

    waiting/   measured and not yet sent
    sent/      the collector has them; the newest are kept
    refused/   it will never take them

A file enters `waiting` by a rename when it is complete and on disk, and leaves it by a rename when the collector has
said that it has it. Whatever stops the probe in between, the file is in one of the three places.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from sojourn.errors import EnvironmentFailure

__all__ = ["Spool"]


class Spool:
    """The folders of a probe.

    Parameters
    ----------
    folder
        Where they are; made if it is not there.
    keep
        How many sent files to keep.

    Raises
    ------
    EnvironmentFailure
        If they cannot be made.
    """

    def __init__(self, folder: Path, keep: int = 500) -> None:
        self.waiting = folder / "waiting"
        self.sent = folder / "sent"
        self.refused = folder / "refused"
        self.unfinished = folder / "unfinished"
        self._keep = keep
        try:
            for place in (self.waiting, self.sent, self.refused, self.unfinished):
                place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EnvironmentFailure(
                f"cannot write the spool {folder}: {error.strerror}"
            ) from error

    def add(self, file: Path) -> Path:
        """Take over a complete file, wherever it is.

        Raises
        ------
        EnvironmentFailure
            If it cannot be written.
        """
        temporary = self.unfinished / f"{file.name}.part"
        target = self.waiting / file.name
        try:
            shutil.copyfile(file, temporary)
            _to_disk(temporary)
            temporary.replace(target)
            _to_disk(self.waiting)
            file.unlink()
        except OSError as error:
            raise EnvironmentFailure(f"cannot write the spool: {error.strerror}") from error
        return target

    def files(self) -> list[Path]:
        """Return what waits, oldest names first."""
        return sorted(path for path in self.waiting.iterdir() if path.is_file())

    def done(self, file: Path) -> None:
        """Put a file away that the collector has."""
        file.replace(self.sent / file.name)
        sent = sorted(self.sent.iterdir(), key=lambda path: path.stat().st_mtime)
        for old in sent[: max(0, len(sent) - self._keep)]:
            old.unlink(missing_ok=True)

    def refuse(self, file: Path, reason: str) -> None:
        """Put a file aside that the collector will never take, with its reason."""
        (self.refused / f"{file.name}.txt").write_text(f"{reason}\n", encoding="utf-8")
        file.replace(self.refused / file.name)


def _to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
