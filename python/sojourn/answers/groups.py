"""Which groups a declared value has, told before anything runs, and whether conditions ask something of them.

A condition that looks at no group would hold whatever the runs say. So everything that a condition selects has to be there,
and it has to set a limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sojourn.answers.selection import Points
from sojourn.base.errors import nearest
from sojourn.declarations.answers import Condition, Measure, Value

Groups = tuple[str, ...] | None
"""Names of the groups of a value in their order; `None` if only the runs tell."""

ONE: Groups = ("",)
"""A value that is one number."""

Told = tuple[str, str]
"""Message and hint."""


def found(name: str, known: Mapping[str, Groups]) -> Groups:
    """Return the groups of a value, or of one group of it such as `late.far`."""
    if name in known:
        return known[name]
    return ONE if name.partition(".")[0] in known else None


def groups_of(value: Value, known: Mapping[str, Groups], measures: Mapping[str, Measure], points: Points) -> Groups:
    """Return the groups of a value that builds on known ones.

    Examples
    --------
    >>> groups_of(Value(together={"a": "x", "b": "y"}), {"x": ONE, "y": ONE}, {}, Points([]))
    ('a', 'b')
    >>> groups_of(Value(of="z", over="max"), {"z": ("a", "b")}, {}, Points([]))
    ('',)
    """
    if value.over is not None or value.slope or value.fit:
        return ONE
    groups = _unreduced(value, known, measures, points)
    return None if value.finite and groups != ONE else groups


def _unreduced(value: Value, known: Mapping[str, Groups], measures: Mapping[str, Measure], points: Points) -> Groups:
    if value.measure:
        if value.points:
            return tuple(value.points)
        measure = measures.get(value.measure)
        if measure is None:
            return None
        listed = [label for label, given in value.where.items() if isinstance(given, list)]
        by = listed if value.by is None else value.by
        return tuple(points.groups({**measure.where, **value.where}, by, value.name))
    if value.together:
        return tuple(value.together)
    if value.of:
        return tuple(value.only) or found(value.of, known)
    parts = [found(name, known) for name in _combined(value)]
    several = [part for part in parts if part != ONE]
    if not parts or None in several:
        return None
    return several[0] if several else ONE


def _combined(value: Value) -> list[str]:
    return [*value.ratio, *value.difference, *value.sum]


def value_problems(value: Value, known: Mapping[str, Groups]) -> Iterator[Told]:
    """Find groups that a value asks for and that others lack."""
    if value.only and not value.of:
        yield "`only` chooses from another value", 'for example: { of = "late", only = ["far"] }'
    elif value.only:
        yield from _missing(value.only, found(value.of, known), value.of)
    pair = [(name, groups) for name in _combined(value) if (groups := found(name, known)) is not None and groups != ONE]
    for name, groups in pair[1:]:
        first, others = pair[0]
        if set(groups) != set(others or ()):
            message = f"{first} and {name} do not have the same groups: {_named(others)}; {_named(groups)}"
            yield message, "give both the same `by` or `where`, or choose groups with `only`"
    course = value.slope or value.fit
    groups = found(course, known) if course else None
    if course:
        least = 3 if value.fit else 2
        if len(value.against) < least:
            yield f"a line needs {least} numbers in `against`: fewer always lie on one", ""
        elif groups is not None and len(groups) != len(value.against):
            yield (f"{len(value.against)} numbers in `against` for {len(groups)} groups", _named(groups))


def _named(groups: Groups) -> str:
    return ", ".join(groups or ()) or "none"


def _missing(chosen: Sequence[str], groups: Groups, value: str) -> Iterator[Told]:
    if groups == ONE and chosen:
        yield f"{value} is one number and has no groups", ""
    elif groups is not None:
        for name in chosen:
            if name not in groups:
                yield f'{value} has no group "{name}"', nearest(name, groups)


def condition_problems(condition: Condition, known: Mapping[str, Groups]) -> Iterator[Told]:
    """Find what makes a condition hold, or fail, whatever the runs say."""
    kinds = {
        "value": bool(condition.value),
        "rising": bool(condition.rising),
        "not_falling": bool(condition.not_falling),
        "any_of": bool(condition.any_of),
    }
    given = [kind for kind, is_given in kinds.items() if is_given]
    if len(given) != 1:
        yield f"needs one of {', '.join(kinds)}", 'for example: { value = "late", at_most = 2 }'
        return
    limits = (condition.at_least, condition.at_most, condition.above, condition.below)
    sets_limit = any(limit is not None for limit in (*limits, condition.near))
    if given != ["value"]:
        choice = [condition.only, condition.besides, condition.name, condition.factor != 1]
        if sets_limit or any(choice):
            yield f"{given[0]} takes no limits, groups or names", "these belong to a `value`"
    if given == ["value"]:
        yield from _value_problems(condition, known, sets_limit=sets_limit)
    elif given == ["any_of"]:
        wanted = condition.in_at_least or 1
        if wanted > len(condition.any_of):
            yield f"{wanted} of {len(condition.any_of)} conditions cannot hold", ""
    else:
        parts = [found(name, known) for name in (condition.rising or condition.not_falling)]
        if None not in parts and sum(len(part or ()) for part in parts) < 2:
            yield f"{given[0]} needs two numbers or more", "a value with groups, or several values"


def _value_problems(condition: Condition, known: Mapping[str, Groups], *, sets_limit: bool) -> Iterator[Told]:
    if not sets_limit:
        hint = "one of at_least, at_most, above, below, near"
        yield f"sets no limit for {condition.value}", hint
    width = condition.within is not None or condition.within_share is not None
    if (condition.near is not None) != width:
        yield "`near` and its width go together", "near = 1, within = 0.1; or within_share"
    limits = (condition.at_least, condition.at_most, condition.above, condition.below)
    named = [limit for limit in (*limits, condition.near) if isinstance(limit, str)]
    if condition.factor != 1 and not named:
        yield "`factor` multiplies a limit that is a value", "multiply the number itself"
    groups = found(condition.value, known)
    if groups == ONE and condition.in_at_least is not None:
        yield f"{condition.value} is one number: `in_at_least` is for groups", ""
    if groups == ONE and condition.name:
        yield f"{condition.value} is one number: a name is for the groups that fit", ""
    yield from _missing(list(dict.fromkeys((*condition.only, *condition.besides))), groups, condition.value)
    if groups is None:
        return
    chosen = [name for name in (condition.only or groups) if name in groups and name not in condition.besides]
    named_groups = {*condition.only, *condition.besides}
    if not chosen and named_groups <= set(groups):
        yield f"no group of {condition.value} is left", _named(groups)
    elif condition.in_at_least is not None and condition.in_at_least > len(chosen):
        yield f"{condition.in_at_least} of {len(chosen)} groups cannot meet it", _named(groups)
    for limit in named:
        others = found(limit, known)
        if others is not None and others != ONE:
            yield from (
                _missing(chosen, others, limit)
                if groups != ONE
                else iter([(f"{limit} has groups and {condition.value} is one number", _named(others))])
            )
