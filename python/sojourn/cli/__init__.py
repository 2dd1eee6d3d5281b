"""The command line: `sojourn`.

Data go to stdout; words, progress and errors go to stderr. Exit status: 0 done, 1 failed, 2 wrong usage
or invalid input, 3 interrupted. One file per command; whatever is heavy is imported inside functions, so
that help comes at once.
"""

import os
import signal
import sys
from types import FrameType

from sojourn.errors import ExitStatus, SojournError

__all__ = ["main", "run_command"]

INTERRUPTED_BY_TYPER = 130
"""What typer makes of a keyboard interrupt (128 + SIGINT)."""


def main() -> None:
    """Run the command that the process was called with, and leave the process."""
    signal.signal(signal.SIGTERM, _interrupt)
    status = run_command(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has gone; nothing is left to be said, also not at interpreter exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def run_command(arguments: list[str]) -> int:
    """Run one command and return its exit status; errors of input and environment become words."""
    from typer import TyperException

    from sojourn.cli.app import app
    from sojourn.cli.console import note, show_error, show_usage_error

    try:
        status = app(arguments, prog_name="sojourn", standalone_mode=False)
    except TyperException as error:
        show_usage_error(error)
        return error.exit_code
    except SojournError as error:
        show_error(error)
        return error.exit_status
    except BrokenPipeError:
        return ExitStatus.DONE
    except KeyboardInterrupt:
        status = INTERRUPTED_BY_TYPER
    if status == INTERRUPTED_BY_TYPER:
        note("interrupted")
        return ExitStatus.INTERRUPTED
    return status if isinstance(status, int) else ExitStatus.DONE
