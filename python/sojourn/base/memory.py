"""Memory budget of runs: the user's, or most of the free memory.

A run that is known to need more is refused before it begins, and one that turns out to is stopped: the system would
end the whole process.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # as type checkers read it; the module typing would take its time
if TYPE_CHECKING:
    from collections.abc import Iterator

SHARE = 0.75
"""Of what is free, for runs. chosen: tables are packed and drawn after them, and others live here too."""

LEAST = 256_000_000
"""Bytes that are always allowed. chosen: four times what a long run without rows takes."""


def budget(runs: int = 1, wish: int | None = None) -> int:
    """Return how many bytes each of some runs at a time may take.

    Parameters
    ----------
    runs
        How many share the memory.
    wish
        What was asked for, for all of them; most of what is free if left out.
    """
    whole = wish if wish is not None else max(LEAST, int(SHARE * min(_free(), default=2**62)))
    return max(1, whole // max(1, runs))


def _free() -> Iterator[int]:
    """Yield what limits this process, in bytes, as far as the system tells."""
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) * 1024
    limit = "".join(_lines("/sys/fs/cgroup/memory.max")).strip()
    used = "".join(_lines("/sys/fs/cgroup/memory.current")).strip()
    if limit.isdigit() and used.isdigit():
        yield max(0, int(limit) - int(used))
    if os.name == "posix":
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        if soft != resource.RLIM_INFINITY:
            yield soft


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123 - pathlib takes its time
            return file.readlines()
    except OSError:
        return []
