"""Waits until the units of a plan are done: starts workers, looks what the store has, and starts them again if none is left."""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from sojourn.base.errors import EnvironmentFailure, RecordError, StoreUnreachable
from sojourn.cluster.executors import Executor
from sojourn.cluster.notes import DoneNote, read_note
from sojourn.cluster.shared_plan import (
    MOST_RUNS_PER_UNIT,
    Round,
    SharedPlan,
    Span,
    Unit,
    place_of_round,
    read_rounds,
    units_of,
)
from sojourn.cluster.worker import segment_place
from sojourn.store import Store
from sojourn.store.objects import FolderObjects, Objects
from sojourn.store.segments import LISTING
from sojourn.study.execute import Finished

LOOKS_EVERY_S = 2.0
"""chosen: one list call; more often a bucket of thousands of units would do little else."""

ASKS_EVERY_S = 10.0
"""How often an executor is asked whether its processes live."""

STARTS = 4
"""Times that workers are started: once, and three times again."""

MOST_AGAIN = 3
"""Times that a unit is made again because it is damaged. chosen: a disk that damages it more often does so for ever."""

WAITS_FOR_STORE_S = (60, 120, 240, 480, 960, 1920, 3600)
"""How long a store may be away until the driver looks again."""


SHORTEST_S, LONGEST_S = 10.0, 600.0
"""Length of a unit. chosen: below, listing and claiming cost more than they save; above, a dead worker costs more."""

UNITS_PER_WORKER = 100
FEWEST_PER_WORKER = 8
"""Of studies that are shorter than that many units of ten seconds. chosen: the last worker ends an eighth later."""

LEAST_PATIENCE_S = 120.0
PATIENCE = 3.0
"""A claim counts as abandoned after this many times the expected length of its unit."""

PER_RUN_S = 0.0006
"""Time of a run beside its simulation and its tables, in s: its scenario, its part of a segment, its share of a process's start.

chosen: the first two are 0.3 ms, and as much again.
"""


def unit_length(work_s: float, workers: int) -> float:
    """Return how long a unit should take.

    Parameters
    ----------
    work_s
        Processor time of all runs.
    workers
        How many share them.

    Examples
    --------
    >>> unit_length(1e6, 100), unit_length(4000, 4), unit_length(80, 4)
    (100.0, 10.0, 2.5)
    """
    most_even = work_s / (UNITS_PER_WORKER * workers)
    shortest = min(SHORTEST_S, work_s / (FEWEST_PER_WORKER * workers))
    return min(LONGEST_S, max(shortest, most_even))


@dataclass
class Crew:
    """Workers and the store that they share.

    Attributes
    ----------
    objects
        The store.
    executor
        Who brings workers.
    workers
        How many are wanted.
    tell
        Called with messages of one line.
    patience_s
        After how long a claim counts as abandoned, instead of what the length of units says.
    looks_every_s
        How often the store is looked at.
    """

    objects: Objects
    executor: Executor
    workers: int
    tell: Callable[[str], None]
    patience_s: float | None = None
    looks_every_s: float = LOOKS_EVERY_S
    quarantined: dict[str, str] = field(default_factory=dict[str, str])
    """Messages about runs that killed their process, by key."""


