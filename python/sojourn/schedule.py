"""Conditions of a link from a table: one row from when on, with what holds then.

A scenario names no files, so a table comes by the command line: `--set access.upstream.conditions=@drive.csv`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from sojourn.errors import UsageError

__all__ = ["conditions_from_csv"]

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
