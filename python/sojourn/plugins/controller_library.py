"""Shared libraries as congestion controllers: the second interface of `sojourn_plugin.h`, version 1.

A controller has the calls of one in Python, so that the engine knows one kind of plugin: what is no window or no rate ends the
run there.

Source: `sojourn_plugin.h` beside this file. Deviations: none known.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from ctypes import POINTER, Structure, c_double, c_int32, c_uint8, c_uint32, c_uint64, c_void_p
from typing import Any

from sojourn._engine import Acknowledgement
from sojourn.plugins.library import BadLibrary, Interface

CAUSES: Mapping[str, int] = {"loss": 0, "mark": 1, "timeout": 2}
"""Causes of congestion by their numbers in the interface."""

SCALABLE, RATE_SAMPLES, NO_SLOW_START = 1, 2, 4
"""Features that a controller requests, as bits."""


class _Window(Structure):
    _fields_ = (("size", c_double), ("threshold", c_double))


class _Ack(Structure):
    _fields_ = (
        ("size", c_uint32),
        ("acked", c_uint32),
        ("now_ns", c_uint64),
        ("round_trip_ns", c_uint64),
        ("smoothed_ns", c_uint64),
        ("marks", c_uint32),
        ("flight", c_uint32),
        ("first", c_uint32),
        ("next", c_uint32),
        ("marked", c_uint8),
        ("may_change", c_uint8),
        ("may_grow", c_uint8),
        ("application_limited", c_uint8),
        ("newly_lost", c_uint32),
        ("in_flight", c_uint32),
        ("rate_bps", c_double),
        ("delivered", c_uint64),
        ("delivered_before", c_uint64),
    )


class _State(Structure):
    _fields_ = (("phase", ctypes.c_char * 32), ("bandwidth_bps", c_double), ("bound_segments", c_double))


class _Table(Structure):
    # A call keeps the lock of the interpreter: it is short, or the process is ended.
    _fields_ = (
        ("size", c_uint32),
        ("abi", c_uint32),
        ("create", ctypes.PYFUNCTYPE(c_void_p, c_uint32, c_uint32)),
        ("requests", ctypes.PYFUNCTYPE(c_uint32, c_void_p)),
        ("on_congestion_avoidance", ctypes.PYFUNCTYPE(None, c_void_p, c_uint32, POINTER(_Ack), POINTER(_Window))),
        ("on_congestion", ctypes.PYFUNCTYPE(c_double, c_void_p, c_int32, c_double, c_uint64, POINTER(_Window))),
        ("on_ack", ctypes.PYFUNCTYPE(None, c_void_p, POINTER(_Ack), POINTER(_Window))),
        ("on_restart", ctypes.PYFUNCTYPE(None, c_void_p, c_uint64, POINTER(_Window))),
        ("pacing_rate", ctypes.PYFUNCTYPE(c_double, c_void_p)),
        ("state", ctypes.PYFUNCTYPE(None, c_void_p, POINTER(_State))),
        ("clone", ctypes.PYFUNCTYPE(c_void_p, c_void_p)),
        ("destroy", ctypes.PYFUNCTYPE(None, c_void_p)),
    )


STRUCTS: Mapping[str, type[Structure]] = {
    "sjc_ack": _Ack,
    "sjc_plugin": _Table,
    "sjc_state": _State,
    "sjc_window": _Window,
}
"""Their names in the header."""

MAY_BE_MISSING = ("on_ack", "on_restart", "pacing_rate", "state")
"""Calls that the engine leaves out if a controller has none."""


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)


class Controller:
    """One controller of a library, as the engine calls it."""

    def __init__(self, calls: Any, segment: int, initial_window: int) -> None:  # noqa: ANN401 - a table of C
        self._hold(calls, calls.create(segment, initial_window), "create")

    def _hold(self, calls: Any, state: int | None, made_by: str) -> None:  # noqa: ANN401
        if not state:
            raise BadLibrary(f"{made_by} returned nothing")
        self._calls = calls
        self._held: int | None = state
        asked = calls.requests(state) if calls.requests else 0
        self.slow_start = not asked & NO_SLOW_START
        self.scalable = bool(asked & SCALABLE)
        self.rate_samples = bool(asked & RATE_SAMPLES)
        for call in MAY_BE_MISSING:
            if getattr(calls, call):
                setattr(self, call, getattr(self, f"_{call}"))

    def __deepcopy__(self, _: object) -> Controller:
        copy = Controller.__new__(Controller)
        copy._hold(self._calls, self._calls.clone(self._held), "clone")
        return copy

    def on_congestion_avoidance(self, acked: int, ack: Acknowledgement) -> float:
        """Return the window after segments were acknowledged above the threshold."""
        window = _Window(ack.window, ack.threshold)
        told = _told(ack)
        self._calls.on_congestion_avoidance(self._held, acked, ctypes.byref(told), ctypes.byref(window))
        return window.size

    def on_congestion(self, cause: str, base: float, window: float, now: float) -> float:
        """Return the threshold after congestion."""
        told = _Window(window, base)
        return self._calls.on_congestion(self._held, CAUSES[cause], base, _ns(now), ctypes.byref(told))

    def _on_ack(self, ack: Acknowledgement) -> float:
        window = _Window(ack.window, ack.threshold)
        told = _told(ack)
        self._calls.on_ack(self._held, ctypes.byref(told), ctypes.byref(window))
        return window.size

    def _on_restart(self, idle: float, size: float) -> float:
        window = _Window(size, size)
        self._calls.on_restart(self._held, _ns(idle), ctypes.byref(window))
        return window.size

    def _pacing_rate(self) -> float | None:
        rate = self._calls.pacing_rate(self._held)
        return None if rate == 0 else rate

    def _state(self) -> tuple[str, float | None, float | None]:
        told = _State()
        self._calls.state(self._held, ctypes.byref(told))
        try:
            phase = told.phase.decode("ascii")
        except UnicodeDecodeError as error:
            raise BadLibrary("state told a phase that is no word of ASCII") from error
        return phase, told.bandwidth_bps or None, told.bound_segments or None

    def close(self) -> None:
        """Free what the library holds."""
        held, self._held = self._held, None
        if held:
            self._calls.destroy(held)

    def __del__(self) -> None:
        if getattr(self, "_held", None):
            self.close()


def _told(ack: Acknowledgement) -> _Ack:
    return _Ack(
        ctypes.sizeof(_Ack),
        ack.acked,
        _ns(ack.now),
        _ns(ack.round_trip or 0.0),
        _ns(ack.smoothed),
        ack.marks,
        ack.flight,
        ack.first,
        ack.next,
        ack.marked,
        ack.may_change,
        ack.may_grow,
        ack.application_limited,
        ack.newly_lost,
        ack.in_flight,
        ack.rate or 0.0,
        ack.delivered,
        ack.delivered_before,
    )


CONTROLLERS = Interface(
    "sjc_plugin_v1", _Table, ("create", "on_congestion_avoidance", "on_congestion", "clone", "destroy"), Controller
)
"""Congestion controllers."""
