"""Shared libraries as plugins: how one is opened, and queue managers of the interface in `sojourn_plugin.h`, version 1.

A queue manager holds tickets and never packets, so it cannot lose one unseen: each ticket is checked off at each call.

Source: `sojourn_plugin.h` beside this file. Deviations: none known.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import POINTER, Structure
from dataclasses import dataclass
from random import Random
from typing import Any

from sojourn._engine import Packet

ABI = 1
"""Version of both interfaces."""

REASONS = ("overlimit", "fat_flow", "early", "forced", "target", "overload", "blue", "disturbed", "policed", "unheard")
"""Reasons by their numbers in the interface; the words are those of the records."""

ECN = {"not-ect": 0, "ect1": 1, "ect0": 2, "ce": 3}
"""The ECN field as on the wire."""


class BadLibrary(Exception):
    """A library that is no plugin, or breaks the rules; the text says how."""


class _Meta(Structure):
    _fields_ = (
        ("length", ctypes.c_uint32),
        ("flow_hash", ctypes.c_uint32),
        ("mac_overhead", ctypes.c_uint16),
        ("dscp", ctypes.c_uint8),
        ("ecn", ctypes.c_uint8),
        ("pure_ack", ctypes.c_uint8),
        ("queue", ctypes.c_uint8),
        ("pad", ctypes.c_uint8 * 2),
    )


_Told = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint8)
_Unit = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p)


class _Host(Structure):
    _fields_ = (
        ("size", ctypes.c_uint32),
        ("user", ctypes.c_void_p),
        ("dropped", _Told),
        ("marked", _Told),
        ("unit", _Unit),
    )


# A call keeps the lock of the interpreter: it is short, or the process is ended.
_Create = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t)
_Enqueue = ctypes.PYFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_uint64, POINTER(_Meta), ctypes.c_uint64, POINTER(_Host)
)
_Dequeue = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_uint64, POINTER(_Host), POINTER(ctypes.c_uint64))
_Destroy = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)


class _Table(Structure):
    _fields_ = (
        ("size", ctypes.c_uint32),
        ("abi", ctypes.c_uint32),
        ("create", _Create),
        ("enqueue", _Enqueue),
        ("dequeue", _Dequeue),
        ("destroy", _Destroy),
    )


@dataclass(frozen=True)
class Interface:
    """Symbols that a library of a kind exports."""

    symbol: str
    """The function that returns its table."""
    table: type[Structure]
    needed: Sequence[str]
    """Calls that may not be missing."""
    made: Callable[..., object]
    """Makes an object of the table and the arguments of the engine."""


def open_library(path: str, name: str, interface: Interface) -> Callable[..., object]:
    """Open a library and return what makes its objects.

    Parameters
    ----------
    path
        Where it lies.
    name
        What messages call it.
    interface
        Symbols that it must export.

    Raises
    ------
    BadLibrary
        If it is no plugin of this interface.
    """
    symbol, table = interface.symbol, interface.table
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        told = str(error).removeprefix(path).removeprefix(": ")
        raise BadLibrary(f'the plugin "{name}" cannot be loaded: {told}') from error
    try:
        export = getattr(loaded, symbol)
    except AttributeError as error:
        raise BadLibrary(f'the plugin "{name}" exports no {symbol}') from error
    export.restype, export.argtypes = POINTER(table), []
    found = export()
    if not found:
        raise BadLibrary(f'the plugin "{name}": {symbol} returned no table')
    calls: Any = found.contents
    if calls.abi != ABI or calls.size < ctypes.sizeof(table):
        raise BadLibrary(
            f'the plugin "{name}" has version {calls.abi} of the interface in {calls.size} bytes; '
            f"this is version {ABI} with {ctypes.sizeof(table)}"
        )
    for call in interface.needed:
        if not getattr(calls, call):
            raise BadLibrary(f'the plugin "{name}" has no {call}')

    def make(*arguments: object) -> object:
        _ = loaded  # stays as long as its objects can be made
        return interface.made(calls, *arguments)

    return make


class Manager:
    """One queue of a library, as the engine calls it."""

    def __init__(self, calls: Any, random: Random) -> None:  # noqa: ANN401 - a table of C
        self._calls, self._random = calls, random
        self._waiting: dict[int, Packet] = {}
        self._tickets = 0
        self._fault: BaseException | None = None
        # Kept here: the library calls them as long as this manager lives.
        self._host = _Host(ctypes.sizeof(_Host), None, _Told(self._drop), _Told(self._mark), _Unit(self._unit))
        self._state = self._calls.create(b"", 0)
        if not self._state:
            raise BadLibrary("create returned nothing")

    def enqueue(self, packet: Packet, now: float) -> None:
        """Offer a packet to the library."""
        ticket = self._tickets
        self._tickets += 1
        self._waiting[ticket] = packet
        meta = _Meta(packet.length, packet.flow, 0, packet.dscp, ECN[packet.ecn], packet.pure_ack)
        answer = self._calls.enqueue(
            self._state, round(now * 1e9), ctypes.byref(meta), ticket, ctypes.byref(self._host)
        )
        self._check()
        if answer not in (0, 1):
            raise BadLibrary(f"enqueue returned {answer}, which is neither 0 (kept) nor 1 (refused)")
        if (answer == 1) == (ticket in self._waiting):
            said = "refused" if answer else "kept"
            did = "did not drop it" if answer else "dropped it"
            raise BadLibrary(f"enqueue said that ticket {ticket} is {said}, and {did}")

    def dequeue(self, now: float) -> Packet | None:
        """Ask the library what to send."""
        ticket = ctypes.c_uint64()
        answer = self._calls.dequeue(self._state, round(now * 1e9), ctypes.byref(self._host), ctypes.byref(ticket))
        self._check()
        if answer not in (0, 1):
            raise BadLibrary(f"dequeue returned {answer}, which is neither 0 (empty) nor 1 (one)")
        if answer == 0:
            return None
        packet = self._waiting.pop(ticket.value, None)
        if packet is None:
            raise BadLibrary(f"dequeue returned ticket {ticket.value}, which does not wait here")
        return packet

    def close(self) -> None:
        """Free what the library holds."""
        self._calls.destroy(self._state)

    def _drop(self, _: object, ticket: int, reason: int) -> None:
        packet = self._waiting.pop(ticket, None)
        if packet is None:
            self._fail(f"ticket {ticket} was dropped, and does not wait here")
        elif reason >= len(REASONS):
            self._fail(f"ticket {ticket} was dropped for reason {reason}, which there is none of")
        else:
            packet.drop(REASONS[reason])

    def _mark(self, _: object, ticket: int, reason: int) -> None:
        packet = self._waiting.get(ticket)
        if packet is None:
            self._fail(f"ticket {ticket} was marked, and does not wait here")
        elif reason >= len(REASONS):
            self._fail(f"ticket {ticket} was marked for reason {reason}, which there is none of")
        elif not packet.mark(REASONS[reason]):
            self._fail(f"ticket {ticket} was marked, and its packet is not ECN-capable")

    def _unit(self, _: object) -> float:
        try:
            return self._random.random()
        except ValueError as error:  # a trace has no more of them
            self._fail(str(error))
            return 0.5

    def _fail(self, what: str) -> None:
        self._fault = self._fault or BadLibrary(what)

    def _check(self) -> None:
        if self._fault is not None:
            raise self._fault


MANAGERS = Interface("sjq_plugin_v1", _Table, ("create", "enqueue", "dequeue", "destroy"), Manager)
"""Queue managers."""
