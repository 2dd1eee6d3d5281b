"""The collector's service, an ASGI application.

| request | answer |
|---|---|
| `PUT /uploads/DIGEST` with a probe's token | 201 once the upload is on disk, 200 if it was there already |
| `GET /plan` with a probe's token | the periods of its home: treatment, week, when, and the digest of its modem's file |
| `GET /configurations/DIGEST` with a probe's token | that file |
| `GET /` with a viewer's token as password | the page |
| `GET /health` | 200 while uploads can be stored, otherwise 503 |

A body says its length; one in chunks gets 411. A token that is unknown or revoked gets 401, always the same one, before its body is read. A body that does not have
the digest of its name was cut off: 400, and the probe sends it again. One that is no measurement gets 422, and too
large a one 413: these will never be right, and the probe puts them aside. What cannot be taken now gets 503: the
database cannot store it, or other uploads are under way.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
import os
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from sojourn.base.web_headers import Headers
from sojourn.field.collector.page import POLICY, page
from sojourn.field.collector.plan import configuration_of, plan_of
from sojourn.field.collector.reader import Reader, ReaderFailed
from sojourn.field.collector.storage import Storage
from sojourn.field.reading import Unreadable
from sojourn.field.records import FieldTest

LARGEST_UPLOAD = 8 * 2**20
"""Bytes of an upload; chosen: ten minutes of Flent's largest test take half a megabyte."""

MOST_UPLOADS = 8
"""Uploads under way; chosen: their bytes are in memory, and reading takes them one after the other."""

BODY_S = 60.0
"""Seconds until an upload has come; chosen: half a megabyte takes so long at 70 kb/s."""

TURN_S = 30.0
"""Seconds that an upload waits for its turn before the answer asks the probe to come again; chosen."""

ReadUpload = Callable[[bytes, str, str], list[FieldTest]]
"""Reads a file: its bytes, its name and the probe's name; returns its tests."""

Call = Callable[..., Awaitable[Any]]
"""Calls a function that waits for the disk, without keeping other requests waiting."""

_LOG = logging.getLogger("sojourn.collector")

