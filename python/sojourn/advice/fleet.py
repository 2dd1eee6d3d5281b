"""Advice held against exhaustive search: on each line of a fleet every setting is run, and the one that was advised has its place.

Source: acceptance (b) of the specification of advice: the setting that is taken costs at most 5 % more than the best of all.
Units and ranges: what a setting costs is as in `sojourn.advice.uses`; regret is by how much more the advised one costs.
Deviations: settings of the exhaustive search are every second share of the race, both ways; all 49 pairs of shares would take three times
as long and tell neighbours apart that are equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from sojourn.advice.answer import advise
from sojourn.advice.arms import AS_IS, SHARES, Arm, router_arms
from sojourn.advice.bench import SCREEN_S, Bench
from sojourn.advice.race import MOST_SEEDS, TOLERANCE
from sojourn.base.errors import UsageError, plain
from sojourn.scenario.scenario_file import Scenario
from sojourn.store import Store
from sojourn.study.library import load_study
from sojourn.study.runner import available_cores

FIRST_SEED = 2000
"""First seed of the exhaustive search, far from those of races and of runs that confirm."""

TOGETHER = 4
"""Seeds that are run together, so that packets of few runs are in memory."""


@dataclass(frozen=True)
class Judged:
    """Worth of the advice for one line.

    Attributes
    ----------
    line
        Name of the point.
    advised, best
        What was advised, and the setting of least cost.
    regret
        By how much more the advised one costs: 0.03 is 3 %; never below zero.
    equals
        Settings that cost at most the tolerance more than the best.
    settings, seeds, processor_s
        What was run.
    """

    line: str
    advised: Arm
    best: Arm
    regret: float
    equals: int
    settings: int
    seeds: int
    processor_s: float

    def is_among_the_best(self, tolerance: float) -> bool:
        """Return whether the advised setting is one of those that cost at most the tolerance more than the best."""
        return self.regret <= tolerance


@dataclass(frozen=True)
class Fleet:
    """Advice on a fleet of lines.

    Attributes
    ----------
    judged
        Line by line.
    tolerance
        What makes no difference.
    """

    judged: Sequence[Judged]
    tolerance: float

    @property
    def sentence(self) -> str:
        """The answer."""
        regrets = [100 * one.regret for one in self.judged]
        good = sum(one.is_among_the_best(self.tolerance) for one in self.judged)
        return (
            f"What is advised is among the best settings, within {100 * self.tolerance:g} %, on {good} of {len(regrets)} lines; it costs "
            f"{np.median(regrets):.1f} % more than the best on the median line and {max(regrets):.1f} % more on the worst."
        )

    def rows(self) -> list[tuple[str, ...]]:
        """Return a row for each line: what was advised, the best, and what lies between."""
        return [
            (
                one.line,
                one.advised.name,
                one.best.name,
                f"{100 * one.regret:.1f}",
                f"{one.equals} of {one.settings}",
                "yes" if one.is_among_the_best(self.tolerance) else "no",
            )
            for one in self.judged
        ]

    def as_json(self) -> dict[str, Any]:
        """Return all of it as one object."""
        return {
            "sentence": self.sentence,
            "tolerance": self.tolerance,
            "lines": [
                {
                    "line": one.line,
                    "advised": one.advised.name,
                    "best": one.best.name,
                    "regret": one.regret,
                    "among_the_best": one.is_among_the_best(self.tolerance),
                    "equals": one.equals,
                    "settings": one.settings,
                    "seeds": one.seeds,
                    "processor_s": round(one.processor_s, 2),
                }
                for one in self.judged
            ],
        }


HEADINGS = ("line", "advised", "best of all", "regret, %", "equals", "among the best")
"""Of `Fleet.rows`."""


def check_fleet(
    study: str,
    patterns: Sequence[str],
    *,
    uses: str,
    seeds: int = MOST_SEEDS,
    tolerance: float = TOLERANCE,
    budget_s: float = 60.0,
    screen_s: float = SCREEN_S,
    shares: Sequence[float] = SHARES[::2],
    store: Store | None = None,
    jobs: int | None = None,
    tell: Callable[[str, int], None] = lambda _stage, _runs: None,
) -> Fleet:
    """Advise on each point of a study, run all settings on it, and say how good the advice is.

    Raises `UsageError` if no point fits, or a point is no line of one household.

    Parameters
    ----------
    study, patterns
        Name or path of the study, and patterns of its points: one household on one line each.
    uses
        Who counts, as for `advise`.
    seeds
        Runs of each setting in the exhaustive search.
    tolerance, budget_s, screen_s
        As for `advise`; the budget is that of each line's advice, and not of the exhaustive search.
    shares
        Rates of the exhaustive search, as shares of the line, both ways.
    store, jobs, tell
        As for `advise`.
    """
    points = [
        point for point in load_study(study).points() if any(fnmatchcase(point.name, pattern) for pattern in patterns)
    ]
    if not points:
        raise UsageError(
            f'no point of {plain(study)} fits "{plain(" ".join(patterns))}"',
            f"`sojourn study show {plain(study)}` lists them",
        )
    kept = store if store is not None else Store(None)
    cores = jobs if jobs is not None else available_cores()
    judged: list[Judged] = []
    for point in points:

        def say(stage: str, runs: int, name: str = point.name) -> None:
            tell(f"{name}: {stage}", runs)

        advice = advise(
            Scenario.parse(point.text),
            uses=uses,
            tolerance=tolerance,
            budget_s=budget_s,
            screen_s=screen_s,
            store=kept,
            jobs=cores,
            tell=say,
        )
        arms = list(dict.fromkeys([advice.setting, AS_IS, *router_arms(shares, shares)]))
        bench = Bench(
            [advice.line], advice.users, kept, cores, lambda runs, say=say: say("all settings", runs), screen_s
        )
        costs = np.concatenate(
            [
                bench.losses(arms, range(first, min(first + TOGETHER, FIRST_SEED + seeds)))
                for first in range(FIRST_SEED, FIRST_SEED + seeds, TOGETHER)
            ],
            axis=1,
        ).mean(axis=1)
        over = np.exp(costs - costs.min()) - 1
        judged.append(
            Judged(
                point.name,
                arms[0],
                arms[int(costs.argmin())],
                float(over[0]),
                int(np.count_nonzero(costs - costs.min() <= math.log1p(tolerance))),
                len(arms),
                seeds,
                advice.processor_s + bench.processor_s,
            )
        )
        say(f"{arms[0].name} costs {100 * float(over[0]):.1f} % more than the best", 0)
    return Fleet(judged, tolerance)
