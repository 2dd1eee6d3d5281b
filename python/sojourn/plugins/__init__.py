"""Queue managers, congestion controllers and transports of the user's own, in a file that the command line names: Python, or a shared library.

A plugin runs in a process of its own with limits of memory and time, one process a run. Its runs are kept in the store
by the digest of its file. Nothing is run because a directory holds it: who asks for a file by name trusts it.
"""

from sojourn.plugins.file import Plugin, named_in, read_plugin
from sojourn.plugins.process import (
    MEMORY,
    PluginFailed,
    check_apart,
    packets_kept,
    replay_apart,
    simulate_apart,
    try_plugins,
)

__all__ = [
    "MEMORY",
    "Plugin",
    "PluginFailed",
    "check_apart",
    "named_in",
    "packets_kept",
    "read_plugin",
    "replay_apart",
    "simulate_apart",
    "try_plugins",
]
