"""Rates, sizes and times of command lines and files beside scenarios: one grammar, that of scenario files.

Source: `sojourn_base::quantity`, which reads scenario files, and reads these texts.
Deviations: a number alone is in the unit that its option names; a scenario file refuses it.
"""

from __future__ import annotations

import sojourn._engine as _engine
from sojourn.base.errors import UsageError, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Measure = Literal["rate", "size", "time"]

PICOSECONDS = 1e12


def _read(what: Measure, text: str, unit: str, place: str) -> int:
    try:
        return _engine.quantity(what, text, unit)
    except ValueError as error:
        message, hint = error.args
        raise UsageError(f"{place}{plain(message)}", plain(hint)) from None


def quantity(what: Measure, text: str, *, unit: str = "", place: str = "") -> float:
    """Return a quantity in b/s, bytes or seconds; a number alone is in `unit`, or refused if that is empty.

    Raises `UsageError` if it is none; the message begins with `place`.
    """
    return _read(what, text, unit, place) / (PICOSECONDS if what == "time" else 1)


def rate_bps(text: str, *, unit: str = "Mb/s", place: str = "") -> int:
    """Return a rate in b/s; a number alone is in `unit`, which may be empty: then it is refused.

    Raises `UsageError` if it is none; the message begins with `place`.

    Examples
    --------
    >>> rate_bps("300M") == rate_bps("300") == rate_bps("300mbit") == rate_bps("0.3Gbps") == 300_000_000
    True
    """
    return _read("rate", text, unit, place)


LEAST_MBPS, MOST_MBPS = 0.1, 10_000.0
"""Rates of a line that is asked about. chosen: ten times a modem of the last century, and the fastest tier."""


def mbps_of(text: str, *, place: str = "") -> float:
    """Return the rate of a line in Mb/s.

    Raises `UsageError` if it is no rate between 0.1 and 10,000 Mb/s.

    Examples
    --------
    >>> mbps_of("20M"), mbps_of("1.5 Gb/s"), mbps_of("640 kbit")
    (20.0, 1500.0, 0.64)
    """
    rate = rate_bps(text, place=place) / 1e6
    if not LEAST_MBPS <= rate <= MOST_MBPS:
        raise UsageError(f"{place}{plain(text)} is out of range", "0.1 Mb/s to 10 Gb/s")
    return rate


def seconds_of(text: str, *, unit: str = "s", place: str = "") -> float:
    """Return a time in seconds; a number alone is in `unit`, which may be empty: then it is refused.

    Raises `UsageError` if it is none; the message begins with `place`.

    Examples
    --------
    >>> seconds_of("90"), seconds_of("1.5 min"), seconds_of("200ms")
    (90.0, 90.0, 0.2)
    """
    return _read("time", text, unit, place) / PICOSECONDS


def size_bytes(text: str, *, place: str = "") -> int:
    """Return a size in bytes; a number alone is refused, for sizes have no usual unit.

    Raises `UsageError` if it is none; the message begins with `place`.

    Examples
    --------
    >>> size_bytes("2 GB"), size_bytes("512MiB")
    (2000000000, 536870912)
    """
    return _read("size", text, "", place)
