"""Drives a study whose runs workers make: publishes its units, takes what comes, has made again what is damaged.

It keeps nothing of its own: killed and started again, it goes on where the store stands.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Iterable, Iterator

from sojourn.base.errors import RunError, plain
from sojourn.cluster.attend import PER_RUN_S, Attendant, Crew
from sojourn.cluster.notes import DoneNote, missing_of
from sojourn.cluster.price import measured
from sojourn.cluster.shared_plan import SharedPlan, Span, Unit, plan_of, publish, spans_of
from sojourn.store import Store
from sojourn.study.execute import Finished
from sojourn.study.plan import Plan, RunSpec

PILOT_RUNS = 50
PILOT_S = 5.0
"""Time of the pilot runs that show how long runs take, in s: after it no further one begins."""


def pilot(specs: list[RunSpec], seed: str) -> float:
    """Return the processor time of a run, in seconds, as some of them take."""
    chosen = random.Random(seed).sample(specs, min(PILOT_RUNS, len(specs)))
    took = [seconds for seconds, _ in measured(chosen, PILOT_S)]
    return sum(took) / len(took) if took else 1.0


class Crowd(Crew):
    """Workers that make the runs of plans."""

    def make(self, plan: Plan, specs: list[RunSpec], store: Store) -> Generator[Finished]:
        """Let workers make runs, and yield them when they are in the store of this machine.

        Raises `EnvironmentFailure` if no workers are left, or nothing can be written.
        """
        shared = plan_of(plan.study, plan.length)
        publish(self.objects, shared)
        drive = _Drive(self, shared, plan, specs, store)
        yield from drive.there()
        if drive.is_done:
            return
        drive.publish_rest()
        yield from drive.wait()

    def fetch(self, plan: Plan, store: Store) -> None:
        """Bring what workers have made of a plan into the store of this machine; no process is started."""
        shared = plan_of(plan.study, plan.length)
        for _ in _Drive(self, shared, plan, plan.runs, store).there():
            pass


class _Drive(Attendant):
    """The runs of a plan, each handed on as it ends."""

    def __init__(self, crew: Crew, shared: SharedPlan, plan: Plan, specs: list[RunSpec], store: Store) -> None:
        super().__init__(crew, shared, store)
        self._numbers = {item.point.name: item.point.number for item in plan.points}
        self._wanted = {(self._numbers[spec.point], spec.seed): spec for spec in specs}

    @property
    def is_done(self) -> bool:
        """True if all runs are there."""
        return not self._wanted

    def is_wanted(self, unit: Unit) -> bool:
        """Return whether a unit has runs that are wanted."""
        return any(pair in self._wanted for pair in _pairs(unit.spans))

    def publish_rest(self) -> None:
        """Put those runs into units that no unit has."""
        covered = {pair for unit in self.units.values() for pair in _pairs(unit.spans)}
        rest = [spec for pair, spec in self._wanted.items() if pair not in covered]
        if rest:
            spans = spans_of((self._numbers[spec.point], spec.seed) for spec in rest)
            per_run_s = pilot(rest, self.shared.name) + PER_RUN_S
            self.publish(list(spans), len(rest), per_run_s)

    def take(self, unit: Unit, note: DoneNote) -> Iterator[Finished]:
        """Give the runs of a unit; what is damaged is made again."""
        self.bring(unit, note)
        specs = {spec.key: spec for pair in _pairs(unit.spans) if (spec := self._wanted.get(pair)) is not None}
        asked = {key: spec.keep for key, spec in specs.items()}
        for key, entry in self.store.segments.find(asked, note.segments).items():
            spec = specs.pop(key)
            del self._wanted[self._numbers[spec.point], spec.seed]
            yield Finished(spec, entry)
        missing = {(point, seed): text for point, seed, _, text in missing_of(note)}
        self.crew.quarantined |= {key: plain(how) for _, _, key, how in note.quarantined}
        for spec in list(specs.values()):
            if (spec.point, spec.seed) in missing:
                del specs[spec.key], self._wanted[self._numbers[spec.point], spec.seed]
                yield Finished(spec, None, RunError(missing[spec.point, spec.seed]))
        if specs:  # damaged, or gone
            self.forget(unit, note)


def _pairs(spans: Iterable[Span]) -> Iterator[tuple[int, int]]:
    for span in spans:
        for number in range(span.first, span.first + span.points):
            for seed in range(span.seed, span.seed + span.seeds):
                yield number, seed
