"""Firefox without a driver: it speaks Marionette itself, lines of JSON over TCP (Mozilla's Remote Protocols documentation)."""

from __future__ import annotations

import itertools
import json
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self, TypeVar

T = TypeVar("T")

PATIENCE_S = 60.0

PREFERENCES = {
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "app.normandy.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
}
"""Nothing is asked of other machines."""


def firefox_program() -> str | None:
    """Return where Firefox is."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


def eventually(ask: Callable[[], T], *errors: type[Exception]) -> T:
    """Ask until the answer is true and no error comes."""
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            if answer := ask():
                return answer
        except errors:
            if time.monotonic() > end:
                raise
        assert time.monotonic() < end
        time.sleep(0.1)


class Firefox:
    """A browser without a window, with a profile below `home`."""

    def __init__(self, home: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        profile = home / "firefox"
        profile.mkdir()
        preferences = PREFERENCES | {"marionette.port": port}
        (profile / "user.js").write_text(
            "".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items())
        )
        program = firefox_program()
        assert program is not None
        self._process = subprocess.Popen(
            [program, "--headless", "--marionette", "--no-remote", "--profile", str(profile), "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._numbers = itertools.count(1)
        self._socket = eventually(lambda: socket.create_connection(("127.0.0.1", port), PATIENCE_S), OSError)
        self._answers = self._socket.makefile("rb")

    def __enter__(self) -> Self:
        self._read()  # what it is
        self._ask("WebDriver:NewSession")
        self._ask("WebDriver:SetTimeouts", script=int(1000 * PATIENCE_S))
        return self

    def __exit__(self, *_: object) -> None:
        self._ask("Marionette:Quit", flags=["eForceQuit"])
        self._socket.close()
        self._process.wait(PATIENCE_S)

    def _read(self) -> Any:
        length = b""
        while (byte := self._answers.read(1)) != b":":
            assert byte, "Firefox has ended"
            length += byte
        return json.loads(self._answers.read(int(length)))

    def _ask(self, name: str, **parameters: object) -> Any:
        number = next(self._numbers)
        message = json.dumps([0, number, name, parameters]).encode()
        self._socket.sendall(b"%d:%s" % (len(message), message))
        _, answered, error, result = self._read()
        assert answered == number
        assert error is None, error
        return result

    def open(self, url: str) -> None:
        """Go to an address."""
        self._ask("WebDriver:Navigate", url=url)

    def run(self, script: str) -> Any:
        """Run an asynchronous function in the page; return what it returns."""
        answer = self._ask(
            "WebDriver:ExecuteAsyncScript",
            script=f"const done = arguments[0]; (async () => {{ {script} }})()"
            ".then((value) => done({ value: value ?? null }), (error) => done({ error: String(error) }))",
            args=[],
            sandbox=None,
        )["value"]
        assert "error" not in answer, answer
        return answer["value"]

    def wait(self, condition: str) -> None:
        """Wait until an expression is true in the page."""
        eventually(lambda: self.run(f"return Boolean({condition})"))