DATABASE_VARIABLE = "SOJOURN_COLLECTOR_DATABASE"
"""Environment variable from which `create_app` takes its database, for servers that load a factory."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,149}")
"""A name of a file that every system takes, also behind a digest, and that means no folder and no option."""


def create_app(
    storage: Storage | None = None,
    *,
    largest: int = LARGEST_UPLOAD,
    read: ReadUpload | None = None,
    call: Call = run_in_threadpool,
) -> Starlette:
    """Return the service over a database.

    Parameters
    ----------
    storage
        The database; that of the variable `SOJOURN_COLLECTOR_DATABASE` if left out.
    largest
        Bytes of an upload at most.
    read
        What reads an upload; a process with bounds of its own if left out.
    call
        How work is done that waits for the disk: in a thread.
    """
    if storage is None:
        storage = Storage(os.environ.get(DATABASE_VARIABLE, "trial.db"))
    reader = Reader()
    service = _Service(storage, largest, read or reader, call)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[None]:
        yield
        reader.close()

    return Starlette(
        lifespan=lifespan,
        exception_handlers={SQLAlchemyError: service.not_stored},
        routes=[
            Route("/plan", service.plan),
            Route("/configurations/{digest}", service.configuration),
            Route("/uploads/{digest}", service.upload, methods=["PUT"]),
            Route("/health", service.health),
            Route("/", service.page),
        ],
        middleware=[Middleware(Headers, said=HEADERS)],
    )


HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
"""Headers of every answer."""


ONE_GUESS = {"Connection": "close"}
"""Header of an answer to a stranger: guesses sent one behind the other cost the parser a millisecond each, and others wait."""


class _Service:
    def __init__(self, storage: Storage, largest: int, read: ReadUpload, call: Call) -> None:
        self._storage = storage
        self._largest = largest
        self._read = read
        self._call = call
        self._turns = asyncio.Semaphore(MOST_UPLOADS)
        self._sending: set[int] = set()
        """Probes with an upload under way."""

    async def health(self, _request: Request) -> Response:
        if await self._call(self._storage.can_store):
            return PlainTextResponse("ok\n")
        return PlainTextResponse("uploads cannot be stored\n", 503)

    async def not_stored(self, _request: Request, error: Exception) -> Response:
        """Answer where the database failed: the probe comes again."""
        self._storage.has_failed()
        _LOG.error("the database failed: %s", str(getattr(error, "orig", None) or error)[:200])
        return _later("the collector cannot store it now")

    async def page(self, request: Request) -> Response:
        token = _password(request)
        if not token or not await self._call(self._storage.is_viewer, token):
            return PlainTextResponse(
                "who are you?\n",
                status_code=401,
                headers={"WWW-Authenticate": 'Basic realm="trial", charset="UTF-8"'} | ONE_GUESS,
            )
        return HTMLResponse(await self._call(page, self._storage, self._storage.now()))

    async def plan(self, request: Request) -> Response:
        probe = await self._probe(request)
        if isinstance(probe, Response):
            return probe
        periods = await self._call(plan_of, self._storage.engine, probe[1])
        return JSONResponse({"probe": probe[1], "periods": periods})

    async def configuration(self, request: Request) -> Response:
        probe = await self._probe(request)
        if isinstance(probe, Response):
            return probe
        digest = request.path_params["digest"]
        content = await self._call(configuration_of, self._storage.engine, digest)
        if content is None:
            return _refuse(404, "no such file")
        return Response(content, media_type="application/octet-stream")

    async def _probe(self, request: Request) -> tuple[int, str] | Response:
        """Return number and name of the probe that asks, or the refusal of a stranger."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        probe = None
        if scheme.lower() == "bearer" and 0 < len(token) <= 200:
            probe = await self._call(self._storage.probe_of, token)
        if probe is None:
            return JSONResponse({"error": "who are you?"}, 401, headers={"WWW-Authenticate": "Bearer"} | ONE_GUESS)
        return probe

    async def upload(self, request: Request) -> Response:
        probe = await self._probe(request)
        if isinstance(probe, Response):
            return probe
        number, name = probe
        clock_error = self._clock_error(request.headers.get("x-sojourn-time", ""))
        digest = request.path_params["digest"]
        if not _DIGEST.fullmatch(digest):
            return _refuse(422, "an upload is named by the SHA-256 digest of its bytes")
        file = request.headers.get("x-sojourn-name", "")
        if not _NAME.fullmatch(file):
            file = f"{digest[:16]}.json"
        if number in self._sending:
            return _later("another upload of this probe is under way")
        self._sending.add(number)
        try:
            async with asyncio.timeout(TURN_S):
                await self._turns.acquire()
            try:
                return await self._take(request, number, f"{name}/{file}", digest, clock_error)
            finally:
                self._turns.release()
        except TimeoutError:
            return _later("other uploads are under way")
        finally:
            self._sending.discard(number)

    async def _take(self, request: Request, number: int, file: str, digest: str, clock_error: float | None) -> Response:
        """Read an upload, and keep it."""
        try:
            async with asyncio.timeout(BODY_S):
                body = await self._body(request)
        except TimeoutError:
            return _refuse(408, f"did not come in {BODY_S:.0f} s")
        if isinstance(body, Response):
            return body
        if hashlib.sha256(body).hexdigest() != digest:
            return _refuse(400, "the bytes do not have this digest: cut off on the way?")
        if await self._call(self._storage.has, number, digest):
            return JSONResponse({"stored": digest, "new": False, "clock_error_s": clock_error})
        probe, _, name = file.rpartition("/")
        try:
            tests = await self._call(self._read, body, file, probe)
        except Unreadable as reason:
            return _refuse(422, f"it {reason}")
        except ReaderFailed as reason:
            return _later(f"it {reason}")
        is_new = await self._call(self._storage.add, number, digest, name, body, tests, clock_error)
        return JSONResponse({"stored": digest, "new": is_new, "clock_error_s": clock_error}, 201 if is_new else 200)

    def _clock_error(self, text: str) -> float | None:
        """Return by how many seconds a clock that shows this time is fast."""
        try:
            shown = datetime.fromisoformat(text)
        except ValueError:
            return None
        if shown.tzinfo is None:
            return None
        return round((shown - self._storage.now()).total_seconds(), 3)

    async def _body(self, request: Request) -> bytes | Response:
        too_large = f"more than {self._largest} bytes"
        length = request.headers.get("content-length", "")
        if length.isdigit() and int(length) > self._largest:
            return _refuse(413, too_large)
        parts: list[bytes] = []
        size = 0
        try:
            async for part in request.stream():
                size += len(part)
                if size > self._largest:
                    return _refuse(413, too_large)
                parts.append(part)
        except ClientDisconnect:
            return _refuse(400, "cut off")
        return b"".join(parts)


def _refuse(status: int, reason: str) -> Response:
    return JSONResponse({"error": reason}, status)


def _later(reason: str) -> Response:
    return JSONResponse({"error": reason}, 503, headers={"Retry-After": "30"})


def _password(request: Request) -> str:
    """Return the password of basic authentication, whatever the user's name."""
    scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return ""
    try:
        text = base64.b64decode(encoded, validate=True).decode()
    except ValueError:  # no base64, or no UTF-8
        return ""
    return text.partition(":")[2]
