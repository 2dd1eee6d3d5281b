"""Shared libraries as stacks: transports of others, by the interface in `sojourn_stack.h`, version 1.

The engine calls them; Python only loads them, because a call takes less than a microsecond and a packet has some ten.

Source: `sojourn_stack.h` beside this file. Deviations: none known.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import sojourn._engine as _engine
from sojourn.plugins.library import BadLibrary

if TYPE_CHECKING:
    from sojourn.plugins.file import Plugin

_LOADED: list[ctypes.CDLL] = []
"""Libraries that the engine may call until the process ends."""


def add_stack(path: str, plugin: Plugin) -> None:
    """Load a library and make it known to scenarios of this process.

    Raises
    ------
    BadLibrary
        If it cannot be loaded, or has another version of the interface.
    """
    from sojourn.plugins.file import STACK

    try:
        loaded = ctypes.CDLL(path)
        export = getattr(loaded, STACK)
    except (OSError, AttributeError) as error:
        told = str(error).removeprefix(path).removeprefix(": ")
        raise BadLibrary(f'the plugin "{plugin.name}" cannot be loaded: {told}') from error
    export.restype, export.argtypes = ctypes.c_void_p, []
    try:
        _engine.add_stack(plugin.name, plugin.digest, export() or 0)
    except ValueError as error:
        raise BadLibrary(f'the plugin "{plugin.name}": {error}') from error
    _LOADED.append(loaded)
