"""`sojourn emulate` as anybody has it, for tests that root runs too."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOTLESS = ["unshare", "-U", "--map-user=1000", "--map-group=1000"]
"""How root becomes a user without any right: of the tests, only root's own are root's."""


MISSING_TOOLS = ", ".join(tool for tool in ("iperf3", "irtt") if shutil.which(tool) is None)
"""Of the tools of field trials, those that are not installed."""

ENDS_WITH_A_THREAD = """
import ctypes, os, threading, time
exit_thread = lambda: ctypes.CDLL(None).syscall(60, 0)
def second():
    for name in ("stat", "status", "comm", "fd"):
        os.stat(f"/proc/thread-self/{name}")
    time.sleep(0.05)
    exit_thread()
threading.Thread(target=second).start()
exit_thread()
"""
"""A program whose last thread has entries in /proc and ends after its first one: in a guest, a parent that reaps it at once never ends."""


class Rootless:
    """`sojourn emulate` as anybody has it."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def command(self, *words: str, as_we_are: bool = False) -> list[str]:
        """Return the whole command."""
        prefix = ROOTLESS if os.getuid() == 0 and not as_we_are else []
        return [*prefix, sys.executable, "-m", "sojourn", "emulate", *words]

    def __call__(self, *words: str, timeout: float = 60, as_we_are: bool = False) -> "subprocess.CompletedProcess[str]":
        """Run it to its end."""
        return subprocess.run(
            self.command(*words, as_we_are=as_we_are),
            cwd=self.place,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def start(self, *words: str, as_we_are: bool = False) -> "subprocess.Popen[str]":
        """Run it beside the test."""
        return subprocess.Popen(
            self.command(*words, as_we_are=as_we_are),
            cwd=self.place,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )
