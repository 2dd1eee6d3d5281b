"""Conditions of a link from a table, and opportunities of a link from a file of Mahimahi's form.

A scenario names no files, so both come by the command line: `--set access.upstream.conditions=@drive.csv`,
`--set access.downstream.link.opportunities=@lte.down`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from sojourn.errors import UsageError

__all__ = ["conditions_from_csv", "opportunities_from_text", "opportunities_of"]

#: Columns beside `time_s`, what they are called in a scenario, and the unit of their numbers.
COLUMNS = {
    "rate_mbps": ("rate", "Mb/s"),
    "delay_ms": ("delay", "ms"),
    "loss": ("loss", ""),
}


def conditions_from_csv(text: str, name: str) -> str:
    r"""Return the conditions that a table says, as TOML.

    Parameters
    ----------
    text
        A header `time_s,rate_mbps[,delay_ms][,loss]` in any order, then rows; each holds until the next. An empty cell
        changes nothing.
    name
        Of the file, for messages.

    Raises
    ------
    UsageError
        If it is not such a table.

    Examples
    --------
    >>> conditions_from_csv("time_s,rate_mbps\n0,10\n2.5,0\n", "drive.csv")
    '[{ at = "0 s", rate = "10 Mb/s" }, { at = "2.5 s", rate = "0 Mb/s" }]'
    """
    rows = _rows(text, name)
    header = [cell.strip() for cell in next(rows, ())]
    unknown = [cell for cell in header if cell != "time_s" and cell not in COLUMNS]
    if "time_s" not in header or len(header) < 2 or unknown or len(set(header)) < len(header):
        raise UsageError(
            f"{name}: its first line is not that of a table of conditions",
            f"time_s and some of {', '.join(COLUMNS)}",
        )
    found: list[str] = []
    for number, row in enumerate(rows, start=2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(header):
            raise UsageError(f"{name}:{number}: {len(row)} cells below {len(header)} headings")
        cells = dict(zip(header, (cell.strip() for cell in row), strict=True))
        parts = [f'at = "{_number(cells["time_s"], name, number)} s"']
        for column, (key, unit) in COLUMNS.items():
            if cells.get(column):
                value = _number(cells[column], name, number)
                parts.append(f'{key} = "{value} {unit}"' if unit else f"{key} = {float(value)!r}")
        if len(parts) > 1:
            found.append(f"{{ {', '.join(parts)} }}")
    return f"[{', '.join(found)}]"


def _rows(text: str, name: str) -> Iterator[list[str]]:
    rows = csv.reader(io.StringIO(text, newline=""))
    try:
        yield from rows
    except csv.Error as error:
        raise UsageError(f"{name}:{rows.line_num}: {error}") from error


def _number(cell: str, name: str, line: int) -> str:
    """Return a cell that is a number and not negative."""
    digits = cell.replace(".", "", 1)
    if not (digits.isascii() and digits.isdigit()):
        raise UsageError(f"{name}:{line}: {cell!r} is not a number", "digits, for instance 2.5")
    return cell


MOST_OPPORTUNITIES = 16_000_000
"""As the engine has it; more are not made into numbers."""


def opportunities_of(text: str, name: str) -> list[int]:
    r"""Return the times of opportunities in a file, one whole number of milliseconds a line; `#` begins a comment.

    Parameters
    ----------
    text
        The file.
    name
        Its name, for messages.

    Raises
    ------
    UsageError
        If it is no such file.

    Examples
    --------
    >>> opportunities_of("# made by hand\n5\n5\n8\n", "lte.down")
    [5, 5, 8]
    """
    times: list[int] = []
    for number, line in enumerate(text.splitlines(), start=1):
        digits = line.strip()
        if not digits or digits.startswith("#"):
            continue
        if not (digits.isascii() and digits.isdigit()) or len(digits) > MOST_DIGITS:
            shown = ascii(digits[:20])
            raise UsageError(
                f"{name}:{number}: {shown} is no whole number of milliseconds",
                "a file of Mahimahi's form: a time a line, as often as there are opportunities",
            )
        at = int(digits)
        if at > LATEST_MS:
            raise UsageError(
                f"{name}:{number}: {at} ms is later than {LATEST_MS} ms", "20 days at most"
            )
        if times and at < times[-1]:
            raise UsageError(f"{name}:{number}: time runs back, from {times[-1]} ms to {at} ms")
        if len(times) >= MOST_OPPORTUNITIES:
            raise UsageError(f"{name}: has more than {MOST_OPPORTUNITIES} opportunities")
        times.append(at)
    if not times or not times[-1]:
        what = "all opportunities are at 0 ms" if times else "has no opportunity"
        raise UsageError(f"{name}: {what}", "a trace has a length: its last time")
    return times


LATEST_MS = 1_728_000_000
"""As the engine has it: 20 days."""

MOST_DIGITS = 10
"""Digits of a time. chosen: more are no milliseconds of anything that was measured."""


def opportunities_from_text(text: str, name: str) -> str:
    r"""Return a file's opportunities as a value of a scenario: gaps, and how many there are at once.

    Examples
    --------
    >>> opportunities_from_text("5\n5\n8\n12\n", "lte.down")
    '"5*2 +3 +4"'
    """
    from itertools import groupby

    before, parts = 0, list[str]()
    for at, same in groupby(opportunities_of(text, name)):
        count = sum(1 for _ in same)
        sign = "+" if parts else ""
        parts.append(f"{sign}{at - before}*{count}" if count > 1 else f"{sign}{at - before}")
        before = at
    return f'"{" ".join(parts)}"'
