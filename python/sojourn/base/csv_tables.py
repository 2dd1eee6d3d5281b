"""CSV tables from untrusted files: headings, then rows with their places; errors name the line.

Deviations: lines that begin with `#`, as those that say what made a table, and empty lines are left out. Columns may be separated by
semicolons or tabs as well, if the headings are; numbers may then have a decimal comma, as spreadsheets of many countries write them.
"""

from __future__ import annotations

import csv
import io
import re

from sojourn.base.errors import UsageError, plain, why
from sojourn.base.files import read_named

TYPE_CHECKING = False  # as type checkers read it; the module typing would take its time
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LARGEST_NUMBER = 1e19
"""chosen: nanoseconds since 1970, which clocks tell, are 1.8e18."""


def content_of(path: Path, *, most: int) -> bytes:
    """Return the bytes of a table that a user has named.

    Raises `UsageError` if it cannot be read, or is larger than `most`.
    """
    try:
        return read_named(path, most=most)
    except OSError as error:
        raise UsageError(f"{plain(path)} cannot be read: {why(error)}") from error


def text_of(content: bytes, name: str) -> str:
    """Return the text of a table, without the mark that some programs put first.

    Raises `UsageError` if it is no UTF-8.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{name}: is not text in UTF-8") from None


def rows_of(text: str, name: str) -> tuple[list[str], Iterator[tuple[str, dict[str, str]]]]:
    r"""Return the headings of a table, and its rows: their places, such as `drive.csv:2`, and their cells by heading.

    Parameters
    ----------
    text
        The table.
    name
        Of its file, for messages.

    Raises
    ------
    UsageError
        Row by row, if one has another number of cells than there are headings, or is no CSV.

    Examples
    --------
    >>> headings, rows = rows_of("# by hand\ntime_s, rate_mbps\n\n0,10\n", "drive.csv")
    >>> headings, list(rows)
    (['time_s', 'rate_mbps'], [('drive.csv:4', {'time_s': '0', 'rate_mbps': '10'})])
    """
    first = next((line for line in io.StringIO(text) if line.strip() and not line.startswith("#")), "")
    separator = next((sign for sign in ",;\t" if sign in first), ",")
    rows = _rows(text, name, separator)
    _, headings = next(rows, ("", list[str]()))
    return headings, _cells(rows, headings)


_DECIMAL_COMMA = re.compile(r"-?[0-9]+,[0-9]+")


def _rows(text: str, name: str, separator: str) -> Iterator[tuple[str, list[str]]]:
    lines = io.StringIO(text, newline="")
    # An empty line in place of a comment: others keep their numbers.
    rows = csv.reader(("\n" if line.startswith("#") else line for line in lines), delimiter=separator)
    try:
        for row in rows:
            cells = [cell.strip() for cell in row]
            if separator != ",":
                cells = [cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell) else cell for cell in cells]
            if any(cells):
                yield f"{name}:{rows.line_num}", cells
    except csv.Error as error:
        raise UsageError(f"{name}:{rows.line_num}: {plain(str(error))}") from error


def _cells(rows: Iterator[tuple[str, list[str]]], headings: list[str]) -> Iterator[tuple[str, dict[str, str]]]:
    for place, row in rows:
        if len(row) != len(headings):
            raise UsageError(f"{place}: {len(row)} cells below {len(headings)} headings")
        yield place, dict(zip(headings, row, strict=True))


def number_of(cell: str, place: str) -> float:
    """Return a number from 0.

    Raises `UsageError` if it is none.
    """
    try:
        value = float(cell)
    except ValueError:
        value = -1.0
    if cell == "-1" or value != value:
        raise UsageError(
            f"{place}: {plain(cell)!r} is no number from 0: some programs write it where none is known",
            "an empty cell, where one may be empty",
        )
    if not 0 <= value < LARGEST_NUMBER:
        raise UsageError(f"{place}: {plain(cell)!r} is no number from 0", "the heading says the unit, cells have none")
    return value
