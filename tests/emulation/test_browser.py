"""A real browser behind the emulated link, beside the simulated one of the application `web`."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median

import polars as pl
import pytest

from support.emulation import Rootless

TIMING = os.environ.get("SOJOURN_EMULATION_TIMING") == "1"
"""True if this machine promises to be quiet."""

OBJECTS, BYTES, INDEX_BYTES = 25, 25_000, 100_000
"""The page of White 2012 3.2.3: an index object, and these on each of four servers."""

DOT = "47494638396101000100800000000000ffffff21f90401000000002c00000000010001000002024401003b"
"""A picture of one dot, as a GIF: a browser breaks off what is no picture, and loads what follows one."""

FAR = ("100.64.0.1", "100.64.0.3", "100.64.0.4", "100.64.0.5")
"""The four servers."""

SERVER = f"""
import http.server, socketserver
class Page(http.server.BaseHTTPRequestHandler):  # HTTP/1.0: a connection for each object, closed by the server
    def do_GET(self):
        if self.path == "/":
            script = "onload = () => document.title = 'loaded in ' + performance.now() + ' ms'"
            images = "".join(
                f'<img src="http://{{server}}:8080/{{number}}">' for number in range({OBJECTS}) for server in {FAR}
            )
            body = f"<html><head><script>{{script}}</script></head><body>{{images}}</body></html>"
            body = body.encode().ljust({INDEX_BYTES})
        else:
            body = bytes.fromhex("{DOT}").ljust({BYTES})
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if self.path == "/" else "image/gif")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words):
        pass
class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    request_queue_size = 128
    daemon_threads = True
Server(("", 8080), Page).serve_forever()
"""

SINK = """
import socket, threading
server = socket.create_server(("", 5000))
def take(peer):
    while peer.recv(1 << 16):
        pass
while True:
    threading.Thread(target=take, args=(server.accept()[0],), daemon=True).start()
"""

INSIDE = """
import socket, subprocess, sys, threading, time
def upload():
    peer = socket.create_connection(("100.64.0.1", 5000))
    while True:
        peer.sendall(bytes(1 << 16))
threading.Thread(target=upload, daemon=True).start()
time.sleep(5)  # the queue is as full as it will be
for number in range(int(sys.argv[1])):
    browser = [sys.argv[2], "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    browser += ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-proxy-server"]
    browser += [f"--user-data-dir=profile-{number}", "--dump-dom", "http://100.64.0.1:8080/"]
    subprocess.run(browser, check=True, stderr=subprocess.DEVNULL)
"""

SCENARIO = """
schema = 1
name = "page"
duration = "60 s"

[access.upstream]
link = {{ kind = "serial", rate = "2 Mb/s" }}
queue = {queue}

[access.downstream]
link = {{ kind = "serial", rate = "10 Mb/s" }}
queue = {queue}

[emulate]
rtt = ["20 ms", "30 ms", "50 ms", "100 ms"]

[[traffic]]
name = "upload"
app = {{ kind = "bulk", direction = "upstream", file = "endless" }}
stack = "linux-cubic"
rtt = "20 ms"

[[traffic]]
name = "page"
app = {{ kind = "web", page = "white2012", think = "2 s", start = "5 s", closing = "server" }}
stack = "linux-cubic"
rtt = ["20 ms", "30 ms", "50 ms", "100 ms"]
"""

QUEUES = {"drop-tail": '{ kind = "drop-tail", limit = "100 ms" }', "fq-codel": '{ kind = "fq-codel" }'}

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def simulated(place: Path) -> float:
    """Return the median load time of the simulated page, in s."""
    words = ["run", "page.toml", "--out", "simulated", "--json"]
    subprocess.run([sys.executable, "-m", "sojourn", *words], cwd=place, check=True, capture_output=True)
    pages = pl.read_parquet(place / "simulated" / "pages.parquet")
    took = (pages["ended_ns"] - pages["started_ns"]) / 1e9
    return median(took.drop_nulls().to_list())


def loaded(rootless: Rootless, pages: int) -> list[float]:
    """Return how long the browser took for each page, in s."""
    here = [sys.executable, "inside.py", str(pages), str(CHROMIUM)]
    serve = [f"exec {sys.executable} {name}.py" for name in ("server", "sink")]
    done = rootless(
        *("page.toml", "--isolated", "--far", serve[0], "--far", serve[1], "--tcp", "cubic"),
        *("--far-tcp", "cubic", "--", *here),
        timeout=240,
        as_we_are=TIMING,  # with the priority that we have
    )
    assert done.returncode == 0, done.stderr
    print(done.stderr.splitlines()[-1], "load", os.getloadavg()[0])
    return [float(ms) / 1e3 for ms in re.findall(r"loaded in ([\d.]+) ms", done.stdout)]


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
@pytest.mark.parametrize("queue", list(QUEUES))
def test_a_browsers_page_takes_as_long_as_the_simulated_one(rootless: Rootless, queue: str) -> None:
    pages = int(os.environ.get("SOJOURN_PAGES", "3"))
    text = SCENARIO.format(queue=QUEUES[queue])
    files = {"page.toml": text, "server.py": SERVER, "sink.py": SINK, "inside.py": INSIDE}
    for name, content in files.items():
        (rootless.place / name).write_text(content, encoding="utf-8")
    expected = simulated(rootless.place)
    took = loaded(rootless, pages)
    assert len(took) == pages
    print(json.dumps({"queue": queue, "simulated_s": expected, "browser_s": took}))
    whole = (OBJECTS * len(FAR) * BYTES + INDEX_BYTES) * 8 / 10e6
    assert min(took) > whole, "the link carries no page in less"
    assert median(took) > 0.8 * expected
    if TIMING:  # a busy machine makes a browser late, and nothing makes it early
        assert median(took) < 1.2 * expected
