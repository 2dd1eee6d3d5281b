"""New directories for results: never overwritten, never half-written.

A directory is filled under a temporary name beside its destination and renamed when it is complete.
"""

import contextlib
import os
import shutil
from collections.abc import Generator
from pathlib import Path

from sojourn.errors import EnvironmentFailure, UsageError

__all__ = ["new_directory", "refuse_used", "writing"]


@contextlib.contextmanager
def new_directory(directory: Path) -> Generator[Path]:
    """Give a temporary directory that becomes `directory` when the block ends well.

    If the block fails, nothing is left behind.

    Raises
    ------
    UsageError
        If `directory` is in use.
    EnvironmentFailure
        If it cannot be written.
    """
    refuse_used(directory)
    destination = directory.absolute()
    unfinished = destination.with_name(f".{destination.name}.unfinished-{os.getpid()}")
    with writing(directory):
        unfinished.mkdir(parents=True)
    try:
        yield unfinished
        with writing(directory):
            unfinished.rename(destination)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def refuse_used(directory: Path) -> None:
    """Make sure that `directory` is new or empty.

    Raises
    ------
    UsageError
        If it is not.
    """
    if not directory.exists():
        return
    if not directory.is_dir():
        raise UsageError(f"{directory} is not a directory", "results go into a new directory")
    with writing(directory):
        used = any(directory.iterdir())
    if used:
        raise UsageError(
            f"{directory} is not empty, and results are never overwritten",
            "name a new directory with --out",
        )


@contextlib.contextmanager
def writing(directory: Path) -> Generator[None]:
    """Turn what the operating system refuses into a sentence.

    Raises
    ------
    EnvironmentFailure
        Instead of `OSError`.
    """
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise EnvironmentFailure(
            f"cannot write {directory}: {reason}",
            "what was finished is in the store; choose another place with --out",
        ) from error
