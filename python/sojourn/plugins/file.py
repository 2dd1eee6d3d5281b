"""The file of a plugin: its name, and the digest that stands for its behaviour."""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import sojourn._engine as _engine
from sojourn.base.errors import UsageError, plain, why
from sojourn.base.files import read_file

LIBRARIES = (".so", ".dylib")
"""Endings of shared libraries; other plugins are Python."""

STACK = "sje_stack_v1"
"""Function of libraries that are stacks."""

ADAPTERS = ("library.py", "controller_library.py")
"""Modules that call a library; the keys of its runs include them."""

LARGEST = 256 * 2**20
"""Bytes of a plugin. chosen: a library with all symbols has some ten megabytes."""


@dataclass(frozen=True)
class Plugin:
    """A queue manager, a congestion controller, or a transport, in a file."""

    name: str
    """Its name in scenarios and tables."""
    file: str
    """Name of the file, without its folder."""
    content: bytes
    """The file as it was read; what runs is what was hashed."""

    @property
    def is_library(self) -> bool:
        """True if it is a shared library and not Python."""
        return self.file.endswith(LIBRARIES)

    @property
    def is_stack(self) -> bool:
        """True if it is a library that carries connections."""
        return self.is_library and STACK.encode() in self.content

    @property
    def sha256(self) -> str:
        """SHA-256 of the file."""
        return hashlib.sha256(self.content).hexdigest()

    @property
    def digest(self) -> str:
        """Its part of the key of a run: the file, and the modules that run it."""
        if self.is_library:
            adapters = [Path(__file__).with_name(name).read_bytes() for name in ADAPTERS]
            return f"{self.sha256} by {hashlib.sha256(b''.join(adapters)).hexdigest()[:16]}"
        return f"{self.sha256} in Python {platform.python_version()}"

    def announce(self) -> None:
        """Let scenarios of this process ask for it; they cannot run here."""
        _engine.add_plugin(self.name, self.digest)


def read_plugin(path: str | Path) -> Plugin:
    """Read the file of a plugin; nothing of it runs.

    `my_manager.py` is called `my-manager`, `libmine.so` is `mine`, `libsojourn_stack_quinn.so` is `quinn`.

    Raises
    ------
    UsageError
        If it cannot be read, or its name is none for a plugin.
    """
    path = Path(path)
    if path.suffix not in (".py", *LIBRARIES):
        raise UsageError(
            f"--plugin {plain(path)}: neither Python nor a shared library",
            f"the name of its file ends with .py, {' or '.join(LIBRARIES)}",
        )
    stem = path.stem.removeprefix("lib") if path.suffix in LIBRARIES else path.stem
    name = stem.lower().replace("_", "-").removeprefix("sojourn-stack-")
    if re.fullmatch(r"[a-z0-9][a-z0-9-]{0,39}", name) is None:
        raise UsageError(
            f'--plugin {plain(path)}: "{plain(name)}" is no name for a plugin',
            "up to 40 letters, digits and underscores in the name of the file",
        )
    try:
        content = read_file(path, most=LARGEST)
    except (OSError, ValueError) as error:  # a path with a NUL is a ValueError
        raise UsageError(f"--plugin {plain(path)}: {why(error)}") from error
    return Plugin(name, path.name, content)


def named_in(document: object) -> Iterator[str]:
    """Yield the names of the plugins that a document asks for."""
    if isinstance(document, list):
        for item in cast("list[object]", document):
            yield from named_in(item)
    elif isinstance(document, dict):
        table = cast("dict[str, Any]", document)
        if table.get("kind") in ("plugin", "library") and isinstance(table.get("name"), str):
            yield table["name"]
        for item in table.values():
            yield from named_in(item)
