"""Judges declared conditions: ranges, comparisons, k of n, order.

A condition looks at one number or at each group of a value. Its limits are numbers, or other values
that are met group by group.

A condition holds, fails, or is open (`None`): what is unknown neither holds nor fails, unless the known numbers
decide without it. Nothing to look at is open as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import ge, gt, le, lt

from sojourn.answers.numbers import Numbers, look_up
from sojourn.declarations.answers import Condition, Limit


@dataclass
class Met:
    """Outcome of conditions."""

    held: bool | None = None
    """`None` if that is open."""
    names: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Groups that meet a condition, by the name of the condition."""


def judge_conditions(conditions: Sequence[Condition], values: Mapping[str, Numbers]) -> Met:
    """Judge all conditions; the result holds if all do.

    Examples
    --------
    >>> few = Condition(value="loss", at_most=2, in_at_least=1, name="few")
    >>> judge_conditions([few], {"loss": {"a": 1.0, "b": 3.0}})
    Met(held=True, names={'few': ['a']})
    """
    met = Met()
    met.held = all_hold([_holds(condition, values, met) for condition in conditions])
    return met


def all_hold(judged: Sequence[bool | None]) -> bool | None:
    """Return whether all hold: one that fails decides, else one that is open leaves it open; so does nothing at all.

    Examples
    --------
    >>> all_hold([True, None]), all_hold([False, None]), all_hold([])
    (None, False, None)
    """
    return _enough(judged, len(judged))


def _enough(judged: Sequence[bool | None], wanted: int) -> bool | None:
    """Return whether at least `wanted` hold, however the open ones end."""
    if not judged or wanted < 1:
        return None
    holding = sum(one is True for one in judged)
    if holding >= wanted:
        return True
    return None if holding + sum(one is None for one in judged) >= wanted else False


def _holds(condition: Condition, values: Mapping[str, Numbers], met: Met) -> bool | None:
    if condition.any_of:
        judged = [_holds(one, values, met) for one in condition.any_of]
        return _enough(judged, 1 if condition.in_at_least is None else condition.in_at_least)
    if condition.rising:
        return _ordered(_in_order(condition.rising, values), lt)
    if condition.not_falling:
        return _ordered(_in_order(condition.not_falling, values), le)
    value = look_up(values, condition.value)
    if not isinstance(value, dict):
        return _fits(condition, value, "", values)
    wanted = condition.only or value
    judged = {
        name: _fits(condition, value.get(name, math.nan), name, values)
        for name in wanted
        if name not in condition.besides
    }
    if condition.name:
        met.names[condition.name] = [name for name, fits in judged.items() if fits]
    least = len(judged) if condition.in_at_least is None else condition.in_at_least
    return _enough(list(judged.values()), least)


def _in_order(names: Sequence[str], values: Mapping[str, Numbers]) -> list[float]:
    found: list[float] = []
    for name in names:
        value = look_up(values, name)
        found += list(value.values()) if isinstance(value, dict) else [value]
    return found


def _ordered(numbers: Iterable[float], is_right: Callable[[float, float], bool]) -> bool | None:
    return all_hold([_compared(low, high, is_right) for low, high in pairwise(numbers)])


def _compared(number: float, limit: float, is_right: Callable[[float, float], bool]) -> bool | None:
    """Compare two numbers; with one that is unknown, or if neither ever came, that is open."""
    if math.isnan(number) or math.isnan(limit) or (math.isinf(number) and number == limit):
        return None
    return is_right(number, limit)


def _fits(condition: Condition, number: float, group: str, values: Mapping[str, Numbers]) -> bool | None:
    def limit(given: Limit) -> float:
        if not isinstance(given, str):
            return float(given)
        value = look_up(values, given)
        whole = value.get(group, math.nan) if isinstance(value, dict) else value
        return float(condition.factor) * whole

    limits = ((condition.at_least, ge), (condition.at_most, le), (condition.above, gt), (condition.below, lt))
    fits = [_compared(number, limit(given), is_right) for given, is_right in limits if given is not None]
    if condition.near is not None:
        middle = limit(condition.near)
        if condition.within is not None:
            fits.append(_compared(abs(number - middle), float(condition.within), le))
        if condition.within_share is not None:
            away = abs(number / middle - 1) if middle else math.nan
            fits.append(_compared(away, float(condition.within_share), le))
    return all_hold(fits)
