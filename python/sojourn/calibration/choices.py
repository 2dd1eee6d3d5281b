"""What somebody fixes or bounds of a line, as words of the command line or of a program."""

from __future__ import annotations

import math
from collections.abc import Mapping

import sojourn._engine as _engine
from sojourn.base.errors import UsageError, nearest, plain
from sojourn.calibration.line import FAMILIES

__all__ = ["NAMES", "bounds_of", "families_of", "quantity"]

NAMES = {
    "rate": ("rate", 1e6, "a bit rate"),
    "rtt": ("rtt", 1e-3, "a length of time"),
    "buffer": ("buffer", 1.0, "a size"),
    "limit": ("buffer", 1.0, "a size"),
    "target": ("target", 1e-3, "a length of time"),
    "reference": ("target", 1e-3, "a length of time"),
    "burst": ("bucket", 1.0, "a size"),
    "map_interval": ("map", 1e-3, "a length of time"),
}
"""Words for what is not known: also the last part of a key path. With the unit that it has in a table, and what that measures."""

PICOSECONDS = 1e12


def families_of(text: str) -> tuple[str, ...]:
    """Read families of queue managers, with commas; `auto` for all.

    Raises
    ------
    UsageError
        If there is none of that name.
    """
    if text == "auto":
        return FAMILIES
    words = [word.strip() for word in text.split(",") if word.strip()]
    synonyms = {"fq": "flow queues", "fq-codel": "flow queues", "cake": "flow queues", "docsis-pie": "pie"}
    found = [synonyms.get(word, word) for word in words]
    for word in found:
        if word not in FAMILIES:
            raise UsageError(
                f"no family of queue managers is called {plain(word)!r}", nearest(word, FAMILIES) or ", ".join(FAMILIES)
            )
    if not found:
        raise UsageError("no family of queue managers is left", ", ".join(FAMILIES))
    return tuple(dict.fromkeys(found))


def bounds_of(fix: Mapping[str, str], prior: Mapping[str, str]) -> dict[str, tuple[float, float]]:
    """Read values and bounds by name or key path.

    Raises
    ------
    UsageError
        If a name or a value is none.

    Examples
    --------
    >>> bounds_of({"rate": "20 Mb/s"}, {"buffer": "50 kB..200 kB"})
    {'rate': (20.0, 20.0), 'buffer': (50000.0, 200000.0)}
    """
    found: dict[str, tuple[float, float]] = {}
    for key, text in {**fix, **prior}.items():
        word = key.rpartition(".")[2]
        if word not in NAMES:
            raise UsageError(
                f"{plain(key)!r} is nothing that is fitted", nearest(word, list(NAMES)) or ", ".join(NAMES)
            )
        name, unit, measures = NAMES[word]
        low, dots, high = text.partition("..")
        if (key in prior) is not bool(dots):
            raise UsageError(
                f"{plain(key)}={plain(text)}: " + ("--prior takes bounds" if key in prior else "--fix takes one value"),
                f'{word}="50 kB..200 kB"' if key in prior else f'--prior {word}="LOW..HIGH"',
            )
        ends = (quantity(low, measures) / unit, quantity(high or low, measures) / unit)
        if not 0 < ends[0] <= ends[1]:
            raise UsageError(f"{plain(key)}={plain(text)}: bounds rise, from more than 0")
        found[name] = ends
    return found


def quantity(text: str, measures: str, place: str = "") -> float:
    """Read a number with its unit, in seconds, bits per second or bytes.

    Raises
    ------
    UsageError
        If it is none, or its unit measures something else.
    """
    number, _, unit = text.strip().partition(" ")
    steps = {spelling: step for spelling, kind, step in _engine.units() if kind == measures}
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or unit.strip() not in steps:
        raise UsageError(f"{place}{plain(text)[:40]!r} is not {measures} with a unit", ", ".join(list(steps)[:6]))
    return value * steps[unit.strip()] / (PICOSECONDS if measures == "a length of time" else 1.0)
