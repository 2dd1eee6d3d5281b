"""What moved between two results, and whether it is more than chance.

Runs are paired by seed: with the same seed both sides see the same arrivals, so the differences vary
less than the values. Each point, subject and metric gets the mean difference with a t interval and the
p-value of a paired t test; Holm's step-down procedure corrects for the number of tests.

Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
Statistics 6 (1979). Deviations: where all differences are the same and not zero (a deterministic
metric), the test has no variance to go by; the change counts as certain.
"""

import math

import polars as pl

from sojourn.study.result import StudyResult

__all__ = ["compare_results", "holm"]

SIGNIFICANCE = 0.05  # chosen: the level that readers expect where none is named
PAIRED_BY = ["point", "subject", "metric", "unit"]


def holm(p_values: list[float]) -> list[float]:
    """Return p-values adjusted by Holm's procedure, in the order given.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def compare_results(before: StudyResult, after: StudyResult) -> pl.DataFrame:
    """Return one row per point, subject and metric that both results have.

    Columns: `point, subject, metric, unit, seeds` (pairs), `before, after` (means), `difference`, `low,
    high` (95 % t interval of the difference), `p` (adjusted), `verdict`: `same` bit for bit,
    `moved` significantly, `within chance`, or `one seed` where chance cannot be told.
    """
    left = before.metrics.select(*PAIRED_BY, "seed", pl.col("value").alias("before"))
    right = after.metrics.select(*PAIRED_BY, "seed", pl.col("value").alias("after"))
    pairs = left.join(right, on=[*PAIRED_BY, "seed"], how="inner", maintain_order="left")
    pairs = pairs.filter(pl.col("before").is_finite() & pl.col("after").is_finite())
    difference = pl.col("after") - pl.col("before")
    grouped = pairs.group_by(PAIRED_BY, maintain_order=True).agg(
        pl.len().alias("seeds"),
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
        row["low"] = row["high"] = row["p"] = None
        if row["equal"]:
            row["verdict"] = "same"
        elif row["seeds"] == 1:
            row["verdict"] = "one seed"
        else:
            row["low"], row["high"], p = _paired(row["difference"], row["deviation"], row["seeds"])
            tested.append(index)
            p_values.append(p)
    for index, p in zip(tested, holm(p_values), strict=True):
        rows[index]["p"] = p
        rows[index]["verdict"] = "moved" if p < SIGNIFICANCE else "within chance"
    schema = {
        **dict.fromkeys(PAIRED_BY, pl.String()),
        "seeds": pl.UInt32(),
        **dict.fromkeys(["before", "after", "difference", "low", "high", "p"], pl.Float64()),
        "verdict": pl.String(),
    }
    return pl.DataFrame([{name: row[name] for name in schema} for row in rows], schema=schema)


def _paired(mean: float, deviation: float, count: int) -> tuple[float, float, float]:
    """Return interval and p-value of a mean difference."""
    from scipy.special import stdtr, stdtrit

    error = deviation / math.sqrt(count)
    # Differences of equal floats may vary in the last bit; that is no variance.
    if error <= 1e-12 * abs(mean):
        return mean, mean, 0.0
    half = float(stdtrit(count - 1, 1 - SIGNIFICANCE / 2)) * error
    return mean - half, mean + half, 2 * float(stdtr(count - 1, -abs(mean) / error))
