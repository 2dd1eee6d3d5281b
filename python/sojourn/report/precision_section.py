"""How precise the points of a study are, where that decided how many seeds they got."""

from __future__ import annotations

import polars as pl

from sojourn.answers.report_content import PlainCell, PlainTable
from sojourn.base.digits import significant
from sojourn.base.metrics import words_of
from sojourn.stats.estimate import quantile_of
from sojourn.stats.precision import unseen_share
from sojourn.study.result import StudyResult

FEW = 210
"""Seeds below which it is said what may not have shown. chosen: what happens in a fiftieth of runs is missed in 1.5 % of
cases then."""


def precision_sentence(result: StudyResult) -> str:
    """Say how many points are precise enough, and after how many seeds; empty if the seeds were fixed before."""
    stopped = result.stopped.values()
    if not stopped:
        return ""
    enough = [one.seeds for one in stopped if one.is_enough]
    rest = len(stopped) - len(enough)
    words: list[str] = []
    mixed = [f"{point} ({one.words})" for point, one in result.stopped.items() if one.words]
    if enough:
        least, most = min(enough), max(enough)
        seeds = f"{least} seeds" if least == most else f"{least} to {most} seeds"
        words.append(f"{len(enough)} of {len(stopped)} points are as precise as asked after {seeds}")
    if rest and result.budget_runs:
        wide = [one.excess for one in stopped if one.excess is not None]
        widest = f", the widest {max(wide):.2f} times as wide" if wide and max(wide) > 1 else ""
        words.append(f"{rest} not within the budget of {result.budget_runs:,} runs{widest}")
    elif rest:
        words.append(f"{rest} not after {result.most_seeds}")
    if mixed:
        more = f", and {len(mixed) - 1} more" if len(mixed) > 1 else ""
        words.append(f"runs of another kind at {mixed[0]}{more}")
    fewest = min(one.seeds for one in stopped)
    if 0 < fewest < FEW:
        words.append(
            f"a kind of run rarer than 1 in {int(1 / unseen_share(fewest))} may not have shown in {fewest} seeds"
        )
    return "; ".join(words)


def precision_table(result: StudyResult) -> PlainTable | None:
    """Return the table of points, seeds and widths; `None` if the seeds were fixed before."""
    if not result.stopped:
        return None
    rows: list[tuple[PlainCell, ...]] = []
    for point, one in result.stopped.items():
        if one.is_enough:
            verdict = f"stopped at {one.seeds} of {result.most_seeds} seeds"
        else:
            verdict = f"not reached at {one.seeds} seeds"
        times = "" if one.excess is None else f"{one.excess:.2f}"
        unseen = f"up to {100 * unseen_share(one.seeds):.2g} %" if one.seeds < FEW else ""
        words = (one.measure, times, unseen)
        rows.append(
            (
                PlainCell(point),
                PlainCell(str(one.seeds)),
                PlainCell(verdict, detail=one.words),
                *(PlainCell(word) for word in words),
            )
        )
    return PlainTable(
        name="precision",
        title="How precise the points are",
        caption=(
            f"{precision_sentence(result)}. Width: half the widest interval over what was asked for; 1 or less is enough. "
            "Kinds of run up to the share unseen may not have shown (at 95 %, by the number of seeds). Only widths decided, no verdict; "
            + (
                "of those that showed, intervals keep 95 % after any number of seeds."
                if result.is_anytime
                else "of those that showed, intervals keep 95 %: they are computed at 97 %, since they were looked at several times."
            )
        ),
        headings=("point", "seeds", "", "widest measure", "width", "unseen, share of runs"),
        rows=tuple(rows),
        folded=len(rows) > 12,
    )


def quantile_table(result: StudyResult) -> PlainTable | None:
    """Return the quantiles over seeds that the study wants to be precise; `None` if it wants none."""
    precision = result.definition.precision
    goals = [goal for goal in (precision.of if precision else ()) if goal.quantile is not None]
    if not goals or not result.stopped:
        return None
    rows: list[tuple[PlainCell, ...]] = []
    for goal in goals:
        measure = result.definition.measures[goal.measure]
        is_it = (pl.col("subject") == measure.subject) & (pl.col("metric") == measure.metric)
        found = result.metrics.filter(is_it).group_by("point", "unit", maintain_order=True)
        for point, unit, values in found.agg("value").iter_rows():
            estimate = quantile_of(values, goal.quantile or 0.0)
            detail = ""
            if estimate.low is not None and estimate.high is not None:
                detail = f"{significant(estimate.low)} to {significant(estimate.high)}"
            value = "–" if estimate.value is None else f"{significant(estimate.value)} {unit}".strip()
            what = f"{measure.subject}: {words_of(measure.metric)}"
            share = f"{100 * (goal.quantile or 0.0):g} %"
            words = (point, what, share)
            rows.append((*map(PlainCell, words), PlainCell(value, detail=detail)))
    return PlainTable(
        name="quantiles-over-seeds",
        title="What that share of seeds stays below",
        caption="Quantiles over seeds, with the two runs that hold them in 95 % of studies stopped by width.",
        headings=("point", "measure", "seeds", "at most"),
        rows=tuple(rows),
        folded=len(rows) > 12,
    )
