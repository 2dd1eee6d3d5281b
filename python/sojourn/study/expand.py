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
from sojourn.errors import Problem, StudyError, UsageError, nearest
from sojourn.toml_text import parse_toml
from sojourn.words import fill, placeholders

if TYPE_CHECKING:
    from sojourn.study.axes import Level
    from sojourn.study.definition import LabelValue, MatrixDefinition, StudyDefinition

__all__ = ["Document", "Point", "expand", "expand_all", "labels_of_points", "select"]

MOST_POINTS = 100_000
"""Points of a matrix. chosen: reading that many scenarios takes a minute."""

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

    Parameters
    ----------
    definition
        The study.
    base
        Text of the base scenario, which has to be TOML.
    file
        The study file, for messages.

    Raises
    ------
    StudyError
        If points collide or overlays do not fit; lists everything that is wrong.
    """
    points, problems = expand_all(definition, base, file)
    if problems:
        raise StudyError(problems)
    return points


def expand_all(
    definition: StudyDefinition, base: str, file: str = ""
) -> tuple[list[Point], list[Problem]]:
    """Return the points that can be made, and everything that is wrong with the others."""
    problems: list[Problem] = []
    points: dict[str, Point] = {}
    start = _engine.ScenarioFile.parse(base)
    overlays = {name: tomli_w.dumps(overlay) for name, overlay in definition.overlays.items()}
    for outline in _outlines(definition, problems):
        if outline.name in points:
            problems.append(Problem(outline.path, f'point "{outline.name}" is defined twice'))
            continue
        made, found = _make(outline, start, overlays)
        problems += found
        if not found:
            named = made.with_values({"name": f"{definition.name}/{outline.name}"})
            points[outline.name] = named
    return list(points.values()), [replace(p, file=file) for p in dict.fromkeys(problems)]


def labels_of_points(definition: StudyDefinition) -> dict[str, dict[str, LabelValue]]:
    """Return the labels of all points of a study by name, without the scenarios; what cannot be made is left out."""
    return {outline.name: outline.labels for outline in _outlines(definition, [])}


@dataclass(frozen=True)
class _Outline:
    """What a point is made of."""

    path: str
    name: str
    overlays: list[str]
    labels: dict[str, LabelValue]
    settings: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    """Place in the study file, key of the scenario, value as TOML."""
    seeds: int = 1


def _make(
    outline: _Outline, start: _engine.ScenarioFile, overlays: dict[str, str]
) -> tuple[Point, list[Problem]]:
    file = start
    found: list[Problem] = []
    for name in outline.overlays:
        try:
            file, problems = file.laid(overlays[name])
        except _engine.ScenarioProblems as error:  # nested too deeply, for instance
            problems = error.problems
        found += [
            Problem(f"overlays.{name}.{item['path']}".rstrip("."), item["message"], item["hint"])
            for item in problems
        ]
    for place, key, value in outline.settings:
        file, problems = file.with_setting(key, value)
        found += [Problem(place, f"{key}: {item['message']}", item["hint"]) for item in problems]
    keys = {key: place for place, key, _ in outline.settings}
    names = tuple(outline.overlays)
    return Point(outline.name, names, outline.labels, file, keys, outline.seeds), found


def _outlines(definition: StudyDefinition, problems: list[Problem]) -> Iterator[_Outline]:
    for name, point in definition.points.items():
        yield _Outline(f"points.{name}", name, point.overlays, point.labels, seeds=point.seeds)
    for path, matrix in definition.matrices():
        yield from _of_matrix(path, matrix, problems)


def _of_matrix(path: str, matrix: MatrixDefinition, problems: list[Problem]) -> Iterator[_Outline]:
    from sojourn.study.axes import combinations, count_of
    from sojourn.study.definition import LONGEST_NAME, POINT_PATTERN

    count = count_of(matrix.axes, matrix.sample)
    if count > MOST_POINTS:
        problems.append(
            Problem(path or "axes", f"{count:.4g} points", f"at most {MOST_POINTS}: fewer values")
        )
        return
    digits = len(str(matrix.sample.points)) if matrix.sample else 0
    for number, levels in enumerate(combinations(matrix.axes, matrix.sample), 1):
        texts = {axis: level.text for axis, level in levels.items()}
        if matrix.sample:
            texts["number"] = f"{number:0{digits}}"
        try:
            name = _name(matrix, texts)
        except KeyError as error:
            hint = f"axes: {', '.join(texts)}"
            place = f"{path}.name"
            message = f'"{matrix.name}" uses an unknown axis: {error.args[0]}'
            problems.append(Problem(place, message, hint))
            return
        if len(name) > LONGEST_NAME or not re.fullmatch(POINT_PATTERN, name):
            hint = "letters, digits, dots, dashes and underscores, in groups by /"
            short = name if len(name) <= LONGEST_NAME else f"{name[:20]}…"
            place = f"{path}.name" if matrix.name else path or "axes"
            problems.append(Problem(place, f'"{short}" is no name for a point', hint))
            return
        if any(fnmatchcase(name, pattern) for pattern in matrix.exclude):
            continue
        yield _Outline(
            path or "axes",
            name,
            [*matrix.overlays, *(level.overlay for level in levels.values() if level.overlay)],
            {**{axis: level.label for axis, level in levels.items()}, **matrix.labels},
            _settings(path, levels),
            matrix.seeds,
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
    return [
        (f"{prefix}axes.{axis}", key, value)
        for axis, level in levels.items()
        for key, value in level.settings
    ]


def select(points: list[Point], patterns: list[str]) -> list[Point]:
    """Return the points whose name fits one of the patterns, in their order.

    Raises
    ------
    UsageError
        If a pattern fits no point.
    """
    for pattern in patterns:
        if not any(fnmatchcase(point.name, pattern) for point in points):
            raise UsageError(
                f'no point fits "{pattern}"', nearest(pattern, [point.name for point in points])
            )
    return [
        point for point in points if any(fnmatchcase(point.name, pattern) for pattern in patterns)
    ]
