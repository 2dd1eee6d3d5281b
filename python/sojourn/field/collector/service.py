"""Serving the collector, and taking its data out."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path

from sojourn.base.errors import EnvironmentFailure, UsageError, why
from sojourn.base.files import write_file
from sojourn.field.collector.storage import Storage
from sojourn.field.importer import Imported, write_imported
from sojourn.process.connections import MOST_CONNECTIONS, Listener, connection_class


def require_linux() -> None:
    """Make sure that what reads uploads can be bounded: address space and processor time, as Linux bounds them.

    Raises `EnvironmentFailure` on any other system.
    """
    if sys.platform != "linux":
        raise EnvironmentFailure(
            f"the collector needs Linux to bound the memory of uploads; this is {sys.platform}",
            "probes, import and analysis need no Linux; docs/concepts/systems.md lists what does",
        )


def serve(
    storage: Storage,
    host: str,
    port: int,
    certificate: Path | None = None,
    key: Path | None = None,
    *,
    insecure: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve until a signal comes; uploads under way are finished first.

    Raises `UsageError` if certificate or key is missing or none, or plain HTTP would leave this machine;
    `EnvironmentFailure` if nothing can listen there, or this is not Linux.

    Parameters
    ----------
    storage
        The database.
    host, port
        Where to listen.
    certificate, key
        Files in PEM form, for HTTPS without a server in front.
    insecure
        True to speak plain HTTP to other machines, too: any machine on the path can read tokens.
    say
        Told the address once connections are accepted there.
    """
    require_linux()
    import logging

    import uvicorn

    from sojourn.field.collector.app import create_app
    from sojourn.field.collector.log import LimitedHandler

    if (certificate is None) != (key is None):
        raise UsageError("HTTPS needs a certificate and its key", "--certificate cert.pem --key key.pem")
    if certificate is not None and key is not None:
        _check_certificate(certificate, key)
    listeners = _listeners(host, port, plain=certificate is None and not insecure)
    logging.basicConfig(level=logging.WARNING, handlers=[LimitedHandler()], force=True)
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(storage),
            http=connection_class(listeners),
            ws="none",
            loop="asyncio",  # accepts connections by what counts them
            ssl_certfile=certificate,
            ssl_keyfile=key,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=20,
        )
    )
    say(f"http{'s' if certificate else ''}://{host}:{listeners[0].getsockname()[1]}/")
    try:
        server.run(sockets=list(listeners))
    except KeyboardInterrupt:  # a wish
        pass
    finally:
        for one in listeners:
            one.close()


def _check_certificate(certificate: Path, key: Path) -> None:
    import ssl

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(
            f"{certificate} and {key} are no certificate and its key: {why(error)}", "two files in PEM form"
        ) from error


def _listeners(host: str, port: int, *, plain: bool) -> list[Listener]:
    """Return sockets that listen at each address of a host."""
    import ipaddress
    import resource
    import socket

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = min(MOST_CONNECTIONS, files // 2) if files > 0 else MOST_CONNECTIONS
    found: list[Listener] = []
    try:
        places = dict.fromkeys(socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE))
        # A number with a zone, as `fe80::1%eth0`, is one of the network.
        numbers = [str(address[0]).partition("%")[0] for *_, address in places]
        if plain and not all(ipaddress.ip_address(number).is_loopback for number in numbers):
            raise UsageError(
                f"{host} can be reached from other machines, and plain HTTP exposes tokens",
                "--certificate and --key, a server with HTTPS in front, or --insecure",
            )
        for family, _, _, _, address in places:
            one = Listener(most, family)
            found.append(one)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            one.bind(address)
            one.listen()
    except OSError as error:
        for one in found:
            one.close()
        raise EnvironmentFailure(
            f"cannot listen at {host}, port {port}: {why(error)}", "another --port or --host"
        ) from error
    return found


def export(storage: Storage, directory: Path) -> int:
    """Write all tests into a new directory, as `trial import` would, and the uploaded files below `files/`.

    Raises `UsageError` if the directory is in use.

    Returns
    -------
    int
        How many tests there are.
    """
    tests = storage.tests()
    write_imported(Imported(tests, storage.count()), directory, Path("collector"))
    files = directory / "files"
    for probe, digest, name, content in storage.files():
        folder = files / _folder_of(probe)
        folder.mkdir(parents=True, exist_ok=True)
        write_file(folder / f"{digest[:32]}-{_plain(name)[:150]}", content)
    return tests.height


def _folder_of(probe: str) -> str:
    """Return a folder's name of its own for each probe, whatever the probe is called."""
    folder = _plain(probe)[:100]
    if folder == probe and not folder.startswith("."):
        return folder
    return f"{folder.replace('.', '_')}-{hashlib.sha256(probe.encode()).hexdigest()[:16]}"


def _plain(text: str) -> str:
    return "".join(c if c.isascii() and (c.isalnum() or c in "._+-") else "_" for c in text)
