"""Requirements of uses, by which Quality of Outcome is judged: those that come along, and the user's files.

Source: draft-ietf-ippm-qoo, which has the form and standardises no values: those that come with Sojourn are its own, each with its
reason, and stand beside the metrics of the engine.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import sojourn._engine as _engine
from sojourn.base.errors import UsageError, nearest, plain, why
from sojourn.base.files import read_named
from sojourn.base.toml_text import parse_toml

USES = tuple(name for name, *_ in _engine.requirements())
"""Requirements that come with Sojourn."""

DIRECTIONS = ("two-way", "up", "down")

LONGEST = 64 * 2**10
"""Bytes of a file of requirements. chosen: a hundred times those that come with Sojourn."""

_TIMES = {"ms": 1.0, "s": 1e3, "us": 1e-3}
_RATES = {"Mb/s": 1.0, "kb/s": 1e-3, "Gb/s": 1e3, "b/s": 1e-6}


@dataclass(frozen=True)
class Requirement:
    """Requirement of one use.

    Attributes
    ----------
    name
        What people call it.
    direction
        `two-way` for round trips, `up` or `down` for delays one way.
    latency
        Percentile, up to how many ms it is perfect (ROP), from how many on it is useless (CPUP).
    loss
        The same of loss, as shares.
    throughput_mbps
        What is needed, by direction.
    origin
        Where the numbers come from.
    """

    name: str
    direction: str
    latency: tuple[tuple[float, float, float], ...]
    loss: tuple[float, float]
    throughput_mbps: Mapping[str, float]
    origin: str


def requirement_of(name: str) -> Requirement:
    """Return a requirement that comes with Sojourn.

    Raises `UsageError` if there is none of that name.

    Examples
    --------
    >>> requirement_of("game").latency
    ((99.0, 50.0, 150.0),)
    """
    for use, latency, loss, (up, down), origin in _engine.requirements():
        if use == name:
            needed = {"up": up, "down": down}
            return Requirement(name, "two-way", tuple(latency), loss, needed, origin)
    hint = nearest(name, list(USES)) or f"one or more of {', '.join(USES)}"
    raise UsageError(f'"{plain(name)}" is no use that has a requirement', hint)


def read_requirement(path: Path) -> Requirement:
    """Return the requirement in a file.

    Raises `UsageError` if it is not one.
    """
    try:
        content = read_named(path, most=LONGEST)
        return _parse(content.decode("utf-8"), plain(path))
    except UnicodeDecodeError:
        raise UsageError(f"{plain(path)}: is not text in UTF-8") from None
    except OSError as error:
        raise UsageError(f"{plain(path)} cannot be read: {why(error)}") from error


def _parse(text: str, file: str) -> Requirement:
    try:
        document = parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file}: {plain(error)}") from None
    known = {"schema", "name", "direction", "throughput", "rop", "cpup", "origin"}
    for key in document:
        if key not in known:
            raise UsageError(
                f"{file}: {plain(key)} is not known", nearest(key, sorted(known)) or ", ".join(sorted(known))
            )
    if document.get("schema") != 1:
        raise UsageError(f"{file}: schema is not 1", "schema = 1")
    name, origin = document.get("name"), document.get("origin", "")
    if not isinstance(name, str) or not name.isprintable() or not isinstance(origin, str):
        raise UsageError(f"{file}: name and origin are texts", 'name = "game"')
    direction = document.get("direction", "two-way")
    if direction not in DIRECTIONS:
        raise UsageError(f"{file}: direction is none", ", ".join(DIRECTIONS))
    rop, cpup = _table(document, "rop", file), _table(document, "cpup", file)
    if set(rop) != set(cpup):
        raise UsageError(
            f"{file}: rop and cpup are not of the same percentiles",
            f"both of {', '.join(sorted(set(rop) | set(cpup)))}",
        )
    if "loss" not in rop or len(rop) < 2:
        raise UsageError(f"{file}: rop needs a percentile and loss", 'p99 = "50 ms", loss = 0.005')
    latency: list[tuple[float, float, float]] = []
    for key in rop:
        if key == "loss":
            continue
        percentile = _percentile(key, file)
        bounds = [_amount(part[key], _TIMES, f"{file}: {key}") for part in (rop, cpup)]
        latency.append((percentile, *_ordered(bounds, f"{file}: {key}")))
    shares: list[float] = []
    for part in (rop, cpup):
        share = part["loss"]
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise UsageError(f"{file}: loss is a share from 0 to 1", "loss = 0.005")
        shares.append(float(share))
    rates = _table(document, "throughput", file) if "throughput" in document else {}
    for key in rates:
        if key not in ("up", "down"):
            raise UsageError(f"{file}: throughput.{plain(key)} is not known", "up, down")
    needed = {key: _amount(rate, _RATES, f"{file}: throughput.{key}") for key, rate in rates.items()}
    return Requirement(name, direction, tuple(sorted(latency)), _ordered(shares, f"{file}: loss"), needed, origin)


def _table(document: Mapping[str, Any], key: str, file: str) -> dict[str, Any]:
    value = document.get(key)
    if not isinstance(value, dict):
        raise UsageError(f"{file}: {key} is no table", f'{key} = {{ p99 = "50 ms", loss = 0.005 }}')
    return cast("dict[str, Any]", value)


def _percentile(key: str, file: str) -> float:
    found = re.fullmatch(r"p(\d{1,3}(?:\.\d{1,6})?)", key)
    if not found or float(found[1]) > 100:
        raise UsageError(f"{file}: {plain(key)} is no percentile", "p99, or in quotes p99.9")
    return float(found[1])


def _amount(value: object, units: Mapping[str, float], place: str) -> float:
    number, _, unit = value.partition(" ") if isinstance(value, str) else ("", "", "")
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", number) or unit not in units:
        raise UsageError(f"{place} is no number with a unit", f'such as "50 {next(iter(units))}"')
    return float(number) * units[unit]


def _ordered(bounds: list[float], place: str) -> tuple[float, float]:
    perfect, useless = bounds
    if useless < perfect:
        raise UsageError(f"{place} is useless before it is perfect", "cpup is not below rop")
    return perfect, useless
