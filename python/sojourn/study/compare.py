"""Differences between two results, or between the points of one, and if they exceed chance.

Runs are paired by seed: with the same seed both sides see the same arrivals, so the differences vary
less than the values. Each row has the mean difference with a t interval and the p-value of a paired t test;
Holm's step-down procedure corrects for the number of tests in a table. See `sojourn.stats.pairs`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import polars as pl

from sojourn.base.digits import significant
from sojourn.base.errors import UsageError, nearest
from sojourn.base.metrics import words_of
from sojourn.headline import may_be_named
from sojourn.stats.level import at_level, significance
from sojourn.stats.pairs import holm, paired_test
from sojourn.stats.quantity import quantity_of
from sojourn.study.result import StudyResult

PAIRED_BY = ["point", "subject", "metric", "unit"]

CHANGED = ("better", "worse", "moved", "one seed")
"""Verdicts of values that are not the same and not known to lie within chance."""


class Compared(Protocol):
    """Results of studies, and single runs, which can be compared."""

    @property
    def metrics(self) -> pl.DataFrame:
        """`point, seed, subject, metric, value, unit`."""
        ...

    @property
    def level(self) -> float:
        """Level of tests."""
        ...


def without_twins(table: pl.DataFrame) -> pl.DataFrame:
    """Return a comparison without rows that tell a number again: of a subject, the same values with the same interval.

    A metric of the busier direction is that of one direction as long as the other is quiet; the row names the direction.
    """
    told = [name for name in table.columns if name not in ("metric", "change", "effect", "p")]
    kept: dict[tuple[Any, ...], int] = {}
    rows = table.to_dicts()
    for place, row in enumerate(rows):
        # Of what did not move, equal numbers are many: nothing was lost, and nothing marked.
        key = tuple(row[name] for name in told) if row["verdict"] in CHANGED else (place,)
        if key not in kept or "busier" in words_of(rows[kept[key]]["metric"]):
            kept[key] = place
    return table[sorted(kept.values())]


def compare_results(before: Compared, after: Compared) -> pl.DataFrame:
    """Return one row per point, subject and metric that both results have.

    Columns: `point, subject, metric, unit, seeds` (pairs), `before, after` (means), `difference`, `low,
    high` (95 % t interval of the difference), `p` (adjusted), `verdict`: `same` bit for bit,
    `moved` significantly, `within chance`, or `one seed` where chance cannot be judged.
    """
    left = before.metrics.select(*PAIRED_BY, "seed", pl.col("value").alias("before"))
    right = after.metrics.select(*PAIRED_BY, "seed", pl.col("value").alias("after"))
    pairs = left.join(right, on=[*PAIRED_BY, "seed"], how="inner", maintain_order="left")
    with at_level(max(before.level, after.level)):
        table = _test(pairs, PAIRED_BY, directed=False)
    return without_twins(table.drop("change", "effect"))


@dataclass(frozen=True)
class LabelComparison:
    """The points of one result against each other, by one label.

    Both tables have `VALUE, against` (two values of the label), `subject, metric, unit, seeds` (pairs),
    `before` (mean of `against`), `after` (mean of `VALUE`), `difference` with `low` and `high` (95 % t
    interval), `change` (in percent of `before`), `effect` (mean of the differences over their standard
    deviation: Cohen's d for pairs), `p` (after Holm's correction within the table) and `verdict`:
    `better`, `worse` or `moved` significantly, `within chance`, `same` bit for bit, or `one seed`.
    `VALUE` is a column of the label's own name.
    """

    by: str
    """The label."""
    against: str
    """The value that the others are compared with."""
    others: tuple[str, ...]
    """Labels that are the same on both sides of each pair."""
    overall: pl.DataFrame
    """Averages over the other labels: one row per value, subject and metric. Seeds are the pairs."""
    each: pl.DataFrame
    """One row per value, combination of the other labels (further columns), subject and metric."""
    sentences: tuple[str, ...]
    """A sentence for each value of the label: its changes."""

    @property
    def headline(self) -> str:
        """All sentences together."""
        return " ".join(self.sentences)

    @property
    def changed(self) -> bool:
        """True if anything moved, or differs where one seed cannot tell."""
        return bool(self.each["verdict"].is_in(list(CHANGED)).any())


def compare_labels(result: StudyResult, by: str, against: str | None = None) -> LabelComparison:
    """Compare the points of a result that differ in one label, paired by the other labels and seeds.

    This is the table behind `sojourn compare DIR --by LABEL` and of every report.

    Raises `UsageError` if no point has the label, it has one value only, or no two points differ in it alone.

    Parameters
    ----------
    result
        A finished study.
    by
        The label.
    against
        The value to compare with; the study's first if left out.

    Examples
    --------
    >>> compare_labels(StudyResult.load("results/mine/latest"), "queue").headline  # doctest: +SKIP
    """
    if by not in result.labels:
        raise UsageError(f'no point has a label "{by}"', _known(by, result.labels, "labels"))
    points = result.points.filter(pl.col(by).is_not_null())
    values = points[by].unique(maintain_order=True).cast(pl.String).to_list()
    points = points.with_columns(pl.col(by).cast(pl.String))
    if len(values) < 2:
        raise UsageError(f'all points have the same "{by}": {values[0]}', "compare by a label that varies")
    reference = values[0] if against is None else against
    if reference not in values:
        raise UsageError(f'no point has {by} "{reference}"', _known(reference, values, "values"))
    others = _others(points, result.labels, by)
    _refuse_twins(points, others, by)
    key = [*others, "subject", "metric", "unit"]
    rows = result.metrics.join(points.select("point", by, *others), on="point", maintain_order="left").select(
        by, *key, "seed", "value"
    )
    base = rows.filter(pl.col(by) == reference)
    pairs = rows.filter(pl.col(by) != reference).join(
        base.select(*key, "seed", pl.col("value").alias("before")),
        on=[*key, "seed"],
        nulls_equal=True,
        maintain_order="left",
    )
    if pairs.is_empty():
        raise UsageError(f'no two points differ in "{by}" alone', f"the other labels are {', '.join(others)}")
    pairs = pairs.rename({"value": "after"}).with_columns(pl.lit(reference).alias("against"))
    with at_level(result.level):
        each = without_twins(_test(pairs, [by, "against", *key], directed=True))
    shared = [by, "against", "subject", "metric", "unit"]
    finite = pl.col("before").is_finite() & pl.col("after").is_finite()
    averages = (
        pairs.filter(finite, pl.col("seed").is_in(_seeds_of_all(result)))
        .group_by(*shared, "seed", maintain_order=True)
        .agg(pl.col("before", "after").mean())
    )
    with at_level(result.level):
        overall = without_twins(_test(averages, shared, directed=True))
    unit = result.label_units.get(by, "")
    means = f"; means over {' and '.join(name.replace('_', ' ') for name in others)}" if others else ""
    rest = [value for value in values if value != reference]
    sentences = _sentences(f" ({by}{means})", by, unit, reference, rest, overall)
    return LabelComparison(by, reference, tuple(others), overall, each, tuple(sentences))


def _seeds_of_all(result: StudyResult) -> list[int]:
    """Return the seeds that all points have: means over points are of the same points then; all, if their number was fixed."""
    seeds = result.runs.group_by("seed").len()
    if result.stopped:
        seeds = seeds.filter(pl.col("len") == result.points.height)
    return seeds["seed"].to_list()


def _known(name: str, names: list[str], what: str) -> str:
    return nearest(name, names) or (f"its {what}: {', '.join(names)}" if names else "it has none")


def _others(points: pl.DataFrame, labels: list[str], by: str) -> list[str]:
    """Return the labels to pair by: those that vary among points with the same value of `by`."""
    return [
        label for label in labels if label != by and points.group_by(by).agg(pl.col(label).n_unique())[label].max() != 1
    ]


def _refuse_twins(points: pl.DataFrame, others: list[str], by: str) -> None:
    twins = points.group_by(by, *others, maintain_order=True).agg("point")
    for names in twins["point"].to_list():
        if len(names) > 1:
            raise UsageError(
                f"points {names[0]} and {names[1]} have the same labels",
                "give them labels that tell them apart in the study file",
            )


def _test(pairs: pl.DataFrame, key: list[str], *, directed: bool) -> pl.DataFrame:
    """Compare `after` with `before` in each group of pairs; adjust p-values over all groups."""
    pairs = pairs.filter(pl.col("before").is_finite() & pl.col("after").is_finite())
    difference = pl.col("after") - pl.col("before")
    grouped = pairs.group_by(key, maintain_order=True).agg(
        pl.len().cast(pl.UInt32).alias("seeds"),
        pl.col("before").mean(),
        pl.col("after").mean(),
        difference.mean().alias("difference"),
        difference.std().alias("deviation"),
        (pl.col("before") == pl.col("after")).all().alias("equal"),
    )
    rows = grouped.to_dicts()
    tested: list[int] = []
    p_values: list[float] = []
    for index, row in enumerate(rows):
        row["low"] = row["high"] = row["p"] = row["effect"] = row["change"] = None
        if row["before"]:
            row["change"] = 100 * row["difference"] / abs(row["before"])
        if row["equal"]:
            row["verdict"] = "same"
        elif row["seeds"] == 1:
            row["verdict"] = "one seed"
        else:
            mean, deviation = row["difference"], row["deviation"]
            row["low"], row["high"], p = paired_test(mean, deviation, row["seeds"])
            if row["low"] < row["high"]:
                row["effect"] = mean / deviation
            tested.append(index)
            p_values.append(p)
    for index, p in zip(tested, holm(p_values), strict=True):
        row = rows[index]
        row["p"] = p
        row["verdict"] = _direction(row, directed=directed) if p < significance() else "within chance"
    schema: dict[str, Any] = {
        **{name: pairs.schema[name] for name in key},
        "seeds": pl.UInt32(),
        **dict.fromkeys(["before", "after", "difference", "low", "high", "change", "effect", "p"], pl.Float64()),
        "verdict": pl.String(),
    }
    return pl.DataFrame([{name: row[name] for name in schema} for row in rows], schema=schema)


def _direction(row: dict[str, Any], *, directed: bool) -> str:
    """Say which way a value moved; one too small to notice is neither better nor worse."""
    quantity = quantity_of(row["metric"], row["unit"])
    better = quantity.better if directed else ""
    best = (min if better == "lower" else max)(row["before"], row["after"])
    if not better or abs(row["difference"]) <= quantity.indifference(best):
        return "moved"
    return "better" if (row["difference"] < 0) == (better == "lower") else "worse"


def _sentences(told: str, by: str, unit: str, against: str, values: list[str], overall: pl.DataFrame) -> list[str]:
    """Say what a change of the label does to what people feel most."""
    sentences: list[str] = []
    for value in values:
        rows = [row for row in overall.to_dicts() if row[by] == value]
        if not rows:
            continue
        counts = {v: sum(row["verdict"] == v for row in rows) for v in CHANGED}
        start = f"{f'{value} {unit}'.strip()} instead of {f'{against} {unit}'.strip()}{'' if sentences else told}"
        if counts["one seed"]:
            sentences.append(
                f"{start}: {counts['one seed']} of {len(rows)} measures differ, on one seed, which "
                "cannot tell whether by chance."
            )
            continue
        if not any(counts.values()):
            sentences.append(f"{start}: nothing moved beyond chance.")
            continue
        may = may_be_named({(row["subject"], row["metric"]): max(row["before"], row["after"]) for row in rows})
        named = [
            row for row in rows if row["verdict"] in ("better", "worse") and (row["subject"], row["metric"]) in may
        ]
        named.sort(key=_weight, reverse=True)
        most = 3  # chosen: what one reads at a glance
        changes = "; ".join(_told(row) for row in named[:most])
        parts = [f"{counts[v]} {v}" for v in ("better", "worse", "moved") if counts[v]]
        summary = f"of {len(rows)} measures, {', '.join(parts)} beyond chance"
        sentences.append(f"{start}: {changes}; {summary}." if changes else f"{start}: {summary}.")
    return sentences


def _weight(row: dict[str, Any]) -> float:
    """Return by what factor a value changed, up or down, as a logarithm."""
    before, after = row["before"], row["after"]
    return abs(math.log(after / before)) if before > 0 and after > 0 else math.inf


_DIRECTIONS = {"up": "upstream", "down": "downstream"}


def _told(row: dict[str, Any]) -> str:
    """Write one change in words."""
    words: list[str] = row["metric"].split("_")
    name = " ".join(_DIRECTIONS.get(word, word) for word in words)
    unit = f" {row['unit']}" if row["unit"] else ""
    change = row["change"]
    percent = f" by {abs(change):.0f} %" if change is not None and abs(change) < 1000 else ""
    verb = "falls" if row["difference"] < 0 else "rises"
    return (
        f"{name} of {row['subject']} {verb}{percent}, from {significant(row['before'], 3)} to "
        f"{significant(row['after'], 3)}{unit}"
    )
