"""`study.toml`: which runs a study makes, read and checked as a whole.

The file says what to run as data: a base scenario, named overlays that change parts of it, and points
that name overlays. All problems are reported at once, each with its key path and a hint.
"""

import re
import tomllib
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError

import sojourn._engine as _engine
from sojourn.base.errors import MOST_PROBLEMS, Problem, StudyError, UsageError, nearest, plain, why
from sojourn.base.files import read_file
from sojourn.base.toml_text import parse_toml
from sojourn.declarations.answers import Declarations, Pool
from sojourn.declarations.base import LabelValue, Strict
from sojourn.scenario.scenario_file import decoded
from sojourn.study.axes import Axis, KeyAxis, Sample, problems_of, unit_of
from sojourn.study.files import merge_includes
from sojourn.study.pool import pool_problems
from sojourn.study.precision import PreciseSeeds, Precision, PrecisionGoal, PrecisionPairs

RUN_COLUMNS = frozenset({"point", "seed", "key", "simulated_s", "wall_s", "packet_hops", "events", "study"})
"""Columns of `runs.parquet` beside the labels of a study."""
SUMMARY_COLUMNS = frozenset({"subject", "metric", "unit", "n", "mean", "low", "high", "median", "interval", "note"})
"""Columns of `summary.csv` beside these and the labels."""

LONGEST_NAME = 200
"""Characters of a name. chosen: file systems take 255 bytes, and names get endings."""
_WORD = "[A-Za-z0-9][A-Za-z0-9._-]*"
NAME_PATTERN = f"^{_WORD}$"
POINT_PATTERN = f"^{_WORD}(/{_WORD})*$"
Name = Annotated[str, Field(pattern=NAME_PATTERN, max_length=LONGEST_NAME)]
PointName = Annotated[str, Field(pattern=POINT_PATTERN, max_length=LONGEST_NAME)]
"""Names of points may be grouped: `table-3/mix6-lld`."""


def _seeds(value: object) -> object:
    """Read `seeds = 5` as five seeds."""
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return {"count": value} if is_count else value


def _version(value: object) -> object:
    """Refuse what Python takes for one: `true` and `1.0`."""
    return value if type(value) is int else repr(value).lower()


class SeedRange(Strict):
    """Seeds `first`, `first + 1`, … of each point."""

    first: Annotated[int, Field(ge=0, le=2**63 - 1)] = 1
    """First seed."""
    count: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    """Number of seeds."""

    def values(self) -> list[int]:
        """Return the seeds themselves."""
        return list(range(self.first, self.first + self.count))


class QuickSettings(Strict):
    """Settings of `--quick`."""

    duration: str | None = None
    """Duration of each run; a default that suits the number of points if left out."""
    seeds: Annotated[int, Field(ge=1)] = 1
    """Seeds per point."""
    points: list[str] = Field(default_factory=lambda: ["*"])
    """Patterns of the points to run."""


class PointDefinition(Strict):
    """One point: the base scenario with overlays, under a name."""

    overlays: list[str] = Field(default_factory=list)
    """Overlays, merged one after the other."""
    labels: dict[str, LabelValue] = Field(default_factory=dict)
    """Labels of the point; columns of `runs.parquet`."""
    seeds: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    """Seeds at least, where the study's are too few: what a run draws once takes many runs."""


class MatrixDefinition(Strict):
    """Points by combination: one per element of the product of `axes`, or a sample of their ranges."""

    axes: dict[Name, Axis] = Field(min_length=1)
    """Axes of the matrix: overlays by name, or a key with values or a range. Each is a label of the points."""
    sample: Sample | None = None
    """Draw points from the ranges of all axes instead of taking their product."""
    name: str | None = None
    """Template of the point name such as `"{case}-{queue}"`; the values joined by `-` if left out."""
    overlays: list[str] = Field(default_factory=list)
    """Overlays merged before those of the axes."""
    labels: dict[str, LabelValue] = Field(default_factory=dict)
    """Labels that all points of the matrix share."""
    exclude: list[str] = Field(default_factory=list)
    """Patterns of point names to leave out."""
    seeds: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    """Seeds at least, where the study's are too few: what a run draws once takes many runs."""


