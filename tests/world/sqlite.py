"""SQLite on a simulated disk: a VFS, by the C library that Python's own module uses.

Source: https://www.sqlite.org/vfs.html, and the header of SQLite for the structures.
Deviations: one process; names are not resolved.
"""

import ctypes
import random
from collections.abc import Callable
from ctypes import POINTER, Structure, c_char_p, c_double, c_int, c_int64, c_void_p
from typing import Any

from world.disk import File, PowerFailure, SimulatedDisk

OK, BUSY, FULL, CANTOPEN, NOTFOUND = 0, 5, 13, 14, 12
IOERR = 10
READ, SHORT_READ, WRITE, FSYNC, TRUNCATE, DELETE, OPEN_FAILED = (
    IOERR | number << 8 for number in (1, 2, 3, 4, 6, 10, 10)
)

Call = ctypes.CFUNCTYPE
Pointer = Any
"""Where an answer goes."""
H = c_void_p


METHODS: list[tuple[str, Any]] = [
    ("version", c_int),
    ("close", Call(c_int, H)),
    ("read", Call(c_int, H, c_void_p, c_int, c_int64)),
    ("write", Call(c_int, H, c_void_p, c_int, c_int64)),
    ("truncate", Call(c_int, H, c_int64)),
    ("sync", Call(c_int, H, c_int)),
    ("size", Call(c_int, H, POINTER(c_int64))),
    ("lock", Call(c_int, H, c_int)),
    ("unlock", Call(c_int, H, c_int)),
    ("check_reserved", Call(c_int, H, POINTER(c_int))),
    ("control", Call(c_int, H, c_int, c_void_p)),
    ("sector", Call(c_int, H)),
    ("characteristics", Call(c_int, H)),
    ("shm_map", Call(c_int, H, c_int, c_int, c_int, POINTER(c_void_p))),
    ("shm_lock", Call(c_int, H, c_int, c_int, c_int)),
    ("shm_barrier", Call(None, H)),
    ("shm_unmap", Call(c_int, H, c_int)),
]


class Methods(Structure):
    """`sqlite3_io_methods`, version 2."""

    _fields_ = METHODS


VFS: list[tuple[str, Any]] = [
    ("version", c_int),
    ("file_size", c_int),
    ("longest_path", c_int),
    ("next", c_void_p),
    ("name", c_char_p),
    ("data", c_void_p),
    ("open", Call(c_int, c_void_p, c_void_p, c_void_p, c_int, POINTER(c_int))),
    ("delete", Call(c_int, c_void_p, c_char_p, c_int)),
    ("access", Call(c_int, c_void_p, c_char_p, c_int, POINTER(c_int))),
    ("full_path", Call(c_int, c_void_p, c_char_p, c_int, c_void_p)),
    ("dl_open", c_void_p),
    ("dl_error", c_void_p),
    ("dl_sym", c_void_p),
    ("dl_close", c_void_p),
    ("randomness", Call(c_int, c_void_p, c_int, c_void_p)),
    ("sleep", Call(c_int, c_void_p, c_int)),
    ("time", Call(c_int, c_void_p, POINTER(c_double))),
    ("last_error", Call(c_int, c_void_p, c_int, c_void_p)),
    ("time_ms", Call(c_int, c_void_p, POINTER(c_int64))),
]


class Vfs(Structure):
    """`sqlite3_vfs`, version 2."""

    _fields_ = VFS


class Opened(Structure):
    """`sqlite3_file`, with a number behind it."""

    _fields_ = [("methods", POINTER(Methods)), ("number", c_int64)]


class Handle:
    """An open file."""

    def __init__(self, name: str, file: File, epoch: int, *, is_new: bool) -> None:
        self.name = name
        self.file = file
        self.epoch = epoch
        self.is_new = is_new
        self.level = 0
        self.shared: set[int] = set()
        self.exclusive: set[int] = set()


