"""Runs a command in user-mode Linux under its own clock: time stands while anything computes, and jumps when everything sleeps.

The guest's root is the file system of the host, with the rights of the user, so the same programs lie at the same paths. What the command
prints is passed on while it runs; its exit status is that of the call.
"""

import contextlib
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from sojourn.base.errors import EnvironmentFailure
from sojourn.linux.build import Kernel
from sojourn.linux.guest import MARK
from sojourn.linux.keeper import LINE

START_NS = 1_767_225_600 * 10**9
"""Date of the guest when it starts: 2026-01-01 00:00 UTC. chosen: the same in all runs, and within the dates of usual certificates."""

MEMORY_MB = 1024
"""Memory of the guest. chosen: Linux gives TCP its largest buffers from 512 MB on, and a report needs some 300; pages that are not
used take none of the host's."""

LOOK_S = 0.05
"""Time between two looks at the guest. chosen: output appears at once for a reader."""

SPINS_S = 10.0
"""Processor time without a step of the clock after which a program spins; without a beat, where the clock cannot be read. chosen: far
above the start of an interpreter, and 30 s by the host's clock where the guest gets a third of a processor."""

HANGS_S = 300.0
"""Processor time without a step of its clock after which a guest hangs. chosen: the longest work of a run without a look at the clock is
to pack its tables, which have at most 512 MB: at 20 MB/s that takes 26 s."""

CLOCK = b"time_travel_time"
"""Variable of the guest's kernel with its time in ns. Source: Linux `arch/um/kernel/time.c`."""

INFINITE, SLOW = "infinite", "slow"
"""Speed of the guest's processor: infinitely fast, or as fast as the host's."""


class Spinning(EnvironmentFailure):
    """A program in the guest computes without waiting."""


class Hanging(EnvironmentFailure):
    """A guest computes, and its clock stands."""


class Ended(NamedTuple):
    """End of a command, and of its guest."""

    status: int
    processor_s: float
    """Processor time of the guest, on the host."""


def run(
    kernel: Kernel,
    command: Sequence[str],
    environment: Mapping[str, str],
    seed: int,
    speed: str = INFINITE,
    look: Callable[[bytes], None] | None = None,
    *,
    as_root: bool = False,
) -> Ended:
    """Run a command in a guest, pass its output on, and return its end.

    Parameters
    ----------
    kernel
        What runs as the guest.
    command
        The program, by its whole path, and its arguments.
    environment
        Of the command.
    seed
        Of all randomness in the guest.
    speed
        `INFINITE`, or `SLOW` for programs that compute until a time is over.
    look
        Called some twenty times a second with what the command has printed since, if anything; its exception ends the guest.
        Such a command may compute until the guest hangs. If left out, the output is passed on, an interrupt goes to the command, and one
        that spins is refused.
    as_root
        As root of the guest, who has the rights of the user on the host; else as the user.

    Raises
    ------
    Spinning
        If a program other than the emulation computes without waiting, unless there is a `look`.
    Hanging
        If the guest has computed for `HANGS_S` at one time of its clock.
    """
    with _place() as place:
        _write_job(place, kernel, command, environment, seed, speed, beats=look is None, as_root=as_root)
        with _Guest(place, kernel.program) as guest:
            status = guest.wait(look)
        return Ended(status, guest.processor_s)


