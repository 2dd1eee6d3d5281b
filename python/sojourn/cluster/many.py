"""Drives a study of more points than fit into a list: units are ranges of numbers, and single runs are not handed on.

What comes of it are the notes of its units in their order, whose segments are in the store of this machine.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from sojourn.base.errors import UsageError, plain
from sojourn.cluster.attend import Attendant, Crew
from sojourn.cluster.notes import DoneNote
from sojourn.cluster.price import check_some, price_of, spans_of_study
from sojourn.cluster.shared_plan import SharedPlan, Span, Unit, plan_of, publish
from sojourn.process.progress import LINE_EVERY_S
from sojourn.store import Store
from sojourn.study.execute import Finished
from sojourn.study.expand import NumberedPoints
from sojourn.study.library import Study
from sojourn.study.plan import RunLength


@dataclass(frozen=True)
class ManyPoints:
    """A study whose points have numbers and no list.

    Attributes
    ----------
    study
        The study.
    length
        How long its runs are.
    seeds
        Of each point; a matrix that asks for more has more.
    """

    study: Study
    length: RunLength
    seeds: int

    @property
    def spans(self) -> list[Span]:
        """All runs: a span for each listed point, and one for each matrix."""
        return spans_of_study(self.study.definition, self.seeds)

    @property
    def points(self) -> int:
        """How many points there are; where a matrix leaves some out, at most."""
        return sum(span.points for span in self.spans)

    @property
    def runs(self) -> int:
        """How many runs there are; where a matrix leaves points out, at most."""
        return sum(span.points * span.seeds for span in self.spans)

    @property
    def shared(self) -> SharedPlan:
        """Plan in the form that a shared store keeps."""
        return plan_of(self.study, self.length)

    def check(self) -> NumberedPoints:
        """Check those points that tell most, and return all of them.

        Raises `StudyError` if one is invalid.
        """
        study = self.study
        points = NumberedPoints(study.definition, study.base, str(study.path))
        check_some(study.definition, points)
        return points

    def make(self, crew: Crew, store: Store) -> list[DoneNote]:
        """Let workers make all runs; return what came of the units, in their order.

        Raises `StudyError` if a point that tells much is invalid; `EnvironmentFailure` if no workers are left, or
        nothing can be written.
        """
        points, shared = self.check(), self.shared
        publish(crew.objects, shared)
        drive = _Drive(crew, shared, store, self.spans)
        for _ in drive.there():
            pass
        if rest := drive.uncovered():
            price = price_of(self.study.definition, points, self.length, self.seeds)
            drive.publish(rest, sum(one.points * one.seeds for one in rest), price.run_s[0])
        if not drive.is_done:
            for _ in drive.wait():
                pass
        return drive.in_order()

    def fetch(self, crew: Crew, store: Store) -> tuple[list[DoneNote], float]:
        """Bring what workers have made; return what came of the units, and the share of the runs that these are.

        Raises `UsageError` if there is nothing.
        """
        drive = _Drive(crew, self.shared, store, self.spans)
        for _ in drive.there():
            pass
        if not drive.notes:
            raise UsageError("the store has no run of this study yet")
        runs = sum(drive.units[name].runs for name in drive.notes)
        return drive.in_order(), runs / self.runs


class _Drive(Attendant):
    """All units of a plan."""

    def __init__(self, crew: Crew, shared: SharedPlan, store: Store, wanted: list[Span]) -> None:
        super().__init__(crew, shared, store)
        self._wanted = wanted
        self.notes: dict[str, DoneNote] = {}
        self._said = time.monotonic()

    @property
    def is_done(self) -> bool:
        """True if all units are done."""
        return len(self.notes) == len(self.units)

    def is_wanted(self, unit: Unit) -> bool:
        """Return whether a unit has runs that are wanted: a store may have more seeds of an earlier call."""
        return any(
            mine.first <= span.first < mine.first + mine.points and mine.seed <= span.seed < mine.seed + mine.seeds
            for span in unit.spans
            for mine in self._wanted
        )

    def uncovered(self) -> list[Span]:
        """Return the runs that are in no unit: earlier calls may have asked for fewer seeds."""
        rest: list[Span] = []
        for span in self._wanted:
            seed, end = span.seed, span.seed + span.seeds
            for known in (one for a_round in self.rounds for one in a_round.spans):
                is_same = (known.first, known.points) == (span.first, span.points)
                if is_same and known.seed <= seed:
                    seed = max(seed, known.seed + known.seeds)
            if seed < end:
                rest.append(span.model_copy(update={"seed": seed, "seeds": end - seed}))
        return rest

    def take(self, unit: Unit, note: DoneNote) -> Iterator[Finished]:
        """Keep the note of a unit whose segments are here and whole; another is made again."""
        self.bring(unit, note)
        if not all(self.store.segments.is_whole(segment) for segment in note.segments):
            self.forget(unit, note)
            return
        self.notes[unit.name] = note
        self.crew.quarantined |= {key: plain(how) for _, _, key, how in note.quarantined}
        now = time.monotonic()
        if now - self._said >= LINE_EVERY_S:
            self._said = now
            self.crew.tell(f"  {len(self.notes)} of {len(self.units)} units are done")
        yield from ()

    def in_order(self) -> list[DoneNote]:
        """Return the notes in the order of their units."""
        return [self.notes[name] for name in sorted(self.notes)]