class SimulatedSqlite:
    """The VFS `world`; its disk is exchanged from seed to seed.

    Raises `OSError` if Python's SQLite is no library of its own that can be called.
    """

    NAME = "world"

    def __init__(self) -> None:
        library = _library()
        self.disk = SimulatedDisk(random.Random(0))
        self.sleep: Callable[[float], None] = lambda _: None
        self.epoch = 0
        """Power failures so far: what was opened before one is nobody's."""
        self._handles: dict[int, Handle] = {}
        self._shared: dict[str, list[ctypes.Array[ctypes.c_char]]] = {}
        self._number = 0
        self._dice = random.Random(0)
        self._methods = Methods(2, *(kind(getattr(self, f"_{name}")) for name, kind in METHODS[1:]))
        self._vfs = Vfs(
            version=2,
            file_size=ctypes.sizeof(Opened),
            longest_path=256,
            name=self.NAME.encode(),
            **{
                name: kind(getattr(self, f"_vfs_{name}"))
                for name, kind in VFS
                if name in {"open", "delete", "access", "full_path", "randomness", "sleep", "time", "last_error", "time_ms"}
            },
        )  # fmt: skip
        if library.sqlite3_vfs_register(ctypes.byref(self._vfs), 0) != OK:
            raise OSError("SQLite takes no VFS")

    def start(self, disk: SimulatedDisk, seed: int, sleep: Callable[[float], None]) -> None:
        """Lie on another disk from now on."""
        self.disk = disk
        self.sleep = sleep
        self._dice = random.Random(seed)
        self.power_failed()

    def power_failed(self) -> None:
        """Forget what is open."""
        self.epoch += 1
        self._shared.clear()

    # ---- the file system ---------------------------------------------------------------------------

    def _vfs_open(self, _vfs: int, name: int, file: int, flags: int, out: Pointer) -> int:
        opened = Opened.from_address(file)
        opened.methods = POINTER(Methods)()
        text = ctypes.string_at(name).decode() if name else f"/temporary-{self._number}"
        try:
            is_new = not self.disk.exists(text)
            found = self.disk.open(text, make=bool(flags & 0x4))
        except (OSError, PowerFailure):
            return CANTOPEN
        self._number += 1
        self._handles[self._number] = Handle(text, found, self.epoch, is_new=is_new)
        opened.number = self._number
        opened.methods = ctypes.pointer(self._methods)
        if out:
            out[0] = flags
        return OK

    def _vfs_delete(self, _vfs: int, name: bytes, sync: int) -> int:
        try:
            self.disk.unlink(name.decode())
            if sync:
                self.disk.sync_folder(name.decode().rpartition("/")[0])
        except (OSError, PowerFailure):
            return DELETE
        return OK

    def _vfs_access(self, _vfs: int, name: bytes, _flags: int, out: Pointer) -> int:
        out[0] = self.disk.exists(name.decode())
        return OK

    def _vfs_full_path(self, _vfs: int, name: bytes, size: int, out: int) -> int:
        if len(name) >= size:
            return CANTOPEN
        ctypes.memmove(out, name + b"\0", len(name) + 1)
        return OK

    def _vfs_randomness(self, _vfs: int, size: int, out: int) -> int:
        ctypes.memmove(out, self._dice.randbytes(size), size)
        return size

    def _vfs_sleep(self, _vfs: int, microseconds: int) -> int:
        self.sleep(microseconds / 1e6)
        return microseconds

    def _vfs_time(self, _vfs: int, out: Pointer) -> int:
        out[0] = 2_460_000.5
        return OK

    def _vfs_time_ms(self, _vfs: int, out: Pointer) -> int:
        out[0] = int(2_460_000.5 * 86_400_000)
        return OK

    def _vfs_last_error(self, _vfs: int, _size: int, _out: int) -> int:
        return OK

    # ---- a file ------------------------------------------------------------------------------------

    def _handle(self, file: int) -> Handle | None:
        handle = self._handles[Opened.from_address(file).number]
        return handle if handle.epoch == self.epoch and not self.disk.is_off else None

    def _close(self, file: int) -> int:
        self._handles.pop(Opened.from_address(file).number)
        return OK

    def _read(self, file: int, out: int, size: int, at: int) -> int:
        handle = self._handle(file)
        if handle is None:
            return READ
        data = bytes(handle.file.now[at : at + size])
        ctypes.memmove(out, data + bytes(size - len(data)), size)
        return OK if len(data) == size else SHORT_READ

    def _write(self, file: int, data: int, size: int, at: int) -> int:
        handle = self._handle(file)
        if handle is None:
            return WRITE
        try:
            self.disk.put(handle.file, at, ctypes.string_at(data, size))
        except OSError:
            return FULL
        except PowerFailure:
            return WRITE
        return OK

    def _truncate(self, file: int, size: int) -> int:
        handle = self._handle(file)
        if handle is None:
            return TRUNCATE
        try:
            self.disk.put(handle.file, size, None)
        except (OSError, PowerFailure):
            return TRUNCATE
        return OK

    def _sync(self, file: int, _flags: int) -> int:
        handle = self._handle(file)
        if handle is None:
            return FSYNC
        try:
            self.disk.sync(handle.file)
            if handle.is_new:  # as SQLite does it on Unix
                self.disk.sync_folder(handle.name.rpartition("/")[0])
                handle.is_new = False
        except (OSError, PowerFailure):
            return FSYNC
        return OK

    def _size(self, file: int, out: Pointer) -> int:
        handle = self._handle(file)
        if handle is None:
            return READ
        out[0] = len(handle.file.now)
        return OK

    def _others(self, handle: Handle) -> list[Handle]:
        return [
            other
            for other in self._handles.values()
            if other is not handle and other.name == handle.name and other.epoch == self.epoch
        ]

    def _lock(self, file: int, level: int) -> int:
        handle = self._handle(file)
        if handle is None:
            return IOERR
        highest = max((other.level for other in self._others(handle)), default=0)
        if (level == 1 and highest >= 3) or (level == 2 and highest >= 2):
            return BUSY
        if level == 4 and highest >= 1:
            handle.level = max(handle.level, 3)
            return BUSY
        handle.level = max(handle.level, level)
        return OK

    def _unlock(self, file: int, level: int) -> int:
        handle = self._handle(file)
        if handle is not None:
            handle.level = min(handle.level, level)
        return OK

    def _check_reserved(self, file: int, out: Pointer) -> int:
        handle = self._handle(file)
        out[0] = handle is not None and any(one.level >= 2 for one in [handle, *self._others(handle)])
        return OK

    def _control(self, _file: int, _what: int, _argument: int) -> int:
        return NOTFOUND

    def _sector(self, _file: int) -> int:
        return 512

    def _characteristics(self, _file: int) -> int:
        return 0

    def _shm_map(self, file: int, region: int, size: int, extend: int, out: Pointer) -> int:
        handle = self._handle(file)
        out[0] = None
        if handle is None:
            return IOERR
        regions = self._shared.setdefault(handle.name, [])
        while len(regions) <= region:
            if not extend:
                return OK
            regions.append(ctypes.create_string_buffer(size))
        out[0] = ctypes.addressof(regions[region])
        return OK

    def _shm_lock(self, file: int, first: int, count: int, flags: int) -> int:
        handle = self._handle(file)
        if handle is None:
            return IOERR
        slots = set(range(first, first + count))
        if flags & 1:
            handle.shared -= slots
            handle.exclusive -= slots
            return OK
        for other in self._others(handle):
            if slots & (other.exclusive if flags & 4 else other.exclusive | other.shared):
                return BUSY
        (handle.shared if flags & 4 else handle.exclusive).update(slots)
        return OK

    def _shm_barrier(self, _file: int) -> None:
        pass

    def _shm_unmap(self, file: int, delete: int) -> int:
        handle = self._handle(file)
        if handle is not None and delete:
            self._shared.pop(handle.name, None)
        return OK


def _library() -> ctypes.CDLL:
    """Return the library that Python's `sqlite3` has loaded."""
    import _sqlite3

    # Its symbols are found through the extension module, which is linked with it.
    library = ctypes.CDLL(_sqlite3.__file__)
    try:
        library.sqlite3_vfs_register  # noqa: B018 - whether it is there
    except AttributeError as error:
        raise OSError("Python's SQLite cannot be called") from error
    library.sqlite3_vfs_register.argtypes = [c_void_p, c_int]
    return library
