"""A worker: takes units of a plan from a shared store, makes their runs, and puts what is kept of them into the store.

It may be killed at any time, and any number of them may work on the same plan. A run that kills its process is made once
more, alone; if that kills it again, the run is put into quarantine and the others go on.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sojourn.base.errors import EnvironmentFailure, OtherVersion, UsageError, plain
from sojourn.base.files import read_file
from sojourn.cluster.child import MAKE, Death, Maker
from sojourn.cluster.notes import DoneNote, Missing
from sojourn.cluster.shared_plan import SharedPlan, Span, read_rounds, spans_of, units_of
from sojourn.cluster.unit_claims import Board, Claim
from sojourn.store import SEGMENTS_LAYOUT
from sojourn.store.objects import LARGEST_OBJECT, Objects
from sojourn.store.segments import LISTING

LOOKS_EVERY_S = 1.0
"""How often an idle worker looks for a unit. chosen: a list call a second is what one worker may cost."""

FINISHES_WITHIN_S = 20.0
"""How long a unit may go on after a request to end. chosen: batch systems give 30 to 60 s."""

LEAVES_WITHIN_S = 5.0
"""How long what is left of a unit may be taken out of the store after that. chosen: with the above, less than 30 s."""

PARTS = 16
"""Parts of a unit that did not come back. chosen: a run that kills its machine does so once for each of three or four sizes and
twice alone; made run by run, a unit that was killed by chance takes 17 times as long.
"""

MOST_DEATHS = 20
"""Deaths of the process in one unit before the worker gives up. chosen: then it is not the runs."""


@dataclass
class Tally:
    """Counts of a worker."""

    units: int = 0
    runs: int = 0
    quarantined: list[str] = field(default_factory=list[str])
    failed: int = 0


def segment_place(engine_version: str, name: str) -> str:
    """Return the folder of a segment in a shared store: that of the store of a single machine."""
    return f"{SEGMENTS_LAYOUT}/runs/{engine_version}/{name}"


class Worker:
    """Works on a plan of a shared store.

    Raises `OtherVersion` if the plan is not of this engine.

    Parameters
    ----------
    objects, shared
        Store and plan.
    jobs
        Units at the same time.
    seconds
        After how long no unit is begun any more; `None` for never.
    tell
        Called with messages of one line.
    statements
        What the processes do that make runs; for tests.
    name
        Name of this worker, which no other has; made up if left out.
    """

    def __init__(
        self,
        objects: Objects,
        shared: SharedPlan,
        *,
        jobs: int = 1,
        seconds: float | None = None,
        tell: Callable[[str], None] = lambda _: None,
        statements: str = MAKE,
        name: str | None = None,
    ) -> None:
        self._objects, self._shared, self._jobs = objects, shared, jobs
        self._until = None if seconds is None else time.monotonic() + seconds
        self._tell, self._statements = tell, statements
        self.name = name or f"{socket.gethostname()}-{uuid.uuid4().hex[:8]}"
        try:
            shared.refuse_other_version()
        except OtherVersion as error:
            refused = json.dumps({"worker": self.name, "reason": error.message}).encode()
            objects.create(f"{shared.place}/refused/{socket.gethostname()}.json", refused)
            raise
        self._board = Board(objects, shared, self.name)
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._makers: dict[Maker, Claim] = {}
        self.tally = Tally()
        self._foreign_told = False
        self._fault: Exception | None = None

    def run(self) -> Tally:
        """Take units until none is left, time is over, or `end` is called.

        Raises `StoreUnreachable` if the store does not answer; `EnvironmentFailure` if this machine refuses something.
        """
        threads = [
            threading.Thread(target=self._loop, name=f"unit-{number}", daemon=True) for number in range(self._jobs)
        ]
        try:
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                for thread in threads:
                    thread.join(0.05)  # open to interrupts
        except KeyboardInterrupt:
            self._end_soon(threads)
            raise
        if self._fault is not None:
            raise self._fault
        return self.tally

    def end(self) -> None:
        """Begin no unit any more; for other threads."""
        self._ending.set()

    def run_unit(self, number: int) -> Tally:
        """Make one unit, even if it is claimed; do nothing if its result is there.

        Raises `UsageError` if there is no such unit.
        """
        self._board.refresh()
        units = list(units_of(read_rounds(self._objects, self._shared)))
        if not 0 <= number < len(units):
            raise UsageError(f"there is no unit {number}", f"the plan has units 0 to {len(units) - 1}")
        unit = units[number]
        if unit.name not in self._board.done:
            maker = Maker(self._shared, self._jobs, self._statements)
            try:
                self._make(maker, Claim(unit, 0))
            finally:
                maker.close()
        return self.tally

    def _end_soon(self, threads: list[threading.Thread]) -> None:
        """Finish what takes little time, and give the rest back."""
        self._ending.set()
        deadline = time.monotonic() + FINISHES_WITHIN_S
        with contextlib.suppress(KeyboardInterrupt):
            for thread in threads:
                thread.join(max(0.0, deadline - time.monotonic()))
        with self._lock:
            left = dict(self._makers)
        for maker, claim in left.items():
            maker.close()
            with contextlib.suppress(EnvironmentFailure):
                self._board.give_back(claim)
        deadline = time.monotonic() + LEAVES_WITHIN_S
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _loop(self) -> None:
        maker: Maker | None = None
        try:
            maker = Maker(self._shared, self._jobs, self._statements)
            self._work(maker)
        except Exception as error:  # told by the thread that waits
            if maker is None or not maker.is_closed:
                self._fault = error
                self._ending.set()
        finally:
            if maker is not None:
                maker.close()

    def _work(self, maker: Maker) -> None:
        """Take units as long as there are some."""
        while not self._ending.is_set():
            if self._until is not None and time.monotonic() >= self._until:
                return
            with self._lock:
                claim = self._board.take()
                self._tell_foreign()
                if claim is not None:
                    self._makers[maker] = claim
                elif not self._board.left:
                    return
            if claim is None:
                self._ending.wait(LOOKS_EVERY_S)
                continue
            self._make(maker, claim)
            with self._lock:
                del self._makers[maker]

    def _tell_foreign(self) -> None:
        """Say once that something lies beside the notes of the plan."""
        if self._board.foreign and not self._foreign_told:
            self._foreign_told = True
            self._tell(
                f"{len(self._board.foreign)} objects below {self._shared.place} are not of this plan and do not count, "
                f"such as {plain(self._board.foreign[0])}"
            )

    def _make(self, maker: Maker, claim: Claim) -> None:
        """Make the runs of a unit and put them into the store; the note that it is done comes last."""
        began = time.monotonic()
        unit = claim.unit
        result = _Result()
        if claim.is_careful:
            self._tell(f"unit {unit.name} did not come back from {claim.number} workers: in parts")
            self._make_in_parts(maker, self._listed(maker, unit.spans, result), result)
        else:
            self._make_together(maker, unit.spans, result)
        note = DoneNote(
            worker=self.name,
            segments=tuple(result.segments),
            failed=tuple(result.failed),
            quarantined=tuple(result.quarantined),
            runs=result.runs,
            packet_hops=result.packet_hops,
            cpu_s=round(result.cpu_s, 3),
            wall_s=round(time.monotonic() - began, 3),
            at=time.time(),
        )
        with self._lock:
            self._board.finish(claim, note)
            self.tally.units += 1
            self.tally.runs += result.runs
            self.tally.failed += len(result.failed)
            self.tally.quarantined += [key for _, _, key, _ in result.quarantined]

    def _make_together(self, maker: Maker, spans: list[Span], result: _Result) -> None:
        suspects: list[str] = []
        for _ in range(MOST_DEATHS):
            answer = maker.ask({"spans": _spans(spans), "without": suspects})
            if not isinstance(answer, Death):
                self._take(maker, answer, result)
                break
            self._refuse_end(maker, answer)
            suspects.append(answer.key)
        else:
            raise EnvironmentFailure(
                f"the process that makes runs was killed {MOST_DEATHS} times in one unit",
                "this machine may be short of memory",
            )
        if suspects:
            for run in self._listed(maker, spans, result):
                if run.key in suspects:
                    self._make_alone(maker, run, result)

    def _make_in_parts(self, maker: Maker, runs: list[_Run], result: _Result) -> None:
        """Make runs in parts and note each part before: one that a worker did not survive is made in smaller ones.

        A single run that two workers did not survive is not tried again.
        """
        size = max(1, -(-len(runs) // PARTS))
        for start in range(0, len(runs), size):
            part = runs[start : start + size]
            place = f"{self._shared.place}/attempts/{part[0].key}"
            attempts = [f"{place}-{size}/0"] if size > 1 else [f"{place}/0", f"{place}/1"]
            own = next((one for one in attempts if self._objects.create(one, b"")), None)
            if own is None and size > 1:
                self._make_in_parts(maker, part, result)
            elif own is None:
                self._put_apart(part[0], "two workers did not come back", 0, result)
            else:
                try:
                    if size > 1:
                        self._make_together(maker, list(spans_of((run.number, run.seed) for run in part)), result)
                    else:
                        self._make_alone(maker, part[0], result)
                finally:  # this worker did come back
                    self._objects.delete(own)

    def _listed(self, maker: Maker, spans: list[Span], result: _Result) -> list[_Run]:
        """Return the runs of a unit.

        Raises `EnvironmentFailure` if the process that makes runs cannot tell.
        """
        answer = maker.ask({"spans": _spans(spans), "list": True})
        if isinstance(answer, Death):
            raise _ended(answer)
        _refuse_error(answer)
        known = {tuple(one) for one in result.failed}
        result.failed += [one for one in map(_missing, answer["failed"]) if one not in known]
        return [_Run(*one) for one in answer["listed"]]

    def _make_alone(self, maker: Maker, run: _Run, result: _Result) -> None:
        """Make one run; if it kills its process, put it into quarantine."""
        span = Span(first=run.number, points=1, seed=run.seed, seeds=1)
        answer = maker.ask({"spans": _spans([span])})
        if not isinstance(answer, Death):
            self._take(maker, answer, result)
            return
        self._refuse_end(maker, answer)
        self._put_apart(run, answer.how, answer.peak_bytes, result)

    def _refuse_end(self, maker: Maker, death: Death) -> None:
        """Tell a process that a run has killed from one that could not work.

        Raises `EnvironmentFailure` if no run was under way.
        """
        if maker.is_closed or not death.key:
            raise _ended(death)

    def _put_apart(self, run: _Run, how: str, peak_bytes: int, result: _Result) -> None:
        said = {
            "key": run.key,
            "point": run.point,
            "seed": run.seed,
            "how": how,
            "peak_bytes": peak_bytes,
            "worker": self.name,
            "plan": self._shared.name,
            "again": f"sojourn study run {self._shared.study} --points '{run.point}'",
        }
        self._objects.create(f"v2/quarantine/{run.key}.json", json.dumps(said, indent=1).encode())
        self._tell(f"{run.point}, seed {run.seed}, killed its process ({how}) and is in quarantine")
        result.quarantined.append((run.point, run.seed, run.key, how))

    def _take(self, maker: Maker, answer: dict[str, Any], result: _Result) -> None:
        """Put the segments of an answer into the store: tables first, the listing last."""
        _refuse_error(answer)
        for name in answer["segments"]:
            place = segment_place(self._shared.engine_version, name)
            folder = maker.work / name
            files = sorted(path.name for path in folder.iterdir())
            for file in [*(name for name in files if name != LISTING), LISTING]:
                content = read_file(folder / file, root=maker.work, most=LARGEST_OBJECT)
                self._objects.create(f"{place}/{file}", content)
            shutil.rmtree(folder)
        result.add(answer)


@dataclass
class _Result:
    """Result of a unit."""

    segments: list[str] = field(default_factory=list[str])
    failed: list[Missing] = field(default_factory=list[Missing])
    quarantined: list[Missing] = field(default_factory=list[Missing])
    runs: int = 0
    packet_hops: int = 0
    cpu_s: float = 0.0

    def add(self, answer: dict[str, Any]) -> None:
        """Add what a process has made."""
        self.segments += answer["segments"]
        self.failed += map(_missing, answer["failed"])
        self.runs += int(answer["runs"])
        self.packet_hops += int(answer["packet_hops"])
        self.cpu_s += float(answer["cpu_s"])


class _Run(NamedTuple):
    """One run of a unit."""

    number: int
    """Of its point."""
    point: str
    seed: int
    key: str


def _missing(said: list[Any]) -> Missing:
    point, seed, key, how = said
    return str(point), int(seed), str(key), str(how)


def _spans(spans: Iterable[Span]) -> list[dict[str, int]]:
    return [span.model_dump() for span in spans]


def _ended(death: Death) -> EnvironmentFailure:
    return EnvironmentFailure(f"the process that makes runs ended with {death.how}", "its messages stand above")


def _refuse_error(answer: dict[str, Any]) -> None:
    """Raise the error of a process that failed.

    Raises `EnvironmentFailure` if it could not.
    """
    if "error" in answer:
        raise EnvironmentFailure(str(answer["error"]), "the unit is left to another worker")
