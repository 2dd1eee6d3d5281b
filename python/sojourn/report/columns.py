"""The report of a study that has too many points to list them: how its measures spread, what each axis changes, the ends.

Numbers of a point are means over its seeds; quantiles are those of points.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from sojourn.answers.claims import JudgedClaim
from sojourn.answers.figure import Figure
from sojourn.answers.judging import judge
from sojourn.answers.large_studies import ColumnsView, TablePoints
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.report_content import PlainCell, PlainTable, StudyParts
from sojourn.base.digits import significant
from sojourn.base.files import fresh_folder, write_file
from sojourn.base.metrics import words_of
from sojourn.headline import may_be_named
from sojourn.headline.kinds import kinds_in
from sojourn.plots.spec import Axis, Band, Line, Panel, PlotSpec, Scale, as_array
from sojourn.report import page
from sojourn.report.by_label import file_name
from sojourn.report.drawing_files import Drawers
from sojourn.report.files import write_claims, write_plain
from sojourn.report.roles import by_role
from sojourn.stats.quantity import quantity_of
from sojourn.study.columns import Columns, Measured
from sojourn.study.definition import StudyDefinition
from sojourn.study.point_table import point_table
from sojourn.study.precision import is_plain
from sojourn.study.result import METRICS_SCHEMA, RUNS_SCHEMA, StudyResult, missing_runs

MOST_MEASURES = 6
"""Measures that are shown. chosen: a figure of two rows."""

MOST_VALUES = 40
"""Values of a label that are shown; more are put together to this number of groups. chosen: a curve needs no more."""

ENDS = 10
"""Points at each end of a measure that are listed."""

QUANTILES = (0.1, 0.5, 0.9)

WIDE_RANGE = 8.0
"""Ratio of the ends from which an axis is logarithmic. chosen: as for sweeps."""


def choose(definition: StudyDefinition, sums: pl.DataFrame) -> list[Measured]:
    """Return the metrics that a report is about: the measures of the study, or what people feel and transfers pay."""
    known = [Measured(*row) for row in sums.select("subject", "metric", "unit").iter_rows()]
    asked = {(m.subject, m.metric) for m in definition.measures.values() if is_plain(m)}
    if not asked:
        largest = {(s, m): most for s, m, most in sums.select("subject", "metric", "most").rows()}
        kinds = kinds_in(*definition.overlays.values())
        asked = set(by_role(largest, kinds, definition.feels)) or may_be_named(largest)
        known = [one for one in known if quantity_of(one.metric, one.unit).better]
    found = [one for one in known if (one.subject, one.metric) in asked]
    return (found or known)[:MOST_MEASURES]


@dataclass(frozen=True)
class _Told:
    """A result with a row for each point."""

    result: Columns

    @cached_property
    def points(self) -> pl.DataFrame:
        """`point`, the labels, and the mean over seeds of each measure, NaN as nothing."""
        columns = [values.fill_nan(None) for values in self.result.measures.values()]
        rows = self.result.runs.select("point", *self.result.labels).with_columns(columns)
        if not rows["point"].is_duplicated().any():
            return rows
        return rows.group_by("point", maintain_order=True).agg(
            *(pl.col(label).first() for label in self.result.labels),
            *(pl.col(one.column).mean() for one in self.result.measures),
        )

    @cached_property
    def varying(self) -> list[str]:
        """Labels that vary."""
        return [label for label in self.result.labels if self.points[label].n_unique() > 1]

    @cached_property
    def units(self) -> dict[str, str]:
        """Units of labels."""
        return self.result.definition.label_units()

    def by(self, label: str, one: Measured) -> pl.DataFrame:
        """Return `value` of a label with quantiles of a measure over the points that have it, `0.1`, `0.5`, `0.9`."""
        rows = self.points.select(pl.col(label).alias("value"), pl.col(one.column).alias("measure"))
        rows = rows.drop_nulls()
        values = rows["value"].unique().sort()
        if rows.schema["value"].is_numeric() and len(values) > MOST_VALUES:
            group = (np.arange(len(values)) * MOST_VALUES) // len(values)
            groups = pl.DataFrame({"value": values, "group": group})
            middle = pl.col("value").mean().over("group").alias("middle")
            rows = rows.join(groups.with_columns(middle), on="value")
            rows = rows.select(pl.col("middle").alias("value"), "measure")
        quantiles = [pl.col("measure").quantile(q, "nearest").alias(str(q)) for q in QUANTILES]
        return rows.group_by("value").agg(pl.len().alias("points"), *quantiles).sort("value")


def build_columns(
    result: Columns, *, figures: bool = True, drawers: Drawers | None = None, pdf: bool = False
) -> StudyParts:
    """Write claims.csv, tables/, figures/ and report.html into the result's directory; return their contents."""
    told, directory = _Told(result), result.directory
    drawn = tuple(_figures(told)) if figures else ()
    with drawers or Drawers(pdf=pdf, expected=len(drawn)) as drawers:
        drawers.folder = fresh_folder(directory / "figures", root=directory)
        for figure in drawn:
            drawers.draw(figure)
        by_label = [_by_label(told, label) for label in told.varying]
        ends = [_ends(told, one) for one in result.measures]
        tables = (_spread(told), *by_label, *ends, _metrics(result))
        shown = _shown(result)
        claims = _claims(result, shown)
        parts = StudyParts(headlines=(_headline(told),), plain_tables=tables, figures=drawn, claims=claims)
        write_claims(directory / "claims.csv", claims)
        folder = fresh_folder(directory / "tables", root=directory)
        for table in tables:
            write_plain(folder / f"{table.name}.csv", table)
        drawings = drawers.finish()
    write_file(directory / "report.html", page.render(shown, parts, drawings, drawn=figures))
    return parts


