"""Queue managers written in Python, for prototypes: slow, never stored, and heard only in this process."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Protocol

import sojourn._engine as _engine
from sojourn._engine import Packet
from sojourn.base.errors import UsageError


class QueueManager(Protocol):
    """Methods of a class that manages a queue."""

    def enqueue(self, packet: Packet, now: float) -> None:
        """Take note of an arrival; `packet.drop()` refuses it.

        Parameters
        ----------
        packet
            What arrives. It waits from now on, until `dequeue` returns it or it is dropped.
        now
            Simulated time, in seconds.
        """
        ...

    def dequeue(self, now: float) -> Packet | None:
        """Return the packet to send now; nothing only if none waits.

        Packets may be dropped and marked before, by `packet.drop()` and `packet.mark()`.
        """
        ...


def add_manager(name: str, factory: Callable[[Random], QueueManager]) -> None:
    """Make a class of queue managers known to scenarios of this process.

    They ask for it by `queue = { kind = "python", class = "NAME" }`. A class of the same name is replaced, as
    happens when a cell of a notebook is run again. Runs with it are not kept in any store.

    Parameters
    ----------
    name
        What scenarios call it.
    factory
        The class, or whatever returns a new manager. It is given random numbers of its own, which follow the seed
        of the run.

    Raises
    ------
    UsageError
        If the factory cannot be called or its object lacks a method.

    Examples
    --------
    >>> class Shortest:
    ...     def __init__(self, random):
    ...         self.waiting = []
    ...
    ...     def enqueue(self, packet, now):
    ...         self.waiting.append(packet)
    ...
    ...     def dequeue(self, now):
    ...         if not self.waiting:
    ...             return None
    ...         self.waiting.sort(key=lambda packet: (packet.length, packet.arrived))
    ...         return self.waiting.pop(0)
    >>> add_manager("shortest", Shortest)
    """
    if not callable(factory):
        raise UsageError(f"{factory!r} is not a class", "give the class itself, not its name")
    trial = factory(Random(0))
    missing = [word for word in ("enqueue", "dequeue") if not callable(getattr(trial, word, None))]
    if missing:
        raise UsageError(
            f'the queue manager "{name}" has no method {" and no method ".join(missing)}',
            "it needs enqueue(self, packet, now) and dequeue(self, now)",
        )
    _engine.add_manager(name, factory)
