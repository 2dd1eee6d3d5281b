"""Matplotlib as it is delivered: its files in the current directory and in the user's settings are not read.

A file `matplotlibrc` beside an untrusted result could choose LaTeX for all texts, which is a program that is run.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any


def _loaded() -> ModuleType:
    """Load Matplotlib with its own settings, which it looks for first in the current directory."""
    spec = find_spec("matplotlib")
    if "matplotlib" not in sys.modules and spec is not None and spec.origin is not None:
        try:
            here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
        except OSError:  # it is gone
            here = None
        os.chdir(Path(spec.origin).parent / "mpl-data")
        try:
            import matplotlib as mpl
        finally:
            if here is not None:
                os.fchdir(here)
                os.close(here)
    import matplotlib as mpl

    return mpl


mpl: Any = _loaded()

DEFAULTS: dict[str, Any] = {key: value for key, value in mpl.rcParamsDefault.items() if not key.startswith("backend")}
"""All settings of appearance, even if Matplotlib was loaded before."""
