"""The command line: `sojourn`.

Data go to stdout; words, progress and errors go to stderr. Exit status: 0 done, 1 failed, 2 wrong usage
or invalid input, 3 interrupted. One file per command, listed in `sojourn.cli.app`; whatever is heavy is
imported inside functions, so that help comes at once and a short run costs little more than itself.
"""

import io
import os
import signal
import sys

__all__ = ["main", "run_command"]


INTERRUPTED = 3  # as in `sojourn.base.errors.ExitStatus`, which is not loaded for help

INTERRUPTS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGALRM") if hasattr(signal, name)]
"""Signals that end a command; the third is an interrupt that comes again (`_unraisable`)."""


def main() -> None:
    """Run the command that the process was called with, and leave the process."""
    _open_standard_files()
    try:
        for number in INTERRUPTS:
            signal.signal(number, _interrupt)
        if hasattr(signal, "setitimer"):  # not on Windows
            sys.unraisablehook = _unraisable
        status = run_command(sys.argv[1:])
        status = max(status, _flush())
        # What was asked for is done; an interrupt that comes now comes too late to undo it.
        for number in INTERRUPTS:
            signal.signal(number, signal.SIG_IGN)
    except KeyboardInterrupt:  # before the command, or while it said how it ended
        status = INTERRUPTED
    if status == INTERRUPTED:
        # At once: a run that has not noticed yet is not waited for, and nothing else is left to be put away.
        os._exit(status)
    sys.exit(status)


def _open_standard_files() -> None:
    """Make sure that words can be printed: into nothing if a service was started without stdout, and in signs that its encoding has.

    A descriptor that is closed would be the next file that is opened, and what is printed would stand in that.
    """
    for number, mode in enumerate("rww"):
        try:
            os.fstat(number)
        except OSError:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere == number:
                os.set_inheritable(number, True)  # noqa: FBT003 - a function of the system
            else:
                os.dup2(nowhere, number)
                os.close(nowhere)
            name = ("stdin", "stdout", "stderr")[number]
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors != "backslashreplace":
            stream.reconfigure(errors="backslashreplace")


def _flush() -> int:
    """Write out what was printed; return the exit status if that fails."""
    status = 0
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has gone, and nothing is left to be said
        pass
    except OSError as error:
        status = _refused(error)
    else:
        return status
    # Also at interpreter exit, which tries it again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def _refused(error: OSError) -> int:
    """Say what the system refused."""
    from sojourn.base.errors import EnvironmentFailure, plain, why
    from sojourn.cli.console import show_error

    place = f"{plain(error.filename)}: " if error.filename else "cannot write: "
    failure = EnvironmentFailure(f"{place}{why(error)}")
    show_error(failure)
    return failure.exit_status


def _interrupt(_signal: int, _frame: object) -> None:
    """End the command; a second signal does not wait for its clean-up."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    raise KeyboardInterrupt


AGAIN_S = 0.02
"""Delay of an interrupt that was not taken, s; chosen: soon, and after the callback that it met has ended."""


def _unraisable(met: "sys.UnraisableHookArgs") -> None:
    """Send an interrupt again that came inside a destructor or a callback: Python lets no exception out of these."""
    if issubclass(met.exc_type, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, AGAIN_S)
    else:
        sys.__unraisablehook__(met)


def _leave(_signal: int, _frame: object) -> None:
    os._exit(INTERRUPTED)


def run_command(arguments: list[str]) -> int:
    """Run one command and return its exit status; errors of input and environment become words."""
    from sojourn.cli.app import execute

    try:
        return execute(arguments)
    except BrokenPipeError:
        return 0
    except OSError as error:
        return _refused(error)
    except UnicodeEncodeError as error:  # half a sign: what the system hands over of a name that is no UTF-8
        from sojourn.base.errors import UsageError, plain
        from sojourn.cli.console import show_error

        show_error(UsageError(f"{plain(error.object[:100])}: not a UTF-8 text"))
        return UsageError.exit_status
    except MemoryError:
        from sojourn.base.errors import EnvironmentFailure
        from sojourn.cli.console import show_error

        failure = EnvironmentFailure("this machine is out of memory")
        show_error(failure)
        return failure.exit_status
    except KeyboardInterrupt:
        from sojourn.base.errors import ExitStatus
        from sojourn.cli.console import note

        note("interrupted")
        return ExitStatus.INTERRUPTED
    except Exception as error:
        from sojourn.base.errors import SojournError
        from sojourn.cli.console import show_error

        if not isinstance(error, SojournError):
            raise
        show_error(error)
        return error.exit_status
    except BaseException as error:
        from sojourn.base.errors import RecordError, RunError
        from sojourn.cli.console import show_error

        name = type(error).__name__
        if name == "PanicException":  # of a library in Rust, which has no name here
            failure = RecordError("a data file is so damaged that reading it crashed the reader")
        else:  # `sys.exit` of a study's module, which would pass for success
            told = f"{name}: {error}" if str(error) else name
            failure = RunError(f"the command was left before its end: {told}")
        show_error(failure)
        return failure.exit_status