class StudyDefinition(Declarations):
    """A study file, spelled right; whether its overlays fit the scenario is checked by `expand`."""

    schema_version: Annotated[Literal[1], BeforeValidator(_version, json_schema_input_type=Literal[1])] = Field(
        alias="schema"
    )
    name: Name
    """Name of the study; results go below `results/` under it."""
    title: str = ""
    """Title of the report."""
    source: str = ""
    """Document that is reproduced, if any."""
    summary: str = ""
    """One paragraph for `sojourn study show`."""
    scenario: str
    """Path of the base scenario, relative to the study file."""
    seeds: Annotated[SeedRange, BeforeValidator(_seeds, json_schema_input_type=SeedRange | int)] = SeedRange()
    """Seeds of each point; a number counts from 1."""
    precision: Precision | None = None
    """Seeds until measures are precise enough, instead of a number of seeds."""
    quick: QuickSettings = QuickSettings()
    """Settings of `--quick`: duration, seeds, points."""
    keep: Annotated[list[str], Field(max_length=100)] = Field(default_factory=list)
    """Record tables to keep beside the metrics, of the runs that record them."""
    keep_points: dict[str, Annotated[list[str], Field(min_length=1)]] = Field(default_factory=dict)
    """Patterns of the points of which a table of `keep` is kept; of all that it does not name."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Values for the tables and figures of the study; the runs do not see them."""
    overlays: dict[Name, dict[str, Any]] = Field(default_factory=dict)
    """Named changes of the base scenario."""
    points: dict[PointName, PointDefinition] = Field(default_factory=dict)
    """Points, one by one: overlays, labels, settings."""
    axes: dict[Name, Axis] = Field(default_factory=dict)
    """A matrix of its own, for a study with one: the product of these axes."""
    sample: Sample | None = None
    """Of `axes`; as in a matrix."""
    matrix: list[MatrixDefinition] = Field(default_factory=lambda: list[MatrixDefinition]())
    """Points by combination of axes."""

    def matrices(self) -> list[tuple[str, MatrixDefinition]]:
        """Return all matrices with their paths in the file; that of `axes` comes first."""
        own = [("", MatrixDefinition(axes=self.axes, sample=self.sample))] if self.axes else []
        return own + [(f"matrix[{number}]", one) for number, one in enumerate(self.matrix, 1)]

    def keeps(self, table: str, point: str) -> bool:
        """Return whether the result holds a table of `keep` for the runs of a point."""
        patterns = self.keep_points.get(table)
        return patterns is None or any(fnmatchcase(point, pattern) for pattern in patterns)

    def label_units(self) -> dict[str, str]:
        """Return the units of labels that are numbers, by label."""
        return {
            name: unit for _, matrix in self.matrices() for name, axis in matrix.axes.items() if (unit := unit_of(axis))
        }


@dataclass(frozen=True)
class _Complaint:
    """How one kind of validation error reads."""

    message: str
    hint: str = ""


def load_definition(path: str | Path, root: Path | None = None) -> StudyDefinition:
    """Read a study file.

    Raises `UsageError` if it cannot be read; `StudyError` if it is not valid.

    Parameters
    ----------
    path
        The file.
    root
        The result that it came with, if it came with one; no link below that is followed.
    """
    path = Path(path)
    try:
        data = read_file(path, root=root)
    except (OSError, ValueError) as error:  # a path with a NUL is a ValueError
        raise UsageError(f"{plain(path)}: {why(error)}") from error
    return parse_definition(data, str(path), path.parent, root)


def parse_definition(
    data: bytes, file: str = "", folder: Path | None = None, root: Path | None = None
) -> StudyDefinition:
    """Check the text of a study file with the files that it includes; see `load_definition`."""
    try:
        document = parse_toml(decoded(data))
    except UnicodeDecodeError as error:
        raise StudyError([Problem("", "not a UTF-8 text", file=file)]) from error
    except tomllib.TOMLDecodeError as error:
        raise StudyError([_syntax_problem(error, file)]) from error
    problems = merge_includes(document, folder, file, root)
    definition = None
    try:
        definition = StudyDefinition.model_validate(document)
    except ValidationError as error:
        found = error.errors(include_url=False)
        for item in found[:MOST_PROBLEMS]:
            complaint = _complaint(item, document)
            path = _path(_without_alternatives(item["loc"]))
            problems.append(Problem(path, complaint.message, complaint.hint, file=file))
        problems = list(dict.fromkeys(problems))
        if len(found) > MOST_PROBLEMS:
            more = f"{len(found) - MOST_PROBLEMS} more problems"
            problems.append(Problem("", more, "fix those above first", file=file))
    if definition is not None:
        problems += _cross_check(definition, file)
    if definition is None or problems:
        raise StudyError(problems)
    return definition


def _syntax_problem(error: tomllib.TOMLDecodeError, file: str) -> Problem:
    found = re.search(r"^(.*) \(at line (\d+), column (\d+)\)$", str(error))
    if found:
        message, line, column = found[1], int(found[2]), int(found[3])
    else:
        message, line, column = str(error).removesuffix(" (at end of document)"), 0, 0
    return Problem("", f"not TOML: {message}", line=line, column=column, file=file)


