"""The tidy summary of a result: one row per point, subject and metric, with an interval over runs.

`summary.parquet` and `summary.csv` hold what a reader plots or puts into a paper: labels of the points as
columns, the mean over runs with its 95 % interval, the median. How an interval was made, and why there is
none, stands beside it.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl

from sojourn.stats.estimate import interval_within, wilson
from sojourn.stats.level import CONFIDENCE, confidence, is_anytime
from sojourn.stats.quantity import Quantity, quantity_of

COLUMNS = ("point", "subject", "metric", "unit", "n", "mean", "low", "high", "median", "interval", "note")
"""Columns beside the labels."""

FEW_RUNS = 5
"""chosen: below this, Student's quantile is above 2.8 and an interval is more guess than measurement."""

_KEY = ["point", "subject", "metric", "unit"]


def summarise(metrics: pl.DataFrame, runs: pl.DataFrame, labels: list[str]) -> pl.DataFrame:
    """Return the summary of a result.

    Parameters
    ----------
    metrics
        As in `metrics.parquet`.
    runs
        As in `runs.parquet`; says how many runs each point has, and its labels.
    labels
        Names of the label columns of `runs`.

    Returns
    -------
    polars.DataFrame
        Columns `point`, the labels, `subject, metric, unit`, `n` (runs that gave a value), `mean`, `low`
        and `high` (95 % interval of the mean, that of a rate within its access link's), `median`, `interval` (how it was made: `t`, `log-t`,
        `wilson`, or empty; with `looks-` or `anytime-` before it if runs were looked at before they ended) and `note` (few runs, runs without a value, runs that are all equal).
    """
    value = pl.col("value")
    grouped = (
        metrics.filter(value.is_finite())
        .group_by(_KEY, maintain_order=True)
        .agg(
            pl.len().cast(pl.UInt32).alias("n"),
            value.mean().alias("mean"),
            value.std().alias("deviation"),
            value.min().alias("least"),
            value.max().alias("most"),
            value.median().alias("median"),
        )
    )
    points = runs.group_by("point", maintain_order=True).agg(
        *(pl.col(label).first() for label in labels), pl.len().alias("runs")
    )
    table = grouped.join(points, on="point", how="left", maintain_order="left")
    table = _within_rates(_with_intervals(table), metrics, runs)
    return table.select("point", *labels, *COLUMNS[1:])


def _with_intervals(table: pl.DataFrame) -> pl.DataFrame:
    kinds = table.select("metric", "unit").unique(maintain_order=True)
    quantities = {(m, u): quantity_of(m, u) for m, u in kinds.iter_rows()}
    count = table["n"].to_numpy()
    mean = table["mean"].to_numpy()
    deviation = table["deviation"].fill_null(0.0).to_numpy()
    least, most = table["least"].to_numpy(), table["most"].to_numpy()
    low, high = np.full(len(mean), np.nan), np.full(len(mean), np.nan)
    method = np.full(len(mean), "", dtype=object)
    bounds = np.array(
        [(quantities[key].low, quantities[key].high) for key in table.select("metric", "unit").iter_rows()]
    ).reshape(-1, 2)
    # What lies beyond the bounds that its name promises has none.
    bounds[(least < bounds[:, 0]) | (most > bounds[:, 1])] = (-np.inf, np.inf)
    for ends in np.unique(bounds, axis=0):
        quantity = Quantity(float(ends[0]), float(ends[1]))
        chosen = np.all(bounds == ends, axis=1)
        low[chosen], high[chosen] = interval_within(mean[chosen], deviation[chosen], count[chosen], quantity)
        method[chosen] = _method(quantity)
    known = ~np.isnan(low) & ~np.isnan(high)
    on_low, on_high = most <= bounds[:, 0], least >= bounds[:, 1]
    notes = [
        _note(int(n), int(total), equal=bool(a == b), on_bound=bool(at_low or at_high))
        for n, total, a, b, at_low, at_high in zip(count, table["runs"], least, most, on_low, on_high, strict=True)
    ]
    return table.with_columns(
        pl.Series("low", low).fill_nan(None),
        pl.Series("high", high).fill_nan(None),
        pl.Series("interval", np.where(known, method, ""), dtype=pl.String),
        pl.Series("note", notes, dtype=pl.String),
    )


_LINKS = {"goodput": "upstream", "goodput_downstream": "downstream"}
"""The access link that carries what a rate counts."""


def _within_rates(table: pl.DataFrame, metrics: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """End the intervals of rates where their access link ends: at all that it forwarded over how busy it was.

    A link whose rate differs between runs ends none, and neither does one that a run passed, over a path that avoids it.
    """
    by_link = metrics.filter(pl.col("subject").is_in(list(_LINKS.values())))
    used = by_link.filter((pl.col("metric") == "utilisation") & (pl.col("value") > 0))
    if used.is_empty():
        return table
    volumes = by_link.filter((pl.col("metric") == "forwarded_volume") & (pl.col("unit") == "kB"))
    key = ["point", "seed", "subject"]
    rates = (
        used.select(*key, pl.col("value").alias("used"))
        .join(volumes.select(*key, "value"), on=key)
        .join(runs.select("point", "seed", "simulated_s"), on=["point", "seed"])
        .with_columns((pl.col("value") * 8e-3 / pl.col("simulated_s") / pl.col("used")).alias("rate"))
        .group_by("point", "subject")
        .agg(pl.col("rate").max().alias("_rate"), pl.col("rate").min().alias("_least"))
        .filter(pl.col("_least") > 0.99 * pl.col("_rate"))  # chosen: more than rounding, less than a rate that varies
    )
    ways = pl.DataFrame({"metric": list(_LINKS), "subject": list(_LINKS.values())})
    ends = rates.join(ways, on="subject").select("point", "metric", "_rate")
    known = table.with_columns(pl.col("metric").cast(pl.String)).join(
        ends, on=["point", "metric"], how="left", maintain_order="left"
    )
    passes = (pl.col("high") > pl.col("_rate")) & (pl.col("most") <= pl.col("_rate"))
    return known.with_columns(pl.when(passes).then("_rate").otherwise("high").alias("high"))


def _method(quantity: Quantity) -> str:
    name = "wilson" if quantity.is_share else "log-t" if np.isfinite(quantity.low) else "t"
    if is_anytime():
        return f"anytime-{name}"
    return name if confidence() == CONFIDENCE else f"looks-{name}"


def _note(count: int, runs: int, *, equal: bool, on_bound: bool) -> str:
    """Say what an interval alone does not."""
    words: list[str] = []
    if count < runs:
        words.append(f"{count} of {runs} runs gave a value")
    if count == 1:
        words.append("one run: no interval")
    elif on_bound:
        most = 100 * _share_of_differing(count)
        words.append(f"the same in all {count} runs; at most {most:.0f} % of runs differ (Wilson)")
    elif equal:
        words.append("the same in all runs")
    elif count < FEW_RUNS:
        words.append(f"only {count} runs")
    return "; ".join(words)


@cache
def _share_of_differing(count: int) -> float:
    """Return the largest share of runs that may differ where `count` runs were the same."""
    return wilson(0, count)[1]
