"""Python modules of studies: running them, what went wrong in them, and which may run.

Who runs or checks a study runs its module. A result is different: it may come from somebody else, and what
a user is given is read and not run. So a module of a result runs only if the same bytes were run here as
part of a study before; its hash is kept beside the store.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from sojourn.errors import Problem, StudyError
from sojourn.store import default_directory

__all__ = ["is_trusted", "load_module", "trust", "what_failed"]


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


def load_module(path: Path, study: str) -> ModuleType:
    """Run the module of a study; it sees the package, and nothing else of its folder.

    Raises
    ------
    StudyError
        If it is not there or raises.
    """
    name = f"sojourn_study_{study.replace('-', '_').replace('.', '_')}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.exists():
        hint = "the path is relative to the study file"
        raise StudyError([Problem("module", f"{path}: no such Python file", hint)])
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        hint = "the module runs before the simulations; test it with python"
        raise StudyError([Problem("module", what_failed(error, path.name), hint)]) from error
    return module


def what_failed(error: BaseException, file: str = "") -> str:
    """Say in a line what went wrong in a study's own code, and where.

    Examples
    --------
    >>> what_failed(ZeroDivisionError("division by zero"))
    'ZeroDivisionError: division by zero'
    """
    if isinstance(error, SyntaxError):
        return f"{file}, line {error.lineno}: {error.msg}"
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if not file or f.filename.endswith(file)] if file else []
    return f"{file}, line {own[-1].lineno}: {text}" if own else text
