"""New directories for results: never overwritten, never half-written.

A directory is filled under a temporary name beside its destination and renamed when it is complete. The
temporary name tells which process writes it, so that others can remove what a killed one left.
"""

import contextlib
import os
import shutil
import socket
from collections.abc import Generator
from pathlib import Path

from sojourn.base.errors import EnvironmentFailure, UsageError
from sojourn.base.files import read_file


def dated(name: str) -> Path:
    """Return a directory below `results/` named by date and time; it is not there yet, and no other process gets it.

    A hidden file beside it holds the place until the directory is complete; `new_directory` takes it away.

    Raises `EnvironmentFailure` if nothing can be written there.
    """
    from datetime import datetime

    stamp = datetime.now().astimezone().strftime("%Y-%m-%dT%H-%M-%S")
    directory = Path("results") / name / stamp
    number = 2
    with writing(directory):
        directory.parent.mkdir(parents=True, exist_ok=True)
        while not _reserve(directory):
            directory = directory.with_name(f"{stamp}-{number}")
            number += 1
    return directory


def _reserve(directory: Path) -> bool:
    """Hold the place of a directory; return whether it was free."""
    place = _place_of(directory)
    try:
        with place.open("x", encoding="utf-8") as file:
            file.write(owner())
    except FileExistsError:
        return False
    except OSError:
        place.unlink(missing_ok=True)
        raise
    if directory.exists():  # another process has just finished it
        place.unlink()
        return False
    return True


def _place_of(directory: Path) -> Path:
    return directory.with_name(f".{directory.name}{RESERVED}")


def owner() -> str:
    """Return a name for this process that other processes on the same disk can judge; in a guest, that of its host's process."""
    return os.environ.get(OWNER) or f"{socket.gethostname()}.{os.getpid()}"


OWNER = "SOJOURN_OWNER"
"""Environment variable for a guest, all of whose processes have the same numbers in each run."""


LONGEST_PROCESS = 10
"""Digits of the number of a process; chosen: Linux has at most seven."""


def owner_is_gone(name: str) -> bool:
    """Return whether the process of that name has certainly ended; of other machines one cannot tell."""
    if os.name != "posix":  # elsewhere the signal that asks is one that ends
        return False
    host, _, process = name.rpartition(".")
    if host != socket.gethostname() or not (
        process.isascii() and process.isdecimal() and len(process) <= LONGEST_PROCESS
    ):
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


@contextlib.contextmanager
def new_directory(directory: Path, *, is_ours: bool = False) -> Generator[Path]:
    """Give a temporary directory that becomes `directory` when the block ends well.

    If the block fails, nothing is left behind; also not the place that `dated` holds for it (`is_ours`).

    Raises `UsageError` if `directory` is in use; `EnvironmentFailure` if it cannot be written.
    """
    try:
        with unfinished_directory(directory) as unfinished:
            yield unfinished
            with writing(directory):
                unfinished.rename(directory.absolute())
    finally:
        if is_ours:
            with contextlib.suppress(OSError):
                _place_of(directory.absolute()).unlink()


@contextlib.contextmanager
def unfinished_directory(directory: Path) -> Generator[Path]:
    """Give a temporary directory beside `directory`, which is new or empty; it is removed at the end unless it was renamed.

    Raises `UsageError` if `directory` is in use; `EnvironmentFailure` if it cannot be written.
    """
    refuse_used(directory)
    destination = directory.absolute()
    unfinished = destination.with_name(f".{destination.name}{UNFINISHED}{owner()}")
    with writing(directory):
        unfinished.mkdir(parents=True)
    _sweep(destination.parent)
    try:
        yield unfinished
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


UNFINISHED = ".unfinished-"
RESERVED = ".reserved"
LONGEST_OWNER = 400
"""Bytes of the name of a process. chosen: names of machines have at most 253."""


def _sweep(parent: Path) -> None:
    """Remove what killed processes left beside a new directory."""
    for path in parent.glob(f".*{UNFINISHED}*"):
        if owner_is_gone(path.name.rpartition(UNFINISHED)[2]):
            shutil.rmtree(path, ignore_errors=True)
    for path in parent.glob(f".*{RESERVED}"):
        with contextlib.suppress(OSError, ValueError):
            if owner_is_gone(read_file(path, root=parent, most=LONGEST_OWNER).decode()):
                path.unlink()


def refuse_used(directory: Path, option: str = "--out") -> None:
    """Make sure that `directory`, which this option names, is new or empty.

    Raises `UsageError` if it is not.
    """
    if not directory.exists():
        return
    if not directory.is_dir():
        raise UsageError(f"{directory} is not a directory", "results go into a new directory")
    with writing(directory):
        used = any(directory.iterdir())
    if used:
        raise UsageError(
            f"{directory} is not empty, and results are not overwritten", f"name a new directory with {option}"
        )


@contextlib.contextmanager
def writing(
    directory: Path, hint: str = "finished runs are in the store; choose another directory with --out"
) -> Generator[None]:
    """Turn what the operating system refuses into a sentence, with this hint.

    Raises
    ------
    EnvironmentFailure
        Instead of `OSError`.
    """
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise EnvironmentFailure(f"cannot write {directory}: {reason}", hint) from error
