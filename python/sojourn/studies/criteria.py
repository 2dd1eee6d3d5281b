"""When declared conditions hold: ranges, comparisons, k of n, order.

A condition looks at one number or at each group of a value. Its limits are numbers, or other values
that are met group by group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from sojourn.studies.numbers import Numbers, look_up
from sojourn.study.declarations import Condition, Limit

__all__ = ["Met", "judge_conditions"]


@dataclass
class Met:
    """What conditions came to."""

    held: bool = True
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
    for condition in conditions:
        met.held = _holds(condition, values, met) and met.held
    return met


def _holds(condition: Condition, values: Mapping[str, Numbers], met: Met) -> bool:
    if condition.any_of:
        judged = [_holds(one, values, met) for one in condition.any_of]
        return sum(judged) >= (1 if condition.in_at_least is None else condition.in_at_least)
    if condition.rising:
        return all(low < high for low, high in pairwise(_in_order(condition.rising, values)))
    if condition.not_falling:
        return all(low <= high for low, high in pairwise(_in_order(condition.not_falling, values)))
    value = look_up(values, condition.value)
    if not isinstance(value, dict):
        return _fits(condition, value, "", values)
    chosen = {
        name: number
        for name, number in value.items()
        if (not condition.only or name in condition.only) and name not in condition.besides
    }
    fitting = [n for n, number in chosen.items() if _fits(condition, number, n, values)]
    if condition.name:
        met.names[condition.name] = fitting
    if condition.in_at_least is not None:
        return len(fitting) >= condition.in_at_least
    return len(fitting) == len(chosen)


def _in_order(names: Sequence[str], values: Mapping[str, Numbers]) -> list[float]:
    found: list[float] = []
    for name in names:
        value = look_up(values, name)
        found += list(value.values()) if isinstance(value, dict) else [value]
    return found


def _fits(condition: Condition, number: float, group: str, values: Mapping[str, Numbers]) -> bool:
    def limit(given: Limit) -> float:
        if not isinstance(given, str):
            return float(given)
        value = look_up(values, given)
        return float(condition.factor) * (value[group] if isinstance(value, dict) else value)

    fits = [True]
    if condition.at_least is not None:
        fits.append(number >= limit(condition.at_least))
    if condition.at_most is not None:
        fits.append(number <= limit(condition.at_most))
    if condition.above is not None:
        fits.append(number > limit(condition.above))
    if condition.below is not None:
        fits.append(number < limit(condition.below))
    if condition.near is not None:
        middle = limit(condition.near)
        if condition.within is not None:
            fits.append(abs(number - middle) <= condition.within)
        if condition.within_share is not None:
            fits.append(abs(number / middle - 1) <= condition.within_share)
    return all(fits)
