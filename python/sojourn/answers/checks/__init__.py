"""Checks that everything a study declares can be answered, as a whole, before anything is simulated.

Each problem says where it is and what would be right; all are reported at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sojourn.answers.checks.claims import Claims
from sojourn.answers.checks.drawn import Drawn
from sojourn.answers.checks.names import Names
from sojourn.answers.checks.values import TWO_WAY, Values
from sojourn.answers.open_study import OpenStudy
from sojourn.base.errors import Problem, ScenarioError, StudyError, nearest
from sojourn.base.files import is_file
from sojourn.declarations.answers import declares_answers
from sojourn.headline.applications import APPLICATIONS
from sojourn.scenario.scenario_file import Scenario
from sojourn.study.expand import Point
from sojourn.study.files import companions, is_inside
from sojourn.study.library import Study

__all__ = ["TWO_WAY", "check_declarations", "unanswerable"]


def check_declarations(
    study: OpenStudy,
    traffic: Mapping[str, Mapping[str, str]],
    file: str,
    points: Sequence[Point] = (),
    *,
    is_run: bool = True,
) -> None:
    """Check everything that a study declares about its answers.

    Raises `StudyError` if something is wrong; lists all of it.

    Parameters
    ----------
    study
        The study.
    traffic
        Kinds of the applications of each point, by the names of their traffic entries.
    file
        How problems call the study file.
    points
        The study's points, with their scenarios.
    is_run
        Whether the study's module is run, or read.
    """
    problems = list(_problems(Names(study, file, is_run=is_run), traffic, points))
    if problems:
        raise StudyError(list(dict.fromkeys(problems)))


def _problems(names: Names, traffic: Mapping[str, Mapping[str, str]], points: Sequence[Point]) -> Iterator[Problem]:
    values = Values(names, traffic)
    claims, drawn = Claims(names, values, lambda: [point.document for point in points]), Drawn(names)
    yield from names.module()
    yield from _files(names)
    for name, measure in names.own.measures.items():
        yield from values.measure(f"measures.{name}", measure)
    yield from _first_sentence(names, traffic)
    yield from claims.problems()
    yield from claims.headlines()
    yield from drawn.tables()
    yield from drawn.figures()
    yield from drawn.averages()


def _first_sentence(names: Names, traffic: Mapping[str, Mapping[str, str]]) -> Iterator[Problem]:
    """Find what the headline cannot be about."""
    own = names.own
    yield from names.label("compare", own.compare)
    every = [value for values in names.labels.values() for value in values]
    values = names.labels.get(own.compare) if own.compare else every
    if own.baseline and values is not None and own.baseline not in values:
        hint = nearest(own.baseline, values)
        yield names.problem("baseline", f'no point has a label "{own.baseline}"', hint)
    yield from names.label("at", *own.at)
    for label, value in own.at.items():
        values = names.labels.get(label)
        if values is not None and str(value) not in map(str, values):
            yield names.problem(
                f"at.{label}", f'no point has this value: "{value}"', nearest(str(value), list(map(str, values)))
            )
        if label == own.compare:
            yield names.problem(f"at.{label}", "the values of this label compete", "a label of conditions")
    known = list(dict.fromkeys([*APPLICATIONS, *(name for one in traffic.values() for name in one)]))
    for number, name in enumerate(own.feels, 1):
        if name not in known:
            message = f'"{name}" is no application and no traffic entry'
            yield names.problem(f"feels[{number}]", message, nearest(name, known))


def _files(names: Names) -> Iterator[Problem]:
    for name in companions(names.own):
        path = names.study.folder / name
        if not is_inside(name):
            yield names.problem(name, "is outside the study's folder", "move it there")
        elif not is_file(path) and name != names.own.module:
            hint = "names are relative to the study file"
            yield names.problem(name, f"{path}: no such file", hint)


def unanswerable(study: Study, points: list[Point], *, is_run: bool = True) -> list[Problem]:
    """Return what is wrong with what the study declares about its answers, if it declares anything.

    Its module is run if `is_run`, and read otherwise.
    """
    own = study.definition
    if not (declares_answers(own) or own.compare or own.baseline or own.feels or own.at):
        return []
    traffic = _traffic(points)
    try:
        check_declarations(OpenStudy.of(study, points), traffic, str(study.path), points, is_run=is_run)
    except StudyError as error:
        return error.problems
    return []


def _traffic(points: list[Point]) -> dict[str, dict[str, str]]:
    """Return what all traffic entries are, by point and name; those that named loads stand for have no kind."""
    known: dict[str, list[str]] = {}
    found: dict[str, dict[str, str]] = {}
    for point in points:
        entries = point.document.get("traffic", [])
        kinds = {str(entry.get("name", "")): _kind(entry.get("app", "")) for entry in entries}
        loads = point.document.get("load", [])
        if loads:
            # Points that differ in other things have the same names.
            kind = str([(load.get("name"), load.get("test")) for load in loads] + list(kinds))
            if kind not in known:
                try:
                    printed = Scenario.parse(point.text).canonical()
                except ScenarioError:  # told when all points are validated
                    printed = ""
                known[kind] = re.findall(r'^\[\[traffic\]\]\nname = "([^"]*)"', printed, re.MULTILINE)
            kinds |= dict.fromkeys(known[kind], "") | kinds
        found[point.name] = kinds | _of_homes(point)
    return found


def _of_homes(point: Point) -> dict[str, str]:
    """Return what the traffic entries of all homes are: `family/17/call` is the call of the seventeenth family.

    Their access links, such as `family/17/upstream`, have no kind.
    """
    return {
        f"{home.get('name', '')}/{number}/{name}": kind
        for home in point.document.get("home", [])
        for name, kind in [
            *((one.get("name", ""), _kind(one.get("app", ""))) for one in home.get("traffic", [])),
            ("upstream", ""),
            ("downstream", ""),
        ]
        for number in range(1, int(home.get("count", 1)) + 1)
    }


def _kind(app: str | dict[str, Any]) -> str:
    """Return the word that says what an application is; empty if that is not known."""
    return app if isinstance(app, str) else str(app.get("kind", ""))
