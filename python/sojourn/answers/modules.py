"""Which modules of studies may run: those that were run here from the study's own folder.

Who runs or checks a study runs its module. A result is different: it may come from somebody else, and what
a user is given is read and not run. So a module of a result runs only if the same bytes were run here as
part of a study before; its hash is kept beside the store.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

from sojourn.store import default_directory

__all__ = ["is_trusted", "trust"]


def _mark(module: Path) -> Path:
    digest = hashlib.sha256(module.read_bytes()).hexdigest()
    return default_directory().parent / "modules" / digest


def trust(module: Path) -> None:
    """Remember that a module was run here; where nothing can be written, nothing is remembered."""
    with contextlib.suppress(OSError):
        mark = _mark(module)
        if not mark.exists():
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()


def is_trusted(module: Path) -> bool:
    """Whether these bytes were run here as part of a study before."""
    try:
        return _mark(module).exists()
    except OSError:
        return False
