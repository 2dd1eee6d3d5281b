"""Changes of a scenario's access link: their times, in words.

Read from the canonical scenario, whose quantities have one form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn.base.toml_text import parse_toml
from sojourn.plots.spec import Band, Mark, Note

_UNITS = {"h": 3600.0, "min": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}

_LOOKS = ("cycle-2", "cycle-5", "cycle-3", "cycle-4")

MOST_BANDS = 60
"""More bands than this are no picture. chosen: about one for each 2 mm."""


@dataclass(frozen=True)
class Condition:
    """A time in which something is different on a link."""

    from_s: float
    until_s: float
    words: str


def conditions_of(scenario: str, direction: str, until_s: float) -> list[Condition]:
    """Return the conditions of the access link in a direction within a run, in order of time.

    Parameters
    ----------
    scenario
        Its text; nothing comes of one that is damaged.
    direction
        `upstream` or `downstream`.
    until_s
        End of the run.
    """
    try:
        access = parse_toml(scenario).get("access", {})
        listed = access[direction].get("conditions", [])
        found = list(_all(listed, until_s))
    except (AttributeError, KeyError, TypeError, ValueError):
        return []
    return sorted(found, key=lambda one: one.from_s)[:MOST_BANDS]


def bands(conditions: Sequence[Condition], high: float) -> list[Band]:
    """Return a band from the bottom to the top of a panel for each."""
    return [
        Band(np.array([one.from_s, one.until_s]), np.zeros(2), np.full(2, high), _LOOKS[number % len(_LOOKS)])
        for number, one in enumerate(conditions)
    ]


def notes(conditions: Sequence[Condition], high: float) -> list[Mark]:
    """Return what stands on them, one below the other where they come again and again only once."""
    found: list[Mark] = []
    said: set[str] = set()
    for one in conditions:
        if one.words not in said:
            level = 0.95 - 0.09 * (len(said) % 5)
            found.append(Note(one.from_s, level * high, one.words, "ink"))
            said.add(one.words)
    return found


def _all(listed: Sequence[Mapping[str, Any]], until_s: float) -> Iterator[Condition]:
    for number, one in enumerate(listed):
        words = ", ".join(_words(one))
        begin = seconds(one.get("at", one.get("from", "0 s")))
        if "for" in one:
            length = seconds(one["for"])
            step = seconds(one["every"]) if "every" in one else until_s
            while begin < until_s and step > 0:
                yield Condition(begin, min(begin + length, until_s), words)
                begin += step
            continue
        later = [
            seconds(other["at"]) for other in listed[number + 1 :] if "at" in other and _effects(other) & _effects(one)
        ]
        if begin < until_s:
            yield Condition(begin, min([*later, until_s]), words)


def _effects(one: Mapping[str, Any]) -> set[str]:
    return set(one) & set(_SAID)


_SAID = {
    "rate": "{}",
    "delay": "+{} delay",
    "loss": "{:.3g} % lost",
    "loss_every": "each {}th lost",
    "jitter": "jitter {}",
    "reorder": "{:.3g} % late",
    "duplicate": "{:.3g} % twice",
    "hold": "slots of {}",
    "police": "policed at {}",
}


def _words(one: Mapping[str, Any]) -> Iterator[str]:
    for key, text in _SAID.items():
        if key not in one:
            continue
        value = one[key]
        if key in ("loss", "reorder", "duplicate"):
            value = 100 * float(value)
        elif isinstance(value, list):
            value = " to ".join(str(part) for part in value)  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
        yield text.format(value)


def seconds(text: str) -> float:
    """Return a time of a canonical scenario in seconds.

    Examples
    --------
    >>> seconds("1500 ms")
    1.5
    """
    number, unit = text.split()
    return float(number) * _UNITS[unit]
