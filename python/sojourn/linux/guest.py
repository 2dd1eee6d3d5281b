"""First process of a guest: shows its file systems, seeds its randomness, runs the command, and answers the host.

It runs with the standard library alone, as process 1 of the guest's kernel. Its folder on the host, the argument, has the job
(`job.json`), takes the command's output (`stdout`, `stderr`) and status, and a file whose time is set again and again
(`beat`): so the host sees whether the guest's time passes. What comes on the serial line asks the command to end.
"""

import contextlib
import ctypes
import hashlib
import json
import os
import select
import signal
import socket
import struct
import sys
import time
from pathlib import Path
from typing import Any

BEAT_S = 0.02
"""Time between two beats. chosen: a program that reads the clock in a loop passes it with 80,000 reads, in a few seconds of the host."""

RNDADDENTROPY = 0x40085203
"""ioctl of random(4): adds bytes to the pool, and counts them."""

POWER_OFF = 0x4321FEDC
"""reboot(2): LINUX_REBOOT_CMD_POWER_OFF."""

WRITE_BACK_CENTISECONDS = 10
"""Age at which written pages go to the host. chosen: output appears while the command runs."""

REAL_TIME = 20
"""Real-time priority that programs may take: the emulator asks for 10."""

MARK = "/././"
"""Stands in the path by which the emulation is started, so that the host tells it from its command: it may compute for long."""

LINE = "/dev/ttyS0"


def main() -> None:
    """Live as process 1, and switch the guest off."""
    place = Path(sys.argv[1])
    libc = ctypes.CDLL(None, use_errno=True)
    status = 125
    try:
        job = json.loads((place / "job.json").read_text(encoding="utf-8"))
        _show_file_systems(libc, job["hidden"])
        _prepare(job)
        status = _watch(_start(job, place), place, BEAT_S * 1000 if job["beats"] else None)
    except BaseException as error:
        # Process 1 must not end before the guest is off.
        (place / "failed").write_text(f"{type(error).__name__}: {error}", encoding="utf-8")
    (place / "status").write_text(str(status), encoding="utf-8")
    os.sync()
    libc.reboot(POWER_OFF)


def _show_file_systems(libc: ctypes.CDLL, hidden: list[str]) -> None:
    """Mount what belongs to this kernel; the rest is the host's."""
    kinds = [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev")]
    kinds += [("tmpfs", place) for place in hidden]
    for kind, place in kinds:
        libc.mount(kind.encode(), place.encode(), kind.encode(), 0, None)
    for kind, place, mode in (("devpts", "/dev/pts", 0o755), ("tmpfs", "/dev/shm", 0o1777)):
        Path(place).mkdir(parents=True, exist_ok=True)
        libc.mount(kind.encode(), place.encode(), kind.encode(), 0, None)
        with contextlib.suppress(OSError):
            Path(place).chmod(mode)
    with contextlib.suppress(FileExistsError):
        Path("/dev/fd").symlink_to("/proc/self/fd")
    for device in ("/dev/net/tun", "/dev/ptmx"):
        with contextlib.suppress(OSError):
            Path(device).chmod(0o666)


def _prepare(job: dict[str, Any]) -> None:
    """Seed what is random, switch loopback on, and let pages go to the host soon."""
    import fcntl

    seed = hashlib.sha512(job["seed"].encode()).digest()
    with Path("/dev/random").open("wb") as pool:
        fcntl.ioctl(pool, RNDADDENTROPY, struct.pack("ii", 8 * len(seed), len(seed)) + seed)
    for setting, value in (
        ("vm/dirty_writeback_centisecs", WRITE_BACK_CENTISECONDS),
        ("vm/dirty_expire_centisecs", WRITE_BACK_CENTISECONDS),
    ):
        Path("/proc/sys", setting).write_text(str(value), encoding="ascii")
    socket.sethostname("virtual")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        name = b"lo".ljust(16, b"\0")
        fcntl.ioctl(any_socket, 0x8914, name + struct.pack("h", 1 | 64).ljust(24, b"\0"))  # SIOCSIFFLAGS: up, running


def _start(job: dict[str, Any], place: Path) -> int:
    """Start the command as the user of the host, and return its process."""
    process = os.fork()
    if process:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))  # before any program that computes
        return process
    try:
        os.setsid()
        nothing = os.open("/dev/null", os.O_RDONLY)
        os.dup2(nothing, 0)
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(place / name, os.O_WRONLY | os.O_APPEND), number)
        import resource

        resource.setrlimit(resource.RLIMIT_RTPRIO, (REAL_TIME, REAL_TIME))
        if job["user"] != 0:
            os.setgroups(job["groups"])
            os.setgid(job["group"])
            os.setuid(job["user"])
        os.umask(job["umask"])
        os.chdir(job["directory"])
        folder, _, name = job["command"][0].rpartition("/")
        os.execve(f"{folder}{MARK}{name}", job["command"], job["environment"])
    except OSError as error:
        os.write(2, f"{job['command'][0]}: {error}\n".encode())
    os._exit(127)


def _watch(command: int, place: Path, beat_ms: float | None) -> int:
    """Beat, answer and reap until the command has ended, and return its status; the command stays unreaped."""
    import termios
    import tty

    line = os.open(LINE, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    tty.setraw(line, termios.TCSANOW)
    signals, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, _wake)
    signal.set_wakeup_fd(wake)
    poll = select.poll()
    poll.register(line, select.POLLIN)
    poll.register(signals, select.POLLIN)
    while True:
        now = time.time_ns()
        os.utime(place / "beat", ns=(now, now))  # hostfs passes on only times that are given
        asked = [descriptor for descriptor, _ in poll.poll(beat_ms)]
        if signals in asked:
            with contextlib.suppress(BlockingIOError):
                os.read(signals, 4096)
        if line in asked:
            os.read(line, 64)
            os.kill(command, signal.SIGINT)
        ended = _oldest_ended()
        if ended is not None and ended.si_pid != command:
            # The last thread of a process reports its end first and drops its entries of /proc then (`release_task`). To reap at once, above
            # its priority, waits for these entries and never lets it go on (`shrink_dcache_parent`); in a sleep it is done.
            time.sleep(BEAT_S)
            while ended is not None and ended.si_pid != command:
                os.waitpid(ended.si_pid, 0)
                ended = _oldest_ended()
        if ended is not None:
            return ended.si_status if ended.si_code == os.CLD_EXITED else 128 + ended.si_status


def _oldest_ended() -> os.waitid_result | None:
    """Return the end of the oldest child that has ended, and leave it to be reaped; the command is the oldest of all."""
    return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)


def _wake(_number: int, _frame: object) -> None:
    """Do nothing: a child has ended, and the descriptor says so."""


if __name__ == "__main__":
    main()
