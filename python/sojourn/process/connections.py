"""Connections to the collector and to the page's server: their number, how long each may take, and which gives way.

A connection that has not sent a whole request within some seconds is ended, and so is a request that is not done
within some minutes. When there are too many connections, the one that has waited longest without a request under way
gives way to the new one, so silent connections take room from each other. The counting begins where connections are
accepted, before any handshake of TLS.

A body has its length in its headers: one in chunks is refused, because each chunk costs the parser as much as a packet,
however few bytes it has. Once a request is answered before its body has come, the rest is counted and thrown away
unread for some seconds, so that the client can read the answer, and then the connection is closed.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 512
"""chosen: ten for each of fifty probes; a process may have 1,024 files."""

REQUEST_S = 10.0
"""Seconds until a request's headers are there, from the connection or the last answer on. chosen: they are some
hundred bytes."""

ANSWER_S = 180.0
"""Seconds from there to the end of the answer; chosen: more than an upload and its reading may take together."""


_HEAD_END = re.compile(rb"\n\r?\n")
"""Source: RFC 9112, 2.2: a single line feed may end a line."""

SLICE = 16 * 2**10
"""Bytes that the parser gets at once; chosen: it then runs for some milliseconds before other connections are served."""

LINGER_S = 2.0
"""Seconds in which the rest of a body is thrown away behind an answer; chosen: a round trip and more of any network."""


class Listener(socket.socket):
    """A socket that listens, and knows the connections that it has accepted.

    Parameters
    ----------
    most
        How many connections there may be.
    family, options
        As sockets take them.
    """

    def __init__(self, most: int = MOST_CONNECTIONS, family: int = socket.AF_INET) -> None:
        super().__init__(family, socket.SOCK_STREAM)
        self._most = most
        self._idle: dict[Any, socket.socket] = {}
        """Connections without a request under way by their far end, those that have waited longest first."""
        self._busy: dict[Any, socket.socket] = {}

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection; if there are too many, end one."""
        one, far_end = super().accept()
        self._idle[far_end] = one
        if len(self._idle) + len(self._busy) > self._most:
            self._make_room()
        return one, far_end

    def _make_room(self) -> None:
        for connections in (self._idle, self._busy):
            for gone in [far_end for far_end, one in connections.items() if one.fileno() < 0]:
                del connections[gone]
        while self._idle and len(self._idle) + len(self._busy) > self._most:
            one = self._idle.pop(next(iter(self._idle)))
            try:
                one.shutdown(socket.SHUT_RDWR)  # who serves it sees its end, and closes it
            except OSError:  # it has ended by itself
                continue

    def is_busy(self, far_end: Any) -> None:  # noqa: ANN401 - an address of any family
        """Note that a connection has a request under way."""
        if (one := self._idle.pop(far_end, None)) is not None:
            self._busy[far_end] = one

    def is_idle(self, far_end: Any) -> None:  # noqa: ANN401
        """Note that a connection waits for a request."""
        if (one := self._busy.pop(far_end, None)) is not None:
            self._idle[far_end] = one

    def has_ended(self, far_end: Any) -> None:  # noqa: ANN401
        """Forget a connection."""
        self._idle.pop(far_end, None)
        self._busy.pop(far_end, None)


def connection_class(listeners: list[Listener]) -> type[H11Protocol]:
    """Return what serves one connection, for uvicorn.

    Parameters
    ----------
    listeners
        Those that accept connections.
    """

    class Connection(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None
        _far_end: Any = None
        _is_over = False
        """True if what still comes is thrown away."""
        _is_behind = False
        """True if a request came before the last one was answered: it is not read, and the connection is closed."""
        _tail = b""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if hasattr(transport, "max_size"):
                transport.max_size = SLICE  # pyright: ignore[reportAttributeAccessIssue] - asyncio's, without TLS
            self._far_end = transport.get_extra_info("peername")
            self._wait(REQUEST_S)

        def connection_lost(self, exc: Exception | None) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
            for one in listeners:
                one.has_ended(self._far_end)
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            begin = 0
            while begin < len(data) and not self._is_over and not self.transport.is_closing():
                # With `Connection: close` the state after a request is another one.
                if self.conn.their_state in {h11.DONE, h11.MUST_CLOSE}:
                    self._is_behind = True
                    return
                end = begin + SLICE
                # A head by itself: what stands in it decides whether the parser sees a body, and one in chunks of a byte
                # takes it a tenth of a second for each slice.
                if self.conn.their_state is h11.IDLE and (found := _HEAD_END.search(self._tail + data[begin:end])):
                    end = max(begin + found.end() - len(self._tail), begin + 1)
                piece = data[begin:end]
                self._tail = (self._tail + piece)[-2:]
                super().data_received(piece)
                begin = end

        def handle_events(self) -> None:
            before = self.cycle
            super().handle_events()
            if self.cycle is not before and any(name == b"transfer-encoding" for name, _ in self.headers):
                self._refuse_chunks()
                return
            if self.cycle is not before and not self.cycle.response_complete:
                self._wait(ANSWER_S)
                for one in listeners:
                    one.is_busy(self._far_end)

        def on_response_complete(self) -> None:
            for one in listeners:
                one.is_idle(self._far_end)
            self._wait(REQUEST_S)
            if self._is_behind or self.conn.their_state is h11.SEND_BODY:
                self._end()
                return
            super().on_response_complete()

        def _refuse_chunks(self) -> None:
            """Answer 411, in place of the application."""
            self.cycle.disconnected = True
            self.cycle.response_complete = True
            self.cycle.message_event.set()
            body = json.dumps({"error": "a body says how long it is, and does not come in chunks"}).encode()
            headers = [
                (b"content-type", b"application/json"),
                (b"content-length", b"%d" % len(body)),
                (b"connection", b"close"),
            ]
            answer = h11.Response(status_code=411, headers=headers, reason=b"Length Required")
            for event in (answer, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
            self._end()

        def _end(self) -> None:
            """Close the connection once the client has had time to read the answer."""
            self._is_over = True
            self._unset_keepalive_if_required()
            self.flow.resume_reading()
            if self.transport.can_write_eof():
                self.transport.write_eof()
            self._wait(LINGER_S)

        def _wait(self, seconds: float) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
            self._deadline = self.loop.call_later(seconds, self.transport.abort)

    return Connection
