"""Claims of units by workers: a claim is an object that only one worker can create.

A unit is free if it has no result and no claim, or its last claim is older than the patience of its round.
Two workers may then make the same unit; both end with the same, and one copy is kept.
"""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from sojourn.cluster.notes import ClaimNote, DoneNote, read_note
from sojourn.cluster.shared_plan import Round, SharedPlan, Unit, place_of_round, read_rounds, units_of
from sojourn.store.objects import Objects

AT_THE_END = 0.02
"""Share of units below which an idle worker makes one that is late once more, though its claim has not expired.

chosen: it costs a fiftieth of the runs at most, made twice by workers that had nothing else to do.
"""


@dataclass(frozen=True)
class Claim:
    """A unit that a worker has taken."""

    unit: Unit
    number: int
    """How many claims there were before."""

    @property
    def is_careful(self) -> bool:
        """True if earlier workers did not come back, and runs are made one by one."""
        return self.number >= CAREFUL_FROM


CAREFUL_FROM = 2
"""Claims without a result before a unit counts as one that may kill its worker. chosen: two machines seldom die by chance."""


class Board:
    """The units of a plan as the store tells them.

    Parameters
    ----------
    objects
        The store.
    shared
        The plan.
    worker
        Name of who claims.
    now
        The time of day in seconds; for tests.
    """

    def __init__(self, objects: Objects, shared: SharedPlan, worker: str, now: Callable[[], float] = time.time) -> None:
        self._objects, self._shared, self._worker, self._now = objects, shared, worker, now
        self._rounds: list[Round] = []
        self.units: dict[str, Unit] = {}
        self.done: set[str] = set()
        self._claims: dict[str, int] = {}
        """Number of the last claim, by unit."""
        self.foreign: list[str] = []
        """Objects beside claims and results of the plan's units, at the last look; they do not count."""
        self._times: dict[str, tuple[int, float]] = {}
        """Number and time of the claims that were read."""

    def refresh(self) -> None:
        """Look what the store has now."""
        known = len(self._rounds)
        self._rounds = read_rounds(self._objects, self._shared, self._rounds)
        for unit in units_of(self._rounds[known:], known):
            self.units[unit.name] = unit
        self.done = set()
        self.foreign = [place_of_round(number) for number, one in enumerate(self._rounds) if not one.spans]
        claims: dict[str, int] = {}
        for name in self._objects.names(self._shared.place):
            folder, _, rest = name.partition("/")
            if folder == "done" and rest.endswith(".json") and rest.removesuffix(".json") in self.units:
                self.done.add(rest.removesuffix(".json"))
                continue
            unit, _, number = rest.partition("/")
            if folder == "claims" and unit in self.units and is_number_of_claim(number):
                claims[unit] = max(claims.get(unit, -1), int(number))
            elif name != "plan.json" and (folder not in OTHER_FOLDERS or not rest):
                self.foreign.append(name)
        self._claims = claims

    @property
    def left(self) -> list[Unit]:
        """Units without a result."""
        return [unit for name, unit in self.units.items() if name not in self.done]

    def take(self) -> Claim | None:
        """Claim a unit; nothing if none is free."""
        for _ in range(2):
            for unit in self._own_order():
                if unit.name not in self._claims and (claim := self._claim(unit, 0)) is not None:
                    return claim
            self.refresh()
        return self._take_old()

    def _own_order(self) -> list[Unit]:
        """Return units that are left: rounds in order, each from a place that follows from the worker's name."""
        left = self.left
        if not left:
            return []
        rounds: dict[str, list[Unit]] = {}
        for unit in left:
            rounds.setdefault(unit.name.partition("-")[0], []).append(unit)
        share = int(hashlib.sha256(self._worker.encode()).hexdigest()[:8], 16) / 16**8
        ordered: list[Unit] = []
        for units in rounds.values():
            start = int(share * len(units))
            ordered += units[start:] + units[:start]
        return ordered

    def _take_old(self) -> Claim | None:
        """Claim a unit whose worker seems to be gone, or, at the very end, one that is late."""
        left = self.left
        is_end = len(left) <= max(1, AT_THE_END * len(self.units))
        for unit in left:
            number = self._claims.get(unit.name)
            if number is None:
                continue
            begun = self._begun(unit, number)
            patience = unit.unit_s if is_end and number == 0 else unit.patience_s
            if begun is None or self._now() - begun < max(patience, CLOCKS_DIFFER_S):
                continue
            if (claim := self._claim(unit, number + 1)) is not None:
                return claim
        return None

    def _begun(self, unit: Unit, number: int) -> float | None:
        """Return when a claim was made, by a clock that is not ahead of this machine's; `None` if it was given back meanwhile."""
        known = self._times.get(unit.name)
        if known is not None and known[0] == number:
            return known[1]
        content = self._objects.read(f"{self._shared.place}/claims/{unit.name}/{number}")
        if content is None:
            self._claims.pop(unit.name, None)
            return None
        begun = min(read_note(ClaimNote, content).begun, self._now())
        self._times[unit.name] = number, begun
        return begun

    def _claim(self, unit: Unit, number: int) -> Claim | None:
        note = ClaimNote(
            worker=self._worker,
            engine_version=self._shared.engine_version,
            begun=self._now(),
            ends=self._now() + unit.unit_s,
            nonce=uuid.uuid4().hex,
        )
        name = f"{self._shared.place}/claims/{unit.name}/{number}"
        is_ours = self._put(name, note.model_dump_json().encode())
        self._claims[unit.name] = max(self._claims.get(unit.name, -1), number)
        return Claim(unit, number) if is_ours else None

    def give_back(self, claim: Claim) -> None:
        """Let others have a unit that is not finished."""
        place = f"{self._shared.place}/claims/{claim.unit.name}"
        self._objects.delete(f"{place}/{claim.number}")
        self._claims.pop(claim.unit.name, None)

    def finish(self, claim: Claim, note: DoneNote) -> None:
        """Note that a unit has its result; the first note counts."""
        content = note.model_dump_json().encode()
        name = f"{self._shared.place}/done/{claim.unit.name}.json"
        self._put(name, content)
        self.done.add(claim.unit.name)

    def _put(self, name: str, content: bytes) -> bool:
        """Keep an object unless there is one of that name; a pipe, a link or a folder there goes."""
        if self._objects.create(name, content):
            return True
        if self._objects.read(name) is not None:
            return False
        self._objects.delete(name)
        return self._objects.create(name, content)


OTHER_FOLDERS = ("rounds", "attempts", "refused")
"""Folders of a plan beside those of claims and results."""

MOST_CLAIMS = 1_000_000
"""Claims of one unit; chosen: a worker that is killed each second makes them in eleven days."""


def is_number_of_claim(text: str) -> bool:
    """Return whether a name is one that `Board` gives to a claim: a number without zeros before it."""
    return text.isascii() and text.isdecimal() and len(text) < 8 and str(int(text)) == text and int(text) < MOST_CLAIMS


CLOCKS_DIFFER_S = 1.0
"""chosen: synchronised clocks of machines differ by less than a second."""
