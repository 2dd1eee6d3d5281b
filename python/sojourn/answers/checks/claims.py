"""Checks that claims can be judged and headlines said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from sojourn.answers.checks.names import Names
from sojourn.answers.checks.values import Values
from sojourn.answers.groups import Groups, condition_problems
from sojourn.answers.placeholders import Placeholders, typed
from sojourn.base.errors import Problem, nearest
from sojourn.declarations.answers import ClaimDefinition, Condition, Measure, Value
from sojourn.study.expand import Document


class Claims:
    """Checks of claims and headlines.

    Parameters
    ----------
    names, values
        What the study's declarations may name, and how its values are checked.
    documents
        Gives the scenarios of the points.
    """

    def __init__(self, names: Names, values: Values, documents: Callable[[], Sequence[Document]] = lambda: ()) -> None:
        self._documents = documents
        self._names = names
        self._own = names.own
        self._values = values

    def problems(self) -> Iterator[Problem]:
        """Find claims that cannot be judged."""
        known = [claim.identifier for claim in self._own.claim]
        for name in sorted({name for name in known if known.count(name) > 1}):
            yield self._names.problem(f"claim {name}", "is given twice")
        for name in self._own.tests:
            if name not in known:
                yield self._names.problem(f"tests.{name}", "no such claim", nearest(name, known))
        for claim in self._own.claim:
            yield from self._claim(f"claim {claim.identifier}", claim, known)

    def _claim(self, path: str, claim: ClaimDefinition, known: list[str]) -> Iterator[Problem]:
        groups: dict[str, Groups] = {}
        ways = {
            "holds": bool(claim.holds),
            "function": bool(claim.function),
            "all_of": bool(claim.all_of),
            "not_run": bool(claim.not_run),
        }
        given = [way for way, is_given in ways.items() if is_given]
        if len(given) > 1:
            yield self._names.problem(path, f"is judged in several ways: by {' and '.join(given)}")
        yield from self._names.function(f"{path}.function", claim.function)
        yield from self._values.values(path, claim.values, groups)
        for condition in claim.holds:
            yield from self._condition(f"{path}.holds", condition, groups)
        named = [condition.name for condition in claim.holds if condition.name]
        yield from self._values.template(f"{path}.ours", claim.ours, groups, named)
        yield from self._values.template(f"{path}.note", claim.note, groups, named)
        for other in claim.all_of:
            if other not in known:
                yield self._names.problem(f"{path}.all_of", f'no claim "{other}"', nearest(other, known))
        if claim.identifier in self._behind(claim):
            yield self._names.problem(f"{path}.all_of", "the claim depends on itself")
        for measure in (*claim.instead, *claim.instead.values()):
            if measure not in self._own.measures:
                hint = nearest(measure, self._own.measures)
                yield self._names.problem(f"{path}.instead", f'no measure "{measure}"', hint)

    def _behind(self, claim: ClaimDefinition) -> set[str]:
        """Return all claims that have to hold for one, directly or not."""
        by_name = {one.identifier: one for one in self._own.claim}
        found: set[str] = set()
        open_ones = list(claim.all_of)
        while open_ones:
            name = open_ones.pop()
            if name not in found and name in by_name:
                open_ones += by_name[name].all_of
            found.add(name)
        return found

    def _condition(self, path: str, condition: Condition, values: Mapping[str, Groups]) -> Iterator[Problem]:
        for one in condition.any_of:
            yield from self._condition(path, one, values)
        limits = (condition.at_least, condition.at_most, condition.above, condition.below)
        used = [condition.value, *condition.rising, *condition.not_falling]
        used += [limit for limit in (*limits, condition.near) if isinstance(limit, str)]
        for name in used:
            yield from self._values.known(path, name, values)
        for message, hint in condition_problems(condition, values):
            yield self._names.problem(path, message, hint)

    def headlines(self) -> Iterator[Problem]:
        """Find headlines that cannot be said."""
        for number, headline in enumerate(self._own.headline, 1):
            path = f"headline[{number}]"
            groups: dict[str, Groups] = {}
            yield from self._names.function(f"{path}.function", headline.function)
            yield from self._values.values(path, headline.values, groups)
            words = Placeholders(self._names.study.points, self._documents() if headline.text else (), headline.printed)
            found = list(self._values.template(f"{path}.text", headline.text, groups, (), words))
            yield from found
            for message, hint in () if found else typed(headline.text, words, self._asked(headline.values)):
                yield self._names.problem(f"{path}.text", message, hint)

    def _asked(self, values: Mapping[str, Value]) -> list[Measure]:
        """Return the measures that values ask."""
        names = {value.measure for value in values.values()}
        return [measure for name, measure in self._own.measures.items() if name in names]
