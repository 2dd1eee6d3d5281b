"""How far a plan of a shared store is: units done, claimed and free, how fast, who works, when it will end, what was put apart."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sojourn.cluster.notes import ClaimNote, DoneNote, read_note
from sojourn.cluster.shared_plan import Round, SharedPlan, Unit, read_rounds, units_of
from sojourn.cluster.unit_claims import AT_THE_END, is_number_of_claim
from sojourn.store.objects import Objects

RECENT_S = 300.0
"""Window of the speed."""

FEWEST_UNITS = 5
"""Units before an end is expected. chosen: fewer say little about their spread."""

LEAST = 0.1
"""Of a unit that takes longer than expected is left, at least. chosen."""

BOOTSTRAPS = 500


@dataclass(frozen=True)
class Look:
    """State of the store at a moment.

    Attributes
    ----------
    rounds
        Units that are done, claimed and free, for each round.
    runs, runs_done
        How many there are at most, and how many were made.
    runs_per_s
        Over the last five minutes.
    workers
        Names of those whose claims have not passed their expected end twice over.
    left_s
        Seconds to the end: a tenth, half and nine tenths of what may be; empty while too little is known.
    quarantined
        Keys of runs that killed their process.
    """

    rounds: list[tuple[int, int, int]]
    runs: int
    runs_done: int
    runs_per_s: float
    workers: list[str]
    left_s: list[float] = field(default_factory=list[float])
    quarantined: list[str] = field(default_factory=list[str])

    @property
    def is_done(self) -> bool:
        """True if all units of all rounds are done."""
        return all(claimed == free == 0 for _, claimed, free in self.rounds)

    def line(self) -> str:
        """Return it in a line."""
        done, claimed, free = (sum(one[place] for one in self.rounds) for place in range(3))
        words = [
            f"{done} of {done + claimed + free} units done, {claimed} claimed, {free} free",
            f"{self.runs_per_s:.3g} runs/s by {len(self.workers)} workers",
        ]
        if self.left_s:
            low, middle, high = self.left_s
            words.append(f"{_span(middle)} left ({_span(low)} to {_span(high)})")
        if self.quarantined:
            words.append(f"{len(self.quarantined)} runs in quarantine")
        return "; ".join(words)

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "rounds": [dict(zip(("done", "claimed", "free"), one, strict=True)) for one in self.rounds],
            "runs": self.runs,
            "runs_done": self.runs_done,
            "runs_per_s": round(self.runs_per_s, 4),
            "workers": self.workers,
            "left_s": [round(one, 1) for one in self.left_s],
            "quarantined": self.quarantined,
        }


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


class Watch:
    """Looks at a plan, again and again; what is done is read once.

    Parameters
    ----------
    objects, shared
        Store and plan.
    now
        The time of day in seconds; for tests.
    """

    def __init__(self, objects: Objects, shared: SharedPlan, now: Callable[[], float] = time.time) -> None:
        self._objects, self._shared, self._now = objects, shared, now
        self._rounds: list[Round] = []
        self._notes: dict[str, DoneNote] = {}

    def look(self) -> Look:
        """Return how far the plan is.

        Raises `StoreUnreachable` if the store does not answer.
        """
        place, now = self._shared.place, self._now()
        self._rounds = read_rounds(self._objects, self._shared, self._rounds)
        units = {unit.name: unit for unit in units_of(self._rounds)}
        for name in self._objects.names(f"{place}/done"):
            unit = name.removesuffix(".json")
            if unit in units and unit not in self._notes:
                content = self._objects.read(f"{place}/done/{name}")
                self._notes[unit] = read_note(DoneNote, content)
        last: dict[str, int] = {}
        for name in self._objects.names(f"{place}/claims"):
            unit, _, number = name.partition("/")
            if unit in units and is_number_of_claim(number) and unit not in self._notes:
                last[unit] = max(last.get(unit, 0), int(number))
        workers: set[str] = set()
        begun: dict[str, float] = {}
        """Of units whose worker seems to live."""
        lost: dict[str, float] = {}
        """Time until the others are begun again, in s."""
        is_end = len(units) - len(self._notes) <= max(1, AT_THE_END * len(units))
        for name, number in last.items():
            content = self._objects.read(f"{place}/claims/{name}/{number}")
            claim, unit = read_note(ClaimNote, content), units[name]
            if now < claim.ends + unit.unit_s:
                workers.add(claim.worker)
                begun[name] = now - claim.begun
            else:
                patience = unit.unit_s if is_end and number == 0 else unit.patience_s
                lost[name] = max(0.0, patience - (now - claim.begun))
        rounds: dict[str, list[int]] = {}
        for unit in units:
            state = 0 if unit in self._notes else 1 if unit in last else 2
            rounds.setdefault(unit.partition("-")[0], [0, 0, 0])[state] += 1
        recent = [note for note in self._notes.values() if now - note.at <= RECENT_S]
        began = min((note.at - note.wall_s for note in recent), default=now)
        speed = sum(note.runs for note in recent) / min(RECENT_S, max(1.0, now - began))
        left = [unit for name, unit in units.items() if name not in self._notes]
        return Look(
            [(a, b, c) for a, b, c in rounds.values()],
            sum(unit.runs for unit in units.values()),
            sum(note.runs for note in self._notes.values()),
            speed,
            sorted(workers),
            self._left(left, begun, lost, len(workers), recent),
            sorted(key for note in self._notes.values() for _, _, key, _ in note.quarantined),
        )

    def _left(
        self,
        units: Sequence[Unit],
        begun: Mapping[str, float],
        lost: Mapping[str, float],
        workers: int,
        recent: Sequence[DoneNote],
    ) -> list[float]:
        """Return how long units take such workers, by what a run has taken in units that were done of late, or else in all.

        Of units that are being made, what they have had is done. Those whose worker seems to be gone are begun when the
        patience with it is over.
        """
        notes = recent if len(recent) >= FEWEST_UNITS else self._notes.values()
        took = [note.wall_s / note.runs for note in notes if note.runs]
        if not units or not workers or len(took) < FEWEST_UNITS:
            return []
        draws = np.random.default_rng(1).choice(np.array(took), (BOOTSTRAPS, len(took))).mean(axis=1)
        found: list[float] = []
        for per_run in np.quantile(draws, [0.1, 0.5, 0.9]):
            lengths = {unit.name: float(per_run) * unit.runs for unit in units}
            work = sum(max(length - begun.get(name, 0.0), LEAST * length) for name, length in lengths.items())
            found.append(max(work / workers, *(wait + lengths[name] for name, wait in lost.items()), 0.0))
        return found
