"""Drives a study whose runs workers make: publishes its units, looks what the store has, fetches it, starts workers again.

It keeps nothing of its own: killed and started again, it goes on where the store stands.
"""

from __future__ import annotations

import contextlib
import json
import random
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from sojourn.cluster.executors import Executor
from sojourn.cluster.shared_plan import (
    Round,
    SharedPlan,
    Span,
    Unit,
    plan_of,
    publish,
    read_rounds,
    units_of,
)
from sojourn.cluster.worker import LISTING, segment_place
from sojourn.engine import simulate
from sojourn.errors import EnvironmentFailure, RecordError, RunError, StoreUnreachable, plain
from sojourn.store import Store
from sojourn.store.objects import FolderObjects, Objects
from sojourn.study.execute import Finished
from sojourn.study.plan import Plan, RunSpec

__all__ = ["Crowd", "unit_length"]

LOOKS_EVERY_S = 2.0
"""chosen: one list call; more often a bucket of thousands of units would do little else."""

ASKS_EVERY_S = 10.0
"""How often an executor is asked whether its processes live."""

STARTS = 4
"""Times that workers are started: once, and three times again."""

WAITS_FOR_STORE_S = (60, 120, 240, 480, 960, 1920, 3600)
"""How long a store may be away until the driver looks again."""

SHORTEST_S, LONGEST_S = 10.0, 600.0
"""Length of a unit. chosen: below, listing and claiming cost more than they save; above, a dead worker costs more."""

UNITS_PER_WORKER = 100
FEWEST_PER_WORKER = 8
"""Of studies that are shorter than that many units of ten seconds. chosen: the last worker ends an eighth later."""

MOST_RUNS_PER_UNIT = 20_000
"""chosen: twenty segments."""

LEAST_PATIENCE_S = 120.0
PATIENCE = 3.0
"""A claim counts as abandoned after this many times the expected length of its unit."""

PER_RUN_S = 0.001
"""What a run costs beside its simulation: its scenario, its part of a segment, its share of a process's start. chosen: 0.4 ms, and as much again."""

PILOT_RUNS = 50
PILOT_S = 5.0
"""What is simulated to know how long runs take: at most so many runs, and after so long no further one."""


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


def pilot(specs: list[RunSpec], seed: str) -> float:
    """Return the processor time of a run, in seconds, as some of them take."""
    chosen = random.Random(seed).sample(specs, min(PILOT_RUNS, len(specs)))
    took: list[float] = []
    deadline = time.monotonic() + PILOT_S
    for spec in chosen:
        began = time.process_time()
        with contextlib.suppress(RunError):  # the worker will tell
            simulate(spec.scenario.compiled, spec.seed)
            took.append(time.process_time() - began)
        if time.monotonic() > deadline:
            break
    return sum(took) / len(took) if took else 1.0


@dataclass
class Crowd:
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
        Is told in a line what somebody should know.
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
    """What is told of runs that killed their process, by key."""

    def make(self, plan: Plan, specs: list[RunSpec], store: Store) -> Generator[Finished]:
        """Let workers make runs, and yield them when they are in the store of this machine.

        Raises
        ------
        EnvironmentFailure
            If no workers are left, or nothing can be written.
        """
        shared = plan_of(plan)
        publish(self.objects, shared)
        drive = _Drive(self, shared, plan, specs, store)
        yield from drive.there()
        if not drive.wanted:
            return
        drive.publish_rest()
        self.tell(
            f"plan {shared.name}: {len(drive.units)} units on {self.executor.describe()}; "
            f"store {self.objects.address}"
        )
        try:
            yield from drive.wait()
        finally:
            self.executor.stop(is_done=not drive.wanted)
        drive.clear()

    def fetch(self, plan: Plan, store: Store) -> None:
        """Bring what workers have made of a plan into the store of this machine; nobody is started."""
        for _ in _Drive(self, plan_of(plan), plan, plan.runs, store).there():
            pass


