"""Notes that workers leave in a shared store beside their runs: claims of units, and results.

The store is not trusted: a note that no worker writes is ignored.
"""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import Field, ValidationError

from sojourn.base.errors import plain
from sojourn.declarations.base import Strict

Finite = Annotated[float, Field(allow_inf_nan=False)]

WorkerName = Annotated[str, Field(max_length=300)]
"""chosen: names of machines have at most 253 characters."""

Missing = tuple[str, int, str, str]
"""A run without a result: its point, seed and key, and why."""


class ClaimNote(Strict):
    """Says who works on a unit."""

    worker: WorkerName = ""
    engine_version: str = ""
    begun: Finite = 0.0
    """Time of day in seconds."""
    ends: Finite = 0.0
    """Time at which the worker expects to be done."""
    nonce: str = ""
    """Tells a claim whose answer was lost from another's."""


class DoneNote(Strict):
    """Says that a unit is done."""

    worker: WorkerName = ""
    segments: Annotated[tuple[Annotated[str, Field(pattern="^[0-9a-f]{1,128}$")], ...], Field(max_length=1000)] = ()
    """chosen bound: a unit has one, and one more for each run that killed its process."""
    failed: tuple[Missing, ...] = ()
    """Runs that failed."""
    quarantined: tuple[Missing, ...] = ()
    """Runs that killed their process, and how."""
    runs: Annotated[int, Field(ge=0)] = 0
    """How many were made."""
    packet_hops: int = 0
    cpu_s: Finite = 0.0
    wall_s: Finite = 0.0
    at: Finite = 0.0
    """Time of day in seconds."""


Note = TypeVar("Note", ClaimNote, DoneNote)


LARGEST_NOTE = 32 << 20
"""Bytes of a note; chosen: a hundred thousand runs that failed, each with its reason."""


def read_note(kind: type[Note], content: bytes | None) -> Note:
    """Return what a note says; nothing if it is not what a worker writes."""
    if content is not None and len(content) > LARGEST_NOTE:
        return kind()
    try:
        return kind.model_validate_json(content or b"{}")
    except ValidationError:
        return kind()


def missing_of(note: DoneNote) -> list[Missing]:
    """Return the runs of a unit that could not be made, and why, in words."""
    apart = [
        (point, seed, key, f"killed its process twice ({plain(how)}) and is in quarantine")
        for point, seed, key, how in note.quarantined
    ]
    return [*((point, seed, key, plain(text)) for point, seed, key, text in note.failed), *apart]
