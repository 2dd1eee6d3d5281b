"""From a study's overlays to complete scenarios: one document per point.

An overlay is a piece of scenario: its tables are merged into the base key by key, its other values
replace those of the base. Three rules go beyond that:

- a table whose `kind` changes is replaced as a whole, since the old kind's keys mean nothing to the new;
- `traffic` entries are merged by their `name`; a new name adds an entry;
- `remove` lists key paths (`access.upstream.queue.limit`, `traffic.call`) to take out first.
"""

from __future__ import annotations

import copy
import itertools
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, cast

import tomli_w

from sojourn.errors import Problem, StudyError, UsageError, nearest

if TYPE_CHECKING:  # settings of one scenario need no study
    from sojourn.study.definition import LabelValue, StudyDefinition

__all__ = ["Document", "Point", "apply_settings", "expand", "merge", "select"]

Document = dict[str, Any]
"""A parsed scenario file."""


@dataclass(frozen=True)
class Point:
    """One scenario of a study."""

    name: str
    overlays: tuple[str, ...]
    labels: dict[str, LabelValue]
    document: Document

    @property
    def text(self) -> str:
        """The scenario file."""
        return tomli_w.dumps(self.document)


def merge(base: Document, overlay: Document) -> Document:
    """Return `base` changed by `overlay`; neither argument is touched.

    Raises
    ------
    ValueError
        If the overlay removes what is not there, or gives traffic that cannot be matched by name.

    Examples
    --------
    >>> base = {"duration": "600 s", "traffic": [{"name": "call", "rtt": "20 ms"}]}
    >>> merge(base, {"traffic": {"call": {"rtt": "100 ms"}}})
    {'duration': '600 s', 'traffic': [{'name': 'call', 'rtt': '100 ms'}]}
    """
    result = copy.deepcopy(base)
    changes = copy.deepcopy(overlay)
    for path in changes.pop("remove", []):
        _remove(result, path)
    traffic = changes.pop("traffic", None)
    _merge_tables(result, changes)
    if traffic is not None:
        entries = _named(result.get("traffic", []))
        for name, change in _named(traffic).items():
            entry = entries.setdefault(name, {"name": name})
            _merge_tables(entry, change)
        result["traffic"] = list(entries.values())
    return result


def _merge_tables(target: Document, changes: Document) -> None:
    for key, value in changes.items():
        present = target.get(key)
        if isinstance(value, dict) and isinstance(present, dict):
            value, present = cast("Document", value), cast("Document", present)
            if "kind" not in value or value["kind"] == present.get("kind"):
                _merge_tables(present, value)
                continue
        target[key] = value


def _named(traffic: object) -> dict[str, Document]:
    """Return traffic entries by name, from either way of writing them."""
    if isinstance(traffic, dict):
        entries: list[object] = []
        for name, entry in cast("dict[str, object]", traffic).items():
            if not isinstance(entry, dict):
                raise ValueError(f'"traffic.{name}" has to be a table')
            entries.append({"name": name} | cast("Document", entry))
    elif isinstance(traffic, list):
        entries = cast("list[object]", traffic)
    else:
        raise ValueError('"traffic" has to be a table by name or an array of tables')
    named: dict[str, Document] = {}
    for number, entry in enumerate(entries, 1):
        name = cast("Document", entry).get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str):
            raise ValueError(f"entry {number} of `traffic` has no name to match it by")
        if name in named:
            raise ValueError(f'traffic "{name}" occurs twice')
        named[name] = cast("Document", entry)
    return named


def _remove(document: Document, path: str) -> None:
    *parents, last = path.split(".")
    place: object = document
    for part in parents:
        place = _step(place, part)
    if isinstance(place, list):
        entries = cast("list[Document]", place)
        kept = [entry for entry in entries if entry.get("name") != last]
        if len(kept) == len(entries):
            raise ValueError(f'cannot remove "{path}": the base has no such entry')
        entries[:] = kept
    elif isinstance(place, dict) and last in place:
        del cast("Document", place)[last]
    else:
        raise ValueError(f'cannot remove "{path}": the base has no such key')


def _step(place: object, part: str) -> object:
    if isinstance(place, dict):
        return cast("Document", place).get(part)
    if isinstance(place, list):
        for entry in cast("list[Document]", place):
            if entry.get("name") == part:
                return entry
    return None


