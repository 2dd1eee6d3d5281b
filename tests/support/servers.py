"""Servers on this machine for tests of a shared store: a small S3, a real one, and SLURM."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import threading
import time
import urllib.parse
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from xml.sax.saxutils import escape, unescape


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def credentials(port: int) -> dict[str, str]:
    """Return the environment of who uses a server of this machine."""
    return {
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "bbbbbbbb",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_REGION": "us-east-1",
    }


class _Server(ThreadingHTTPServer):
    """Objects in memory, by path."""

    daemon_threads = True

    def __init__(self, *, is_conditional: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.objects: dict[str, bytes] = {}
        self.lock = threading.Lock()
        self.is_conditional = is_conditional
        self.fails = 0
        """How many of the next writes are done, and answered with an error."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride] - the only one that it serves
    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            is_taken = self.path in self.server.objects
            if is_taken and self.server.is_conditional and self.headers["If-None-Match"] == "*":
                self._answer(412, b"<Error><Code>PreconditionFailed</Code></Error>")
                return
            self.server.objects[self.path] = content
            if self.server.fails:
                self.server.fails -= 1
                self._answer(500, b"")
                return
        self._answer(200, b"")

    def do_GET(self) -> None:
        where = urllib.parse.urlsplit(self.path)
        asked = dict(urllib.parse.parse_qsl(where.query))
        if "list-type" in asked:
            self._list(where.path.strip("/"), asked.get("prefix", ""))
            return
        content = self.server.objects.get(where.path)
        self._answer(404 if content is None else 200, content or b"")

    do_HEAD = do_GET

    def do_POST(self) -> None:
        """Delete objects, the only thing that is posted."""
        asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
        bucket = urllib.parse.urlsplit(self.path).path.strip("/")
        keys = re.findall("<Key>(.*?)</Key>", asked)
        with self.server.lock:
            for key in keys:
                self.server.objects.pop(f"/{bucket}/{unescape(key)}", None)
        gone = "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in keys)
        self._answer(200, f"<DeleteResult>{gone}</DeleteResult>".encode())

    def _list(self, bucket: str, prefix: str) -> None:
        start = f"/{bucket}/"
        keys = [urllib.parse.unquote(path).removeprefix(start) for path in self.server.objects]
        found = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>1</Size><ETag>e</ETag>"
            "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
            for key in sorted(keys)
            if key.startswith(prefix)
        )
        text = f"<ListBucketResult><IsTruncated>false</IsTruncated>{found}</ListBucketResult>"
        self._answer(200, text.encode())

    def _answer(self, status: int, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", '"e"')
        self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@contextlib.contextmanager
def small_s3(*, is_conditional: bool = True) -> Generator[_Server]:
    """Give a server that does what a store asks of S3, without credentials, and if wanted without conditions."""
    server = _Server(is_conditional=is_conditional)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def find_versitygw() -> str | None:
    """Return the program of an S3-compatible server, as `tools/install-s3-server` builds it or from elsewhere."""
    own = Path(__file__).parents[2] / "target" / "tools" / "versitygw"
    return str(own) if own.exists() else shutil.which("versitygw")


@contextlib.contextmanager
def versitygw(directory: Path, port: int) -> Generator["subprocess.Popen[bytes]"]:
    """Run an S3-compatible server that keeps plain files below a directory, with a bucket `studies`."""
    (directory / "studies").mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen(
        [find_versitygw() or "", "--port", f"127.0.0.1:{port}", "posix", str(directory)],
        env=os.environ | {"ROOT_ACCESS_KEY": "a", "ROOT_SECRET_KEY": "bbbbbbbb"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for_port(port)
        yield process
    finally:
        process.kill()
        process.wait()


def _wait_for_port(port: int) -> None:
    deadline = time.monotonic() + 30
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        assert time.monotonic() < deadline, "the server does not start"
        time.sleep(0.05)


class SlurmMachine:
    """Two nodes of SLURM on this machine, started as root, without systemd.

    Attributes
    ----------
    environment
        What makes commands of SLURM, and those that call them, speak to it.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.environment = os.environ | {"SLURM_CONF": str(directory / "slurm.conf")}
        self._ports = [free_port() for _ in range(3)]

    @staticmethod
    def missing() -> str:
        """Return why there can be none; empty if there can."""
        if os.geteuid() != 0:
            return "SLURM is started as root only"
        absent = [name for name in ("slurmctld", "slurmd", "munged", "sbatch") if not shutil.which(name)]
        return f"no {', '.join(absent)}: install slurm-wlm and munge" if absent else ""

    def start(self) -> None:
        """Start daemons and wait for both nodes."""
        place = self.directory
        place.chmod(0o755)  # or munged refuses its socket
        for name in ("state", "spool", "run", "log"):
            (place / name).mkdir()
        key = place / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        (place / "slurm.conf").write_text(self._configuration())
        self._run(
            *("munged", f"--key-file={key}", f"--socket={place}/run/munge.sock"),
            *(f"--pid-file={place}/run/munged.pid", f"--log-file={place}/log/munged.log"),
            f"--seed-file={place}/run/seed",
        )
        self._run("slurmctld", "-f", str(place / "slurm.conf"))
        for node in ("n1", "n2"):
            self.start_node(node)
        deadline = time.monotonic() + 60
        while self._run("sinfo", "--noheader", "--format=%D", "--states=idle").strip() != "2":
            assert time.monotonic() < deadline, "the nodes of SLURM do not come up"
            time.sleep(0.2)

    def start_node(self, node: str) -> None:
        """Start the daemon of a node."""
        self._run("slurmd", "-f", str(self.directory / "slurm.conf"), "-N", node)

    def _run(self, *command: str) -> str:
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=True, timeout=60)
        return done.stdout

    def _configuration(self) -> str:
        place, host = self.directory, socket.gethostname()
        control, *nodes = self._ports
        lines = [
            "ClusterName=sojourn",
            f"SlurmctldHost={host}(127.0.0.1)",
            "SlurmUser=root",
            "AuthType=auth/munge",
            f"AuthInfo=socket={place}/run/munge.sock",
            f"StateSaveLocation={place}/state",
            f"SlurmdSpoolDir={place}/spool/%n",
            f"SlurmctldPidFile={place}/run/slurmctld.pid",
            f"SlurmdPidFile={place}/run/slurmd-%n.pid",
            f"SlurmctldLogFile={place}/log/slurmctld.log",
            f"SlurmdLogFile={place}/log/slurmd-%n.log",
            f"SlurmctldPort={control}",
            "ProctrackType=proctrack/linuxproc",
            "TaskPlugin=task/none",
            "JobAcctGatherType=jobacct_gather/none",
            "AccountingStorageType=accounting_storage/none",
            "MpiDefault=none",
            "SelectType=select/cons_tres",
            "SelectTypeParameters=CR_Core",
            "SchedulerParameters=batch_sched_delay=1,sched_interval=2",
            "ReturnToService=2",
            "SlurmdTimeout=10",
            "MaxArraySize=100001",
            "MaxJobCount=200000",
            "KillWait=2",
        ]
        lines += [
            f"NodeName=n{number} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=4000"
            for number, port in enumerate(nodes, 1)
        ]
        lines.append("PartitionName=ci Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP")
        return "\n".join(lines) + "\n"

    def process_of(self, daemon: str) -> int:
        """Return the process of `slurmctld`, `slurmd-n1`, `slurmd-n2` or `munged`."""
        return int((self.directory / "run" / f"{daemon}.pid").read_text())

    def stop(self) -> None:
        """Cancel what runs and end the daemons."""
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            self._run("scancel", "--user=root", "--signal=KILL", "--full")
        deadline = time.monotonic() + 20
        for path in (self.directory / "run").glob("*.pid"):
            with contextlib.suppress(OSError, ValueError):
                process = int(path.read_text())
                os.kill(process, 15)
                while time.monotonic() < deadline:
                    os.kill(process, 0)  # until there is none
                    time.sleep(0.05)


@contextlib.contextmanager
def slurm(directory: Path) -> Generator[SlurmMachine]:
    """Run SLURM with its files below a new directory, whose path has to be short."""
    machine = SlurmMachine(directory)
    try:
        machine.start()
        yield machine
    finally:
        machine.stop()
