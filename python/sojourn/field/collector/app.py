"""The collector's service, an ASGI application.

| request | answer |
|---|---|
| `PUT /uploads/DIGEST` with a probe's token | 201 once the upload is on disk, 200 if it was there already |
| `GET /plan` with a probe's token | the periods of its home: treatment, week, when, and the digest of its modem's file |
| `GET /configurations/DIGEST` with a probe's token | that file |
| `GET /` with a viewer's token as password | the page |
| `GET /health` | 200 while the database answers |

A token that is unknown or revoked gets 401, always the same one, before its body is read. A body that does not have
the digest of its name was cut off: 400, and the probe sends it again. One that is no measurement gets 422, and too
large a one 413: these will never be right, and the probe puts them aside.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from sojourn.field.collector.page import POLICY, page
from sojourn.field.collector.plan import configuration_of, plan_of
from sojourn.field.collector.storage import Storage
from sojourn.field.importer import read_upload
from sojourn.field.reading import LARGEST_FILE, Unreadable

__all__ = ["create_app"]

DATABASE_VARIABLE = "SOJOURN_COLLECTOR_DATABASE"
"""Where `create_app` looks for its database, for servers that are told a factory."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[A-Za-z0-9._+-]{1,200}")


def create_app(storage: Storage | None = None, *, largest: int = LARGEST_FILE) -> Starlette:
    """Return the service over a database.

    Parameters
    ----------
    storage
        The database; that of the variable `SOJOURN_COLLECTOR_DATABASE` if left out.
    largest
        Bytes of an upload at most.
    """
    if storage is None:
        storage = Storage(os.environ.get(DATABASE_VARIABLE, "trial.db"))
    service = _Service(storage, largest)
    return Starlette(
        routes=[
            Route("/plan", service.plan),
            Route("/configurations/{digest}", service.configuration),
            Route("/uploads/{digest}", service.upload, methods=["PUT"]),
            Route("/health", service.health),
            Route("/", service.page),
        ],
        middleware=[Middleware(_Headers)],
    )


class _Headers(BaseHTTPMiddleware):
    """What every answer says to a browser."""

    async def dispatch(
        self, request: Request, call_next: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        response = await call_next(request)
        for name, value in (
            ("Content-Security-Policy", POLICY),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Cache-Control", "no-store"),
        ):
            response.headers[name] = value
        return response


class _Service:
    def __init__(self, storage: Storage, largest: int) -> None:
        self._storage = storage
        self._largest = largest

    async def health(self, _request: Request) -> Response:
        await run_in_threadpool(self._storage.is_viewer, "")
        return PlainTextResponse("ok\n")

    async def page(self, request: Request) -> Response:
        token = _password(request)
        if not token or not await run_in_threadpool(self._storage.is_viewer, token):
            return PlainTextResponse(
                "who are you?\n",
                status_code=401,
                headers={"WWW-Authenticate": 'Basic realm="trial", charset="UTF-8"'},
            )
        return HTMLResponse(await run_in_threadpool(page, self._storage))

    async def plan(self, request: Request) -> Response:
        probe = await self._probe(request)
        if isinstance(probe, Response):
            return probe
        periods = await run_in_threadpool(plan_of, self._storage.engine, probe[1])
        return JSONResponse({"probe": probe[1], "periods": periods})

    async def configuration(self, request: Request) -> Response:
        probe = await self._probe(request)
        if isinstance(probe, Response):
            return probe
        digest = request.path_params["digest"]
        content = await run_in_threadpool(configuration_of, self._storage.engine, digest)
        if content is None:
            return _refuse(404, "no such file")
        return Response(content, media_type="application/octet-stream")

    async def _probe(self, request: Request) -> tuple[int, str] | Response:
        """Return number and name of the probe that asks, or what strangers are told."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        probe = None
        if scheme.lower() == "bearer" and 0 < len(token) <= 200:
            probe = await run_in_threadpool(self._storage.probe_of, token)
        if probe is None:
            return JSONResponse(
                {"error": "who are you?"}, 401, headers={"WWW-Authenticate": "Bearer"}
            )
        return probe

    async def upload(self, request: Request) -> Response:
        probe = await self._probe(request)
        if isinstance(probe, Response):
            return probe
        number, name = probe
        clock_error = _clock_error(request.headers.get("x-sojourn-time", ""))
        digest = request.path_params["digest"]
        if not _DIGEST.fullmatch(digest):
            return _refuse(422, "an upload is named by the SHA-256 digest of its bytes")
        file = request.headers.get("x-sojourn-name", "")
        if not _NAME.fullmatch(file):
            file = f"{digest[:16]}.json"
        body = await self._body(request)
        if isinstance(body, Response):
            return body
        if hashlib.sha256(body).hexdigest() != digest:
            return _refuse(400, "the bytes do not have this digest: cut off on the way?")
        if await run_in_threadpool(self._storage.has, number, digest):
            return JSONResponse({"stored": digest, "new": False, "clock_error_s": clock_error})
        try:
            tests = await run_in_threadpool(read_upload, body, f"{name}/{file}", name)
        except Unreadable as reason:
            return _refuse(422, f"it {reason}")
        is_new = await run_in_threadpool(
            self._storage.add, number, digest, file, body, tests, clock_error
        )
        return JSONResponse(
            {"stored": digest, "new": is_new, "clock_error_s": clock_error}, 201 if is_new else 200
        )

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


def _password(request: Request) -> str:
    """Return the password of basic authentication, whatever the user's name."""
    scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return ""
    try:
        text = base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return text.partition(":")[2]


def _clock_error(text: str) -> float | None:
    """Return by how many seconds a clock that shows this time is fast."""
    try:
        shown = datetime.fromisoformat(text)
    except ValueError:
        return None
    if shown.tzinfo is None:
        return None
    return round((shown - datetime.now(UTC)).total_seconds(), 3)