@contextlib.contextmanager
def _place() -> Generator[Path]:
    """Yield a folder for one guest."""
    place = Path(tempfile.mkdtemp(prefix="sojourn-virtual-")).resolve()
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _write_job(
    place: Path,
    kernel: Kernel,
    command: Sequence[str],
    environment: Mapping[str, str],
    seed: int,
    speed: str,
    *,
    beats: bool,
    as_root: bool,
) -> None:
    """Write the job of the guest and how it starts."""
    for name in ("stdout", "stderr", "beat"):
        (place / name).touch()
    umask = os.umask(0)
    os.umask(umask)
    here = Path.cwd()
    used = [str(path) for path in (here, place, Path(sys.prefix), Path(sys.base_prefix))]
    job = {
        "seed": f"sojourn {seed}",
        "user": 0 if as_root else os.getuid(),
        "group": 0 if as_root else os.getgid(),
        "groups": os.getgroups(),
        "umask": umask,
        "directory": str(here),
        "command": list(command),
        "environment": dict(environment),
        "beats": beats,
        # Sockets and locks of the host's services mean nothing in the guest.
        "hidden": [] if any(path.startswith("/run/") for path in used) else ["/run"],
    }
    (place / "job.json").write_text(json.dumps(job), encoding="utf-8")
    first = place / "init"
    guest = Path(__file__).with_name("guest.py")
    first.write_text(
        f"#!/bin/sh\nexport PYTHONHASHSEED=0\nexec {_quoted(sys.executable)} -I -S {_quoted(guest)} {_quoted(place)}\n",
        encoding="utf-8",
    )
    first.chmod(0o700)
    memory = Path("/dev/shm")
    has_room = memory.is_dir() and shutil.disk_usage(memory).free > 2 * MEMORY_MB * 1_000_000
    start = {
        "command": [
            str(kernel.program),
            f"mem={MEMORY_MB}M",
            *("root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", "init=/proc/self/cwd/init"),
            "time-travel=inf-cpu" if speed == INFINITE else "time-travel",
            f"time-travel-start={START_NS}",
            # The command line is mixed into the pool before anything draws from it: but for the seed it is the same in all runs.
            f"sojourn.seed={seed}",
            *(
                "con=null",
                "con0=null",
                "ssl=null",
                f"ssl0=fd:{LINE},null",
                "quiet",
                "panic=-1",
                "uml_dir=.",
                "umid=guest",
            ),
        ],
        "memory": [str(memory if has_room else place)],
    }
    (place / "start.json").write_text(json.dumps(start), encoding="utf-8")


def _quoted(path: object) -> str:
    from shlex import quote

    return quote(str(path))


def _program(process: int) -> str:
    """Return the program of the guest that a process of the host runs for its kernel; empty if it is the emulation, or not found.

    Such a process has the pages of its program mapped from the guest's memory. The highest page of the stack ends with the
    strings of arguments and environment, the name of the file, and eight zero bytes (Linux `fs/exec.c`, `bprm_mm_init`).
    """
    with contextlib.suppress(OSError, ValueError):
        maps = Path(f"/proc/{process}/maps").read_text(encoding="utf-8", errors="replace").splitlines()
        with Path(f"/proc/{process}/mem").open("rb", buffering=0) as memory:
            for line in reversed(maps):
                span, rights, *_ = line.split()
                first, end = (int(number, 16) for number in span.split("-"))
                if not (rights.startswith("rw") and line.endswith("(deleted)")):
                    continue
                memory.seek(max(first, end - 16 * 4096))
                name = file_of_stack(memory.read(end - memory.tell()))
                if name:
                    return "" if MARK in name else Path(name).name
    return ""


def file_of_stack(text: bytes) -> str:
    """Return the file of the program whose stack ends with these bytes; empty if they are no end of a stack.

    Other pages may end with zeros, too: a file is a path of printable characters.
    """
    if text[-9:] != bytes(9):
        return ""
    with contextlib.suppress(UnicodeDecodeError):
        name = text[:-9].rpartition(b"\0")[2].decode()
        if "/" in name and name.isprintable():
            return name
    return ""


