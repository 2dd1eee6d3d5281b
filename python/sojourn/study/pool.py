"""Homes of one name as one subject: `caller/1/call` to `caller/40/call` are `caller/*/call` in a summary.

A result keeps each home in `metrics.parquet`. A study with a `[pool]` adds what all homes of a name are together, the mean,
quantiles and shares over them, as subjects of their own, which measures and claims can ask for; `summary.csv` has these
instead of the homes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from sojourn.base.errors import Problem, nearest
from sojourn.base.metrics import metrics
from sojourn.declarations.answers import Declarations, Measure, Pool

if TYPE_CHECKING:
    import polars as pl  # who counts points has no time to load it

NUMBERED = "^([^/]+)/[0-9]+(/.*)?$"
"""A subject of a home: its name and number, and what in it."""

_POOLED = "${1}/*${2}"


def with_pools(table: pl.DataFrame, pool: Pool | None) -> pl.DataFrame:
    """Return metrics with the rows of pools behind them: one number over homes for each run, metric and statistic."""
    if pool is None:
        return table
    import polars as pl

    subject, value, unit = pl.col("subject"), pl.col("value"), pl.col("unit")
    names = [name for name in table["metric"].unique().drop_nulls() if _matches(name, pool.metrics)]
    is_pooled = subject.str.contains(NUMBERED) & value.is_finite() & pl.col("metric").is_in(names)
    homes = table.filter(is_pooled).with_columns(subject.str.replace(NUMBERED, _POOLED))
    key = [name for name in table.columns if name != "value"]
    found = [table]

    def add(rows: pl.DataFrame, statistic: pl.Expr, ending: str, in_unit: pl.Expr = unit) -> None:
        over_homes = rows.group_by(key, maintain_order=True).agg(statistic.alias("value"))
        renamed = over_homes.with_columns(subject + ending, in_unit.alias("unit"))
        found.append(renamed.select(table.columns))

    add(homes, value.mean(), "")
    for share in pool.quantiles:
        add(homes, value.quantile(share, "linear"), _quantile(share))
    for metric, limit in pool.over.items():
        above = 100.0 * (value > limit).mean()
        add(homes.filter(pl.col("metric") == metric), above, _over(metric, limit), pl.lit("%"))
    return pl.concat(found)


def of_summary(table: pl.DataFrame, own: Declarations) -> pl.DataFrame:
    """Return the metrics that a summary is made of: those of homes only where the study keeps or measures them."""
    if own.pool is None:
        return table
    import polars as pl

    asked = {subject for measure in own.measures.values() for subject in _subjects(measure)}
    kept = [
        subject
        for subject in table["subject"].unique().drop_nulls()
        if not re.search(NUMBERED, subject) or subject in asked or _matches(subject, own.pool.keep)
    ]
    return table.filter(pl.col("subject").is_in(kept))


def pooled_subjects(subjects: Mapping[str, str], pool: Pool | None) -> dict[str, str]:
    """Return the subjects of pools that homes make, each with its kind.

    Examples
    --------
    >>> homes = {"caller/1/call": "voice", "caller/2/call": "voice", "call": "voice"}
    >>> list(pooled_subjects(homes, Pool(quantiles=[0.9], over={"delay_p99": 50})))
    ['caller/*/call', 'caller/*/call p90', 'caller/*/call over 50 ms']
    """
    if pool is None:
        return {}
    pools = {re.sub(NUMBERED, r"\1/*\2", subject): kind for subject, kind in subjects.items()}
    endings = ["", *map(_quantile, pool.quantiles)]
    endings += [_over(metric, limit) for metric, limit in pool.over.items()]
    made = [(subject, kind) for subject, kind in pools.items() if subject not in subjects]
    return {subject + ending: kind for subject, kind in made for ending in endings}


def pool_problems(pool: Pool | None) -> Iterator[Problem]:
    """Find metrics of a pool that no run has."""
    if pool is None:
        return
    for number, pattern in enumerate(pool.metrics, 1):
        if not any(fnmatchcase(name, pattern) for name in metrics()):
            hint = nearest(pattern, metrics())
            yield Problem(f"pool.metrics[{number}]", f'no run has a metric "{pattern}"', hint)
    for metric in pool.over:
        if metric not in metrics():
            hint = nearest(metric, metrics())
            yield Problem(f"pool.over.{metric}", f'no run has a metric "{metric}"', hint)
        elif not _matches(metric, pool.metrics):
            yield Problem(f"pool.over.{metric}", "this metric is not in `pool.metrics`", "add it")


def _quantile(share: float) -> str:
    return f" p{100 * share:g}"


def _over(metric: str, limit: float) -> str:
    return f" over {limit:g} {metrics()[metric].unit}".rstrip()


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _subjects(measure: Measure) -> list[str]:
    return [measure.subject, measure.per_subject, *measure.jain]
