"""Points and results of studies that have more points than a list holds: a claim gets those that it is about, the rest stays in columns."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import polars as pl

from sojourn.answers.selection import LabelledPoint, Points
from sojourn.answers.view import NotRecorded, StudyView
from sojourn.declarations.answers import LabelValue, LabelWords, Where
from sojourn.study.columns import Columns
from sojourn.study.result import StudyResult

MOST_SELECTED = 100_000
"""Points that a claim may be about. chosen: as many take some seconds and half a gigabyte."""


class TablePoints(Points):
    """All points of a study; those that are selected become objects.

    Parameters
    ----------
    table
        `point` and the labels of each.
    words
        As of `Points`.
    """

    def __init__(self, table: pl.DataFrame, words: Mapping[str, Mapping[str, LabelWords]] | None = None) -> None:
        super().__init__((), words)
        self._table = table

    @property
    def names(self) -> tuple[str, ...]:
        """All points by name."""
        return tuple(self._table["point"])

    @property
    def labels(self) -> dict[str, list[str]]:
        """Values of each label, as text, in the order of the study."""
        return {label: list(values) for label, values in self._known.items()}

    @cached_property
    def _known(self) -> dict[str, dict[str, LabelValue]]:
        """Values of each label by their text."""
        columns = self._table.drop("point").get_columns()
        return {
            column.name: {str(value): value for value in column.unique(maintain_order=True).drop_nulls()}
            for column in columns
        }

    def point(self, name: str) -> LabelledPoint:
        """Return a point by name; one that the study does not have carries no labels."""
        if name not in self._by_name:
            self._made(self._table.filter(pl.col("point") == name))
        return super().point(name)

    def select(self, where: Where) -> list[LabelledPoint]:
        """Return the points that carry all of these labels, in the order of the study.

        Raises `NotRecorded` if there are too many.
        """
        table = self._table
        for label, given in where.items():
            known = self._known.get(label, {})
            wanted = map(str, given if isinstance(given, list) else [given])
            values = [known[value] for value in wanted if value in known]
            if not values:
                return []
            table = table.filter(pl.col(label).is_in(values))
        if table.height > MOST_SELECTED:
            message = f"is about {table.height:,} points, for a list of at most {MOST_SELECTED:,}"
            raise NotRecorded(message)
        return self._made(table)

    def _made(self, table: pl.DataFrame) -> list[LabelledPoint]:
        found: list[LabelledPoint] = []
        for row in table.iter_rows(named=True):
            name = str(row.pop("point"))
            labels = {label: value for label, value in row.items() if value is not None}
            found.append(self._by_name.setdefault(name, LabelledPoint(name, labels)))
        return found


class ColumnsView(StudyView):
    """Questions to such a result.

    Parameters
    ----------
    result
        The result, with its runs.
    columns
        Its numbers.
    """

    def __init__(self, result: StudyResult, columns: Columns) -> None:
        super().__init__(result)
        self._columns = columns
        self._runs: dict[str, tuple[np.ndarray, np.ndarray, float]] = {}
        """Rows, seeds and duration of the points that were used, in the order of seeds."""

    def require(self, *points: str) -> None:
        """Raise `NotRecorded` unless all points were run."""
        new = [point for point in points if point not in self._runs]
        if not new:
            return
        rows = self._columns.runs.select("point", "seed", "simulated_s").with_row_index("row")
        found = rows.filter(pl.col("point").is_in(new)).sort("seed").group_by("point")
        for point, places, seeds, durations in found.agg("row", "seed", "simulated_s").iter_rows():
            self._runs[point] = np.array(places), np.array(seeds, dtype=np.int64), max(durations)
        missing = [point for point in new if point not in self._runs]
        if missing:
            message = f"needs point {', '.join(missing[:3])}{', …' if len(missing) > 3 else ''}"
            raise NotRecorded(message)

    def seeds(self, point: str) -> list[int]:
        """Seeds of a point, in ascending order."""
        self.require(point)
        return [int(seed) for seed in self._runs[point][1]]

    def duration_s(self, point: str) -> float:
        """Return the simulated seconds of a point's runs."""
        self.require(point)
        return self._runs[point][2]

    def values(self, point: str, subject: str, metric: str) -> np.ndarray:
        """One value per seed in the order of `seeds`; NaN where a run gave none.

        Raises `NotRecorded` if the point was not run or has no such metric.
        """
        self.require(point)
        column = self._columns.values(subject, metric)
        if column is not None:
            values = column[self._runs[point][0]]
            if np.isfinite(values).any():
                return values
        message = f"point {point} has no metric {metric} of {subject}"
        raise NotRecorded(message)

    def has(self, point: str, subject: str, metric: str) -> bool:
        """Return whether a metric was measured at a point."""
        try:
            self.values(point, subject, metric)
        except NotRecorded:
            return False
        return True
