"""Limits of `--fail-on`: which changes of a comparison, or numbers of a check, end a command with status 1."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from sojourn.base.digits import significant
from sojourn.base.errors import UsageError, nearest, plain
from sojourn.judging.bands import place_of
from sojourn.study.compare import CHANGED, compare_labels, compare_results

if TYPE_CHECKING:
    import polars as pl

    from sojourn.stats.estimate import Estimate
    from sojourn.study.compare import Compared
    from sojourn.study.result import StudyResult

_FORM = re.compile(r"\s*(?:(?P<subject>\S.*)\.)?(?P<metric>\w+)\s*(?P<sign>[<>])\s*(?P<amount>\S.*?)\s*")
_AMOUNT = re.compile(r"(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+))\s*(?P<unit>\S*)")

BAND = "band"
"""The amount that stands for the nearer end of the band of known candidates."""

LONGEST = 200
"""Characters of a condition. chosen: twice the longest name of a subject and of a metric."""

MOST_NAMED = 3
"""Places that a sentence names. chosen: a glance; the others are counted."""


@dataclass(frozen=True)
class Condition:
    """A limit: `game.delay_up_p99 > 5 %`."""

    text: str
    subject: str
    """Traffic, link or scenario; empty for all that have the metric."""
    metric: str
    is_above: bool
    amount: float
    """NaN for the band."""
    unit: str

    @classmethod
    def parse(cls, text: str, *, with_band: bool = False) -> Self:
        """Read a condition.

        Raises
        ------
        UsageError
            If it has no metric, sign or amount.

        Examples
        --------
        >>> limit = Condition.parse("game.delay_up_p99 > 5 %")
        >>> limit.subject, limit.metric, limit.is_above, limit.amount, limit.unit
        ('game', 'delay_up_p99', True, 5.0, '%')
        """
        form = _FORM.fullmatch(text) if len(text) <= LONGEST else None
        amount = _AMOUNT.fullmatch(form["amount"]) if form else None
        is_band = with_band and form is not None and form["amount"] == BAND
        if form is None or not (amount or is_band):
            example = "T1.sojourn_p95 > 30 ms, or T1.sojourn_p95 > band" if with_band else "game.delay_up_p99 > 5 %"
            raise UsageError(f'--fail-on: "{plain(text[:LONGEST])}" is no condition', f"for example: {example}")
        number, unit = (float(amount["number"]), amount["unit"]) if amount else (math.nan, "")
        return cls(text.strip(), form["subject"] or "", form["metric"], form["sign"] == ">", number, unit)

    @property
    def name(self) -> str:
        """Its number, as it is written."""
        return f"{self.subject}.{self.metric}" if self.subject else self.metric

    def names(self, subject: str, metric: str) -> bool:
        """Return whether it is about this number."""
        return metric == self.metric and self.subject in ("", subject)

    def is_beyond(self, value: float) -> bool:
        """Return whether a value is beyond the amount."""
        return value > self.amount if self.is_above else value < self.amount


@dataclass(frozen=True)
class Outcome:
    """A condition with what was found."""

    condition: Condition
    fails: tuple[str, ...] = ()
    """Numbers beyond the limit, and those that are missing, in words."""
    by_chance: int = 0
    """Changes beyond the limit that lie within chance, and fail nothing."""

    @property
    def sentence(self) -> str:
        """The outcome in a line."""
        if not self.fails:
            chance = f" beyond chance ({self.by_chance} within it)" if self.by_chance else ""
            return f"passes: {self.condition.text} holds nowhere{chance}"
        more = len(self.fails) - MOST_NAMED
        told = "; ".join(self.fails[:MOST_NAMED])
        return f"fails: {self.condition.text}: {told}{f'; and {more} more' if more > 0 else ''}"

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "condition": self.condition.text,
            "verdict": "fail" if self.fails else "pass",
            "found": list(self.fails),
            "within_chance": self.by_chance,
        }


def exceeded(outcomes: Iterable[Outcome]) -> bool:
    """Return whether a condition fails."""
    return any(outcome.fails for outcome in outcomes)


def refuse_unknown(
    conditions: Iterable[Condition], known: Sequence[tuple[str, str, str]], *, is_change: bool = False
) -> None:
    """Refuse conditions that no number can meet: a limit that nothing can exceed would pass for ever.

    Parameters
    ----------
    known
        Subject, metric and unit of each number.
    is_change
        Whether changes are judged, which may be in percent, too.

    Raises
    ------
    UsageError
        If no number has the name of a condition, or its unit is another.
    """
    for condition in conditions:
        units = [unit for subject, metric, unit in known if condition.names(subject, metric)]
        for unit in units:
            _refuse_unit(condition, unit, is_change=is_change)
        if not units:
            names = dict.fromkeys(
                f"{subject}.{metric}" if condition.subject else metric for subject, metric, _ in known
            )
            close = nearest(condition.name, list(names))
            raise UsageError(
                f'--fail-on: nothing is called "{plain(condition.name)}"',
                close or (f"some of {', '.join(list(names)[:8])}" if names else ""),
            )


def _refuse_unit(condition: Condition, unit: str, *, is_change: bool) -> None:
    amount = condition.amount
    units = ["points" if unit == "%" else unit, "%"] if is_change else [unit]
    words_alone = not condition.unit and " " in unit  # as "of a round trip"
    if condition.unit in units or words_alone or math.isnan(amount):
        return
    right = [f"{amount:g} {one}".strip() for one in dict.fromkeys(units)]
    if not unit and condition.unit == "%":
        right = [f"{amount / 100:g}"]
    raise UsageError(
        f'--fail-on: "{plain(condition.text)}": {condition.metric} is in {unit or "numbers without a unit"}',
        " or ".join(f"{condition.name} {'>' if condition.is_above else '<'} {one}" for one in right),
    )


@dataclass(frozen=True)
class _Named:
    """The values of a result that a condition names."""

    metrics: pl.DataFrame
    level: float


def _named(condition: Condition, metrics: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    named = metrics.filter(pl.col("metric") == condition.metric)
    return named.filter(pl.col("subject") == condition.subject) if condition.subject else named


def of_results(conditions: Sequence[Condition], before: Compared, after: Compared) -> list[Outcome]:
    """Judge the changes between two results; the values that a condition names are tested by themselves.

    A change fails if it is beyond the limit and beyond chance, or rests on one seed. So does a value that only `before` has.
    """
    refuse_unknown(conditions, _known(before.metrics), is_change=True)
    found: list[Outcome] = []
    for condition in conditions:
        sides = [_named(condition, result.metrics) for result in (before, after)]
        level = max(before.level, after.level)
        table = compare_results(_Named(sides[0], level), _Named(sides[1], level))
        missing = _values(sides[0]) - _values(sides[1])
        found.append(_judged(condition, table, ["point"], missing))
    return found


def of_labels(conditions: Sequence[Condition], result: StudyResult, by: str, against: str | None) -> list[Outcome]:
    """Judge the changes that a label makes, at each combination of the other labels."""
    import polars as pl

    refuse_unknown(conditions, _known(result.metrics), is_change=True)
    found: list[Outcome] = []
    for condition in conditions:
        named = _named(condition, result.metrics)
        compared = compare_labels(replace(result, metrics=named), by, against)
        missing = {
            (str(point), str(subject)) for point, subject in named.select("point", "subject").unique().iter_rows()
        } - _values(named)
        places = [by, *compared.others]
        found.append(_judged(condition, compared.each.with_columns(pl.col(places).cast(pl.String)), places, missing))
    return found


def _known(metrics: pl.DataFrame) -> list[tuple[str, str, str]]:
    rows = metrics.select("subject", "metric", "unit").unique(maintain_order=True).iter_rows()
    return [(str(subject), str(metric), str(unit)) for subject, metric, unit in rows]


def _values(metrics: pl.DataFrame) -> set[tuple[str, str]]:
    """Return points and subjects that have a value."""
    import polars as pl

    finite = metrics.filter(pl.col("value").is_finite()).select("point", "subject").unique()
    return {(str(point), str(subject)) for point, subject in finite.iter_rows()}


def _judged(condition: Condition, table: pl.DataFrame, places: Sequence[str], missing: set[tuple[str, str]]) -> Outcome:
    fails = [f"{subject} has no value{f' at {point}' if point else ''}" for point, subject in sorted(missing)]
    by_chance = 0
    for row in table.to_dicts():
        if not condition.is_beyond(_change(row, in_percent=condition.unit == "%")):
            continue
        if row["verdict"] in CHANGED:
            fails.append(_told(row, places))
        else:
            by_chance += 1
    return Outcome(condition, tuple(fails), by_chance)


def _change(row: dict[str, Any], *, in_percent: bool) -> float:
    difference = float(row["difference"])
    if not in_percent or not difference:
        return difference
    before = abs(row["before"])
    return 100 * difference / before if before else math.copysign(math.inf, difference)


def _told(row: dict[str, Any], places: Sequence[str]) -> str:
    at = ", ".join(str(row[place]) for place in places if row[place])
    percent = _change(row, in_percent=True)
    change = f" ({percent:+.1f} %)" if math.isfinite(percent) and row["unit"] != "%" else ""
    values = f"{significant(row['before'], 3)} to {significant(row['after'], 3)} {row['unit']}".strip()
    seed = ", one seed" if row["verdict"] == "one seed" else ""
    return f"{row['subject']}{f' at {at}' if at else ''}: {values}{change}{seed}"


@dataclass(frozen=True)
class Numbered:
    """A number of a scenario of a check."""

    candidate: str
    item: str
    measure: str
    unit: str
    estimate: Estimate
    band: tuple[float, float] | None


def of_numbers(conditions: Sequence[Condition], numbers: Sequence[Numbered]) -> list[Outcome]:
    """Judge numbers of scenarios: their means over seeds, and whole intervals beside the band."""
    found: list[Outcome] = []
    for condition in conditions:
        fails: list[str] = []
        for number in numbers:
            if not condition.names(number.item, number.measure):
                continue
            value, place = number.estimate.value, f"{number.candidate} in {number.item}"
            if value is None:
                fails.append(f"{place} has no value")
            elif math.isnan(condition.amount):
                if place_of(number.estimate, number.band) == ("above" if condition.is_above else "below"):
                    ends = " to ".join(significant(end, 3) for end in number.band or ())
                    fails.append(f"{place}: {significant(value, 3)} {number.unit}".strip() + f", band {ends}")
            elif condition.is_beyond(value):
                fails.append(f"{place}: {significant(value, 3)} {number.unit}".strip())
        found.append(Outcome(condition, tuple(fails)))
    return found