class _Drive:
    """One plan that is being made."""

    def __init__(
        self, crowd: Crowd, shared: SharedPlan, plan: Plan, specs: list[RunSpec], store: Store
    ) -> None:
        self._crowd, self._shared, self._store = crowd, shared, store
        self._numbers = {item.point.name: item.point.number for item in plan.points}
        self.wanted = {(self._numbers[spec.point], spec.seed): spec for spec in specs}
        self.units: dict[str, Unit] = {}
        """Those that have runs that are wanted."""
        self._rounds: list[Round] = []
        self._seen: set[str] = set()
        self._is_same_place = (
            isinstance(crowd.objects, FolderObjects)
            and crowd.objects.root.absolute() == store.directory.absolute()
        )

    def there(self) -> Iterator[Finished]:
        """Yield what the store has of an earlier call."""
        self._learn(read_rounds(self._crowd.objects, self._shared))
        yield from self._look()

    def _learn(self, rounds: list[Round]) -> None:
        known = len(self._rounds)
        self._rounds = rounds
        for unit in units_of(rounds[known:], known):
            if any(pair in self.wanted for pair in _pairs(unit.spans)):
                self.units[unit.name] = unit

    def publish_rest(self) -> None:
        """Put those runs into units that no unit has."""
        covered = {pair for unit in self.units.values() for pair in _pairs(unit.spans)}
        rest = [spec for pair, spec in self.wanted.items() if pair not in covered]
        if not rest:
            return
        per_run = pilot(rest, self._shared.name) + PER_RUN_S
        length = unit_length(per_run * len(rest), self._crowd.workers)
        runs = max(1, min(MOST_RUNS_PER_UNIT, int(length / per_run)))
        patience = self._crowd.patience_s or max(LEAST_PATIENCE_S, PATIENCE * runs * per_run)
        one = Round(
            spans=list(_spans_of((self._numbers[spec.point], spec.seed) for spec in rest)),
            runs_per_unit=runs,
            unit_s=runs * per_run,
            patience_s=patience,
        )
        rounds = list(self._rounds)
        content = one.model_dump_json().encode()
        while not self._crowd.objects.create(
            f"{self._shared.place}/rounds/{len(rounds):03}.json", content
        ):
            rounds = read_rounds(self._crowd.objects, self._shared, rounds)
        self._learn([*rounds, one])

    def wait(self) -> Iterator[Finished]:
        """Start workers and yield what comes into the store, until all is there."""
        crowd = self._crowd
        starts = 0
        asked = -ASKS_EVERY_S
        away = iter(WAITS_FOR_STORE_S)
        while self.wanted:
            now = time.monotonic()
            if now - asked >= ASKS_EVERY_S or starts == 0:
                asked = now
                is_alive = starts > 0 and crowd.executor.is_alive()
                # Between a worker's last unit and this question the store may have got all.
                if not is_alive:
                    yield from self._look()
                    if not self.wanted:
                        return
                    self._start(starts)
                    starts += 1
            try:
                yield from self._look()
                away = iter(WAITS_FOR_STORE_S)
            except StoreUnreachable as error:
                pause = next(away, None)
                if pause is None:
                    raise
                crowd.tell(f"{error.message}; looking again in {pause // 60} min")
                time.sleep(pause)
                continue
            if self.wanted:
                time.sleep(max(crowd.looks_every_s, len(self.units) / 1000))

    def _start(self, starts: int) -> None:
        done = sum(name in self._seen for name in self.units)
        said = f"{done} of {len(self.units)} units are done"
        if starts >= STARTS:
            raise EnvironmentFailure(
                f"no worker is left after {STARTS} starts; {said}", "the same command goes on"
            )
        if starts:
            self._crowd.tell(f"no worker is left; {said}; starting workers again")
        left = len(self.units) - done
        self._crowd.executor.start(
            self._shared.name, self._crowd.objects.address, max(1, min(self._crowd.workers, left))
        )

    def _look(self) -> Iterator[Finished]:
        """Yield the runs of units that are done and were not before."""
        for name in self._crowd.objects.names(f"{self._shared.place}/done"):
            unit = self.units.get(name.removesuffix(".json"))
            if unit is None or unit.name in self._seen:
                continue
            self._seen.add(unit.name)
            yield from self._fetched(unit)

    def _fetched(self, unit: Unit) -> Iterator[Finished]:
        """Yield the runs of a unit that is done; what is damaged is made again."""
        note = f"{self._shared.place}/done/{unit.name}.json"
        said = _noted(self._crowd.objects.read(note))
        specs = {
            spec.key: spec
            for pair in _pairs(unit.spans)
            if (spec := self.wanted.get(pair)) is not None
        }
        segments = said["segments"]
        try:
            if not self._is_same_place:
                for segment in segments:
                    self._fetch(segment)
        except RecordError as error:
            self._crowd.tell(f"unit {unit.name} is damaged and will be made again: {error.message}")
        found = self._store.segments.find({key: spec.keep for key, spec in specs.items()}, segments)
        for key, entry in found.items():
            spec = specs.pop(key)
            del self.wanted[self._numbers[spec.point], spec.seed]
            yield Finished(spec, entry)
        failed = {(point, seed): text for point, seed, _, text in said["failed"]}
        for point, seed, key, how in said["quarantined"]:
            failed[point, seed] = f"killed its process twice ({how}) and is in quarantine"
            self._crowd.quarantined[key] = how
        for spec in list(specs.values()):
            if (spec.point, spec.seed) in failed:
                del specs[spec.key], self.wanted[self._numbers[spec.point], spec.seed]
                yield Finished(spec, None, RunError(failed[spec.point, spec.seed]))
        if specs:  # damaged, or gone
            self._forget(unit, segments)

    def _fetch(self, segment: str) -> None:
        """Bring a segment to this machine, unless it is here.

        Raises
        ------
        RecordError
            If it is damaged.
        """
        if self._store.segments.has(segment):
            return
        place = segment_place(self._shared.engine_version, segment)
        listing = self._crowd.objects.read(f"{place}/{LISTING}")
        files: dict[str, bytes] = {}
        for file in _files_of(listing):
            content = self._crowd.objects.read(f"{place}/{file}")
            if content is None:
                raise RecordError(f"{file} of a segment is missing")
            files[file] = content
        self._store.segments.receive(segment, {**files, LISTING: listing or b""})

    def _forget(self, unit: Unit, segments: Iterable[str]) -> None:
        """Let a unit be made again: nothing of it stays, the note that it is done goes last."""
        objects = self._crowd.objects
        for segment in segments:
            place = segment_place(self._shared.engine_version, segment)
            for file in objects.names(place):
                objects.delete(f"{place}/{file}")
        place = f"{self._shared.place}/claims/{unit.name}"
        for claim in objects.names(place):
            objects.delete(f"{place}/{claim}")
        objects.delete(f"{self._shared.place}/done/{unit.name}.json")
        self._seen.discard(unit.name)

    def clear(self) -> None:
        """Remove claims and attempts: all that they were for is done."""
        for folder in ("claims", "attempts"):
            place = f"{self._shared.place}/{folder}"
            for name in self._crowd.objects.names(place):
                self._crowd.objects.delete(f"{place}/{name}")


