"""Headers of every answer of Sojourn's services: an ASGI middleware, for the collector and the page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Headers:
    """Adds headers to every answer; what an answer has said itself stays.

    Parameters
    ----------
    app
        What answers.
    said
        Headers by their names.
    """

    def __init__(self, app: App, said: Mapping[str, str]) -> None:
        self._app = app
        self._said = [(name.lower().encode(), value.encode("latin-1")) for name, value in said.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def sent(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message["headers"]}
                missing = [one for one in self._said if one[0] not in own]
                message["headers"] = [*message["headers"], *missing]
            await send(message)

        await self._app(scope, receive, sent)
