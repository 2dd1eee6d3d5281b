"""Removes unwanted plans from a shared store, in two steps with a week between them.

A marked plan stays for that week, so that its users have time to run it again; a plan that is wanted by then is
kept. A reader that misses an object makes its runs again.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, ValidationError

from sojourn.cluster.notes import ClaimNote, DoneNote, read_note
from sojourn.declarations.base import Strict
from sojourn.store import SEGMENTS_LAYOUT, STALE_AFTER_S
from sojourn.store.objects import Objects
from sojourn.store.segments import LISTING

TRASH = f"{SEGMENTS_LAYOUT}/trash"
PLANS = f"{SEGMENTS_LAYOUT}/plans"
RUNS = f"{SEGMENTS_LAYOUT}/runs"


class Marked(Strict):
    """Plans and segments that were unwanted at a time."""

    at: Annotated[float, Field(allow_inf_nan=False)]
    """Time of day in seconds."""
    plans: tuple[str, ...]
    segments: tuple[str, ...]
    """With the version of the engine, such as `1.2.0/8c1f`."""


@dataclass(frozen=True)
class Garbage:
    """Findings of a call."""

    kept: list[str]
    """Plans that are wanted."""
    marked: list[str]
    """Plans that are not, and go next time if a week has passed."""
    removed: list[str]
    """Plans that were marked a week ago, and are gone now."""
    segments: int
    """Segments that went with them."""


@dataclass(frozen=True)
class _Plan:
    name: str
    last: float
    """Time of the last work on it, s since 1970; 0 if not known."""
    segments: frozenset[str]


def collect(objects: Objects, keep: Iterable[str], older_s: float, now: Callable[[], float] = time.time) -> Garbage:
    """Mark unwanted plans, and remove those that were marked a week ago and are still unwanted.

    Raises `StoreUnreachable` if the store does not answer.

    Parameters
    ----------
    objects
        The store.
    keep
        Plans that are wanted, whatever their age.
    older_s
        Plans that were worked on within this time, in s, are wanted, too.
    now
        The time of day in seconds; for tests.
    """
    asked, moment = set(keep), now()
    names = {name.partition("/")[0] for name in objects.names(PLANS)}
    plans = [_read(objects, name) for name in sorted(names)]
    wanted = [one for one in plans if one.name in asked or moment - one.last < older_s]
    rest = [one for one in plans if one not in wanted]
    used = frozenset[str]().union(*(one.segments for one in wanted))
    unwanted = {one.name: one.segments - used for one in rest}
    removed: list[str] = []
    segments: set[str] = set()
    for name in objects.names(TRASH):
        marked = _marked(objects.read(f"{TRASH}/{name}"))
        if marked is not None and moment - marked.at < STALE_AFTER_S:
            continue
        for plan in marked.plans if marked is not None else ():
            if marked is not None and plan in unwanted:
                own = unwanted.pop(plan) & set(marked.segments)
                gone = own.difference(*unwanted.values())  # those go with the last plan that has them
                _remove(objects, plan, gone)
                removed.append(plan)
                segments |= gone
        objects.delete(f"{TRASH}/{name}")
    if unwanted:
        others = {segment for several in unwanted.values() for segment in several}
        note = Marked(at=moment, plans=tuple(sorted(unwanted)), segments=tuple(sorted(others)))
        if not _is_known(objects, note):
            objects.create(f"{TRASH}/{uuid.uuid4().hex}.json", note.model_dump_json().encode())
    return Garbage([one.name for one in wanted], sorted(unwanted), removed, len(segments))


def segments_of_plans(objects: Objects) -> frozenset[str]:
    """Return the names of all segments that plans have made."""
    return frozenset(
        segment
        for name in objects.names(PLANS)
        if "/done/" in name
        for segment in read_note(DoneNote, objects.read(f"{PLANS}/{name}")).segments
    )


def clear_done(objects: Objects) -> int:
    """Remove the claims of units that are done; return how many these were."""
    names = objects.names(PLANS)
    done = {name.replace("/done/", "/claims/").removesuffix(".json") for name in names}
    claims = [name for name in names if "/claims/" in name and name.rpartition("/")[0] in done]
    for name in claims:
        objects.delete(f"{PLANS}/{name}")
    return len(claims)


def _read(objects: Objects, name: str) -> _Plan:
    place = f"{PLANS}/{name}"
    last, segments = 0.0, set[str]()
    version = ""
    for one in objects.names(place):
        if one.startswith("done/"):
            note = read_note(DoneNote, objects.read(f"{place}/{one}"))
            last, segments = max(last, note.at), segments | set(note.segments)
        elif one.startswith("claims/"):
            claim = read_note(ClaimNote, objects.read(f"{place}/{one}"))
            last = max(last, claim.begun)
    if segments:
        version = _version_of(objects, name)
    return _Plan(name, last, frozenset(f"{version}/{segment}" for segment in segments))


def _version_of(objects: Objects, name: str) -> str:
    from sojourn.base.errors import SojournError
    from sojourn.cluster.shared_plan import read_plan

    try:
        return read_plan(objects, name).engine_version
    except SojournError:  # damaged: its segments belong to no plan, and stay
        return "unknown"


def _marked(content: bytes | None) -> Marked | None:
    try:
        return Marked.model_validate_json(content or b"")
    except ValidationError:
        return None


def _is_known(objects: Objects, note: Marked) -> bool:
    """Return whether all of it is marked already: a second mark would not make it younger."""
    for name in objects.names(TRASH):
        known = _marked(objects.read(f"{TRASH}/{name}"))
        if known is not None and set(note.plans) <= set(known.plans):
            return set(note.segments) <= set(known.segments)
    return False


def _remove(objects: Objects, plan: str, segments: Iterable[str]) -> None:
    """Remove a plan and segments: first what says that there is one."""
    objects.delete(f"{PLANS}/{plan}/plan.json")
    for segment in sorted(segments):
        place = f"{RUNS}/{segment}"
        objects.delete(f"{place}/{LISTING}")
        for file in objects.names(place):
            objects.delete(f"{place}/{file}")
    for name in objects.names(f"{PLANS}/{plan}"):
        objects.delete(f"{PLANS}/{plan}/{name}")
