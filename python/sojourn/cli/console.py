"""How the command line speaks: errors with hints, notes, aligned columns, one JSON object."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper

from sojourn.base.messages import note, visible

TYPE_CHECKING = False  # as type checkers read it; the module typing would take its time
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, TextIO

    from _typeshed import DataclassInstance

    from sojourn.base.errors import Problem, SojournError
    from sojourn.study.result import ReportSummary

RED, YELLOW, PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[0m"


def _coloured(text: str, colour: str) -> str:
    if not sys.stderr.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"{colour}{text}{PLAIN}"


def warn(text: str) -> None:
    """Say something on stderr that deserves attention."""
    note(text, f"{_coloured('warning:', YELLOW)} ")


def _complain(message: str, hint: str) -> None:
    note(message, f"{_coloured('error:', RED)} ")
    if hint:
        note(f"  hint: {hint}")


def show_error(error: SojournError) -> None:
    """Print an error; if it lists problems, each of them."""
    problems: list[Problem] | None = getattr(error, "problems", None)
    if problems is None:
        _complain(error.message, error.hint)
    else:
        show_problems(problems)


def show_problems(problems: Sequence[Problem]) -> None:
    """Print what is wrong with a file."""
    for problem in problems:
        _complain(str(problem), problem.hint)


def show_failures(failures: Sequence[str]) -> int:
    """Print what a study's own code could not make of its result; return how the command ends."""
    from sojourn.base.errors import ExitStatus

    for failure in failures:
        _complain(failure, "")
    return ExitStatus.FAILED if failures else ExitStatus.DONE


def show_warnings(problems: Sequence[Problem]) -> None:
    """Print what deserves attention in a valid file."""
    for problem in problems:
        warn(str(problem))
        if problem.hint:
            note(f"  hint: {problem.hint}")


def say(text: str) -> None:
    """Print words to stdout, in which all signs can be seen."""
    print(visible(text))


def hand_over(text: object) -> None:
    """Print data to stdout: to a program as they are, to a terminal so that all signs can be seen."""
    for_reader(sys.stdout).write(f"{text}\n")


class for_reader:
    """A stream to which data are written: as they are, in UTF-8 as all files, or with all signs to be seen if it is a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        if not stream.isatty() and isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="surrogateescape")
        self._shown = visible if stream.isatty() else str

    def write(self, text: str) -> int:
        """Write a text."""
        return self._stream.write(self._shown(text))


def print_json(content: dict[str, Any]) -> None:
    """Print one JSON object to stdout; what is not a number there becomes null."""
    import json

    has_all_signs = (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps(_finite(content), indent=2, ensure_ascii=not has_all_signs, allow_nan=False)
    if not text.replace("\n", "").isprintable():  # within strings, where an escape says the same
        text = "".join(sign if sign == "\n" or sign.isprintable() else json.dumps(sign)[1:-1] for sign in text)
    print(text)


def print_found(found: DataclassInstance, sentence: str, named: Mapping[str, Sequence[str]], *, as_json: bool) -> None:
    """Print what was found as one JSON object, or a sentence and a line for each of those that it names, under a word."""
    if as_json:
        from dataclasses import asdict

        print_json(asdict(found))
        return
    print(sentence)
    width = max(map(len, named))
    for word, names in named.items():
        for name in names:
            print(f"{word:{width}}  {name}")


MOST_CLAIMS = 8
"""Claims that are printed one by one. chosen: a third of a terminal; of more, their numbers by verdict."""


def tell_claims(summary: ReportSummary, reduced: str) -> None:
    """Print each claim with its verdict in words; of many, a line with counts for each use."""
    label = f" ({reduced} run, not the study's verdict)" if reduced else ""
    if len(summary.judged) <= MOST_CLAIMS:
        for sentence in summary.judged:
            note(f"claim{label}: {sentence}")
        return
    for use, counts in summary.claims.items():
        if sum(counts.values()):
            whole = f", {counts['need_whole']} need the whole study" if "need_whole" in counts else ""
            told = f"{counts['holds']} hold, {counts['fails']} fail{whole}, {counts['not_run']} not run"
            note(f"claims, {use}{label}: {told}")


def _finite(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return [_finite(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value


WHOLE = 1e15
"""Below this, a float tells whole numbers from others."""


def format_number(value: float | None) -> str:
    """Return a number with five significant digits.

    Examples
    --------
    >>> format_number(1234567.0), format_number(0.0123456), format_number(3.0)
    ('1234567', '0.012346', '3')
    """
    from sojourn.base.digits import significant

    if value is None:
        return ""
    whole = abs(value) < WHOLE and value == int(value)
    return f"{value:.0f}" if whole else significant(value, 5, unknown="nan", endless="inf")


def print_table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print aligned columns to stdout; numbers to the right."""
    print_rows(headings, iter(rows))


MEASURED = 1000
"""Rows that say how wide columns are. chosen: more are not looked through, and need not fit into memory."""


def print_rows(headings: Sequence[str], rows: Iterator[Sequence[object]]) -> None:
    """Print aligned columns to stdout while rows come; the first ones say how wide columns are."""
    from itertools import chain, islice

    first = list(islice(rows, MEASURED))
    titles = [_cell(title) for title in headings]
    cells = [titles, *([_cell(value) for value in row] for row in first)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(titles))]
    right = [
        bool(first) and all(isinstance(row[column], int | float | None) for row in first)
        for column in range(len(titles))
    ]
    for row in chain(cells, ([_cell(value) for value in row] for row in rows)):
        line = "  ".join(
            text.rjust(width) if flush else text.ljust(width)
            for text, width, flush in zip(row, widths, right, strict=True)
        )
        print(line.rstrip())


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return format_number(value)
    text = str(value)
    return text if text.isprintable() else visible(text).replace("\n", "\\n")
