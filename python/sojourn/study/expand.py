"""From a study's overlays and axes to complete scenarios: one file per point.

What an overlay means is decided by the compiled part, as for settings of a single scenario: tables are
merged into the base key by key, its other values replace those of the base, and so on; see the reference of
the study file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any

import tomli_w

import sojourn._engine as _engine
from sojourn.base.errors import Problem, StudyError, UsageError, nearest
from sojourn.base.templates import fill, placeholders
from sojourn.base.toml_text import parse_toml

if TYPE_CHECKING:
    from sojourn.study.axes import Level
    from sojourn.study.definition import LabelValue, MatrixDefinition, StudyDefinition

MOST_POINTS = 100_000
"""Points of a matrix that are all made before anything starts. chosen: reading that many scenarios takes a minute."""

MOST_NUMBERED = 10_000_000
"""Points of a matrix that are made one by one. chosen: as many runs as a study may have."""

Document = dict[str, Any]
"""A parsed scenario file."""


@dataclass(frozen=True)
class Point:
    """One scenario of a study."""

    name: str
    overlays: tuple[str, ...]
    labels: dict[str, LabelValue]
    file: _engine.ScenarioFile
    """The scenario file, with everything laid over it."""
    keys: dict[str, str] = field(default_factory=dict[str, str])
    """Scenario keys that an axis varies, and where the axis stands in the study file."""
    seeds: int = 1
    """Seeds at least."""
    number: int = -1
    """Its place among the points of the study, see `NumberedPoints`."""

    @cached_property
    def text(self) -> str:
        """The scenario file as a text."""
        return self.file.text()

    @cached_property
    def document(self) -> Document:
        """The scenario file as nested tables."""
        return parse_toml(self.text)

    def with_values(self, changes: Document) -> Point:
        """Return the point with an overlay that is known to fit."""
        return replace(self, file=self.file.laid(tomli_w.dumps(changes))[0])


def expand(definition: StudyDefinition, base: str, file: str = "") -> list[Point]:
    """Return the points of a study in the order of its file: listed ones, `axes`, matrices.

    Raises `StudyError` if points collide or overlays do not fit; lists everything that is wrong.

    Parameters
    ----------
    definition
        The study.
    base
        Text of the base scenario, which has to be TOML.
    file
        The study file, for messages.
    """
    points, problems = expand_all(definition, base, file)
    if problems:
        raise StudyError(problems)
    return points


def expand_all(definition: StudyDefinition, base: str, file: str = "") -> tuple[list[Point], list[Problem]]:
    """Return the points that can be made, and everything that is wrong with the others."""
    problems: list[Problem] = []
    points: dict[str, Point] = {}
    maker = _Maker(definition, base)
    for outline in _outlines(definition, problems):
        if outline.name in points:
            problems.append(Problem(outline.path, f'point "{outline.name}" is defined twice'))
            continue
        made, found = maker.make(outline)
        problems += found
        if not found:
            points[outline.name] = made
    return list(points.values()), [replace(p, file=file) for p in dict.fromkeys(problems)]


def has_many_points(definition: StudyDefinition) -> bool:
    """Return whether a matrix has too many points for a list of all; `NumberedPoints` makes them one by one."""
    return any(_too_many(path, matrix, MOST_POINTS) for path, matrix in definition.matrices())


def labels_of_points(definition: StudyDefinition) -> dict[str, dict[str, LabelValue]]:
    """Return the labels of all points of a study by name, without the scenarios; what cannot be made is left out."""
    return {outline.name: outline.labels for outline in _outlines(definition, [])}


def labels_of_numbers(path: str, matrix: MatrixDefinition) -> dict[str, dict[str, LabelValue]]:
    """Return the labels of all points of a matrix by name, in their order; as `labels_of_points`."""
    outlines = _MatrixOutlines(path, matrix, 0)
    found = (outlines.outline(number) for number in range(len(outlines)))
    return {outline.name: outline.labels for outline in found if outline is not None}


class NumberedPoints:
    """The points of a study by number, each made when it is asked for: a million take no memory.

    Listed points come first, then those of each matrix, last axis fastest. A place that `exclude` leaves out is empty.

    Raises `StudyError` if there are too many.

    Parameters
    ----------
    definition
        The study.
    base
        Text of the base scenario, which has to be TOML.
    file
        The study file, for messages.
    """

    def __init__(self, definition: StudyDefinition, base: str, file: str = "") -> None:
        self._maker, self._file = _Maker(definition, base), file
        self._listed = list(_listed(definition))
        matrices = definition.matrices()
        problems = [_too_many(path, matrix, MOST_NUMBERED) for path, matrix in matrices]
        if found := [replace(problem, file=file) for problem in problems if problem is not None]:
            raise StudyError(found)
        self._matrices: list[_MatrixOutlines] = []
        for path, matrix in matrices:
            self._matrices.append(_MatrixOutlines(path, matrix, len(self)))

    def __len__(self) -> int:
        """Return how many numbers there are, with empty places."""
        return len(self._listed) + sum(len(matrix) for matrix in self._matrices)

    def name(self, number: int) -> str | None:
        """Return the name of a point; nothing at an empty place.

        Raises `StudyError` if it has none.
        """
        outline = self._outline(number)
        return None if outline is None else outline.name

    def point(self, number: int) -> Point | None:
        """Return a point; nothing at an empty place.

        Raises `StudyError` if it cannot be made.
        """
        outline = self._outline(number)
        if outline is None:
            return None
        made, found = self._maker.make(outline)
        if found:
            raise StudyError([replace(problem, file=self._file) for problem in found])
        return made

    def _outline(self, number: int) -> _Outline | None:
        if number < len(self._listed):
            return self._listed[number]
        number -= len(self._listed)
        for matrix in self._matrices:
            if number < len(matrix):
                try:
                    return matrix.outline(number)
                except _NoOutline as error:
                    raise StudyError([replace(error.problem, file=self._file)]) from error
            number -= len(matrix)
        raise IndexError(number)


@dataclass(frozen=True)
class _Outline:
    """Parts of a point."""

    path: str
    name: str
    overlays: list[str]
    labels: dict[str, LabelValue]
    settings: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    """Place in the study file, key of the scenario, value as TOML."""
    seeds: int = 1
    number: int = -1
    """Among all points, with empty places."""


class _Maker:
    """Makes points out of the base scenario.

    Parameters
    ----------
    definition
        The study.
    base
        Text of the base scenario, which has to be TOML.
    """

    def __init__(self, definition: StudyDefinition, base: str) -> None:
        self._study = definition.name
        self._start = _engine.ScenarioFile.parse(base)
        self._overlays = {name: tomli_w.dumps(overlay) for name, overlay in definition.overlays.items()}

    def make(self, outline: _Outline) -> tuple[Point, list[Problem]]:
        """Return a point, and what is wrong with it."""
        file = self._start
        found: list[Problem] = []
        for name in outline.overlays:
            try:
                file, problems = file.laid(self._overlays[name])
            except _engine.ScenarioProblems as error:  # nested too deeply, for instance
                problems = error.problems
            for item in problems:
                place = f"overlays.{name}.{item['path']}".rstrip(".")
                found.append(Problem(place, item["message"], item["hint"]))
        for place, key, value in outline.settings:
            file, problems = file.with_setting(key, value)
            found += [Problem(place, f"{key}: {item['message']}", item["hint"]) for item in problems]
        keys = {key: place for place, key, _ in outline.settings}
        names = tuple(outline.overlays)
        made = Point(outline.name, names, outline.labels, file, keys, outline.seeds, outline.number)
        return made.with_values({"name": f"{self._study}/{outline.name}"}), found


def _outlines(definition: StudyDefinition, problems: list[Problem]) -> Iterator[_Outline]:
    yield from _listed(definition)
    before = len(definition.points)
    for path, matrix in definition.matrices():
        if (problem := _too_many(path, matrix, MOST_POINTS)) is not None:
            problems.append(problem)
            continue
        outlines = _MatrixOutlines(path, matrix, before)
        before += len(outlines)
        for number in range(len(outlines)):
            try:
                outline = outlines.outline(number)
            except _NoOutline as error:
                problems.append(error.problem)
                break
            if outline is not None:
                yield outline


def _listed(definition: StudyDefinition) -> Iterator[_Outline]:
    for number, (name, point) in enumerate(definition.points.items()):
        overlays, labels = point.overlays, point.labels
        yield _Outline(f"points.{name}", name, overlays, labels, seeds=point.seeds, number=number)


def _too_many(path: str, matrix: MatrixDefinition, most: int) -> Problem | None:
    from sojourn.study.axes import count_of

    count = count_of(matrix.axes, matrix.sample)
    if count <= most:
        return None
    return Problem(path or "axes", f"{count:.4g} points", f"at most {most}: fewer values")


class _NoOutline(Exception):
    """A point of a matrix has no name."""

    def __init__(self, path: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.problem = Problem(path, message, hint)


class _MatrixOutlines:
    """The points of a matrix by number; what `exclude` leaves out is an empty place."""

    def __init__(self, path: str, matrix: MatrixDefinition, before: int) -> None:
        from sojourn.study.axes import Combinations

        self._path, self._matrix, self._before = path, matrix, before
        self._levels = Combinations(matrix.axes, matrix.sample)
        self._digits = len(str(matrix.sample.points)) if matrix.sample else 0

    def __len__(self) -> int:
        return len(self._levels)

    def outline(self, number: int) -> _Outline | None:
        """Return a point, from 0; nothing where one is left out.

        Raises `_NoOutline` if it has no name.
        """
        from sojourn.study.definition import LONGEST_NAME, POINT_PATTERN

        path, matrix, levels = self._path, self._matrix, self._levels[number]
        texts = {axis: level.text for axis, level in levels.items()}
        if matrix.sample:
            texts["number"] = f"{number + 1:0{self._digits}}"
        try:
            name = _name(matrix, texts)
        except KeyError as error:
            hint = f"axes: {', '.join(texts)}"
            message = f'"{matrix.name}" uses an unknown axis: {error.args[0]}'
            raise _NoOutline(f"{path}.name", message, hint) from error
        if len(name) > LONGEST_NAME or not re.fullmatch(POINT_PATTERN, name):
            hint = "letters, digits, dots, dashes and underscores, in groups by /"
            short = name if len(name) <= LONGEST_NAME else f"{name[:20]}…"
            place = f"{path}.name" if matrix.name else path or "axes"
            raise _NoOutline(place, f'"{short}" is no name for a point', hint)
        if any(fnmatchcase(name, pattern) for pattern in matrix.exclude):
            return None
        return _Outline(
            path or "axes",
            name,
            [*matrix.overlays, *(level.overlay for level in levels.values() if level.overlay)],
            {**{axis: level.label for axis, level in levels.items()}, **matrix.labels},
            _settings(path, levels),
            matrix.seeds,
            self._before + number,
        )


def _name(matrix: MatrixDefinition, texts: dict[str, str]) -> str:
    """Return the name of a point: `{axis}` stands for a value, and nothing else has a meaning.

    Raises
    ------
    KeyError
        With what stands between braces and is no axis.
    """
    if matrix.name:
        for name in placeholders(matrix.name):
            if name not in texts:
                raise KeyError(name)
        name = fill(matrix.name, texts)
        for brace in set(name) & set("{}"):
            raise KeyError(brace)
        return name
    return f"sample-{texts['number']}" if matrix.sample else "-".join(texts.values())


def _settings(path: str, levels: dict[str, Level]) -> list[tuple[str, str, str]]:
    prefix = f"{path}." if path else ""
    return [(f"{prefix}axes.{axis}", key, value) for axis, level in levels.items() for key, value in level.settings]


def select(points: list[Point], patterns: list[str]) -> list[Point]:
    """Return the points whose name fits one of the patterns, in their order.

    Raises `UsageError` if a pattern fits no point.
    """
    for pattern in patterns:
        if not any(fnmatchcase(point.name, pattern) for point in points):
            raise UsageError(f'no point fits "{pattern}"', nearest(pattern, [point.name for point in points]))
    return [point for point in points if any(fnmatchcase(point.name, pattern) for pattern in patterns)]
