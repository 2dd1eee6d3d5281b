"""Judging the claims that a study declares, one by one.

A claim holds or fails by numbers that runs gave; by what is unknown it is not judged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from sojourn.answers.asking import Ask
from sojourn.answers.claims import NEEDS_WHOLE, Claim, Holds, JudgedClaim, Outcome
from sojourn.answers.criteria import all_hold, judge_conditions
from sojourn.answers.modules import what_failed
from sojourn.answers.numbers import Numbers, fill
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.report_content import UNJUDGED
from sojourn.answers.view import NotRecorded
from sojourn.declarations.answers import ClaimDefinition, Value


def judge(study: OpenStudy, ask: Ask) -> list[JudgedClaim]:
    """Judge all claims of a study, in their order.

    A claim that lacks records is not run; an error in one is its note and costs no other.
    """
    return [judge_claim(study, ask, definition) for definition in study.definition.claim]


def judge_claim(study: OpenStudy, ask: Ask, definition: ClaimDefinition) -> JudgedClaim:
    """Judge one claim."""
    claim = Claim(
        definition.identifier,
        definition.where,
        definition.use,
        definition.trust,
        definition.statement,
        definition.criterion,
    )
    return JudgedClaim(claim, _outcome(study, ask, definition))


def _outcome(study: OpenStudy, ask: Ask, definition: ClaimDefinition) -> Outcome:
    if definition.not_run:
        return Outcome.not_run(definition.not_run)
    if ask.view.is_unfinished:
        return Outcome.not_run(f"{ask.view.reduced}: judged when all are there")
    if definition.all_of:
        return _together(study, ask, definition)
    if not definition.holds and not definition.function:
        test = study.definition.tests.get(definition.identifier)
        if test is not None and study.published:
            return Outcome(Holds.HOLDS, "exact", f"held by the test {test}")
        if test is not None:
            return Outcome.not_run(f"depends on the test {test}, which no study runs")
        return Outcome.not_run("no test holds it yet" if definition.use == "unit" else "not judged")
    if ask.view.is_short and not definition.seconds:
        return Outcome.not_run(NEEDS_WHOLE)
    ask.seconds, ask.seeds = float(definition.seconds), definition.seeds
    try:
        outcome = _decided(study, ask, definition)
    except NotRecorded as reason:
        return Outcome.not_run(str(reason))
    except Exception as error:  # whatever a study's own code does
        return Outcome.not_run(f"{UNJUDGED}{what_failed(error, study.definition.module)}")
    finally:
        ask.seconds, ask.seeds = 0.0, 1
    reduced = ask.view.reduced
    if reduced and outcome.verdict is not Holds.NOT_RUN:
        note = f"{reduced}; {outcome.note}" if outcome.note else reduced
        return Outcome(outcome.verdict, outcome.ours, note)
    return outcome


def _together(study: OpenStudy, ask: Ask, definition: ClaimDefinition) -> Outcome:
    """Judge a claim that other claims make: all of them have to hold."""
    known = {claim.identifier: claim for claim in study.definition.claim}
    found = {name: _outcome(study, ask, known[name]) for name in definition.all_of}
    held = all_hold([_HELD[outcome.verdict] for outcome in found.values()])
    if held is None:
        return next(one for one in found.values() if one.verdict is Holds.NOT_RUN)
    ours = ", ".join(f"{name} {_VERBS[outcome.verdict]}" for name, outcome in found.items())
    return Outcome.of(held, ours, ask.view.reduced)


_HELD = {Holds.HOLDS: True, Holds.FAILS: False, Holds.NOT_RUN: None}
_VERBS = {Holds.HOLDS: "holds", Holds.FAILS: "fails", Holds.NOT_RUN: "is not judged"}


def _decided(study: OpenStudy, ask: Ask, definition: ClaimDefinition) -> Outcome:
    if definition.function:
        return study.functions[definition.function](ask)
    outcome = _by_conditions(ask, definition, definition.values)
    if not definition.instead:
        return outcome
    replaced = {
        name: value.model_copy(update={"measure": definition.instead.get(value.measure, value.measure)})
        for name, value in definition.values.items()
    }
    other = _by_conditions(ask, definition, replaced)
    if other.verdict is outcome.verdict:
        return outcome
    words = f"{definition.instead_words or 'otherwise'} it {_VERBS[other.verdict]}"
    told = f"{words}: {other.ours}" if other.ours else words
    return Outcome(outcome.verdict, f"{outcome.ours}; {told}".removeprefix("; "), outcome.note)


def _by_conditions(ask: Ask, definition: ClaimDefinition, asked: Mapping[str, Value]) -> Outcome:
    values = ask.values(asked)
    met = judge_conditions(definition.holds, values)
    if met.held is None:
        return Outcome.not_run(f"not judged: {_open(values)}")
    template = definition.ours or "; ".join(f"{name} {{{name}}}" for name in values)
    return Outcome.of(met.held, fill(template, values, met.names), fill(definition.note, values, met.names))


def _open(values: Mapping[str, Numbers]) -> str:
    """Say why conditions are open: which numbers are unknown, if any is."""
    unknown = [
        f"{name}.{group}" if group else name
        for name, value in values.items()
        for group, number in (value if isinstance(value, dict) else {"": value}).items()
        if math.isnan(number)
    ]
    if not unknown:
        return "nothing is left to compare, or what is compared never came on either side"
    listed = 6  # chosen: more are not read
    more = f" and {len(unknown) - listed} more" if len(unknown) > listed else ""
    verb = "is" if len(unknown) == 1 else "are"
    return f"{', '.join(unknown[:listed])}{more} {verb} unknown"