def _pairs(spans: Iterable[Span]) -> Iterator[tuple[int, int]]:
    for span in spans:
        for number in range(span.first, span.first + span.points):
            for seed in range(span.seed, span.seed + span.seeds):
                yield number, seed


def _spans_of(pairs: Iterable[tuple[int, int]]) -> Iterator[Span]:
    """Put runs that stand beside each other together: seeds of a point, then points with the same seeds."""
    points: list[tuple[int, int, int]] = []
    for number, seed in pairs:
        if points and points[-1][0] == number and sum(points[-1][1:]) == seed:
            points[-1] = (number, points[-1][1], points[-1][2] + 1)
        else:
            points.append((number, seed, 1))
    first, count = 0, 0
    for place, (number, seed, seeds) in enumerate(points):
        follows = place + 1 < len(points) and points[place + 1] == (number + 1, seed, seeds)
        count += 1
        if count == 1:
            first = number
        if not follows:
            yield Span(first=first, points=count, seed=seed, seeds=seeds)
            count = 0


def _noted(content: bytes | None) -> dict[str, Any]:
    """Return what a worker has noted of a unit; nothing of it if it is not what a worker writes."""
    nothing: dict[str, Any] = {"segments": [], "failed": [], "quarantined": []}
    try:
        said = json.loads(content or b"")
        segments = [str(name) for name in said["segments"]]
        lists = {
            key: [
                (str(point), int(seed), str(run), plain(text))
                for point, seed, run, text in said[key]
            ]
            for key in ("failed", "quarantined")
        }
    except (ValueError, KeyError, TypeError, RecursionError):
        return nothing
    return {"segments": segments, **lists}


def _files_of(listing: bytes | None) -> list[str]:
    """Return the names of the files of a segment.

    Raises
    ------
    RecordError
        If its listing does not tell.
    """
    try:
        names = list(cast("dict[str, Any]", json.loads(listing or b"")["files"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RecordError(f"{LISTING} is not readable") from error
    if not names or any(Path(name).name != name for name in names):
        raise RecordError(f"{LISTING} is not readable")
    return names
