"""Workers that take units by the claims that workers really make, on a clock that is not the time of day: when they would be done."""

import heapq
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sojourn.cluster.notes import DoneNote
from sojourn.cluster.shared_plan import Round, SharedPlan, Span
from sojourn.cluster.unit_claims import Board, Claim


class MemoryObjects:
    """A store in memory."""

    def __init__(self) -> None:
        self.address = "memory"
        self._objects: dict[str, bytes] = {}
        self._below: dict[str, dict[str, None]] = {}

    def create(self, name: str, content: bytes) -> bool:
        """Keep an object unless there is one of that name."""
        if name in self._objects:
            return False
        self._objects[name] = content
        for folder, rest in _folders(name):
            self._below.setdefault(folder, {})[rest] = None
        return True

    def read(self, name: str) -> bytes | None:
        """Return an object."""
        return self._objects.get(name)

    def names(self, folder: str) -> list[str]:
        """Return the names of all objects below a folder."""
        return list(self._below.get(folder, ()))

    def delete(self, name: str) -> None:
        """Remove an object."""
        if self._objects.pop(name, None) is not None:
            for folder, rest in _folders(name):
                del self._below[folder][rest]


def _folders(name: str) -> list[tuple[str, str]]:
    parts = name.split("/")
    return [("/".join(parts[:n]), "/".join(parts[n:])) for n in range(1, len(parts))]


@dataclass(frozen=True)
class Simulated:
    """What came of it."""

    end_s: float
    """When the last unit was done."""
    twice: int
    """Units that were made more than once, or begun and lost."""
    done: tuple[float, ...]
    """When each unit was done, in order."""


def simulate_workers(
    units: Sequence[float],
    workers: int,
    *,
    patience_s: float,
    start_s: float = 0.0,
    looks_s: float = 1.0,
    slowness: Callable[[int, int], float] = lambda _worker, _busy: 1.0,
    deaths: Callable[[int, float], float | None] = lambda _worker, _begun: None,
    back_s: float | None = None,
) -> Simulated:
    """Let workers take units until all are done.

    Parameters
    ----------
    units
        How long each takes, in seconds.
    workers
        How many there are.
    patience_s
        After how long a claim counts as abandoned.
    start_s
        How long a worker takes until it asks for its first unit.
    looks_s
        How long one without a unit waits.
    slowness
        Factor on the length of a unit, by worker and by how many are at work.
    deaths
        Time after `begun` at which a worker dies; nothing if it does not.
    back_s
        After how long a dead one is there again; nothing if it is not.
    """
    objects, clock = MemoryObjects(), [0.0]
    shared = SharedPlan(schema=1, study="model", engine_version="", files={}, base="")
    mean = sum(units) / len(units)
    one = Round(
        spans=[Span(first=0, points=len(units), seed=1, seeds=1)], runs_per_unit=1, unit_s=mean, patience_s=patience_s
    )
    objects.create(f"{shared.place}/rounds/000.json", one.model_dump_json().encode())
    turn = itertools.count()
    events: list[tuple[float, int, int, bool, Claim | None]] = []
    boards: dict[int, Board] = {}
    dies: dict[int, float | None] = {}

    def later(at: float, worker: int, claim: Claim | None) -> None:
        """Let a worker be done with a unit, or ask for one, unless it dies before."""
        death = dies[worker]
        is_dead = death is not None and death < at
        when = max(death, clock[0]) if death is not None and is_dead else at
        heapq.heappush(events, (when, next(turn), worker, is_dead, claim))

    def begin(worker: int, at: float) -> None:
        boards[worker] = Board(objects, shared, f"{worker}-{next(turn)}", lambda: clock[0])
        dies[worker] = deaths(worker, at)
        later(at + start_s, worker, None)

    for worker in range(workers):
        begin(worker, 0.0)
    done: dict[str, float] = {}
    begun, busy = 0, 0
    while len(done) < len(units):
        clock[0], _, worker, is_dead, claim = heapq.heappop(events)
        busy -= claim is not None
        if is_dead:
            if back_s is not None:
                begin(worker, clock[0] + back_s)
            continue
        if claim is not None:
            boards[worker].finish(claim, DoneNote())
            done.setdefault(claim.unit.name, clock[0])
        found = boards[worker].take()
        if found is None:
            later(clock[0] + looks_s, worker, None)
            continue
        begun, busy = begun + 1, busy + 1
        length = units[int(found.unit.name.partition("-")[2])] * slowness(worker, busy)
        later(clock[0] + length, worker, found)
    return Simulated(max(done.values()), begun - len(units), tuple(sorted(done.values())))


def told(rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as a table of a page."""
    headings = list(rows[0])
    lines = [headings, ["---:"] * len(headings), *([str(row[h]) for h in headings] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
