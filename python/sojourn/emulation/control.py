"""How others find a running emulation: a socket without a file, which goes with the process.

Its name in the abstract namespace is that of the process; other users are refused. A visitor is sent the
namespaces as descriptors, or the view until the end, a line of JSON each.
"""

from __future__ import annotations

import json
import os
import selectors
import socket
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sojourn.base.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST_VISITORS = 16
"""Visitors at a time. chosen: a classroom watches on its own machines."""


def _address(process: int) -> str:
    return f"\0sojourn-emulate-{process}"


class Door:
    """Socket for visitors.

    Parameters
    ----------
    namespaces
        What who joins is given.
    """

    def __init__(self, namespaces: list[int]) -> None:
        self._namespaces = namespaces
        self._watchers: list[socket.socket] = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(0.0)
        self._socket.bind(_address(os.getpid()))
        self._socket.listen(MOST_VISITORS)

    def look(self, view: Mapping[str, Any]) -> None:
        """Accept waiting visitors, and send all of them the view."""
        with suppress(BlockingIOError):
            while True:
                self._greet(self._socket.accept()[0])
        if not self._watchers:
            return
        text = json.dumps(view).encode()
        for watcher in list(self._watchers):
            try:
                watcher.send(text, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
            except BlockingIOError:  # does not read: it misses this one
                pass
            except OSError:
                watcher.close()
                self._watchers.remove(watcher)

    def _greet(self, visitor: socket.socket) -> None:
        wish = b""
        with suppress(OSError):
            peer = visitor.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            _, user, _ = struct.unpack("iII", peer)
            if user in (os.getuid(), 0):
                visitor.settimeout(0.1)
                wish = visitor.recv(16)
            if wish == b"watch" and len(self._watchers) < MOST_VISITORS:
                self._watchers.append(visitor)
                return
            if wish == b"join" and self._namespaces:
                socket.send_fds(visitor, [b"namespaces"], self._namespaces)
            elif wish == b"join":
                visitor.send(b"between")
        visitor.close()

    def close(self) -> None:
        """Close all connections."""
        for each in (self._socket, *self._watchers):
            each.close()


def _knock(process: int, wish: bytes) -> socket.socket:
    door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        door.connect(_address(process))
        door.send(wish)
    except OSError as error:
        raise UsageError(
            f"process {process} is no emulation of yours that is running",
            "its number stands in the first line that sojourn emulate says",
        ) from error
    return door


def namespaces_of(process: int) -> list[int]:
    """Return the namespaces of a running emulation as descriptors."""
    with _knock(process, b"join") as door, suppress(OSError):
        answer, descriptors, _, _ = socket.recv_fds(door, 64, 8)
        if descriptors:
            return descriptors
        if answer == b"between":
            raise UsageError(
                f"the emulation of process {process} is between two interfaces: nothing runs in it",
                "programs run on the machines that are connected to them",
            )
    raise UsageError(f"the emulation of process {process} refuses other users")


def views_of(process: int) -> Iterator[dict[str, Any]]:
    """Return what a running emulation looks like, again and again until it ends."""
    with _knock(process, b"watch") as door, selectors.DefaultSelector() as selector:
        selector.register(door, selectors.EVENT_READ)
        while True:
            if selector.select(0.5):
                with suppress(OSError):
                    text = door.recv(1 << 16)
                    if text:
                        yield json.loads(text)
                        continue
                return
