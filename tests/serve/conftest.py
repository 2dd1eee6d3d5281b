"""A site that `sojourn serve export` has written, a plain file server for it, and a browser."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a site with all lessons."""
    if not ENGINE.exists():
        pytest.skip("make web builds the engine for browsers")
    from sojourn.serve.export import export

    root = tmp_path_factory.mktemp("site")
    out = root / PREFIX.strip("/")
    out.parent.mkdir(parents=True)
    export(out)
    return out


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Serve the site on loopback."""
    root = site.parents[1]
    handler = functools.partial(_Files, directory=str(root))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}{PREFIX}"
    server.shutdown()
    server.server_close()
    thread.join()


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