def address_of(program: Path, name: bytes) -> int:
    """Return the address of a variable in an ELF program of 64 bits that is loaded where it says; 0 if it has no such symbol."""
    content, whole = program.read_bytes(), name + b"\0"
    (at,) = struct.unpack_from("<Q", content, 0x28)
    size, count = struct.unpack_from("<HH", content, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", content, at + size * number) for number in range(count)]
    for _, kind, _, _, start, length, names, *_ in sections:
        if kind != 2:  # SHT_SYMTAB
            continue
        first = sections[names][4]
        for text, _, _, _, value, _ in struct.iter_unpack("<IBBHQQ", content[start : start + length]):
            if content.startswith(whole, first + text):
                return int(value)
    return 0


class _Guest:
    """A guest that runs, as its host sees it."""

    def __init__(self, place: Path, program: Path) -> None:
        self._place = place
        self._clock_at = address_of(program, CLOCK)
        self._ask, self._keeper = -1, None
        self._was_interrupted = False
        self._passed = {"stdout": 0, "stderr": 0}
        self.processor_s = 0.0

    def __enter__(self) -> Self:
        line, self._ask = os.pipe()
        self._keeper = subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(__file__).with_name("keeper.py")), str(self._place), str(line)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[line],
            start_new_session=True,
        )
        os.close(line)
        assert self._keeper.stdout is not None
        self._process = int(self._keeper.stdout.readline())
        os.set_blocking(self._keeper.stdout.fileno(), False)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._keeper is not None
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        self._keeper.stdin.close()  # the keeper ends what is left
        _process, status, used = os.wait4(self._keeper.pid, 0)
        self._keeper.returncode = os.waitstatus_to_exitcode(status)
        self.processor_s = used.ru_utime + used.ru_stime  # with all that the keeper has waited for
        self._keeper.stdout.close()
        os.close(self._ask)

    def wait(self, look: Callable[[bytes], None] | None) -> int:
        """Pass output on until the guest is off; return the status of its command."""
        seen, used, looked_at = 0, 0.0, 0.0
        if look is None:
            signal.signal(signal.SIGINT, self._interrupt)
        while not self._is_off():
            time.sleep(LOOK_S)
            if look is None:
                self._pass_on()
                sign = self._clock_ns() or (self._place / "beat").stat().st_mtime_ns
            else:
                look(self._said("stdout"))
                sign = self._clock_ns()
            now = time.monotonic()
            if sign != seen:
                seen, used, looked_at = sign, -1.0, now
            elif sign and now > looked_at + 1:
                looked_at, total = now, self._processor_time()
                used = total if used < 0 else used
                if look is None and total > used + SPINS_S:
                    self._refuse_spinning()
                if total > used + HANGS_S:
                    raise Hanging(
                        f"the guest has computed for {HANGS_S:.0f} s without a step of its clock: it hangs",
                        "the same run hangs again; one of another seed may not",
                    )
        if look is None:
            self._pass_on()
        status = self._place / "status"
        failed = self._place / "failed"
        if failed.exists() or not status.exists():
            raise EnvironmentFailure(f"the guest did not start: {self._last_words()}")
        return int(status.read_text(encoding="ascii") or 125)

    def _is_off(self) -> bool:
        assert self._keeper is not None
        assert self._keeper.stdout is not None
        return self._keeper.stdout.read(1) == b""

    def _interrupt(self, _number: int, _frame: object) -> None:
        """Let the emulation end in order; the second time, at once."""
        if self._was_interrupted:
            raise KeyboardInterrupt
        self._was_interrupted = True
        os.write(self._ask, b"i")

    def _pass_on(self) -> None:
        """Write what the command has printed since the last call."""
        for number, name in ((1, "stdout"), (2, "stderr")):
            data = self._said(name)
            while data:
                data = data[os.write(number, data) :]

    def _said(self, name: str) -> bytes:
        """Return what the command has printed since the last call."""
        with (self._place / name).open("rb") as file:
            file.seek(self._passed[name])
            data = file.read()
        self._passed[name] += len(data)
        return data

    def _processes(self) -> Iterator[tuple[int, str, int]]:
        """Yield number, state and processor time in ticks of the guest's processes, which share a session."""
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
                if int(fields[3]) == self._process:
                    yield int(stat.parts[2]), fields[0], int(fields[11]) + int(fields[12])

    def _clock_ns(self) -> int:
        """Return the time of the guest's kernel; 0 if it cannot be read."""
        with contextlib.suppress(OSError), Path(f"/proc/{self._process}/mem").open("rb", buffering=0) as memory:
            memory.seek(self._clock_at)
            return int.from_bytes(memory.read(8), "little")
        return 0

    def _processor_time(self) -> float:
        return sum(ticks for _, _, ticks in self._processes()) / os.sysconf("SC_CLK_TCK")

    def _refuse_spinning(self) -> None:
        """Name the programs that compute; the emulation itself may."""
        running = [_program(process) for process, state, _ in self._processes() if state == "R"]
        names = sorted({name for name in running if name})
        if names:
            many = len(names) > 1
            raise Spinning(
                f"{' and '.join(names)} compute{'' if many else 's'} without waiting; in virtual time that takes for ever",
                "--virtual=slow lets time pass while programs compute; results then differ from run to run",
            )

    def _last_words(self) -> str:
        """Return why a guest did not come up, as far as it said."""
        for name in ("failed", "console"):
            with contextlib.suppress(OSError):
                lines = (self._place / name).read_text(encoding="utf-8", errors="replace").split("\n")
                said = [line.strip() for line in lines if line.strip()]
                if said:
                    return said[-1]
        return "it said nothing"
