"""Serving the collector, and taking its data out."""

from __future__ import annotations

from pathlib import Path

from sojourn.field.collector.storage import Storage
from sojourn.field.importer import Imported, write_imported

__all__ = ["export", "serve"]


def serve(
    storage: Storage, host: str, port: int, certificate: Path | None = None, key: Path | None = None
) -> None:
    """Serve until a signal comes; uploads under way are finished first.

    Parameters
    ----------
    storage
        The database.
    host, port
        Where to listen.
    certificate, key
        Files in PEM form, for HTTPS without a server in front.
    """
    import uvicorn

    from sojourn.field.collector.app import create_app

    uvicorn.run(
        create_app(storage),
        host=host,
        port=port,
        ssl_certfile=certificate,
        ssl_keyfile=key,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=20,
    )


def export(storage: Storage, directory: Path) -> int:
    """Write all tests into a new directory, as `trial import` would, and the uploaded files below `files/`.

    Returns
    -------
    int
        How many tests there are.

    Raises
    ------
    UsageError
        If the directory is in use.
    """
    tests = storage.tests()
    write_imported(Imported(tests, storage.count()), directory, Path("collector"))
    files = directory / "files"
    for probe, digest, name, content in storage.files():
        folder = files / "".join(c if c.isalnum() or c in "._-" else "_" for c in probe)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{digest[:12]}-{name}").write_bytes(content)
    return tests.height
