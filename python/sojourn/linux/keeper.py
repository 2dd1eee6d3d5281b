"""Starts a guest and ends with it: when the guest is off, and when the program that wanted it has gone, however that ended.

A process of its own in a session of its own, with the standard library alone. Its input is the pipe whose other end the program holds. It
takes over what its children leave, so it can end each process of the guest, and then removes the guest's folder.
"""

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import struct
import sys
import time
from pathlib import Path

SET_CHILD_SUBREAPER, SET_PDEATHSIG, SET_NO_NEW_PRIVS, SET_SECCOMP = 36, 1, 38, 22
"""Options of prctl(2)."""

GETRANDOM = 318
"""Number of getrandom(2) on x86-64."""

LINE = 3
"""Descriptor of the guest's serial line."""

ADDR_NO_RANDOMIZE = 0x0040000
"""Flag of personality(2)."""


def main() -> None:
    """Start, wait, clean."""
    place = Path(sys.argv[1])
    line = int(sys.argv[2])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    start = json.loads((place / "start.json").read_text(encoding="utf-8"))
    guest = os.fork()
    if guest == 0:
        try:
            _become(libc, start, place, line)
        finally:
            os._exit(126)
    os.close(line)
    sys.stdout.write(f"{guest}\n")
    sys.stdout.flush()
    ended = os.pidfd_open(guest)
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    poll.register(0, select.POLLIN | select.POLLHUP)
    poll.poll()
    _end_children()
    # The program reads what the guest has left, and closes the pipe then.
    os.close(1)
    os.read(0, 1)
    shutil.rmtree(place, ignore_errors=True)


def _become(libc: ctypes.CDLL, start: dict[str, list[str]], place: Path, line: int) -> None:
    """Turn this process into the guest."""
    libc.prctl(SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    libc.personality(ADDR_NO_RANDOMIZE)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    console = os.open(place / "console", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(console, 1)
    os.dup2(console, 2)
    os.dup2(line, LINE)
    os.chdir(place)  # which the command line of the guest calls `/proc/self/cwd`
    _refuse_randomness(libc)
    os.execve(start["command"][0], start["command"], {"TMPDIR": start["memory"][0], "PATH": os.defpath})


def _refuse_randomness(libc: ctypes.CDLL) -> None:
    """Refuse getrandom(2) of the host to the guest's kernel, which would mix it into its pool: the run's seed alone decides.

    The filter has four instructions of seccomp(2): load the number of the call; if it is the one, refuse; else allow.
    """
    code = b"".join(
        (
            struct.pack("HBBI", 0x20, 0, 0, 0),
            struct.pack("HBBI", 0x15, 0, 1, GETRANDOM),
            struct.pack("HBBI", 0x06, 0, 0, 0x0005_0026),  # SECCOMP_RET_ERRNO with ENOSYS
            struct.pack("HBBI", 0x06, 0, 0, 0x7FFF_0000),  # SECCOMP_RET_ALLOW
        )
    )
    held = ctypes.create_string_buffer(code, len(code))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(held)))
    libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(SET_SECCOMP, 2, ctypes.byref(program), 0, 0)


def _end_children() -> None:
    """Kill all that descends from this process until nothing does."""
    while True:
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.001)


if __name__ == "__main__":
    main()