def _shown(result: Columns) -> StudyResult:
    """Return the result as pages know one, without its metrics."""
    kept = [*RUNS_SCHEMA, *result.labels]
    empty = pl.DataFrame(schema=METRICS_SCHEMA)
    missing = tuple(missing_runs(result.manifest))
    return StudyResult(result.directory, result.definition, empty, result.runs.select(kept), result.manifest, missing)


def _claims(result: Columns, shown: StudyResult) -> tuple[JudgedClaim, ...]:
    """Judge the claims of the study, each by the points that it is about."""
    definition = result.definition
    if not definition.claim:
        return ()
    points = TablePoints(point_table(definition), definition.labels)
    study = OpenStudy.of_folder(definition, shown.study_folder, points, shown.directory)
    return tuple(judge(study, study.ask(ColumnsView(shown, result))))


def _title(one: Measured) -> str:
    return f"{one.subject}: {words_of(one.metric)}{f', {one.unit}' if one.unit else ''}"


def _headline(told: _Told) -> str:
    points, runs = told.points.height, told.result.runs.height
    size = f"{points:,} points, {runs:,} runs" if points != runs else f"{points:,} points"
    for one in told.result.measures:
        column = told.points[one.column].drop_nulls()
        if not column.is_empty():
            low, middle, high = (significant(column.quantile(q, "nearest") or 0.0) for q in QUANTILES)
            unit = f" {one.unit}" if one.unit else ""
            return (
                f"{size}: {words_of(one.metric)} of {one.subject} is {low} to {high}{unit} "
                f"in eight of ten, {middle}{unit} in the middle."
            )
    return f"{size}; no run has a number of what the report is about."


def _cells(*words: object) -> tuple[PlainCell, ...]:
    return tuple(PlainCell(_word(word)) for word in words)


def _word(word: object) -> str:
    if word is None:
        return "–"
    if isinstance(word, float):
        return significant(word)
    return f"{word:,}" if isinstance(word, int) else str(word)


def _spread(told: _Told) -> PlainTable:
    rows: list[tuple[PlainCell, ...]] = []
    for one in told.result.measures:
        column = told.points[one.column].drop_nulls()
        quantiles = [column.quantile(q, "nearest") for q in QUANTILES]
        ends = (column.min(), *quantiles, column.max())
        rows.append(_cells(_title(one), len(column), column.mean(), *ends))
    return PlainTable(
        "measures",
        "How the measures spread",
        "Over points; a tenth of them has less than P10, a tenth more than P90.",
        ("", "points", "mean", "least", "P10", "median", "P90", "most"),
        tuple(rows),
    )


