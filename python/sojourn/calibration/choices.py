"""Quantities of a line that the user fixes or bounds, as words of the command line or of a program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sojourn.base.errors import UsageError, nearest, plain
from sojourn.base.quantities import quantity
from sojourn.calibration.line import FAMILIES

if TYPE_CHECKING:
    from sojourn.base.quantities import Measure

NAMES: Mapping[str, tuple[str, float, Measure]] = {
    "rate": ("rate", 1e6, "rate"),
    "rtt": ("rtt", 1e-3, "time"),
    "buffer": ("buffer", 1.0, "size"),
    "limit": ("buffer", 1.0, "size"),
    "target": ("target", 1e-3, "time"),
    "reference": ("target", 1e-3, "time"),
    "burst": ("bucket", 1.0, "size"),
    "map_interval": ("map", 1e-3, "time"),
}
"""Words for what is not known: also the last part of a key path. With the unit that it has in a table, and what that measures."""


def families_of(text: str) -> tuple[str, ...]:
    """Read families of queue managers, with commas; `auto` for all.

    Raises `UsageError` if there is none of that name.
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

    Raises `UsageError` if a name or a value is none.

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
        alone = "Mb/s" if measures == "rate" else ""
        ends = (quantity(measures, low, unit=alone) / unit, quantity(measures, high or low, unit=alone) / unit)
        if not 0 < ends[0] <= ends[1]:
            raise UsageError(f"{plain(key)}={plain(text)}: bounds rise, from more than 0")
        found[name] = ends
    return found
