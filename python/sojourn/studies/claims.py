"""Claims of a document, judged one by one.

A study describes its claims as data (`printed/claims.toml`) and writes one small function for each
that a simulation can decide. Closed-form claims are held by tests of the project; the study names
them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sojourn.studies.view import NotRecorded, StudyView


class Holds(StrEnum):
    """What judging a claim says."""

    HOLDS = "holds"
    FAILS = "fails"
    NOT_RUN = "not-run"


@dataclass(frozen=True)
class Claim:
    """One testable statement of a document.

    Attributes
    ----------
    identifier
        Stable name such as `W12-66`.
    where
        Section, table or figure of the document.
    use
        `gate`, `unit`, `report` or `context`.
    trust
        How far the print can be believed, A to D.
    statement
        What is claimed.
    criterion
        When we call it reproduced.
    """

    identifier: str
    where: str
    use: str
    trust: str
    statement: str
    criterion: str


@dataclass(frozen=True)
class Outcome:
    """What a claim came to."""

    verdict: Holds
    ours: str = ""
    note: str = ""

    @classmethod
    def of(cls, condition: object, ours: str, note: str = "") -> Outcome:
        """Hold if `condition` is true, fail otherwise."""
        return cls(Holds.HOLDS if condition else Holds.FAILS, ours, note)

    @classmethod
    def not_run(cls, note: str) -> Outcome:
        """Leave a claim open, for a reason."""
        return cls(Holds.NOT_RUN, "", note)


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its outcome; one row of `claims.csv`."""

    claim: Claim
    outcome: Outcome


ClaimFunction = Callable[[StudyView], Outcome]


class ClaimBook:
    """The functions that judge claims, by identifier."""

    def __init__(self) -> None:
        self._functions: dict[str, ClaimFunction] = {}

    def __call__(self, identifier: str) -> Callable[[ClaimFunction], ClaimFunction]:
        """Decorate the function that judges `identifier`."""

        def enter(function: ClaimFunction) -> ClaimFunction:
            if identifier in self._functions:
                message = f"claim {identifier} has two functions"
                raise ValueError(message)
            self._functions[identifier] = function
            return function

        return enter

    @classmethod
    def joined(cls, *books: ClaimBook) -> ClaimBook:
        """Return one book with the functions of several."""
        whole = cls()
        for book in books:
            for identifier, function in book.functions.items():
                whole(identifier)(function)
        return whole

    @property
    def functions(self) -> Mapping[str, ClaimFunction]:
        """All functions, by identifier."""
        return self._functions


def read_claims(path: Path) -> tuple[Claim, ...]:
    """Read a study's claims, in their order."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(Claim(**entry) for entry in document["claim"])


def read_tests(path: Path) -> dict[str, str]:
    """Read which test of the project holds which claim: identifier to `file::test`."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    return {str(claim): str(test) for claim, test in document["tests"].items()}


def judge_claims(printed: Path, book: ClaimBook, view: StudyView) -> list[JudgedClaim]:
    """Judge all claims in a study's folder `printed`.

    One that lacks records, a function or a test is not run.
    """
    tests = read_tests(printed / "unit_tests.toml")
    claims = read_claims(printed / "claims.toml")
    return [JudgedClaim(claim, _judge(claim, book, tests, view)) for claim in claims]


def _judge(claim: Claim, book: ClaimBook, tests: Mapping[str, str], view: StudyView) -> Outcome:
    function = book.functions.get(claim.identifier)
    if function is not None:
        try:
            outcome = function(view)
        except NotRecorded as reason:
            return Outcome.not_run(str(reason))
        if view.quick and outcome.verdict is not Holds.NOT_RUN:
            note = f"quick; {outcome.note}" if outcome.note else "quick"
            return Outcome(outcome.verdict, outcome.ours, note)
        return outcome
    if claim.identifier in tests:
        return Outcome(Holds.HOLDS, "exact", f"held by the test {tests[claim.identifier]}")
    return Outcome.not_run("no test holds it yet" if claim.use == "unit" else "not judged")
