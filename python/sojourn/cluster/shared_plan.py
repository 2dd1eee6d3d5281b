"""A plan in a shared store: the study as text, and which runs of it make a unit of work.

A worker needs nothing else: a point is a number, and the worker makes its scenario from the study. Names follow from what
they name, so two who publish the same study publish the same plan.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

import sojourn._engine as _engine
from sojourn.base.errors import OtherVersion, RecordError, UsageError
from sojourn.base.files import make_folder, read_file, write_file
from sojourn.declarations.base import Strict
from sojourn.scenario.scenario_file import Scenario
from sojourn.store.objects import Objects
from sojourn.study.definition import StudyDefinition, load_definition
from sojourn.study.expand import NumberedPoints
from sojourn.study.files import companions, is_inside
from sojourn.study.library import Study
from sojourn.study.plan import PlannedPoint, RunLength, RunSpec, runs_of

LARGEST_ROUND = 1_000_000
"""Spans of a round. chosen: a line each, and a worker reads them in a second."""


class Span(Strict):
    """Consecutive points that get the same seeds."""

    first: Annotated[int, Field(ge=0)]
    """Number of the first point."""
    points: Annotated[int, Field(ge=1)]
    seed: Annotated[int, Field(ge=0)]
    """The first seed."""
    seeds: Annotated[int, Field(ge=1)]


class Round(Strict):
    """Runs that are to be made, cut into units."""

    spans: Annotated[list[Span], Field(max_length=LARGEST_ROUND)]
    runs_per_unit: Annotated[int, Field(ge=1)]
    unit_s: Annotated[float, Field(gt=0)]
    """How long a unit is expected to take."""
    patience_s: Annotated[float, Field(gt=0)]
    """After how long a claim counts as abandoned."""

    @property
    def runs(self) -> int:
        """How many runs it has at most: places without a point have none."""
        return sum(span.points * span.seeds for span in self.spans)

    def units(self) -> Iterator[list[Span]]:
        """Give the runs of each unit: whole points while they fit, else a point's seeds in parts."""
        unit: list[Span] = []
        room = self.runs_per_unit
        for span in self.spans:
            for piece in _pieces(span, self.runs_per_unit):
                size = piece.points * piece.seeds
                if unit and size > room:
                    yield unit
                    unit, room = [], self.runs_per_unit
                unit.append(piece)
                room -= size
        if unit:
            yield unit


def _pieces(span: Span, most: int) -> Iterator[Span]:
    """Cut a span into parts of at most `most` runs."""
    if span.seeds <= most:
        together = most // span.seeds
        for start in range(0, span.points, together):
            points = min(together, span.points - start)
            yield span.model_copy(update={"first": span.first + start, "points": points})
        return
    for point in range(span.first, span.first + span.points):
        for start in range(0, span.seeds, most):
            seeds = min(most, span.seeds - start)
            yield Span(first=point, points=1, seed=span.seed + start, seeds=seeds)


@dataclass(frozen=True)
class Unit:
    """Unit of work that a worker claims."""

    name: str
    """Round and place in it, such as `000-0000012`."""
    spans: list[Span]
    unit_s: float
    patience_s: float

    @property
    def runs(self) -> int:
        """How many runs it has at most: places without a point have none."""
        return sum(span.points * span.seeds for span in self.spans)


class SharedPlan(Strict):
    """A study with everything that its runs depend on."""

    schema_version: Literal[1] = Field(1, alias="schema")
    study: str
    engine_version: str
    files: dict[str, str]
    """The study's own, `study.toml` and its companions."""
    base: str
    """The base scenario, with settings laid over it."""
    duration: str | None = None
    is_most: bool = False

    @property
    def name(self) -> str:
        """Under which the store has it."""
        content = self.model_dump_json(by_alias=True)
        return hashlib.sha256(content.encode()).hexdigest()[:16]

    @property
    def place(self) -> str:
        """Folder of all that belongs to it in a store."""
        return f"v2/plans/{self.name}"

    def refuse_other_version(self) -> None:
        """Make sure that it is this engine's.

        Raises `OtherVersion` if it is not: its runs would have other bits.
        """
        own = _engine.engine_version()
        if own != self.engine_version:
            raise OtherVersion(
                f"plan {self.name} is of engine {self.engine_version}, and this is {own}",
                "install the version of Sojourn that made the plan",
            )


def plan_of(study: Study, length: RunLength) -> SharedPlan:
    """Return what a shared store keeps of a study with runs of a length.

    Raises `UsageError` if its runs need something of this machine.
    """
    if study.plugins:
        raise UsageError("a plugin runs on this machine only", "leave out --plugin, or the workers")
    names = [study.path.name, *companions(study.definition)]
    files: dict[str, str] = {}
    for name in names:
        content = read_file(study.path.parent / name)
        try:
            files["study.toml" if name == study.path.name else name] = content.decode()
        except UnicodeDecodeError as error:
            raise UsageError(f"{name} is not a UTF-8 text, and workers cannot have it") from error
    return SharedPlan(
        schema=1,
        study=study.definition.name,
        engine_version=_engine.engine_version(),
        files=files,
        base=study.base,
        duration=length.duration,
        is_most=length.is_most,
    )


