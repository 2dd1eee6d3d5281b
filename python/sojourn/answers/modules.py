"""Python modules of studies: running them, what went wrong in them, and which may run.

Who runs a study runs its module; who checks it reads it. A result may come from
a stranger, so it is read and not run: a module of a result runs only if the same bytes were run here as part of
a study before; their hash is kept beside the store. What runs is always what was hashed: a module is read once, and no
bytecode that lies beside it is looked at.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import sys
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from sojourn.base.errors import Problem, StudyError, why
from sojourn.base.files import read_file
from sojourn.store import default_directory


def read_module(path: Path, root: Path | None = None) -> bytes:
    """Return the text of a module; `root` is the result that it came with.

    Raises `StudyError` if it cannot be read.
    """
    try:
        return read_file(path, root=root)
    except (OSError, ValueError) as error:
        missing = isinstance(error, FileNotFoundError)
        told = "no such Python file" if missing else why(error)
        hint = "the path is relative to the study file"
        raise StudyError([Problem("module", f"{path}: {told}", hint)]) from error


def _mark(source: bytes) -> Path:
    return default_directory().parent / "modules" / hashlib.sha256(source).hexdigest()


def trust(source: bytes) -> None:
    """Remember that a module was run here; where nothing can be written, nothing is remembered."""
    with contextlib.suppress(OSError):
        mark = _mark(source)
        if not mark.exists():
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()


def is_trusted(source: bytes) -> bool:
    """Return whether these bytes were run here as part of a study before."""
    try:
        return _mark(source).exists()
    except OSError:
        return False


def load_module(path: Path, source: bytes, study: str) -> ModuleType:
    """Run the text of a study's module; it sees the package, and nothing else of its folder.

    Raises `StudyError` if it raises, or leaves the program.

    Parameters
    ----------
    path
        Its path, which errors name.
    source
        Its text.
    study
        Name of the study.
    """
    name = f"sojourn_study_{study.replace('-', '_').replace('.', '_')}"
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        exec(compile(source, str(path), "exec"), vars(module))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # `sys.exit` too: it would end the command as if all were done
        del sys.modules[name]
        hint = "the module runs before the simulations; test it with python"
        raise StudyError([Problem("module", what_failed(error, path.name), hint)]) from error
    return module


class Guarded(dict[str, Any]):
    """Names of a module; no exception of its functions ends the program."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - anything
        """Return a function of the module whose exceptions become `RuntimeError`."""
        found = super().__getitem__(name)
        return _guarded(found) if callable(found) else found


def _guarded(function: Any) -> Any:  # noqa: ANN401 - any callable
    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401
        try:
            found = function(*arguments, **named)
            return list(cast("Iterator[Any]", found)) if isinstance(found, Iterator) else found
        except (Exception, KeyboardInterrupt):
            raise
        except BaseException as error:  # also `sys.exit` and unexpected exceptions
            raise RuntimeError(what_failed(error)).with_traceback(error.__traceback__) from None

    return call


@dataclass(frozen=True)
class ModuleNames:
    """Names of a module's functions."""

    known: frozenset[str] = frozenset()
    has_others: bool = False
    """True if it may hold more than its text shows."""

    @classmethod
    def of(cls, functions: Mapping[str, Any]) -> ModuleNames:
        """Return those of a module that was run."""
        return cls(frozenset(name for name, found in functions.items() if callable(found)))


def names_in(path: Path, source: bytes) -> ModuleNames:
    """Return what the text of a module may call its functions, without running it.

    Raises `StudyError` if it is not Python.
    """
    try:
        tree = ast.parse(source, str(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise StudyError([Problem("module", what_failed(error, path.name))]) from error
    found: set[str] = set()
    has_others = False
    for node in _outer(tree.body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(one.asname or one.name).partition(".")[0] for one in node.names}
            has_others |= any(one.name == "*" for one in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Name) and node.id in {"globals", "vars", "exec", "setattr"}:
            has_others = True
    return ModuleNames(frozenset(found), has_others)


def _outer(nodes: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield what runs when the module does: all but the insides of functions and classes."""
    waiting: list[ast.AST] = list(nodes)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


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