def _by_label(told: _Told, label: str) -> PlainTable:
    unit = told.units.get(label, "")
    found = [told.by(label, one) for one in told.result.measures]
    values: list[Any] = sorted({value for frame in found for value in frame["value"]})
    looked_up = [{row[0]: row[1:] for row in frame.iter_rows()} for frame in found]
    rows: list[tuple[PlainCell, ...]] = []
    for value in values[:MOST_VALUES]:
        cells = [*_cells(value)]
        for known in looked_up:
            if value not in known:
                cells.append(PlainCell("–", "muted"))
                continue
            _, low, middle, high = known[value]
            detail = f"{significant(low)} to {significant(high)}"
            cells.append(PlainCell(significant(middle), detail=detail))
        rows.append(tuple(cells))
    more = f" The first {MOST_VALUES} of {len(values)} values." if len(values) > MOST_VALUES else ""
    return PlainTable(
        f"by-{file_name(label)}",
        f"By {label.replace('_', ' ')}",
        f"Median over points, and P10 to P90. Many values stand in groups, under their mean.{more}",
        (f"{label.replace('_', ' ')}{f', {unit}' if unit else ''}", *map(_title, told.result.measures)),
        tuple(rows),
        folded=len(rows) > 12,
    )


def _ends(told: _Told, one: Measured) -> PlainTable:
    rows = told.points.select("point", *told.varying, one.column).drop_nulls(one.column)
    is_less_better = quantity_of(one.metric, one.unit).better == "lower"
    best = rows.bottom_k(ENDS, by=one.column).sort(one.column, "point")
    worst = rows.top_k(ENDS, by=one.column).sort(one.column, "point", descending=True)
    if not is_less_better:
        best, worst = worst, best
    body = [_cells(which, *row) for which, frame in (("best", best), ("worst", worst)) for row in frame.iter_rows()]
    return PlainTable(
        f"ends-{file_name(one.subject)}-{file_name(one.metric)}",
        f"Best and worst points, {_title(one)}",
        "Of one seed each, if the study has no more: chance is in them.",
        ("", "point", *(label.replace("_", " ") for label in told.varying), words_of(one.metric)),
        tuple(body),
        folded=True,
    )


def _metrics(result: Columns) -> PlainTable:
    deviation = (pl.col("m2") / (pl.col("n") - 1).cast(pl.Float64)).sqrt().fill_nan(None)
    rows = result.sums.with_columns(deviation.alias("deviation"))
    names = ("subject", "metric", "unit", "n", "mean", "deviation", "least", "most")
    body = [
        _cells(subject, words_of(metric), unit, *rest)
        for subject, metric, unit, *rest in rows.select(names).iter_rows()
    ]
    return PlainTable(
        "metrics",
        "All metrics",
        "Over all runs that have a value.",
        ("", "metric", "unit", "runs", "mean", "standard deviation", "least", "most"),
        tuple(body),
        folded=True,
    )


def _figures(told: _Told) -> Iterator[Figure]:
    for label in told.varying:
        if not told.points.schema[label].is_numeric():
            continue
        panels = [panel for one in told.result.measures if (panel := _panel(told, label, one))]
        if not panels:
            continue
        columns = min(2, len(panels))
        words = label.replace("_", " ")
        plot = PlotSpec(
            name=f"by-{file_name(label)}",
            title=f"What {words} changes",
            panels=tuple(panels),
            columns=columns,
            height=-(-len(panels) // columns) * 62 + 12,
            description=f"Medians of measures over {words}; bands hold eight points of ten.",
        )
        caption = "Median over all points with that value; the band holds eight points of ten."
        yield Figure(f"by-{file_name(label)}", plot, caption, "overview")


def _panel(told: _Told, label: str, one: Measured) -> Panel | None:
    rows = told.by(label, one)
    if rows.height < 3:
        return None
    x, low, middle, high = (as_array(rows[name].to_numpy()) for name in ("value", *map(str, QUANTILES)))
    scale: Scale = "log" if x[0] > 0 and x[-1] / x[0] >= WIDE_RANGE else "linear"
    return Panel(
        x=Axis(label.replace("_", " "), told.units.get(label, ""), scale=scale),
        y=Axis(words_of(one.metric), one.unit, low=0.0 if quantity_of(one.metric, one.unit).low == 0 else None),
        marks=(Band(x, low, high, "cycle-0", step=False), Line(x, middle, "cycle-0")),
        title=one.subject,
    )
