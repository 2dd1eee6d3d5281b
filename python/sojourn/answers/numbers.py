"""Numbers by group, and how outcomes write them.

A *number* is a float; *numbers* are floats by the name of their group, in order. Arithmetic goes group
by group; a single number meets every group.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from string import Formatter

import numpy as np

from sojourn.base.digits import significant
from sojourn.stats.estimate import variation_of

Numbers = float | dict[str, float]
"""A number, or numbers by group."""


def combined(values: Sequence[float] | np.ndarray, how: str) -> float:
    """Make one number of those of several runs; NaN if there is none.

    Means and medians leave out what is unknown or never came. A median of which the middle never came
    is infinite. The variation is the standard deviation in percent of the mean; of one run it is unknown.

    Examples
    --------
    >>> combined([1.0, float("nan"), 2.0], "mean"), combined([1.0, 2.0, float("inf")], "median")
    (1.5, 2.0)
    >>> round(combined([9.0, 10.0, 11.0], "variation"), 6)
    10.0
    """
    data = np.asarray(values, dtype=float)
    known = data[~np.isnan(data)]
    if how == "mean":
        known = known[np.isfinite(known)]
    if len(known) == 0:
        return math.nan
    if how == "median":
        return _median(np.sort(known))
    if how == "variation":
        value = variation_of([known]).value
        return math.nan if value is None else 100 * value
    return float({"mean": np.mean, "min": np.min, "max": np.max, "sum": np.sum}[how](known))


def _median(ordered: np.ndarray) -> float:
    middle = len(ordered) // 2
    if len(ordered) % 2 or math.isinf(ordered[middle]):
        return float(ordered[middle])
    return float(0.5 * (ordered[middle - 1] + ordered[middle]))


def complete(values: Sequence[float], how: str) -> float:
    """Make one number of those of several points or groups, none of which may be missing.

    With one that is unknown the whole is; a mean of which one never came is infinite.

    Examples
    --------
    >>> complete([1.0, float("nan")], "max"), complete([1.0, float("inf")], "mean")
    (nan, inf)
    """
    data = np.asarray(values, dtype=float)
    if np.isnan(data).any():
        return math.nan
    return math.inf if how == "mean" and np.isinf(data).any() else combined(data, how)


def reduced(value: Numbers, how: str | None) -> Numbers:
    """Make one number of all groups, if `how` says by what; see `complete`."""
    if how is None or not isinstance(value, dict):
        return value
    return complete(list(value.values()), how)


def group_by_group(first: Numbers, second: Numbers, operation: Callable[[float, float], float]) -> Numbers:
    """Combine two values group by group.

    Examples
    --------
    >>> group_by_group({"a": 1.0, "b": 2.0}, 2.0, lambda x, y: x / y)
    {'a': 0.5, 'b': 1.0}
    """
    if isinstance(first, dict):
        if isinstance(second, dict):
            return {name: operation(first[name], second[name]) for name in first if name in second}
        return {name: operation(value, second) for name, value in first.items()}
    if isinstance(second, dict):
        return {name: operation(first, value) for name, value in second.items()}
    return operation(first, second)


def single(value: Numbers) -> float:
    """Return a number that is one.

    Raises `ValueError` if it is a value with groups.
    """
    if isinstance(value, dict):
        raise ValueError(f"one number is wanted, not {len(value)}")
    return value


def ratio(first: float, second: float) -> float:
    """Divide; what never came is infinitely more than what did.

    Examples
    --------
    >>> ratio(1.0, 4.0), ratio(3.0, math.inf), ratio(3.0, 0.0)
    (0.25, 0.0, inf)
    """
    if second == 0:
        return math.nan if first == 0 or math.isnan(first) else math.inf
    return first / second


def line(values: Numbers, against: Sequence[float]) -> tuple[float, float]:
    """Return slope and R² of the line through numbers, by least squares.

    Examples
    --------
    >>> slope, fit = line({"a": 1.0, "b": 3.0, "c": 5.0}, [0, 1, 2])
    >>> round(slope, 6), round(fit, 6)
    (2.0, 1.0)
    """
    if not isinstance(values, dict) or len(values) != len(against):
        raise ValueError("a slope needs one number in `against` per group")
    x, y = np.array(against, dtype=float), np.array(list(values.values()))
    slope, start = np.polyfit(x, y, 1)
    residual = y - (slope * x + start)
    scatter = float(np.sum((y - y.mean()) ** 2))
    return float(slope), 1 - float(np.sum(residual**2)) / scatter if scatter else math.nan


def number(value: float, digits: int = 3) -> str:
    """Write a number with N significant digits, without exponent; `never` if infinite.

    Examples
    --------
    >>> number(375614.0), number(0.0312), number(float("inf"))
    ('375614', '0.0312', 'never')
    """
    return significant(abs(value) if math.isinf(value) else value, digits, endless="never")


def by_group(values: Mapping[str, float], digits: int = 3, unit: str = "") -> str:
    """List numbers by group.

    Examples
    --------
    >>> by_group({"02": 0.12531, "03": 0.1197}, 2)
    '02: 0.13, 03: 0.12'
    """
    tail = f" {unit}" if unit else ""
    return ", ".join(f"{name}: {number(value, digits)}{tail}" for name, value in values.items())


_EXTREME = re.compile(r"(?P<arg>arg)?(?P<which>max|min) ?(?P<rest>.*)", re.DOTALL)
"""Of groups, the largest or least number, or the group that has it."""

_SPEC = re.compile(r"(?P<digits>\d+)? ?(?P<unit>.*)", re.DOTALL)


def fill(
    template: str,
    values: Mapping[str, Numbers],
    met: Mapping[str, Sequence[str]] | None = None,
    word: Callable[[str, str], str] | None = None,
) -> str:
    """Put values into a sentence.

    `{late}` writes a value with three digits, its groups with their names; `{late.08}` one group.
    After a colon stand digits and unit (`{late:4 %}`), decimals (`{gain:.1f}`), `more|less` (a share as
    a change in percent), or two words for either sign (`{gain:better|worse}`). Of groups, `{loss:max 3 %}`
    is the largest number and `{loss:argmax}` the group that has it; so are `min` and `argmin`. Of a
    condition with a name, `{near:count}` says how many groups meet it, `{near:names}` which. Placeholders that
    are no values get what `word` says of them.

    Examples
    --------
    >>> fill("{n:count} of 2: {late:2 %}", {"late": {"02": 1.25, "03": 2.0}}, {"n": ["02"]})
    '1 of 2: 02: 1.2 %, 03: 2 %'
    >>> fill("uploads {change:more|less}", {"change": -0.0123})
    'uploads 1.2 % less'
    """
    parts: list[str] = []
    for literal, field, spec, _ in Formatter().parse(template):
        parts.append(literal)
        if field is None:
            continue
        if spec in ("count", "names"):
            names = (met or {})[field]
            parts.append(str(len(names)) if spec == "count" else ", ".join(names))
        elif word is not None and not is_value(values, field):
            parts.append(word(field, spec or ""))
        else:
            parts.append(_written(look_up(values, field), spec or ""))
    return "".join(parts)


def is_value(values: Mapping[str, Numbers], field: str) -> bool:
    """Return whether a placeholder is a value, or a group of one."""
    name, _, group = field.partition(".")
    whole = values.get(name)
    return field in values or (isinstance(whole, dict) and group in whole)


def look_up(values: Mapping[str, Numbers], field: str) -> Numbers:
    """Return a value, or one group of it by `value.group`.

    Raises `KeyError` if there is no such value or group.
    """
    if field in values:
        return values[field]
    name, _, group = field.partition(".")
    whole = values[name]
    if not isinstance(whole, dict) or group not in whole:
        raise KeyError(field)
    return whole[group]


def _written(value: Numbers, spec: str) -> str:
    extreme = _EXTREME.fullmatch(spec)
    if extreme and isinstance(value, dict):
        choose = max if extreme["which"] == "max" else min
        group = choose(value, key=lambda name: value[name])
        return group if extreme["arg"] else _written(value[group], extreme["rest"])
    if isinstance(value, dict):
        found = _SPEC.fullmatch(spec)
        digits = int(found["digits"] or 3) if found else 3
        return by_group(value, digits, found["unit"] if found else "")
    if spec == "more|less":
        return change(value)
    if "|" in spec:
        return spec.split("|")[0 if value >= 0 else 1]
    if spec.startswith("."):
        size, _, unit = spec.partition(" ")
        return f"{value:{size}}" + (f" {unit}" if unit else "")
    found = _SPEC.fullmatch(spec)
    digits, unit = (int(found["digits"] or 3), found["unit"]) if found else (3, "")
    return number(value, digits) + (f" {unit}" if unit else "")


def change(share: float) -> str:
    """Write a relative change in words.

    Examples
    --------
    >>> change(0.0123), change(-0.5), change(0.0001)
    ('1.2 % more', '50.0 % less', 'as much')
    """
    if abs(share) < 5e-4:  # chosen: below the last digit that is written
        return "as much"
    return f"{100 * abs(share):.1f} % {'more' if share > 0 else 'less'}"
