"""How the command line speaks: errors with hints, notes, aligned columns, one JSON object."""

from __future__ import annotations

import os
import sys

from sojourn.messages import note

TYPE_CHECKING = False  # as type checkers read it; the module typing would take its time
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from sojourn.errors import Problem, SojournError

__all__ = [
    "format_number",
    "note",
    "print_json",
    "print_table",
    "show_error",
    "show_problems",
]

RED, YELLOW, PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[0m"


def _coloured(text: str, colour: str) -> str:
    if not sys.stderr.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"{colour}{text}{PLAIN}"


def warn(text: str) -> None:
    """Say something on stderr that deserves attention."""
    note(f"{_coloured('warning:', YELLOW)} {text}")


def _complain(message: str, hint: str) -> None:
    note(f"{_coloured('error:', RED)} {message}")
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


def show_warnings(problems: Sequence[Problem]) -> None:
    """Print what deserves attention in a valid file."""
    for problem in problems:
        warn(str(problem))
        if problem.hint:
            note(f"  hint: {problem.hint}")


def print_json(content: dict[str, Any]) -> None:
    """Print one JSON object to stdout; what is not a number there becomes null."""
    import json

    print(json.dumps(_finite(content), indent=2, ensure_ascii=False, allow_nan=False))


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
    from sojourn.digits import significant

    if value is None:
        return ""
    whole = abs(value) < WHOLE and value == int(value)
    return f"{value:.0f}" if whole else significant(value, 5, unknown="nan", endless="inf")


def print_table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print aligned columns to stdout; numbers to the right."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [
        max(len(row[column]) for row in [list(headings), *cells]) for column in range(len(headings))
    ]
    right = [
        bool(rows) and all(isinstance(row[column], int | float | None) for row in rows)
        for column in range(len(headings))
    ]
    for row in [list(headings), *cells]:
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
    return str(value)
