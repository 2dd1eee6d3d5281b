"""Conditions of a link from a table, and opportunities of a link from a file of Mahimahi's form.

A scenario names no files, so both come by the command line: `--set access.upstream.conditions=@drive.csv`,
`--set access.downstream.link.opportunities=@lte.down`.
"""

from __future__ import annotations

import io

from sojourn.base.csv_tables import rows_of
from sojourn.base.errors import UsageError

#: Columns beside `time_s`, what they are called in a scenario, and the unit of their numbers.
COLUMNS = {"rate_mbps": ("rate", "Mb/s"), "delay_ms": ("delay", "ms"), "loss": ("loss", "")}


def conditions_from_csv(text: str, name: str) -> str:
    r"""Return the conditions that a table says, as TOML.

    Raises `UsageError` if it is not such a table.

    Parameters
    ----------
    text
        A header `time_s,rate_mbps[,delay_ms][,loss]` in any order, then rows; each holds until the next. An empty cell
        changes nothing. Lines that begin with `#` are comments.
    name
        Of the file, for messages.

    Examples
    --------
    >>> conditions_from_csv("time_s,rate_mbps\n0,10\n2.5,0\n", "drive.csv")
    '[{ at = "0 s", rate = "10 Mb/s" }, { at = "2.5 s", rate = "0 Mb/s" }]'
    """
    header, rows = rows_of(text, name)
    unknown = [cell for cell in header if cell != "time_s" and cell not in COLUMNS]
    if "time_s" not in header or len(header) < 2 or unknown or len(set(header)) < len(header):
        raise UsageError(
            f"{name}: its first line is not that of a table of conditions", f"time_s and some of {', '.join(COLUMNS)}"
        )
    found: list[str] = []
    for place, cells in rows:
        parts = [f'at = "{_number(cells["time_s"], place)} s"']
        for column, (key, unit) in COLUMNS.items():
            if cells.get(column):
                value = _number(cells[column], place)
                parts.append(f'{key} = "{value} {unit}"' if unit else f"{key} = {float(value)!r}")
        if len(parts) > 1:
            found.append(f"{{ {', '.join(parts)} }}")
    return f"[{', '.join(found)}]"


def _number(cell: str, place: str) -> str:
    """Return a cell that is a number and not negative."""
    digits = cell.replace(".", "", 1)
    if not (digits.isascii() and digits.isdigit()):
        raise UsageError(f"{place}: {cell!r} is not a number", "digits, for instance 2.5")
    return cell


def trains_from_text(text: str, name: str) -> str:
    r"""Return the lines of a file of CellReplay's light use as a value of a scenario.

    Raises `UsageError` if a line is anything but numbers.

    Examples
    --------
    >>> trains_from_text("# by hand\n0 20 0 2 4\n1000 30 0 2 4\n", "light")
    '"0 20 0 2 4; 1000 30 0 2 4"'
    """
    found: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        wrong = [word for word in words if not (word.isascii() and word.isdigit())]
        if wrong:
            raise UsageError(
                f"{name}:{number}: {wrong[0][:20]!a} is no whole number of milliseconds",
                "a train a line: its time, the base delay, when packets came after the first",
            )
        found.append(" ".join(words))
    return f'"{"; ".join(found)}"'


MOST_OPPORTUNITIES = 16_000_000
"""As the engine has it; more are not made into numbers."""


def opportunities_of(text: str, name: str) -> list[int]:
    r"""Return the times of opportunities in a file, one whole number of milliseconds a line; `#` begins a comment.

    Raises `UsageError` if it is no such file.

    Parameters
    ----------
    text
        The file.
    name
        Its name, for messages.

    Examples
    --------
    >>> opportunities_of("# made by hand\n5\n5\n8\n", "lte.down")
    [5, 5, 8]
    """
    times: list[int] = []
    for number, line in enumerate(io.StringIO(text), start=1):
        digits = line.strip()
        if not digits or digits.startswith("#"):
            continue
        if not (digits.isascii() and digits.isdigit()) or len(digits) > MOST_DIGITS:
            if _is_table(digits):
                raise UsageError(
                    f"{name}:{number}: two numbers in a line, as Pensieve and others write times in seconds and rates in Mb/s",
                    "time_s,rate_mbps as the first line, a comma between the numbers, and sojourn trace convert",
                )
            shown = ascii(digits[:20])
            raise UsageError(
                f"{name}:{number}: {shown} is no whole number of milliseconds",
                "a file of Mahimahi's form: a time a line, as often as there are opportunities",
            )
        at = int(digits)
        if at > LATEST_MS:
            raise UsageError(f"{name}:{number}: {at} ms is later than {LATEST_MS} ms", "20 days at most")
        if times and at < times[-1]:
            raise UsageError(f"{name}:{number}: time runs back, from {times[-1]} ms to {at} ms")
        if len(times) >= MOST_OPPORTUNITIES:
            raise UsageError(f"{name}: has more than {MOST_OPPORTUNITIES} opportunities")
        times.append(at)
    if not times or not times[-1]:
        what = "all opportunities are at 0 ms" if times else "has no opportunity"
        raise UsageError(f"{name}: {what}", "a trace has a length: its last time")
    return times


def _is_table(line: str) -> bool:
    """Return whether a line has two numbers."""
    words = line.split()
    return len(words) == 2 and all(word.replace(".", "", 1).isdigit() and word.isascii() for word in words)


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