def _without_alternatives(location: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Drop the type that pydantic tried for a label or an axis: each of them is one problem."""
    if "labels" in location and location[-1] in {"str", "int", "float", "bool"}:
        return location[:-1]
    if "axes" in location:
        alternative = location.index("axes") + 2
        if location[alternative : alternative + 1] in (("overlays",), ("key",)):
            location = location[:alternative] + location[alternative + 1 :]
        if location[-1] in {"str", "float"}:
            location = location[:-1]
    return location


def _path(location: tuple[int | str, ...]) -> str:
    text = ""
    for part in location:
        if isinstance(part, int):
            text += f"[{part + 1}]"
        elif part == "[key]":
            continue
        else:
            text += f".{part}" if text else part
    return text


def _fields_at(location: tuple[int | str, ...]) -> list[str]:
    """Return the keys that are known where an unknown key was found."""
    homes: dict[str, type[Strict]] = {
        "seeds": SeedRange,
        "precision": Precision,
        "quick": QuickSettings,
        "points": PointDefinition,
        "matrix": MatrixDefinition,
        "pool": Pool,
    }
    if "axes" in location:
        return [field.alias or name for name, field in KeyAxis.model_fields.items()]
    if "sample" in location:
        return list(Sample.model_fields)
    if location[:2] == ("precision", "of"):
        return list(PrecisionGoal.model_fields)
    if location[:2] == ("precision", "seeds"):
        return list(PreciseSeeds.model_fields)
    if location[:2] == ("precision", "pairs"):
        return list(PrecisionPairs.model_fields)
    top = str(location[0])
    model = homes.get(top, StudyDefinition) if len(location) > 1 else StudyDefinition
    return [field.alias or name for name, field in model.model_fields.items()]


def _complaint(item: Any, document: dict[str, Any]) -> _Complaint:  # noqa: ANN401 - pydantic's own type
    kind, location = item["type"], item["loc"]
    if kind == "extra_forbidden":
        return _Complaint("unknown key", nearest(str(location[-1]), _fields_at(location)))
    if kind == "missing":
        if not document:
            return _Complaint("missing", "a study needs: schema, name, scenario, and points, axes or matrix")
        return _Complaint("missing")
    if kind == "string_pattern_mismatch":
        return _Complaint(
            f'"{item["input"]}" is not a name',
            "use letters, digits, dots, dashes and underscores"
            + (", in groups by /" if location[0] == "points" else ""),
        )
    if "labels" in location:
        return _Complaint("a label is a text, a number, true or false")
    if kind == "literal_error" and location == ("schema",):
        return _Complaint(f"version {item['input']} is not supported", "write: schema = 1")
    message = str(item["msg"])
    return _Complaint(message[:1].lower() + message[1:])


def _cross_check(definition: StudyDefinition, file: str) -> list[Problem]:
    problems: list[Problem] = []
    if not definition.points and not definition.matrices():
        problems.append(
            Problem("points", "a study needs points, axes or a matrix", "for example: [points.base]", file=file)
        )
    used = [
        (f"points.{name}.overlays", overlay) for name, point in definition.points.items() for overlay in point.overlays
    ]
    if definition.sample is not None and not definition.axes:
        problems.append(Problem("sample", "there are no axes to sample", file=file))
    for path, matrix in definition.matrices():
        prefix = f"{path}." if path else ""
        used += [(f"{prefix}overlays", overlay) for overlay in matrix.overlays]
        for name, axis in matrix.axes.items():
            place = f"{prefix}axes.{name}"
            if isinstance(axis, list):
                used += [(place, overlay) for overlay in axis]
            problems += [
                replace(problem, file=file) for problem in problems_of(axis, place, sampled=matrix.sample is not None)
            ]
    for path, overlay in used:
        if overlay not in definition.overlays:
            hint = nearest(overlay, definition.overlays)
            problems.append(Problem(path, f'unknown overlay "{overlay}"', hint, file=file))
    if definition.precision is not None:
        problems += definition.precision.problems(definition.measures, file)
    problems += [replace(problem, file=file) for problem in pool_problems(definition.pool)]
    recorded = [str(table["name"]) for table in _engine.table_schemas()]
    problems += [
        Problem(f"keep[{number}]", f'unknown table "{table}"', nearest(table, recorded), file=file)
        for number, table in enumerate(definition.keep, 1)
        if table not in recorded
    ]
    problems += [
        Problem(f"keep_points.{table}", "this table is not in `keep`", hint, file=file)
        for table in definition.keep_points
        if table not in definition.keep
        for hint in [nearest(table, definition.keep)]
    ]
    labelled = [(f"points.{name}.labels", set(point.labels)) for name, point in definition.points.items()]
    labelled += [(path or "axes", set(matrix.labels) | set(matrix.axes)) for path, matrix in definition.matrices()]
    for columns, table in ((RUN_COLUMNS, "runs.parquet"), (SUMMARY_COLUMNS, "summary.csv")):
        problems += [
            Problem(f"{path}.{label}", f"this name is a column of {table}", file=file)
            for path, labels in labelled
            for label in sorted(columns & labels)
        ]
    return problems
