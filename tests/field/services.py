"""Services that tests of the collector start: the collector itself, and a PostgreSQL of their own."""

import contextlib
import gzip
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def flent_file(number: int, *, title: str = "", began: str = "2016-05-02T08:00:00Z") -> bytes:
    """Return a small, complete result of Flent; different numbers are different tests."""
    x = [0.2 * k for k in range(150)]
    document: dict[str, Any] = {
        "version": 4,
        "metadata": {
            "NAME": "rrul_up",
            "TITLE": title,
            "TIME": began,
            "LOCAL_HOST": "probe",
            "LENGTH": 20.0,
            "TOTAL_LENGTH": 30.0,
            "STEP_SIZE": 0.2,
        },
        "x_values": x,
        "results": {
            "TCP upload avg": [1.0 + number / 1000 if 5 <= at <= 25 else None for at in x],
            "Ping (ms) UDP BE": [20.0 + number / 10 for _ in x],
        },
    }
    return gzip.compress(json.dumps(document).encode(), mtime=0)


class Collector:
    """A collector in a process of its own, which may be killed and started again."""

    def __init__(self, database: str, folder: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._database = database
        self._log = folder / "collector.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "sojourn", "trial", "collector", "serve"),
                    *("--database", self._database, "--port", str(self.port)),
                ],
                stdout=log,
                stderr=log,
            )
        for _ in range(600):
            with (
                contextlib.suppress(urllib.error.URLError, ConnectionError),
                urllib.request.urlopen(f"{self.url}/health", timeout=5) as answer,
            ):
                if answer.status == 200:
                    return
            if self._process.poll() is not None:
                break
            time.sleep(0.1)
        pytest.fail(f"the collector did not start: {self._log.read_text()}")

    def kill(self) -> None:
        """Take it away in the middle of whatever it does."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """Let it finish what it does."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


@contextlib.contextmanager
def postgresql() -> Generator[str]:
    """Run a PostgreSQL of our own, and give its URL.

    The server refuses to run as root, so root lends it to the system's user `postgres`; the folders of tests are closed
    to that one.
    """
    homes = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not homes:
        pytest.skip("no PostgreSQL: apt install postgresql")
    binaries = homes[-1]
    folder = Path(tempfile.mkdtemp(prefix="sojourn-postgresql-"))
    data, sockets, port = folder / "data", folder / "sockets", free_port()
    for place in (data, sockets):
        place.mkdir()
    as_server: list[str] = []
    if os.geteuid() == 0:
        as_server = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]
        for place in (folder, data, sockets):
            shutil.chown(place, "postgres", pwd.getpwnam("postgres").pw_gid)

    def run(*command: str) -> None:
        done = subprocess.run([*as_server, *command], capture_output=True, text=True, check=False, cwd=folder)
        assert done.returncode == 0, done.stderr + done.stdout

    run(str(binaries / "initdb"), "-D", str(data), "-U", "trial", "--auth=trust", "-E", "UTF8")
    options = f"-p {port} -k {sockets} -h 127.0.0.1 -c fsync=off"
    control = (str(binaries / "pg_ctl"), "-D", str(data), "-w")
    run(*control, "-l", str(data / "log"), "-o", options, "start")
    try:
        run(str(binaries / "createdb"), "-h", "127.0.0.1", "-p", str(port), "-U", "trial", "field")
        yield f"postgresql://trial@127.0.0.1:{port}/field"
    finally:
        run(*control, "-m", "immediate", "stop")
        shutil.rmtree(folder)
