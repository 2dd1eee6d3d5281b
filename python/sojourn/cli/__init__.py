"""The command line: `sojourn`.

Data go to stdout; words, progress and errors go to stderr. Exit status: 0 done, 1 failed, 2 wrong usage
or invalid input, 3 interrupted. One file per command, listed in `sojourn.cli.app`; whatever is heavy is
imported inside functions, so that help comes at once and a short run costs little more than itself.
"""

import os
import signal
import sys

__all__ = ["main", "run_command"]


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


def _interrupt(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt


def run_command(arguments: list[str]) -> int:
    """Run one command and return its exit status; errors of input and environment become words."""
    from sojourn.cli.app import execute

    try:
        return execute(arguments)
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        from sojourn.cli.console import note
        from sojourn.errors import ExitStatus

        note("interrupted")
        return ExitStatus.INTERRUPTED
    except Exception as error:
        from sojourn.cli.console import show_error
        from sojourn.errors import SojournError

        if not isinstance(error, SojournError):
            raise
        show_error(error)
        return error.exit_status