def publish(objects: Objects, shared: SharedPlan) -> None:
    """Put a plan into a store, unless it is there."""
    objects.create(f"{shared.place}/plan.json", shared.model_dump_json(by_alias=True).encode())


def read_plan(objects: Objects, name: str) -> SharedPlan:
    """Read a plan of a store.

    Raises `UsageError` if there is none of that name; `RecordError` if it is not what its name says.
    """
    if not name.isalnum():
        raise UsageError(f'"{name}" is no name of a plan', "16 digits, as `sojourn study run` tells")
    content = objects.read(f"v2/plans/{name}/plan.json")
    if content is None:
        raise UsageError(f"{objects.address} has no plan {name}", "`sojourn study run` tells name and store")
    try:
        shared = SharedPlan.model_validate_json(content)
    except ValidationError as error:
        raise RecordError(f"plan {name} is not readable") from error
    if shared.name != name:
        raise RecordError(f"plan {name} has been changed")
    return shared


def read_rounds(objects: Objects, shared: SharedPlan, known: Sequence[Round] = ()) -> list[Round]:
    """Return the rounds of a plan, those that are known first; a round that no driver has written is one without units."""
    rounds = list(known)
    while (content := objects.read(f"{shared.place}/{place_of_round(len(rounds))}")) is not None:
        rounds.append(_round_of(content))
    return rounds


def place_of_round(number: int) -> str:
    """Return the name of a round below the plan's place."""
    return f"rounds/{number:03}.json"


def _round_of(content: bytes) -> Round:
    try:
        one = Round.model_validate_json(content)
    except ValidationError:
        return FOREIGN
    is_bounded = one.runs_per_unit <= MOST_RUNS_PER_UNIT and one.runs <= MOST_UNITS * one.runs_per_unit
    return one if is_bounded else FOREIGN


FOREIGN = Round(spans=[], runs_per_unit=1, unit_s=1.0, patience_s=1.0)
"""A round that no driver has written."""

MOST_RUNS_PER_UNIT = 20_000
"""chosen: twenty segments."""

MOST_UNITS = 2_000_000
"""Units of a round. chosen: ten million runs, five to a unit; workers keep them all in memory."""


def units_of(rounds: Sequence[Round], first: int = 0) -> Iterator[Unit]:
    """Give the units of rounds, of which the first has the number `first`."""
    for number, one in enumerate(rounds, first):
        for place, spans in enumerate(one.units()):
            yield Unit(f"{number:03}-{place:07}", spans, one.unit_s, one.patience_s)


def spans_of(pairs: Iterable[tuple[int, int]]) -> Iterator[Span]:
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


class OpenPlan:
    """A plan whose runs can be made: the study, read from files below a folder.

    Raises `RecordError` if a file of it would lie elsewhere; `StudyError` if the study is not valid.

    Parameters
    ----------
    shared
        The plan.
    folder
        An empty folder for the study's files.
    """

    def __init__(self, shared: SharedPlan, folder: Path) -> None:
        for name, text in shared.files.items():
            if not name or not is_inside(name):
                raise RecordError(f"plan {shared.name} names files elsewhere")
            path = folder / name
            make_folder(path.parent, root=folder)
            write_file(path, text, root=folder)
        self.shared = shared
        self.definition: StudyDefinition = load_definition(folder / "study.toml", root=folder)
        self.points = NumberedPoints(self.definition, shared.base, "study.toml")
        self._length = RunLength(shared.duration, shared.is_most)

    def runs(self, span: Span) -> Iterator[RunSpec]:
        """Give the runs of a span; points that are invalid raise when their turn comes.

        Raises `SojournError` if a point is invalid.
        """
        for number in self.numbers(span):
            yield from self.runs_of_point(number, span.seed, span.seeds)

    def numbers(self, span: Span) -> range:
        """Return the numbers of a span's points; those beyond the plan's own do not count."""
        return range(span.first, min(span.first + span.points, len(self.points)))

    def runs_of_point(self, number: int, seed: int, seeds: int) -> list[RunSpec]:
        """Return the runs of a point; none at an empty place.

        Raises `SojournError` if the point is invalid.
        """
        point = self.points.point(number)
        if point is None:
            return []
        item = self._length.of(PlannedPoint(point, Scenario.parse(point.text)))
        return list(runs_of(item, seed, seeds, self.definition))


def open_plan(path: Path, folder: Path) -> OpenPlan:
    """Open a plan that lies in a file of this machine."""
    return OpenPlan(SharedPlan.model_validate(json.loads(read_file(path))), folder)
