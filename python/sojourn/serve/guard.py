"""Guard of the page's server: permitted hosts, origins and sizes of requests.

The server listens on this machine only, but any page that is open in a browser here can send requests to it, and any
user of the machine can connect. So, before anything is looked up:

- `Host` must be the name that the server was started with, port and all: a foreign name that was
  rebound to 127.0.0.1 arrives with its own name in `Host`. Otherwise 421, for every path.
- What another site makes a browser load arrives with `Sec-Fetch-Site`: refused, but for a link that the user follows.
- All below `/api/` needs the token, which only the page knows: it stands behind the `#` of the link, which no server and
  no other page sees. There are no cookies, so a browser adds nothing by itself.
- Bodies are JSON by their type, which a form cannot send and a script elsewhere only after a preflight request, which gets no answer.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from sojourn.base.web_headers import App, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; worker-src 'self'; media-src blob:; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types sojourn"
)
"""Content security policy of a page: its own files, and nothing else."""

HEADERS = {
    "Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-cache",
}
"""Headers of every answer."""

REPORT_HEADERS = {
    "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    "Cache-Control": "no-store",
}
"""Policy of a report: it is not trusted, so its scripts do not run, and its origin is its own."""

LARGEST_BODY = 1 << 20
"""Bytes of a body; chosen: a scenario of a large home has ten thousand."""


LARGEST_HEADERS = 16 << 10
"""Bytes of a request's headers; chosen: a browser sends one thousand."""


class Guard:
    """Refuses what is not meant for this server.

    Parameters
    ----------
    app
        What answers the rest.
    hosts
        Names with ports that browsers may ask for, as `127.0.0.1:8417`.
    token
        The secret of the page.
    """

    def __init__(self, app: App, hosts: Iterable[str], token: str) -> None:
        self._app = app
        self._hosts = frozenset(host.encode("ascii") for host in hosts)
        self._token = token.encode("ascii")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refused = self._refusal(scope)
        if refused is not None:
            await _refuse(send, *refused)
            return
        await self._app(scope, _bounded(receive), send)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers: list[tuple[bytes, bytes]] = scope["headers"]

        def values(name: bytes) -> list[bytes]:
            return [value for key, value in headers if key == name]

        host = values(b"host")
        if len(host) != 1 or host[0] not in self._hosts:
            return 421, "this server does not have that name"
        if sum(len(name) + len(value) for name, value in headers) > LARGEST_HEADERS:
            return 431, f"headers have at most {LARGEST_HEADERS} bytes"
        path: str = scope["path"]
        of_api = path == "/api" or path.startswith("/api/")
        site = values(b"sec-fetch-site")
        followed = values(b"sec-fetch-mode") == [b"navigate"] and values(b"sec-fetch-dest") == [b"document"]
        if site and site not in ([b"same-origin"], [b"none"]) and (of_api or not followed):
            return 403, "another page asked for this"
        if not of_api:
            return None if scope["method"] in {"GET", "HEAD"} else (405, "pages are only read")
        origins = values(b"origin")
        if origins and (
            len(origins) != 1 or urlsplit(origins[0]).netloc != host[0] or not origins[0].startswith(b"http://")
        ):
            return 403, "another page asked for this"
        said = values(b"authorization")
        if len(said) != 1 or not hmac.compare_digest(said[0], b"Bearer " + self._token):
            return 401, "open the page by the link that the terminal shows"
        return self._body_refusal(scope["method"], values)

    @staticmethod
    def _body_refusal(method: str, values: Any) -> tuple[int, str] | None:  # noqa: ANN401 - a local function
        if method in {"GET", "HEAD", "DELETE"}:
            return None
        if method != "POST":
            return 405, "GET, POST and DELETE are known"
        if values(b"content-type") != [b"application/json"]:
            return 415, "a body is application/json"
        length = values(b"content-length")
        if len(length) != 1 or not length[0].isdigit():
            return 411, "a body says how long it is"
        if int(length[0]) > LARGEST_BODY:
            return 413, f"a body has at most {LARGEST_BODY} bytes"
        return None


def _bounded(receive: Receive) -> Receive:
    """Return what reads a body and stops when it is longer than any may be."""
    size = 0

    async def received() -> MutableMapping[str, Any]:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        return {"type": "http.disconnect"} if size > LARGEST_BODY else message

    return received


async def _refuse(send: Send, status: int, reason: str) -> None:
    body = json.dumps({"error": reason}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
