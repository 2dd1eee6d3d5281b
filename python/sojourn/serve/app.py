"""The page's server, an ASGI application behind its guard.

| request | answer |
|---|---|
| `GET /`, and the files of the site | from a listing made when the server starts |
| `GET /report/TICKET` | a report, for a frame without scripts; the ticket stands for the token, which a frame cannot send |
| `GET /api/hello` | version, what is allowed |
| `GET /api/scenarios`, `/api/scenarios/ID` | files that the command line has named |
| `GET /api/results`, `/api/results/ID`, `/api/results/ID/run` | results, one of them, its run to be played |
| `GET /api/runs?q=…&after=…`, `/api/runs/KEY` | runs of the store |
| `GET /api/studies`, `GET` and `POST /api/jobs`, `DELETE /api/jobs/ID` | studies: list, state, begin, cancel |
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sojourn.base.errors import RecordError
from sojourn.base.web_headers import App, Headers
from sojourn.serve.browse import Browser
from sojourn.serve.guard import HEADERS, REPORT_HEADERS, Guard
from sojourn.serve.jobs import Full, Jobs, Order
from sojourn.serve.site import Site, read
from sojourn.version import VERSION

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "toml": "text/plain; charset=utf-8",
    "wasm": "application/wasm",
}

PACKED = (("br", "br"), ("gzip", "gz"))
"""Encodings that browsers ask for, and the ends of the names of files that have them."""

Answer = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class Parts:
    """Parts of a server."""

    site: Site
    browser: Browser
    jobs: Jobs | None
    """None if nothing may be run."""


def create_app(parts: Parts, hosts: Iterable[str], token: str) -> App:
    """Return the server.

    Parameters
    ----------
    parts
        Its contents.
    hosts
        Names with ports that browsers may ask for.
    token
        The secret of the page.
    """
    service = _Service(parts, token)
    app = Starlette(
        routes=[
            Route("/api/hello", service.hello),
            Route("/api/scenarios", _listing("scenarios", parts.browser.scenarios)),
            Route("/api/scenarios/{id}", service.scenario),
            Route("/api/studies", _listing("studies", parts.browser.studies)),
            Route("/api/results", _listing("results", parts.browser.results)),
            Route("/api/results/{id}", service.result),
            Route("/api/results/{id}/run", service.run_of_result),
            Route("/api/runs", service.runs),
            Route("/api/runs/{key}", service.run),
            Route("/api/jobs", service.jobs),
            Route("/api/jobs", service.begin, methods=["POST"]),
            Route("/api/jobs/{id}", service.cancel, methods=["DELETE"]),
            Route("/report/{ticket}", service.report),
            Route("/{path:path}", service.file),
        ],
        exception_handlers={RecordError: _damaged},
    )
    return Headers(Guard(app, hosts, token), HEADERS)


async def _damaged(_request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, 422)


def _listing(name: str, found: Callable[[], list[Any]]) -> Answer:
    async def answer(_request: Request) -> Response:
        return JSONResponse({name: await run_in_threadpool(found)})

    return answer


def _missing(what: str) -> Response:
    return JSONResponse({"error": f"there is no such {what}"}, 404)


class _Service:
    def __init__(self, parts: Parts, token: str) -> None:
        self._site = parts.site
        self._browser = parts.browser
        self._jobs = parts.jobs
        self._token = token
        self._tags: dict[str, str] = {}

    async def hello(self, _request: Request) -> Response:
        return JSONResponse({"version": VERSION, "jobs": self._jobs is not None})

    async def file(self, request: Request) -> Response:
        name = request.path_params["path"] or "index.html"
        if name.endswith("/"):
            name += "index.html"
        if name not in self._site:
            return _missing("page")
        headers = {"Vary": "Accept-Encoding"}
        wanted = {one.partition(";")[0].strip() for one in request.headers.get("accept-encoding", "").split(",")}
        source = name
        for encoding, end in PACKED:
            if encoding in wanted and f"{name}.{end}" in self._site:
                source = f"{name}.{end}"
                headers["Content-Encoding"] = encoding
                break
        content = self._site[source]
        data = content if isinstance(content, bytes) else await run_in_threadpool(read, content)
        tag = self._tags.get(source)
        if tag is None:
            tag = self._tags[source] = f'"{hashlib.sha256(data).hexdigest()[:24]}"'
        headers["ETag"] = tag
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        kind = TYPES.get(name.rpartition(".")[2], "application/octet-stream")
        return Response(data, media_type=kind, headers=headers)

    async def scenario(self, request: Request) -> Response:
        text = await run_in_threadpool(self._browser.scenario, request.path_params["id"])
        return _missing("scenario") if text is None else JSONResponse({"text": text})

    async def result(self, request: Request) -> Response:
        number = request.path_params["id"]
        found = await run_in_threadpool(self._browser.result, number)
        if found is None:
            return _missing("result")
        if found["report"]:
            found["report"] = f"report/{self._ticket(number)}"
        return JSONResponse(found)

    async def run_of_result(self, request: Request) -> Response:
        found = await run_in_threadpool(self._browser.run_of_result, request.path_params["id"])
        return _missing("run") if found is None else JSONResponse(found)

    async def report(self, request: Request) -> Response:
        number, _, _ = request.path_params["ticket"].partition(".")
        if not hmac.compare_digest(request.path_params["ticket"].encode(), self._ticket(number).encode()):
            return _missing("report")
        page = await run_in_threadpool(self._browser.report, number)
        if page is None:
            return _missing("report")
        return Response(page, media_type="text/html; charset=utf-8", headers=REPORT_HEADERS)

    def _ticket(self, number: str) -> str:
        """Return the ticket with which a frame loads a report: only holders of the token know it."""
        sign = hmac.new(self._token.encode(), f"report {number}".encode(), "sha256").hexdigest()
        return f"{number}.{sign[:32]}"

    async def runs(self, request: Request) -> Response:
        query = request.query_params
        found = await run_in_threadpool(self._browser.runs, query.get("q", "")[:200], query.get("after", "")[:200])
        return JSONResponse(found)

    async def run(self, request: Request) -> Response:
        found = await run_in_threadpool(self._browser.run, request.path_params["key"])
        return _missing("run") if found is None else JSONResponse(found)

    async def jobs(self, _request: Request) -> Response:
        return JSONResponse({"jobs": [] if self._jobs is None else self._jobs.told()})

    async def begin(self, request: Request) -> Response:
        if self._jobs is None:
            return JSONResponse({"error": "this server only shows; it runs nothing"}, 403)
        try:
            said = await request.json()
        except (ValueError, RecursionError, ClientDisconnect):
            return JSONResponse({"error": "the body is not JSON"}, 400)
        order = self._order(said)
        if isinstance(order, str):
            return JSONResponse({"error": order}, 422)
        try:
            job = self._jobs.add(order)
        except Full:
            return JSONResponse({"error": "too many studies wait already"}, 409)
        return JSONResponse(job.told(), 201)

    def _order(self, said: object) -> Order | str:
        """Return what was asked for, or what is wrong with it."""
        if not isinstance(said, Mapping):
            return "the body is an object"
        asked = cast("Mapping[str, Any]", said)
        unknown = sorted(set(asked) - {"study", "points", "seeds", "quick", "set"})
        if unknown:
            return f"{unknown[0]} is not known here"
        study = asked.get("study")
        source = self._browser.study(study) if isinstance(study, str) else None
        if source is None:
            return "there is no such study"
        seeds = asked.get("seeds")
        if seeds is not None and (type(seeds) is not int or not 1 <= seeds <= 1_000_000):
            return "seeds is a whole number from 1 on"
        quick = asked.get("quick", False)
        if type(quick) is not bool:
            return "quick is true or false"
        lists: list[tuple[str, ...]] = []
        for name in ("points", "set"):
            texts = asked.get(name, [])
            if not _are_texts(texts):
                return f"{name} is a list of at most 100 texts"
            lists.append(tuple(texts))
        return Order(*source, points=lists[0], seeds=seeds, quick=quick, settings=lists[1])

    async def cancel(self, request: Request) -> Response:
        if self._jobs is None or not self._jobs.cancel(request.path_params["id"]):
            return _missing("job")
        return JSONResponse({})


def _are_texts(value: Any) -> bool:  # noqa: ANN401 - what JSON has
    return (
        isinstance(value, list)
        and len(value) <= 100  # pyright: ignore[reportUnknownArgumentType]
        and all(isinstance(one, str) and len(one) <= 500 and "\0" not in one for one in value)  # pyright: ignore[reportUnknownVariableType]
    )
