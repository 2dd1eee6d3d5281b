"""Tests without a model: whether treatments differ, and whether one varies less.

Source: the talk notes "lower variability in week 2"; Brown and Forsythe (1974) for spread, Kruskal and
Wallis for levels, Friedman for levels within homes. scipy computes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from sojourn.field.libraries import scipy_stats


@dataclass(frozen=True, slots=True)
class RankTests:
    """Statistics and p values; NaN where the data do not allow a test."""

    kruskal_wallis: float
    kruskal_wallis_p: float
    brown_forsythe: float
    brown_forsythe_p: float
    friedman: float
    friedman_p: float
    friedman_probes: int
    """Probes with observations at every level."""


def rank_tests(rows: pl.DataFrame, factor: str) -> RankTests:
    """Compare the levels of a factor.

    Parameters
    ----------
    rows
        Columns `probe`, `delta` and the factor's.
    factor
        Column that names the level.
    """
    stats = scipy_stats()

    groups = [part["delta"].to_numpy() for part in rows.partition_by(factor, maintain_order=True)]
    nothing = (math.nan, math.nan)
    enough = len(groups) > 1 and all(len(group) > 1 for group in groups)
    level = stats.kruskal(*groups) if enough else nothing
    spread = stats.levene(*groups, center="median") if enough else nothing
    medians = (
        rows.group_by("probe", factor)
        .agg(pl.col("delta").median())
        .pivot(on=factor, index="probe", values="delta")
        .drop("probe")
        .drop_nulls()
    )
    within = (
        stats.friedmanchisquare(*(medians[name].to_numpy() for name in medians.columns))
        if medians.width > 2 and medians.height > 1
        else nothing
    )
    return RankTests(
        float(level[0]), float(level[1]),
        float(spread[0]), float(spread[1]),
        float(within[0]), float(within[1]),
        medians.height,
    )  # fmt: skip
