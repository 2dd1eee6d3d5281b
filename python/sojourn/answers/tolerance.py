"""Tolerance rules, read from data, which decide if a simulated value reproduces a printed one.

A study lists its rules in `printed/tolerances.toml`; the first rule that fits a cell judges it.
Each rule says where it comes from: a claim of the study, or `chosen:` with the reason. A cell whose
print is censored, contradicts another print, or was only read off a plot (trust below B) is shown
and not judged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from sojourn.base.files import read_file
from sojourn.base.toml_text import parse_toml
from sojourn.stats.estimate import Estimate

JUDGED_TRUST = frozenset("AB")
"""Trust grades whose printed numbers may judge us: confirmed by a second number (A), plausible (B)."""


class Verdict(StrEnum):
    """Verdict of a comparison."""

    MATCH = "match"
    MISS = "miss"
    UNJUDGED = "unjudged"


@dataclass(frozen=True)
class Bounds:
    """Values that count as reproduced; an end that is `None` is open."""

    low: float | None
    high: float | None

    @property
    def is_open(self) -> bool:
        """True if any value lies inside, as around a print of 0 with nothing but a factor."""
        return self.low is None and self.high is None

    def holds(self, value: float) -> bool:
        """Return whether `value` lies inside, ends included."""
        slack = 1e-9 * max(1.0, abs(value))
        above = self.low is None or value >= self.low - slack
        below = self.high is None or value <= self.high + slack
        return above and below


@dataclass(frozen=True)
class Rule:
    """One tolerance, and the cells it is for.

    Attributes
    ----------
    claim
        Claim or inconsistency that it comes from.
    trust
        How far the printed number can be believed, A to D.
    metrics, items, cases, queue_managers
        Cells it fits; empty means all. Cases are numbers such as `04`.
    low, high
        Limits of the value itself.
    relative, factor, absolute, deviations
        Widths around the printed value, of which one is enough: a share of it, a ratio to it, a
        difference in its unit, or as many standard deviations over runs, of those of the print and ours the larger,
        beside half a unit of its last digit.
    seconds
        Shortest runs that it judges; without it, those of the print.
    reason
        For rules of our own: why so wide.
    """

    claim: str
    trust: str
    metrics: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    queue_managers: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    relative: float | None = None
    factor: float | None = None
    absolute: float | None = None
    deviations: float | None = None
    seconds: float = 0.0
    reason: str = ""

    def fits(self, *, item: str, case: str, queue_manager: str, metric: str) -> bool:
        """Return whether this rule is for that cell."""
        wanted = ((self.items, item), (self.cases, case), (self.queue_managers, queue_manager), (self.metrics, metric))
        return all(not allowed or value in allowed for allowed, value in wanted)

    def bounds(self, printed: float, deviation: float = 0.0, digit: float = 0.0) -> Bounds:
        """Return what counts as reproduced around `printed`, which varies so much over runs and has this last digit.

        Examples
        --------
        >>> Rule("chosen", "A", deviations=2).bounds(123.0, deviation=6.0, digit=0.1)
        Bounds(low=110.95, high=135.05)
        """
        lows: list[float] = []
        highs: list[float] = []
        if self.relative is not None:
            lows.append(printed - self.relative * abs(printed))
            highs.append(printed + self.relative * abs(printed))
        if self.factor is not None and printed > 0:
            lows.append(printed / self.factor)
            highs.append(printed * self.factor)
        if self.absolute is not None:
            lows.append(printed - self.absolute)
            highs.append(printed + self.absolute)
        if self.deviations is not None:
            lows.append(printed - self.deviations * deviation - digit / 2)
            highs.append(printed + self.deviations * deviation + digit / 2)
        low = min(lows) if lows else None
        high = max(highs) if highs else None
        if self.low is not None:
            low = self.low if low is None else max(low, self.low)
        if self.high is not None:
            high = self.high if high is None else min(high, self.high)
        return Bounds(low, high)

    @property
    def is_judged(self) -> bool:
        """True if the printed number is good enough to judge by."""
        return self.trust in JUDGED_TRUST

    @property
    def text(self) -> str:
        """The tolerance in words, with its origin."""
        widths: list[str] = []
        if self.relative is not None:
            widths.append(f"±{_number(100 * self.relative)} %")
        if self.factor is not None:
            widths.append(f"factor {_number(self.factor)}")
        if self.absolute is not None:
            widths.append(f"±{_number(self.absolute)}")
        if self.deviations is not None:
            widths.append(f"{_number(self.deviations)} standard deviations over runs")
        words = " or ".join(widths)
        if self.low is not None and self.high is not None:
            limits = f"{_number(self.low)} to {_number(self.high)}"
        elif self.low is not None:
            limits = f"at least {_number(self.low)}"
        elif self.high is not None:
            limits = f"at most {_number(self.high)}"
        else:
            limits = ""
        return f"{', '.join(part for part in (words, limits) if part)} ({self.claim})"


def read_rules(path: Path, root: Path | None = None) -> tuple[Rule, ...]:
    """Read the rules of a study, in their order; `root` is the result that they came with.

    Raises `ValueError` if a rule has an unknown key, no trust, or no limit at all.
    """
    document = parse_toml(read_file(path, root=root).decode())
    rules: list[Rule] = []
    for number, entry in enumerate(document["rule"], 1):
        values: dict[str, Any] = {
            key: tuple(cast("list[str]", value)) if isinstance(value, list) else value for key, value in entry.items()
        }
        try:
            rule = Rule(**values)
        except TypeError as error:
            message = f"{path.name}, rule {number}: {error}"
            raise ValueError(message) from error
        limits = (rule.low, rule.high, rule.relative, rule.factor, rule.absolute)
        limits += (rule.deviations,)
        if all(limit is None for limit in limits):
            message = f"{path.name}, rule {number} ({rule.claim}) sets no limit"
            raise ValueError(message)
        rules.append(rule)
    return tuple(rules)


def find_rule(rules: Sequence[Rule], *, item: str, case: str, queue_manager: str, metric: str) -> Rule | None:
    """Return the first rule that fits a cell."""
    for rule in rules:
        if rule.fits(item=item, case=case, queue_manager=queue_manager, metric=metric):
            return rule
    return None


def judge(
    ours: Estimate,
    printed: float | None,
    rule: Rule | None,
    *,
    deviation: float = 0.0,
    digit: float = 0.0,
    printed_is_censored: bool = False,
    shortened: bool = False,
) -> Verdict:
    """Judge one cell.

    Parameters
    ----------
    ours
        The simulated value over runs.
    printed
        The printed value, `None` if there is none.
    rule
        The tolerance; without one the cell is not judged.
    deviation, digit
        Standard deviation over runs, of those of the print and ours the larger; a unit of the last printed digit.
    printed_is_censored
        The print is a bound, such as ">600".
    shortened
        Our runs are shorter than the rule needs.
    """
    if rule is None or printed is None or printed_is_censored or shortened or not rule.is_judged:
        return Verdict.UNJUDGED
    bounds = rule.bounds(printed, deviation, digit)
    if ours.above is not None:
        outside = bounds.high is not None and ours.above >= bounds.high
        return Verdict.MISS if outside else Verdict.UNJUDGED
    if ours.value is None or math.isnan(ours.value) or bounds.is_open:
        return Verdict.UNJUDGED
    return Verdict.MATCH if bounds.holds(ours.value) else Verdict.MISS


def _number(value: float) -> str:
    return f"{value:.10g}"
