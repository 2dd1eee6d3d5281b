"""Everything that is asked of a trial, for each of its four targets."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sojourn.base.errors import UsageError
from sojourn.field.comparability import Comparison, compare_weeks
from sojourn.field.deltas import DAYS, FEWEST_TESTS, SLOTS, Weighting, observations, weekly_ratio
from sojourn.field.mixed import MixedFit, fit_mixed
from sojourn.field.power import PowerRow, VarianceParts, power_table, variance_parts
from sojourn.field.rank_tests import RankTests, rank_tests
from sojourn.field.records import TARGETS, Target
from sojourn.field.regression import Fit, fit


@dataclass(frozen=True, slots=True)
class Period:
    """Measurements under one treatment."""

    level: str
    tests: int
    probes: int
    mean: float
    """Mean of the metric."""
    delta_mean: float
    delta_median: float
    delta_sd: float
    delta_iqr: float


@dataclass(frozen=True)
class TargetAnalysis:
    """One metric in one direction."""

    target: Target
    rows: pl.DataFrame
    factor: str
    """`treatment`, or `week` where no file names a treatment."""
    periods: tuple[Period, ...]
    fit: Fit
    mixed: MixedFit | None
    ranks: RankTests
    variance: VarianceParts | None
    power: tuple[PowerRow, ...]
    latency_kinds: tuple[str, ...]
    complete: Fit | None
    """The same regression over the probes with enough tests under every treatment, if some lack them."""

    def ratio(self, level: str) -> float:
        """Return the ratio of mean deltas of a level to the reference."""
        means = {period.level: period.delta_mean for period in self.periods}
        reference = self.periods[0].level
        return weekly_ratio(means[level] - means[reference], means[reference])


@dataclass(frozen=True)
class Analysis:
    """A trial, judged."""

    targets: tuple[TargetAnalysis, ...]
    absent: tuple[tuple[Target, str], ...]
    """Targets without enough tests, and why."""
    comparisons: tuple[tuple[str, Target, tuple[Comparison, ...]], ...]
    """By name of the external data, and target."""
    tests: int
    probes: int
    flagged: int
    unlabelled: int
    """Tests of no treatment in a trial of several, which are left out."""

    def target(self, name: str) -> TargetAnalysis | None:
        """Return the analysis of a target, if it has one."""
        return next((found for found in self.targets if found.target.name == name), None)


def analyse(
    tests: pl.DataFrame,
    *,
    weighting: Weighting = "tests",
    external: Mapping[str, pl.DataFrame] | None = None,
    effect: float = 0.10,
    bootstrap: bool | None = None,
) -> Analysis:
    """Analyse a trial.

    Raises `UsageError` if no target has tests under two treatments; `MissingExtra` if statsmodels is not installed.

    Parameters
    ----------
    tests
        Columns of `sojourn.field.records.SCHEMA`.
    weighting
        Whether a probe's mean is that of its tests, as in the talk, or of its periods.
    external
        Data sets of homes that were not treated in the same weeks, each judged by itself.
    effect
        Relative change that the power analysis asks for.
    bootstrap
        Whether to bootstrap; `None`: with few probes.
    """
    whole, labelled = tests, tests.filter(pl.col("treatment") != "")
    if labelled["treatment"].n_unique() > 1:
        tests = labelled  # what says no treatment is none of its own
    found: list[TargetAnalysis] = []
    absent: list[tuple[Target, str]] = []
    for target in TARGETS:
        rows = observations(tests, target, weighting)
        reason = _why_not(rows)
        if reason:
            absent.append((target, reason))
            continue
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of tests that are too few, or all the same: their errors are NaN
            found.append(_target(target, rows, tests, effect, bootstrap=bootstrap))
    if not found:
        reasons = "; ".join(f"{target.title.lower()}: {reason}" for target, reason in absent)
        raise UsageError(
            f"nothing to compare: {reasons}",
            "tests need a treatment or a week: in the title (buffer=48KB week=2) or in a table given with --labels",
        )
    comparisons = _comparisons(external or {})
    return Analysis(
        tuple(found),
        tuple(absent),
        comparisons,
        tests.height,
        tests["probe"].n_unique(),
        tests.filter(pl.col("flags") != "").height,
        whole.height - tests.height,
    )


def ordered_levels(levels: Sequence[str]) -> list[str]:
    """Order treatments: by the number that they begin with, then by name.

    Examples
    --------
    >>> ordered_levels(["96KB", "8KB", "fq-codel", "48KB"])
    ['8KB', '48KB', '96KB', 'fq-codel']
    """

    def key(level: str) -> tuple[bool, float, str]:
        number = re.match(r"[0-9]+(\.[0-9]+)?", level)
        return (number is None, float(number[0]) if number else 0.0, level)

    return sorted(levels, key=key)


def _why_not(rows: pl.DataFrame) -> str:
    if rows.is_empty():
        return "no test of it"
    levels = rows[_factor(rows)].n_unique()
    if levels < 2:
        return f"all {rows.height} tests are of one {_factor(rows)}"
    return ""


def _factor(rows: pl.DataFrame) -> str:
    return "treatment" if rows.filter(pl.col("treatment") != "")["treatment"].n_unique() > 1 else "week"


def _target(
    target: Target, rows: pl.DataFrame, tests: pl.DataFrame, effect: float, *, bootstrap: bool | None
) -> TargetAnalysis:
    factor = _factor(rows)
    levels = ordered_levels([str(level) for level in rows[factor].unique().to_list()])
    factors: list[tuple[str, Sequence[str]]] = [(factor, levels)]
    if factor == "treatment":
        weeks = sorted({int(week) for week in rows["week"].to_list()})
        factors.append(("week", [str(week) for week in weeks]))
    factors += [("day", DAYS), ("hour", [*SLOTS, "other"])]
    variance = variance_parts(rows, factor)
    kinds = tests.filter((pl.col("direction") == target.direction) & (pl.col("latency_kind") != ""))["latency_kind"]
    complete = _complete(rows, factor, len(levels))
    return TargetAnalysis(
        target=target,
        rows=rows,
        factor=factor,
        periods=tuple(_period(rows.filter(pl.col(factor).cast(pl.String) == name), name) for name in levels),
        fit=fit(rows, factors, target=target.name, bootstrap=bootstrap),
        mixed=fit_mixed(rows, factors, target=target.name),
        ranks=rank_tests(rows, factor),
        variance=variance,
        power=tuple(power_table(variance, effect)) if variance else (),
        latency_kinds=tuple(sorted(set(kinds.to_list()))) if target.column == "latency_ms" else (),
        complete=(
            fit(complete, factors, target=target.name, bootstrap=False)
            if 0 < complete["probe"].n_unique() < rows["probe"].n_unique() and complete[factor].n_unique() > 1
            else None
        ),
    )


def _complete(rows: pl.DataFrame, factor: str, levels: int) -> pl.DataFrame:
    counts = rows.group_by("probe", factor).len().filter(pl.col("len") >= FEWEST_TESTS)
    whole = counts.group_by("probe").len().filter(pl.col("len") == levels)["probe"]
    return rows.filter(pl.col("probe").is_in(whole.to_list()))


def _period(rows: pl.DataFrame, level: str) -> Period:
    delta = rows["delta"]

    def number(value: object) -> float:
        return float(value) if isinstance(value, int | float) else float("nan")

    return Period(
        level=level,
        tests=rows.height,
        probes=rows["probe"].n_unique(),
        mean=number(rows["value"].mean()),
        delta_mean=number(delta.mean()),
        delta_median=number(delta.median()),
        delta_sd=number(delta.std()),
        delta_iqr=number(delta.quantile(0.75, "linear")) - number(delta.quantile(0.25, "linear")),
    )


def _comparisons(external: Mapping[str, pl.DataFrame]) -> tuple[tuple[str, Target, tuple[Comparison, ...]], ...]:
    return tuple(
        (name, target, tuple(compare_weeks(rows)))
        for name, tests in external.items()
        for target in TARGETS
        if not (rows := observations(tests, target)).is_empty()
    )