class Attendant(ABC):
    """One plan that is being made.

    Parameters
    ----------
    crew
        Who makes it.
    shared
        The plan.
    store
        The store of this machine, which may be the one that is shared.
    """

    def __init__(self, crew: Crew, shared: SharedPlan, store: Store) -> None:
        self.crew, self.shared, self.store = crew, shared, store
        self.units: dict[str, Unit] = {}
        """Those that have runs that are wanted."""
        self.seen: set[str] = set()
        """Names of those that are done."""
        self._forgotten = Counter[str]()
        self.rounds: list[Round] = []
        """Those that the store has."""
        self._is_same_place = (
            isinstance(crew.objects, FolderObjects) and crew.objects.root.absolute() == store.directory.absolute()
        )

    @property
    @abstractmethod
    def is_done(self) -> bool:
        """True if all that is wanted is there."""

    @abstractmethod
    def is_wanted(self, unit: Unit) -> bool:
        """Return whether a unit has runs that are wanted."""

    @abstractmethod
    def take(self, unit: Unit, note: DoneNote) -> Iterator[Finished]:
        """Take the result of a unit; yield its runs, if they are wanted one by one."""

    def there(self) -> Iterator[Finished]:
        """Take what the store has of an earlier call."""
        self._learn(read_rounds(self.crew.objects, self.shared))
        yield from self.look()

    def _learn(self, rounds: list[Round]) -> None:
        known = len(self.rounds)
        self.rounds = rounds
        for number, one in enumerate(rounds[known:], known):
            if not one.spans:
                self.crew.tell(
                    f"{self.shared.place}/{place_of_round(number)} is no round of this plan and does not count"
                )
        for unit in units_of(rounds[known:], known):
            if self.is_wanted(unit):
                self.units[unit.name] = unit

    def publish(self, spans: list[Span], runs: int, per_run_s: float) -> None:
        """Put runs into units that no unit has.

        Parameters
        ----------
        spans
            Which.
        runs
            How many these are.
        per_run_s
            Processor time of each.
        """
        length = unit_length(per_run_s * runs, self.crew.workers)
        per_unit = max(1, min(MOST_RUNS_PER_UNIT, int(length / per_run_s)))
        unit_s = per_unit * per_run_s
        patience = self.crew.patience_s or max(LEAST_PATIENCE_S, PATIENCE * unit_s)
        one = Round(spans=spans, runs_per_unit=per_unit, unit_s=unit_s, patience_s=patience)
        rounds = list(self.rounds)
        content = one.model_dump_json().encode()
        while not self.crew.objects.create(f"{self.shared.place}/{place_of_round(len(rounds))}", content):
            rounds = read_rounds(self.crew.objects, self.shared, rounds)
        self._learn([*rounds, one])

    def look(self) -> Iterator[Finished]:
        """Take what came of units that are done and were not before."""
        place = f"{self.shared.place}/done"
        for name in self.crew.objects.names(place):
            unit = self.units.get(name.removesuffix(".json"))
            if unit is None or unit.name in self.seen:
                continue
            self.seen.add(unit.name)
            note = read_note(DoneNote, self.crew.objects.read(f"{place}/{name}"))
            yield from self.take(unit, note)

    def bring(self, unit: Unit, note: DoneNote) -> None:
        """Bring the segments of a unit to this machine; damaged ones are left out with a message."""
        if self._is_same_place:
            return
        try:
            for segment in note.segments:
                self._bring(segment)
        except RecordError as error:
            self.crew.tell(f"unit {unit.name} is damaged and will be made again: {error.message}")

    def _bring(self, segment: str) -> None:
        """Bring a segment to this machine, unless it is here.

        Raises `RecordError` if it is damaged.
        """
        if self.store.segments.has(segment):
            return
        place = segment_place(self.shared.engine_version, segment)
        listing = self.crew.objects.read(f"{place}/{LISTING}")
        files: dict[str, bytes] = {}
        for file in _files_of(listing):
            content = self.crew.objects.read(f"{place}/{file}")
            if content is None:
                raise RecordError(f"{file} of a segment is missing")
            files[file] = content
        self.store.segments.receive(segment, {**files, LISTING: listing or b""})

    def forget(self, unit: Unit, note: DoneNote) -> None:
        """Let a unit be made again: nothing of it stays, the note that it is done goes last.

        Raises `EnvironmentFailure` if it was made again several times already.
        """
        self._forgotten[unit.name] += 1
        if self._forgotten[unit.name] > MOST_AGAIN:
            raise EnvironmentFailure(
                f"unit {unit.name} was made {MOST_AGAIN} times again, and its result is still not there",
                "has the study file changed meanwhile? The same command goes on with the new one",
            )
        objects = self.crew.objects
        for segment in note.segments:
            place = segment_place(self.shared.engine_version, segment)
            for file in objects.names(place):
                objects.delete(f"{place}/{file}")
        place = f"{self.shared.place}/claims/{unit.name}"
        for claim in objects.names(place):
            objects.delete(f"{place}/{claim}")
        objects.delete(f"{self.shared.place}/done/{unit.name}.json")
        self.seen.discard(unit.name)

    def wait(self) -> Iterator[Finished]:
        """Start workers and give what comes into the store, until all is there.

        Raises `EnvironmentFailure` if no workers are left; `StoreUnreachable` if the store stays away for hours.
        """
        crew = self.crew
        crew.tell(
            f"plan {self.shared.name}: {len(self.units)} units on {crew.executor.describe()}; "
            f"store {crew.objects.address}"
        )
        try:
            yield from self._wait()
        finally:
            crew.executor.stop(is_done=self.is_done)
        self._clear()

    def _wait(self) -> Iterator[Finished]:
        starts = 0
        asked = -ASKS_EVERY_S
        away = iter(WAITS_FOR_STORE_S)
        while not self.is_done:
            now = time.monotonic()
            try:
                if now - asked >= ASKS_EVERY_S or starts == 0:
                    asked = now
                    is_alive = starts > 0 and self.crew.executor.is_alive()
                    # Between a worker's last unit and this question the store may have got all.
                    if not is_alive:
                        yield from self.look()
                        if self.is_done:
                            return
                        self._start(starts)
                        starts += 1
                yield from self.look()
                away = iter(WAITS_FOR_STORE_S)
            except StoreUnreachable as error:
                pause = next(away, None)
                if pause is None:
                    raise
                self.crew.tell(f"{error.message}; looking again in {pause // 60} min")
                time.sleep(pause)
                continue
            if not self.is_done:
                time.sleep(max(self.crew.looks_every_s, len(self.units) / 1000))

    def _start(self, starts: int) -> None:
        done = sum(name in self.seen for name in self.units)
        said = f"{done} of {len(self.units)} units are done"
        if starts >= STARTS:
            raise EnvironmentFailure(f"no worker is left after {STARTS} starts; {said}", "the same command goes on")
        if starts:
            self.crew.tell(f"no worker is left; {said}; starting workers again")
        wanted = max(1, min(self.crew.workers, len(self.units) - done))
        self.crew.executor.start(self.shared.name, self.crew.objects.address, wanted)

    def _clear(self) -> None:
        """Remove claims and attempts: all that they were for is done."""
        for folder in ("claims", "attempts"):
            place = f"{self.shared.place}/{folder}"
            for name in self.crew.objects.names(place):
                self.crew.objects.delete(f"{place}/{name}")


def _files_of(listing: bytes | None) -> list[str]:
    """Return the names of the files of a segment.

    Raises `RecordError` if its listing does not tell.
    """
    try:
        names = list(cast("dict[str, Any]", json.loads(listing or b"")["files"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RecordError(f"{LISTING} is not readable") from error
    if not names or any(Path(name).name != name for name in names):
        raise RecordError(f"{LISTING} is not readable")
    return names
