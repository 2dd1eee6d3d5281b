"""Names and labels of all points of a study as a table, column by column: a million take a second."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import translate

import numpy as np
import polars as pl

from sojourn.base.templates import fill
from sojourn.study.axes import Level, levels_of
from sojourn.study.definition import MatrixDefinition, StudyDefinition
from sojourn.study.expand import labels_of_numbers


def point_table(definition: StudyDefinition) -> pl.DataFrame:
    """Return `point` and the labels of all points, in the order of their numbers.

    Labels that are numbers in one matrix and words in another are words.
    """
    frames = [_rows({name: dict(one.labels) for name, one in definition.points.items()})]
    for path, matrix in definition.matrices():
        frames.append(_rows(labels_of_numbers(path, matrix)) if matrix.sample else _product(matrix))
    frames = [frame for frame in frames if frame.height]
    if not frames:
        return pl.DataFrame({"point": []}, schema={"point": pl.String})
    for label in {name for frame in frames for name in frame.columns}:
        kinds = {frame.schema[label] for frame in frames if label in frame.columns}
        if len(kinds) > 1:
            is_number = all(kind.is_numeric() for kind in kinds)
            kind = pl.Float64() if is_number else pl.String()
            frames = [
                frame.with_columns(pl.col(label).cast(kind)) if label in frame.columns else frame for frame in frames
            ]
    return pl.concat(frames, how="diagonal")


def _rows(labels: Mapping[str, Mapping[str, object]]) -> pl.DataFrame:
    names = list(dict.fromkeys(name for own in labels.values() for name in own))
    columns = {name: _column(name, [own.get(name) for own in labels.values()]) for name in names}
    return pl.DataFrame({"point": pl.Series("point", list(labels), dtype=pl.String), **columns})


def _column(name: str, values: list[object]) -> pl.Series:
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) > 1 and not kinds <= {int, float}:
        values = [None if value is None else str(value) for value in values]
    return pl.Series(name, values, strict=False)


def _product(matrix: MatrixDefinition) -> pl.DataFrame:
    """Return the points of a matrix whose axes are all combined: the last one is the fastest."""
    levels = {axis: levels_of(about) for axis, about in matrix.axes.items()}
    count = int(np.prod([len(several) for several in levels.values()]))
    places: dict[str, np.ndarray] = {}
    rest = np.arange(count)
    for axis, several in reversed(levels.items()):
        rest, places[axis] = np.divmod(rest, len(several))
    labels = {axis: _labels(axis, several).gather(places[axis]).alias(axis) for axis, several in levels.items()}
    constant = {name: pl.repeat(value, count, eager=True) for name, value in matrix.labels.items()}
    frame = pl.DataFrame({"point": _names(matrix, levels, places), **labels, **constant})
    if matrix.exclude:
        left_out = re.compile("|".join(map(translate, matrix.exclude)))
        kept = [left_out.match(name) is None for name in frame["point"]]
        frame = frame.filter(pl.Series(kept))
    return frame


def _labels(axis: str, levels: list[Level]) -> pl.Series:
    return _column(axis, [level.label for level in levels])


def _names(matrix: MatrixDefinition, levels: dict[str, list[Level]], places: dict[str, np.ndarray]) -> pl.Series:
    template = matrix.name or "-".join(f"{{{axis}}}" for axis in levels)
    # What stands between the values, which no name of an axis can contain.
    parts = fill(template, {axis: f"\0{axis}\0" for axis in levels}).split("\0")
    columns = [
        pl.Series([level.text for level in levels[part]]).gather(places[part]) if number % 2 else pl.lit(part)
        for number, part in enumerate(parts)
        if part
    ]
    return pl.select(pl.concat_str(columns).alias("point"))["point"]
