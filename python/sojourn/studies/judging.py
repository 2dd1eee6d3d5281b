"""Judging the claims that a study declares, one by one."""

from __future__ import annotations

from collections.abc import Mapping

from sojourn.studies.asking import Ask
from sojourn.studies.claims import Claim, Holds, JudgedClaim, Outcome
from sojourn.studies.criteria import judge_conditions
from sojourn.studies.numbers import fill
from sojourn.studies.opened import OpenStudy, what_failed
from sojourn.studies.view import NotRecorded
from sojourn.study.declarations import ClaimDefinition, Value

__all__ = ["judge", "judge_claim"]


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
    if definition.all_of:
        return _together(study, ask, definition)
    if not definition.holds and not definition.function:
        test = study.definition.tests.get(definition.identifier)
        if test is not None:
            return Outcome(Holds.HOLDS, "exact", f"held by the test {test}")
        return Outcome.not_run("no test holds it yet" if definition.use == "unit" else "not judged")
    ask.seconds = float(definition.seconds)
    try:
        outcome = _decided(study, ask, definition)
    except NotRecorded as reason:
        return Outcome.not_run(str(reason))
    except Exception as error:  # whatever a study's own code does
        return Outcome.not_run(f"cannot be judged: {what_failed(error, study.definition.module)}")
    finally:
        ask.seconds = 0.0
    reduced = ask.view.reduced
    if reduced and outcome.verdict is not Holds.NOT_RUN:
        note = f"{reduced}; {outcome.note}" if outcome.note else reduced
        return Outcome(outcome.verdict, outcome.ours, note)
    return outcome


def _together(study: OpenStudy, ask: Ask, definition: ClaimDefinition) -> Outcome:
    """Judge a claim that other claims make: all of them have to hold."""
    known = {claim.identifier: claim for claim in study.definition.claim}
    found = {name: _outcome(study, ask, known[name]) for name in definition.all_of}
    for outcome in found.values():
        if outcome.verdict is Holds.NOT_RUN:
            return outcome
    held = all(outcome.verdict is Holds.HOLDS for outcome in found.values())
    ours = ", ".join(f"{name} {outcome.verdict}" for name, outcome in found.items())
    return Outcome.of(held, ours, ask.view.reduced)


def _decided(study: OpenStudy, ask: Ask, definition: ClaimDefinition) -> Outcome:
    if definition.function:
        return study.functions[definition.function](ask)
    outcome = _by_conditions(ask, definition, definition.values)
    if not definition.instead:
        return outcome
    replaced = {
        name: value.model_copy(
            update={"measure": definition.instead.get(value.measure, value.measure)}
        )
        for name, value in definition.values.items()
    }
    other = _by_conditions(ask, definition, replaced)
    if other.verdict is outcome.verdict:
        return outcome
    words = f"{definition.instead_words or 'otherwise'} it {other.verdict}: {other.ours}"
    return Outcome(outcome.verdict, f"{outcome.ours}; {words}", outcome.note)


def _by_conditions(ask: Ask, definition: ClaimDefinition, asked: Mapping[str, Value]) -> Outcome:
    values = ask.values(asked)
    met = judge_conditions(definition.holds, values)
    template = definition.ours or "; ".join(f"{name} {{{name}}}" for name in values)
    return Outcome.of(
        met.held, fill(template, values, met.names), fill(definition.note, values, met.names)
    )
