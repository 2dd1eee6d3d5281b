"""A disk that keeps what was synced, and of the rest whatever it likes.

Content: every write is pending until its file is synced. When power fails, each pending write is kept, lost or torn at
its sectors, in any order with the others. A sync may fail; then some pending writes are never written, as Linux does it.
Names: making, moving and removing are pending until their folder is synced; when power fails the first few are kept.
"""

# ruff: noqa: D102 - methods have the names of those whose place they take

import errno
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

SECTOR = 512


class PowerFailure(Exception):
    """What happens after is nobody's."""


@dataclass
class File:
    """Content as read now, as it is certainly on disk, and what is between."""

    now: bytearray = field(default_factory=bytearray)
    durable: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, bytes | None]] = field(default_factory=list[tuple[int, bytes | None]])
    """Writes by their place; `None` cuts the file there."""
    written: int = 0


def apply(content: bytearray, at: int, data: bytes | None) -> None:
    """Write to a content, or cut it."""
    if len(content) < at:
        content.extend(bytes(at - len(content)))
    if data is None:
        del content[at:]
    else:
        content[at : at + len(data)] = data


class SimulatedDisk:
    """A disk of one machine.

    Parameters
    ----------
    dice
        Decides what is lost.
    """

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._files: dict[str, File] = {}
        self._durable_names: dict[str, File] = {}
        self._pending_names: list[list[tuple[str, File | None]]] = []
        """Steps: names and what they stand for from now on; `None` if for nothing."""
        self.calls = 0
        self.power_fails_at = 0
        """Number of the call at which power fails; 0 for none."""
        self.is_off = False
        self.full = False
        self.failing_syncs = 0.0
        """Share of syncs that fail."""
        self.on_failure: Callable[[], object] = lambda: None

    def _call(self) -> None:
        if self.is_off:
            raise PowerFailure
        self.calls += 1
        if self.calls == self.power_fails_at:
            self.is_off = True
            self.on_failure()
            raise PowerFailure

    # ---- files, as SQLite sees them ----------------------------------------------------------------

    def exists(self, name: str) -> bool:
        return name in self._files

    def open(self, name: str, *, make: bool) -> File:
        self._call()
        if name not in self._files:
            if not make:
                raise FileNotFoundError(errno.ENOENT, "No such file or directory")
            self._name(name, File())
        return self._files[name]

    def unlink(self, name: str) -> None:
        self._call()
        if name in self._files:
            self._name(name, None)

    def _name(self, name: str, file: File | None) -> None:
        if file is None:
            del self._files[name]
        else:
            self._files[name] = file
        self._pending_names.append([(name, file)])

    def put(self, file: File, at: int, data: bytes | None) -> None:
        """Write, or cut; a full disk takes a part of what makes a file longer."""
        self._call()
        if self.full and data is not None and at + len(data) > len(file.now):
            data = data[: self._dice.randrange(len(data) + 1)]
            room = max(0, len(file.now) - at)
            data = data[: max(room, 0)]
            if data:
                self._write(file, at, data)
            raise OSError(errno.ENOSPC, "No space left on device")
        self._write(file, at, data)

    def _write(self, file: File, at: int, data: bytes | None) -> None:
        apply(file.now, at, data)
        file.pending.append((at, data))
        file.written = self.calls

    def sync(self, file: File) -> None:
        self._call()
        if self._dice.random() < self.failing_syncs:
            # What could not be written counts as written: the next sync says nothing of it.
            for at, data in file.pending:
                if self._dice.random() < 0.5:
                    apply(file.durable, at, data)
            file.pending.clear()
            raise OSError(errno.EIO, "Input/output error")
        file.durable = bytearray(file.now)
        file.pending.clear()

    def sync_folder(self, folder: str) -> None:
        self._call()
        if self._dice.random() < self.failing_syncs:
            raise OSError(errno.EIO, "Input/output error")
        left: list[list[tuple[str, File | None]]] = []
        for step in self._pending_names:
            if any(name.rpartition("/")[0] == folder for name, _ in step):
                self._keep(step)
            else:
                left.append(step)
        self._pending_names = left

    def _keep(self, step: list[tuple[str, File | None]]) -> None:
        for name, file in step:
            if file is None:
                self._durable_names.pop(name, None)
            else:
                self._durable_names[name] = file

    # ---- power -------------------------------------------------------------------------------------

    def lose_power(self) -> None:
        """Forget what was not on disk, more or less."""
        for step in self._pending_names[: self._dice.randrange(len(self._pending_names) + 1)]:
            self._keep(step)
        self._pending_names.clear()
        self._files = dict(self._durable_names)
        for file in {id(one): one for one in self._files.values()}.values():
            pending = file.pending
            if self._dice.random() < 0.5:
                pending = self._dice.sample(pending, len(pending))
            for at, data in pending:
                self._tear(file.durable, at, data)
            file.now = bytearray(file.durable)
            file.pending = []

    def _tear(self, content: bytearray, at: int, data: bytes | None) -> None:
        fate = self._dice.random()
        if fate < 0.4 or data is None:
            if fate < 0.4:
                apply(content, at, data)
        elif fate < 0.6:
            for start in range(0, len(data), SECTOR):
                if self._dice.random() < 0.5:
                    apply(content, at + start, data[start : start + SECTOR])

    def restart(self) -> None:
        """Switch on again."""
        self.is_off = False
        self.power_fails_at = 0

    # ---- as a spool sees it ------------------------------------------------------------------------

    def make_folder(self, path: Path) -> None:  # noqa: ARG002 - as a spool calls it
        """Folders are there."""
        self._call()

    def files(self, folder: Path) -> list[Path]:
        self._call()
        return sorted(path for path in map(Path, self._files) if path.parent == folder)

    def read(self, path: Path) -> bytes:
        self._call()
        if str(path) not in self._files:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        return bytes(self._files[str(path)].now)

    def write(self, path: Path, content: bytes) -> None:
        self._call()
        self._name(str(path), File())
        file = self._files[str(path)]
        middle = self._dice.randrange(len(content) + 1)
        self.put(file, 0, content[:middle])
        self.put(file, middle, content[middle:])
        self.sync(file)

    def move(self, path: Path, target: Path) -> None:
        self._call()
        if str(path) not in self._files:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        file = self._files.pop(str(path))
        self._files[str(target)] = file
        self._pending_names.append([(str(target), file), (str(path), None)])
        for folder in dict.fromkeys((target.parent, path.parent)):
            self.sync_folder(str(folder))

    def remove(self, path: Path) -> None:
        self.unlink(str(path))

    def age(self, path: Path) -> float:
        return float(self._files[str(path)].written)
