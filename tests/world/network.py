"""Time, connections and people who wait, simulated: one thing happens after the other, in an order that a seed gives.

The server is uvicorn's protocol on a loop whose clock is ours. Clients are as they are, with blocking reads; each has a
stack of its own, and of all stacks one runs at a time.
"""

# ruff: noqa: D102 - methods have the names of those whose place they take

import asyncio
import random
import selectors
import ssl
from collections.abc import Callable, Iterable
from typing import Any

import greenlet
import httpcore
import httpx

NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""One for all clients: to read the certificates of the system takes longer than a world."""


class _Waits(selectors.DefaultSelector):
    """Nothing comes from outside: whoever waits for it waits for the clock."""

    loop: "Loop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("nothing will ever happen again")
        self.loop.now += max(timeout, 0.0)
        return []


class Loop(asyncio.SelectorEventLoop):
    """A loop with a simulated clock."""

    def __init__(self) -> None:
        self.now = 0.0
        selector = _Waits()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.now


class Person:
    """What blocks: work that runs while the loop waits for it, and the other way round.

    Parameters
    ----------
    loop
        The loop.
    work
        What is done; it is handed this, to wait.
    """

    def __init__(self, loop: Loop, work: Callable[["Person"], None]) -> None:
        self._loop = loop
        self._work = work
        self._stack = greenlet.greenlet(self._run)
        self._ready: Callable[[], bool] = lambda: False
        self._timer: asyncio.TimerHandle | None = None
        self.error: Exception | None = None
        loop.call_soon(self._resume)

    @property
    def has_ended(self) -> bool:
        """True if the work is done."""
        return self._stack.dead

    def _run(self) -> None:
        try:
            self._work(self)
        except Exception as error:
            self.error = error

    def _resume(self) -> None:
        self._timer = None
        self._stack.parent = greenlet.getcurrent()
        self._stack.switch()

    def look(self) -> None:
        """Go on if what was waited for is there; called on the loop."""
        if self._timer is not None and self._ready():
            self._timer.cancel()
            self._ready = lambda: False
            self._timer = self._loop.call_later(0.0, self._resume)

    def wait(self, seconds: float, ready: Callable[[], bool] = lambda: False) -> None:
        """Wait until something is so, or for some time; called by the work."""
        if ready():
            return
        self._ready = ready
        self._timer = self._loop.call_later(seconds, self._resume)
        loop = self._stack.parent
        assert loop is not None
        loop.switch()

    def end(self) -> None:
        """Let the work go, wherever it is."""
        if not self._stack.dead:
            self._stack.throw()


class Connection(asyncio.Transport):
    """Both ends of a connection: a transport for the server, bytes and their end for the client."""

    def __init__(self, network: "Network", person: Person | None) -> None:
        super().__init__()
        self._network = network
        self._person = person
        self._protocol: Any = None
        self._is_closing = False
        self._arrives_at = [0.0, 0.0]
        self._is_paused = False
        self._held: list[bytes] = []
        self.received = bytearray()
        """What has come to the client."""
        self.is_broken = False
        """True if the client sees a reset instead of an end."""
        self.has_end = False
        self.number = network.number()

    def start(self) -> bool:
        """Accept the connection at the server; return whether it is there."""
        protocol = self._network.accept()
        if protocol is None:
            return False
        self._protocol = protocol
        protocol.connection_made(self)
        return True

    # ---- towards the server ------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        """Send from the client, in pieces that arrive when they do."""
        for piece in self._network.pieces(data):
            self._later(0, self._to_server, piece)

    def _to_server(self, data: bytes) -> None:
        if self._is_closing or self._protocol is None:
            return
        if self._is_paused:
            self._held.append(data)
        else:
            self._protocol.data_received(data)

    def hang_up(self) -> None:
        """Close at the client."""
        self._later(0, self._ended)

    def _ended(self) -> None:
        if not self._is_closing:
            self._is_closing = True
            self._protocol.connection_lost(None)

    def reset(self) -> None:
        """Break the connection for both."""
        self.is_broken = True
        self._seen()
        if not self._is_closing and self._protocol is not None:
            self._is_closing = True
            self._protocol.connection_lost(ConnectionResetError())

    def _later(self, way: int, call: Callable[..., None], *arguments: Any) -> None:  # noqa: ANN401
        """Do something after a delay; what is sent first arrives first."""
        loop = self._network.loop
        at = max(loop.time() + self._network.delay(), self._arrives_at[way] + 1e-6)
        self._arrives_at[way] = at
        loop.call_at(at, call, *arguments)

    # ---- a transport, for the server ---------------------------------------------------------------

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._is_closing or self._network.is_dark():
            return
        if self._network.breaks():
            self._network.loop.call_soon(self.reset)
            return
        for piece in self._network.pieces(bytes(data)):
            self._later(1, self._to_client, piece)

    def _to_client(self, data: bytes) -> None:
        if not self.is_broken:
            self.received += data
            self._seen()

    def _client_end(self) -> None:
        self.has_end = True
        self._seen()

    def _seen(self) -> None:
        if self._person is not None:
            self._person.look()

    def close(self) -> None:
        if not self._is_closing:
            self._is_closing = True
            self._later(1, self._client_end)
            self._network.loop.call_soon(self._protocol.connection_lost, None)

    def abort(self) -> None:
        self.reset()

    def can_write_eof(self) -> bool:
        return False

    def is_closing(self) -> bool:
        return self._is_closing

    def pause_reading(self) -> None:
        self._is_paused = True

    def resume_reading(self) -> None:
        self._is_paused = False
        held, self._held = self._held, []
        for data in held:
            self._network.loop.call_soon(self._to_server, data)

    def get_extra_info(self, name: str, default: Any = None) -> Any:  # noqa: ANN401
        return ("10.0.0.1", self.number) if name == "peername" else default


class Network:
    """Delays, pieces and breaks, as a seed gives them."""

    def __init__(self, loop: Loop, dice: random.Random, serve: Callable[[], Any], is_dark: Callable[[], bool]) -> None:
        self.loop = loop
        self.is_dark = is_dark
        self._dice = dice
        self._serve = serve
        self._numbers = 0
        self.breaking = 0.0
        """Share of connections and writes that break."""
        self.slow = 0.0
        """Share of what is slow, by seconds."""
        self.connections: list[Connection] = []

    def number(self) -> int:
        self._numbers += 1
        return self._numbers

    def delay(self) -> float:
        if self._dice.random() < self.slow:
            return self._dice.uniform(0.0, 40.0)
        return self._dice.uniform(0.001, 0.1)

    def pieces(self, data: bytes) -> Iterable[bytes]:
        """Cut what is sent, as networks do."""
        while data:
            size = self._dice.choice((len(data), len(data), self._dice.randrange(1, 400)))
            yield data[:size]
            data = data[size:]

    def breaks(self) -> bool:
        return self._dice.random() < self.breaking

    def accept(self) -> Any:  # noqa: ANN401 - a protocol of uvicorn
        return None if self.is_dark() else self._serve()

    def connect(self, person: Person | None) -> Connection | None:
        """Return a connection; `None` if there is no way or nobody at its end."""
        one = Connection(self, person)
        if self.breaks() or not one.start():
            return None
        self.connections.append(one)
        return one

    def reset_all(self) -> None:
        """Break every connection: the server is gone."""
        connections, self.connections = self.connections, []
        for one in connections:
            one.reset()

    def transport(self, person: Person) -> httpx.HTTPTransport:
        """Return what carries requests of a client, as it does over sockets."""
        transport = httpx.HTTPTransport(verify=NO_CERTIFICATES)
        transport._pool = httpcore.ConnectionPool(network_backend=_Backend(self, person))  # pyright: ignore[reportPrivateUsage]
        return transport


class _Backend(httpcore.NetworkBackend):
    def __init__(self, network: Network, person: Person) -> None:
        self._network = network
        self._person = person

    def connect_tcp(self, *_: Any, **__: Any) -> "_Stream":  # noqa: ANN401
        self._person.wait(self._network.delay())
        one = self._network.connect(self._person)
        if one is None:
            raise httpcore.ConnectError("nobody answers")
        return _Stream(self._network, self._person, one)


class _Stream(httpcore.NetworkStream):
    def __init__(self, network: Network, person: Person, one: Connection) -> None:
        self._network = network
        self._person = person
        self._one = one

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        one = self._one
        self._person.wait(timeout or 60.0, lambda: bool(one.received) or one.has_end or one.is_broken)
        if one.is_broken:
            raise httpcore.ReadError("reset")
        if not one.received and not one.has_end:
            raise httpcore.ReadTimeout
        data = bytes(one.received[:max_bytes])
        del one.received[:max_bytes]
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        if self._network.breaks():
            self._one.send(buffer[: len(buffer) // 2])
            self._network.loop.call_later(self._network.delay(), self._one.reset)
        if self._one.is_broken:
            raise httpcore.WriteError("reset")
        self._one.send(buffer)

    def close(self) -> None:
        self._one.hang_up()

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401
        if info == "is_readable":
            return bool(self._one.received) or self._one.has_end or self._one.is_broken
        return None