def apply_settings(document: Document, settings: list[str]) -> Document:
    """Return `document` with `a.b.c=V` settings merged into it, one after the other.

    The value is TOML (`5`, `true`, `["20 ms"]`), or else a string, so that quantities need no quotes.

    Raises
    ------
    UsageError
        If a setting is not of that form, or names traffic that the document lacks.

    Examples
    --------
    >>> apply_settings({"duration": "600 s"}, ["duration=10 s"])
    {'duration': '10 s'}
    """
    for setting in settings:
        path, equals, value = setting.partition("=")
        if not equals or not path.strip():
            raise UsageError(
                f"--set {setting}: not of the form a.b.c=V",
                "for example: --set access.upstream.queue.target=10ms",
            )
        overlay = _setting(path, value.strip(), setting)
        for name in overlay.get("traffic", {}):
            known = [entry.get("name") for entry in document.get("traffic", [])]
            if name not in known:
                raise UsageError(f'--set {setting}: no traffic "{name}"', nearest(name, known))
        document = merge(document, overlay)
    return document


def _setting(path: str, value: str, setting: str) -> Document:
    for text in (value, tomli_w.dumps({"v": value}).removeprefix("v = ").strip()):
        try:
            return tomllib.loads(f"{path} = {text}")
        except tomllib.TOMLDecodeError:
            continue
    raise UsageError(f'--set {setting}: "{path}" is not a key path')


def expand(definition: StudyDefinition, base: Document, file: str = "") -> list[Point]:
    """Return the points of a study in the order of its file, matrices after listed points.

    Raises
    ------
    StudyError
        If points collide or overlays do not fit; lists everything that is wrong.
    """
    problems: list[Problem] = []
    points: dict[str, Point] = {}
    for path, name, overlays, labels in _outlines(definition, file, problems):
        if name in points:
            problems.append(Problem(path, f'point "{name}" is defined twice', file=file))
            continue
        document = copy.deepcopy(base)
        for overlay in overlays:
            try:
                merged = merge(document, definition.overlays[overlay])
            except ValueError as error:
                problems.append(Problem(f"overlays.{overlay}", str(error), file=file))
                break
            problems += _unknown_traffic(document, merged, overlay, file)
            document = merged
        document["name"] = f"{definition.name}/{name}"
        points[name] = Point(name, tuple(overlays), labels, document)
    if problems:
        raise StudyError(list(dict.fromkeys(problems)))
    return list(points.values())


def _unknown_traffic(before: Document, after: Document, overlay: str, file: str) -> list[Problem]:
    """Report new traffic without an application: most likely a misspelt name."""
    known = [entry.get("name") for entry in before.get("traffic", [])]
    return [
        Problem(
            f"overlays.{overlay}.traffic.{entry['name']}",
            "the base has no traffic of this name, and new traffic needs an `app`",
            nearest(entry["name"], known),
            file=file,
        )
        for entry in after.get("traffic", [])
        if entry["name"] not in known and "app" not in entry
    ]


_Outline = tuple[str, str, list[str], "dict[str, LabelValue]"]


def _outlines(definition: StudyDefinition, file: str, problems: list[Problem]) -> list[_Outline]:
    outlines: list[_Outline] = [
        (f"points.{name}", name, point.overlays, point.labels)
        for name, point in definition.points.items()
    ]
    for number, matrix in enumerate(definition.matrix, 1):
        path = f"matrix[{number}]"
        for values in itertools.product(*matrix.axes.values()):
            axes = dict(zip(matrix.axes, values, strict=True))
            try:
                name = matrix.name.format_map(axes) if matrix.name else "-".join(values)
            except (KeyError, ValueError, IndexError, AttributeError):
                hint = f"axes: {', '.join(matrix.axes)}"
                problems.append(
                    Problem(
                        f"{path}.name", f'"{matrix.name}" uses an unknown axis', hint, file=file
                    )
                )
                break
            if any(fnmatchcase(name, pattern) for pattern in matrix.exclude):
                continue
            outlines.append((path, name, [*matrix.overlays, *values], {**axes, **matrix.labels}))
    return outlines


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
