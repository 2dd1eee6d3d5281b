"""Serving the page on this machine, until a signal comes."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import secrets
import socket
import tempfile
import webbrowser
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from sojourn.base.errors import EnvironmentFailure, UsageError, why
from sojourn.process.connections import Listener, connection_class
from sojourn.serve.app import Parts, create_app
from sojourn.serve.browse import Browser
from sojourn.serve.guard import LARGEST_HEADERS
from sojourn.serve.jobs import Jobs
from sojourn.serve.site import site

PORT = 8417
"""chosen: no registered service has it."""

TRIES = 10
"""Ports that are tried from the wished one on."""

MOST_CONNECTIONS = 64
"""Connections at a time, each with one request; chosen: a browser has six."""


@dataclass(frozen=True)
class Wishes:
    """Options of the command line."""

    results: Path
    store: Path
    named: tuple[Path, ...] = ()
    port: int = PORT
    any_port: bool = True
    """True if the next free port will do."""
    host: str = ""
    """Further address to listen on; empty for this machine only."""
    allowed: tuple[str, ...] = ()
    """Further names that browsers may ask for."""
    read_only: bool = False
    study_options: tuple[str, ...] = ()


def serve(wishes: Wishes, opens: str, ready: Callable[[str, int], contextlib.AbstractContextManager[None]]) -> bool:
    """Serve until a signal comes; return whether a study was cut off.

    Parameters
    ----------
    wishes
        What to serve, and where.
    opens
        Address below the site that the link opens, with what stands behind its `#`.
    ready
        Called with link and port once connections are accepted; left when the server ends.
    """
    listeners, port = _listeners(wishes)
    # 128 random bits, new with each start.
    token = secrets.token_urlsafe(16)
    names = ["127.0.0.1", "localhost", "[::1]", *wishes.allowed]
    hosts = [f"{name}:{port}" for name in names]
    jobs = None if wishes.read_only else Jobs(wishes.results, wishes.study_options)
    browser = Browser(wishes.results, wishes.store, wishes.named)
    parts = Parts(site(served=True), browser, jobs)
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(parts, hosts, token),
            http=connection_class(listeners),
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            h11_max_incomplete_event_size=LARGEST_HEADERS,
            timeout_graceful_shutdown=2,
        )
    )
    page, _, more = opens.partition("#")
    name = wishes.allowed[0] if wishes.allowed and wishes.host else "127.0.0.1"
    link = f"http://{name}:{port}/{page}#k={token}{'&' + more if more else ''}"
    try:
        with ready(link, port):
            server.run(sockets=list(listeners))
    except KeyboardInterrupt:  # a wish
        pass
    finally:
        for one in listeners:
            one.close()
        cut = jobs is not None and jobs.close()
    return cut


def _listeners(wishes: Wishes) -> tuple[list[Listener], int]:
    """Return sockets that listen on this machine, and on the host that was wished for, all at one port."""
    if wishes.host and not _is_loopback(wishes.host) and not wishes.allowed:
        raise UsageError(
            f"{wishes.host} can be reached from other machines",
            "--allow-host NAME says what their browsers ask for; the link is then the only lock",
        )
    addresses = [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
    if wishes.host and not _is_loopback(wishes.host):
        addresses = [(socket.AF_INET6 if ":" in wishes.host else socket.AF_INET, wishes.host)]
    last: OSError | None = None
    for number in range(wishes.port, wishes.port + (TRIES if wishes.any_port and wishes.port else 1)):
        found: list[Listener] = []
        try:
            port = number
            for family, address in addresses:
                one = _listener(family, address, port, needed=not found)
                if one is not None:
                    found.append(one)
                    port = one.getsockname()[1]
        except OSError as error:
            for one in found:
                one.close()
            last = error
            continue
        return found, port
    reason = why(last) if last else "no port is free"
    raise EnvironmentFailure(
        f"cannot listen at port {wishes.port}: {reason}", "--port 0 takes any that is free"
    ) from last


def _listener(family: socket.AddressFamily, address: str, port: int, *, needed: bool) -> Listener | None:
    one = Listener(MOST_CONNECTIONS, family)
    try:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        one.bind((address, port))
        one.listen(128)
    except OSError as error:
        one.close()
        # A machine without IPv6 is served all the same; a port that is in use there is left alone.
        if needed or error.errno == 98:  # EADDRINUSE
            raise
        return None
    return one


def _is_loopback(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


@contextlib.contextmanager
def opened(link: str) -> Generator[None]:
    """Open a link in the user's browser, without its being seen: arguments of processes are public.

    A file that only the user can read sends the browser on.
    """
    with tempfile.TemporaryDirectory(prefix="sojourn-") as folder:
        path = Path(folder) / "open.html"
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:  # noqa: PTH123
            file.write(f'<!doctype html><meta http-equiv="refresh" content="0;url={link}">')
        webbrowser.open(path.as_uri())
        yield


def named(paths: Sequence[Path]) -> tuple[Path, ...]:
    """Return paths that are there.

    Raises `UsageError` if one is not.
    """
    for path in paths:
        if not path.exists():
            raise UsageError(f"there is no {path}", "a scenario, a study, or a directory of results")
    return tuple(path.resolve() for path in paths)
