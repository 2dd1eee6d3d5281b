"""Tests of which only the numbers of a result page are known: a summary file, read as the statistics of such a test.

Source: pings of 20 B and 8 B of headers with 56 B of data, of UDP with 32 B.
Deviations: connections and pings of each method are chosen as its users describe them; a file may say others.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sojourn.base.csv_tables import content_of, text_of
from sojourn.base.errors import UsageError, nearest, plain
from sojourn.base.quantities import quantity
from sojourn.base.toml_text import parse_toml
from sojourn.calibration.inversion import FULL_PACKET, PAYLOAD
from sojourn.calibration.measurement import (
    FASTEST_MBPS,
    FEWEST,
    LONGEST_IDLE_MS,
    LONGEST_LEAD_S,
    LONGEST_S,
    SHORTEST_S,
    SLOWEST_MBPS,
    Load,
    Measured,
    Told,
)
from sojourn.calibration.statistics import NAMES

if TYPE_CHECKING:
    from sojourn.base.quantities import Measure

LARGEST = 64 * 2**10
"""Bytes of a file. chosen: hundreds of tests."""

LENGTH_S = 10.0
"""How long a test lasts that does not say. chosen: most tests of browsers."""


@dataclass(frozen=True)
class _Method:
    """How tests of a kind are made: connections, ms between round trips, bytes of a ping."""

    streams: int
    every_ms: float
    packet: int


METHODS = {
    "ookla": _Method(8, 200.0, 84),
    "mba-udp": _Method(3, 100.0, 60),
    "mba-icmp": _Method(3, 100.0, 84),
    "rpm": _Method(16, 100.0, 84),
    "flent": _Method(1, 200.0, 84),
    "browser": _Method(6, 500.0, 84),
}
"""chosen: between 4 and 16 connections of a speed test; three of MBA; what Flent and the draft of responsiveness do."""

DELAYS = {
    "mean": "mean",
    "p5": "p5",
    "p25": "p25",
    "p50": "p50",
    "p75": "p75",
    "p95": "p95",
    "max": "largest",
    "sd": "sd",
}
"""Keys for round trips under load, and the statistic of each."""

TABLES = {
    "test": {"method", "load", "rate", "idle", "loaded", "loss", "length", "streams", "name"},
    "rate": {"value", "counts", "where"},
    "idle": {"p50", "samples"},
    "loaded": {*DELAYS, "samples", "every"},
}


def is_summary(path: Path) -> bool:
    """Return whether a path is that of a summary file."""
    return path.suffix.lower() == ".toml"


def read_summary(path: Path) -> list[Measured]:
    """Return the tests of a summary file.

    Raises `UsageError` if it is none, in a sentence.
    """
    name = plain(path)
    content = content_of(path, most=LARGEST)
    try:
        document = parse_toml(text_of(content, name))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name}: {plain(error)}") from None
    tests = document.get("test")
    if document.get("schema") != 1 or not isinstance(tests, list) or not tests:
        raise UsageError(f"{name}: is no summary of tests", "schema = 1, then [[test]] tables")
    import hashlib

    digest = hashlib.sha256(content).hexdigest()
    return [
        _test(one, f"{name}: test {number}", digest) for number, one in enumerate(cast("list[object]", tests), start=1)
    ]


def _test(test: object, place: str, digest: str) -> Measured:
    table = _known(test, "test", place)
    method = METHODS.get(str(table.get("method")))
    if method is None:
        word = plain(table.get("method"))
        raise UsageError(f"{place}: no method is called {word!r}", nearest(word, METHODS) or ", ".join(METHODS))
    direction = table.get("load")
    if direction not in ("up", "down"):
        raise UsageError(
            f"{place}: load is {plain(direction)!r}, and a queue shows under a load of one direction",
            'load = "up" or "down"; one [[test]] for each',
        )
    rate = _known(table.get("rate"), "rate", f"{place}: rate")
    goodput = _amount(rate, "value", "rate", f"{place}: rate", SLOWEST_MBPS, FASTEST_MBPS)
    if goodput is None:
        raise UsageError(
            f"{place}: has no rate, and without it the rate of the line is not known", 'rate = { value = "19.1 Mb/s" }'
        )
    counts, where = rate.get("counts", "payload"), rate.get("where", "receiver")
    if counts not in ("payload", "wire") or where not in ("sender", "receiver"):
        raise UsageError(
            f"{place}: rate counts payload or wire, where sender or receiver counted",
            'counts = "payload", where = "receiver"',
        )
    if counts == "wire":
        goodput *= PAYLOAD / FULL_PACKET
    idle = _known(table.get("idle", {}), "idle", f"{place}: idle")
    loaded = _known(table.get("loaded", {}), "loaded", f"{place}: loaded")
    floor = _amount(idle, "p50", "time", f"{place}: idle", 1e-3, LONGEST_IDLE_MS)
    every = _amount(loaded, "every", "time", f"{place}: loaded", 1.0, 1e4)
    interval = every or method.every_ms
    samples = _count(loaded, "samples", f"{place}: loaded")
    told = {key: value for key in DELAYS if (value := _delay(loaded, key, place)) is not None}
    if told and samples is not None and samples < FEWEST:
        raise UsageError(
            f"{place}: {samples} round trips under load are too few to tell one queue from another",
            f"at least {FEWEST}",
        )
    span = table.get("length")
    length = (
        (samples * interval / 1e3 if samples else LENGTH_S)
        if span is None
        else quantity("time", str(span), place=f"{place}: length: ")
    )
    if not SHORTEST_S <= length <= LONGEST_S:
        raise UsageError(f"{place}: a load of {length:.3g} s is out of range: {SHORTEST_S:g} to {LONGEST_S:g} s")
    idle_samples = _count(idle, "samples", f"{place}: idle") or 20
    lead = min(LONGEST_LEAD_S, max(1.0, float(math.ceil(idle_samples * interval / 1e3))))
    streams = _count(table, "streams", place) or method.streams
    load = Load(
        direction,
        streams,
        lead if told else 0.0,
        float(round(length)),
        interval if told else 0.0,
        method.packet if told else 0,
        "sender" if where == "sender" else "receiver",
    )
    found = _statistics(goodput, floor, told, table.get("loss"), place)
    return Measured(load, (), (place,), (digest,), Told(found, goodput, floor or math.nan))


def _statistics(goodput: float, floor: float | None, told: Mapping[str, float], loss: object, place: str) -> np.ndarray:
    """Return given numbers as the statistics of a test; NaN for the rest."""
    found = dict.fromkeys(NAMES, math.nan)
    found["goodput"] = math.log(goodput)
    if floor is not None:
        found["idle_median"] = math.log1p(floor)
    for key, value in told.items():
        beyond = value if key == "sd" else value - (floor or 0.0)
        if beyond < 0:
            raise UsageError(
                f"{place}: {key} under load is {value:g} ms, less than the idle {floor:g} ms",
                "round trips, as they were shown; are their units right?",
            )
        found[DELAYS[key]] = math.log1p(beyond)
    if loss is not None:
        if isinstance(loss, bool) or not isinstance(loss, int | float) or not 0 <= loss < 1:
            raise UsageError(f"{place}: loss is a share from 0 to 1", "loss = 0.004")
        found["lost"] = float(loss)
    return np.array([found[name] for name in NAMES])


def _known(value: object, what: str, place: str) -> Mapping[str, Any]:
    """Return a table all of whose keys are known."""
    if not isinstance(value, dict):
        raise UsageError(f"{place} is no table", f"with {', '.join(sorted(TABLES[what]))}")
    table = cast("dict[str, Any]", value)
    for key in table:
        if key not in TABLES[what]:
            raise UsageError(
                f"{place}: {plain(key)} is not known", nearest(key, TABLES[what]) or ", ".join(sorted(TABLES[what]))
            )
    return table


def _amount(
    table: Mapping[str, Any], key: str, measures: Measure, place: str, least: float, most: float
) -> float | None:
    """Return a quantity in Mb/s or ms; `None` if it is not told."""
    if key not in table:
        return None
    scale = 1e-6 if measures == "rate" else 1e3
    value = scale * quantity(measures, str(table[key]), place=f"{place}: ")
    if not least <= value <= most:
        raise UsageError(f"{place}: {key} = {plain(table[key])} is no access line's", "are its units right?")
    return value


def _delay(table: Mapping[str, Any], key: str, place: str) -> float | None:
    return _amount(table, key, "time", f"{place}: loaded", 0.0, 60_000.0)


def _count(table: Mapping[str, Any], key: str, place: str) -> int | None:
    value = table.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 100_000:
        raise UsageError(f"{place}: {key} is no number of things, from 1 to 100,000")
    return value
