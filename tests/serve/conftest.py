"""A site that `sojourn serve export` has written, a plain file server for it, and a browser."""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.serve.browsing import opened

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "python/sojourn/serve/page/engine.wasm"
PREFIX = "/some/where"
"""The site stands below a path, as on a documentation host."""


class _Files(http.server.SimpleHTTPRequestHandler):
    """What any file server does."""

    extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | {
        ".wasm": "application/wasm",
        ".js": "text/javascript",
    }

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base names it
        """Say nothing."""


def needs_engine_of_browsers() -> None:
    """Leave a test out where the engine for browsers was not built."""
    if not ENGINE.exists():
        if os.environ.get("SOJOURN_REQUIRE_BROWSER"):
            pytest.fail("the engine for browsers was not built: make web")
        pytest.skip("the page in a browser: make web builds the engine for browsers")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a site with all lessons."""
    needs_engine_of_browsers()
    from sojourn.serve.site import export

    root = tmp_path_factory.mktemp("site")
    out = root / PREFIX.strip("/")
    out.parent.mkdir(parents=True)
    export(out)
    return out


@contextlib.contextmanager
def serving(root: Path, handler: type[_Files] = _Files) -> Generator[int]:
    """Serve a directory on loopback; yield the port."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(root)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Serve the site on loopback."""
    with serving(site.parents[1]) as port:
        yield f"http://127.0.0.1:{port}{PREFIX}"


class _Platform(_Files):
    """A learning platform's store of files: it does not know what a module of WebAssembly is."""

    extensions_map = _Files.extensions_map | {".wasm": "application/octet-stream"}


@pytest.fixture(scope="session")
def class_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return what `sojourn serve export --lessons` writes."""
    needs_engine_of_browsers()
    from sojourn.serve.site import export

    out = tmp_path_factory.mktemp("class") / "site"
    export(out, for_class=True)
    return out


@pytest.fixture(scope="session")
def class_port(class_site: Path) -> Iterator[int]:
    """Serve the site of a class as a learning platform does."""
    with serving(class_site, _Platform) as port:
        yield port


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Start a browser, or say in a line why these tests are left out."""
    programs = [shutil.which("chromium"), shutil.which("chromedriver")]
    if None in programs:
        if os.environ.get("SOJOURN_REQUIRE_BROWSER"):
            pytest.fail("Chromium and its driver are not installed")
        pytest.skip("tests in a browser need chromium and chromium-driver")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(programs[0])
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1300,1000"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(programs[1])))
    driver.set_script_timeout(120)
    yield driver
    driver.quit()


class Server:
    """`sojourn serve` as a process of its own, and what speaks to it byte by byte."""

    def __init__(self, results: Path, store: Path, *more: str | Path) -> None:
        arguments = ["serve", "--json", "--port", "0", "--results", results, "--store", store, *more]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sojourn", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        text = ""
        for line in self.process.stdout:
            text += line
            if line.startswith("}"):
                break
        assert text, self.process.communicate()
        self.said = json.loads(text)
        self.link: str = self.said["url"]
        self.port: int = self.said["port"]
        self.root = f"http://127.0.0.1:{self.port}"
        self.token = self.link.partition("#k=")[2].partition("&")[0]

    def raw(self, request: bytes, address: str = "127.0.0.1") -> tuple[int, dict[str, str], bytes]:
        """Send these bytes; return status, headers and body of the answer."""
        with socket.create_connection((address, self.port), timeout=60) as connection:
            connection.sendall(request)
            answer = b""
            while part := connection.recv(65536):
                answer += part
        head, _, body = answer.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (one.partition(": ") for one in lines[1:])}
        return int(lines[0].split()[1]), headers, body

    def ask(
        self, path: str, method: str = "GET", body: bytes | None = None, drop: tuple[str, ...] = (), **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Ask as the page does, with these headers besides or instead, and without those."""
        said = {"Host": f"127.0.0.1:{self.port}", "Authorization": f"Bearer {self.token}", "Connection": "close"}
        if body is not None:
            said |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
        said |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{name}: {value}" for name, value in said.items() if name not in drop]
        head = "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode("latin-1")
        return self.raw(head + (body or b""))

    def json(self, path: str, method: str = "GET", body: object = None) -> Any:
        """Return what the page's API answers."""
        data = None if body is None else json.dumps(body).encode()
        status, _, found = self.ask(f"/api/{path}", method, data)
        assert status < 300, (status, found)
        return json.loads(found)

    def stop(self) -> int:
        """End it as Ctrl-C does; return its status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)
        return self.process.returncode


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Serve an empty directory of results."""
    home = tmp_path_factory.mktemp("served")
    one = Server(home / "results", home / "store")
    yield one
    one.stop()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """Open Explore and wait for its first run; no page may complain or load anything from elsewhere."""
    opened(browser, f"{address}/explore.html")
    yield browser
    complaints = [entry["message"] for entry in browser.get_log("browser")]
    assert complaints == []
    origin = address.split("/some")[0]
    loaded = browser.execute_script("return performance.getEntriesByType('resource').map(one => one.name)")
    assert [name for name in loaded if not name.startswith((origin, "data:", "blob:"))] == []
