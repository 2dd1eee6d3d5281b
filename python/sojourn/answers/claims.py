"""Claims and their outcomes; `judging` decides them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np


class Holds(StrEnum):
    """Verdict on a claim."""

    HOLDS = "holds"
    FAILS = "fails"
    NOT_RUN = "not-run"


NEEDS_WHOLE = "needs the whole study"
"""Note of a claim that runs cut short do not decide."""


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
    """Outcome of a claim."""

    verdict: Holds
    ours: str = ""
    note: str = ""

    @classmethod
    def of(cls, condition: object, ours: str, note: str = "") -> Outcome:
        """Hold if `condition` is true, fail if it is false.

        Raises `TypeError` if it is neither: a list, or a number that may be unknown, decides nothing.
        """
        if not isinstance(condition, bool | np.bool_):
            raise TypeError(f"a verdict is True or False, not {condition!r}")
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

    @property
    def sentence(self) -> str:
        """The statement with its verdict in words, and the numbers that decided it."""
        words = {Holds.HOLDS: "holds", Holds.FAILS: "fails", Holds.NOT_RUN: "not judged"}[self.outcome.verdict]
        told = self.outcome.ours or (self.outcome.note if self.outcome.verdict is Holds.NOT_RUN else "")
        return f"{self.claim.statement.rstrip('.')}: {words}{f' ({told})' if told else ''}."
