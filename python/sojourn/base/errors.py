"""Errors as types, each with its message, a hint, and the exit status of a command.

The command line prints these without a traceback; programs catch `SojournError`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar


class ExitStatus:
    """How a command ends."""

    DONE = 0
    FAILED = 1
    """A run failed, or the machine did: no space, no permission."""
    INVALID = 2
    """Wrong usage or invalid input."""
    INTERRUPTED = 3
    """Stopped by the user; what was finished is kept."""
    OTHER_VERSION = 4
    """A worker has another version of the engine than the plan that it should work on."""
    UNREACHABLE = 5
    """A shared store cannot be reached or written; the same command goes on later."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a file."""

    path: str
    """Key path such as `access.upstream.queue.target`; empty if the file as a whole is meant."""
    message: str
    hint: str = ""
    """Hint at the right form; may be empty."""
    line: int = 0
    """1-based; 0 if unknown."""
    column: int = 0
    file: str = ""
    """The file as the user named it; may be empty."""

    def __str__(self) -> str:
        """Return `file:line:column: path: message`, as far as known."""
        place = plain(self.file)
        if place and self.line:
            place = f"{place}:{self.line}:{self.column}"
        return ": ".join(part for part in (place, plain(self.path), self.message) if part)


class SojournError(Exception):
    """Something the user should read."""

    exit_status: ClassVar[int] = ExitStatus.FAILED

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if hint:  # Python prints notes last, after an error that is not caught
            self.add_note(f"hint: {hint}")

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows in place of a traceback: the sentence and its hint."""
        return [f"{type(self).__name__}: {self}", *getattr(self, "__notes__", ())]


class UsageError(SojournError):
    """The request itself makes no sense: an unknown study, a file that does not exist."""

    exit_status = ExitStatus.INVALID


class MissingExtra(UsageError):
    """An optional package is needed and absent."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(
            f"{what} needs the package {package}, which is not installed",
            f'install it with: pip install "sojourn[{extra}]"',
        )


MOST_PROBLEMS = 100
"""Problems of one input that are listed. chosen: more are not read before some are mended."""


def first_of(problems: Sequence[Problem]) -> list[Problem]:
    """Return the first of very many problems, and a last one that counts the others."""
    if len(problems) <= MOST_PROBLEMS + 1:
        return list(problems)
    more = Problem("", f"{len(problems) - MOST_PROBLEMS} more problems", "fix those above first")
    return [*problems[:MOST_PROBLEMS], more]


def why(error: Exception) -> str:
    """Return why a file cannot be read or written, in the system's words."""
    said = str(getattr(error, "strerror", None) or error).lower()
    return said.partition(" (os error ")[0]


def plain(text: object) -> str:
    """Return a text of the user's with control characters spelt out, so that it stays in its line."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in str(text))


class _Problems(SojournError):
    """A list of problems with one input."""

    exit_status = ExitStatus.INVALID

    def __init__(self, problems: Sequence[Problem]) -> None:
        problems = first_of(problems)
        super().__init__("\n".join(str(problem) for problem in problems))
        for hint in [problem.hint for problem in problems if problem.hint][:1]:
            self.add_note(f"hint: {hint}")
        self.problems = list(problems)


class ScenarioError(_Problems):
    """A scenario is not valid; `problems` lists everything that is wrong with it."""


class StudyError(_Problems):
    """A study is not valid; `problems` lists everything that is wrong with it."""


class RunError(SojournError):
    """A run failed though its scenario is valid."""

    def _render_traceback_(self) -> list[str]:
        """Return the sentence and its hint, below where code of the user failed, if that is why."""
        import traceback

        cause = self.__cause__
        where = "" if cause is None else "".join(traceback.format_exception(cause)).rstrip()
        return [*([where] if where else []), *super()._render_traceback_()]


class MemoryExceeded(RunError):
    """A run needs more memory than it may take."""


class RecordError(SojournError):
    """Records on disk are missing or damaged."""


class EnvironmentFailure(SojournError):
    """The machine refused: no permission, no space, no such device."""


class StoreUnreachable(EnvironmentFailure):
    """A shared store does not answer, or takes nothing more."""

    exit_status = ExitStatus.UNREACHABLE


class OtherVersion(SojournError):
    """A plan was made by another version of the engine."""

    exit_status = ExitStatus.OTHER_VERSION


class InterruptedRun(SojournError):
    """The user stopped the work; what was finished is kept."""

    exit_status = ExitStatus.INTERRUPTED


_METRICS = {
    "bandwidth": ("goodput", "utilisation"),
    "drops": ("dropped_packets", "lost"),
    "jitter": ("delay_p99",),
    "latency": ("delay_p99", "delay_p95", "delay"),
    "load-time": ("page_load_time_median",),
    "loss": ("loss_total", "lost"),
    "p-mos": ("predicted_mos_min",),
    "plt": ("page_load_time_median",),
    "quality": ("mos", "predicted_mos_min"),
    "queueing-delay": ("queue_delay_p99",),
    "rebuffering": ("underflow",),
    "retransmits": ("retransmissions",),
    "throughput": ("goodput",),
}
"""Common words, and the metrics that they mean; keys of files have synonyms of their own."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint that names the known word closest to `name`, by spelling or by meaning.

    Parameters
    ----------
    name
        What was written.
    known
        What could have been meant.

    Returns
    -------
    str
        A question with the closest name, a list if nothing is close and the list is short, or "".

    Examples
    --------
    >>> nearest("durration", ["duration", "name"])
    'did you mean "duration"?'
    >>> nearest("throughput", ["goodput", "delay_p99"])
    'did you mean "goodput"?'
    >>> nearest("x", ["duration", "name"])
    'known: duration, name'
    """
    from difflib import get_close_matches

    from sojourn._engine import synonyms

    names = sorted(known)
    said = name.lower().replace("_", "-")
    meant = [*_METRICS.get(said, ()), *dict(synonyms()).get(said, ())]
    close = [word for word in meant if word in names]
    close = close or get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f'did you mean "{close[0]}"?'
    listable = 20  # chosen: a hint of more names is not read
    return f"known: {', '.join(names)}" if 0 < len(names) <= listable else ""
