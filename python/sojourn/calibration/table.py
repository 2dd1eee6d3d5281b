"""The reference table: lines drawn before anything is known, a run each, and what a test on them looks like.

Runs go through the engine on threads; the table is the same for any number of them. How many there are follows from the
budget and the packets of the first runs, and never from a clock, so that the same input gives the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

import sojourn._engine as _engine
from sojourn.calibration.line import FAMILIES, Access, Guess, Unknown, draw
from sojourn.calibration.line_text import scenario_text
from sojourn.calibration.measurement import Load
from sojourn.calibration.simulated import RECORD, seen_in
from sojourn.calibration.statistics import NAMES, statistics_of
from sojourn.scenario.scenario_file import Scenario
from sojourn.simulation.engine import simulate

HOP_S, RUN_S = 0.25e-6, 3.5e-3
"""Processor time of a packet-hop and of what a run costs beside, measured on a busy machine; elsewhere a budget is paid sooner."""

FEWEST_RUNS, MOST_RUNS = 400, 12_000
"""chosen: 100 nearest of fewer are a fit to far-away lines; more move intervals by less than they are wide."""

PILOT = 20
"""Draws whose packets are counted. chosen: enough for a mean cost."""


@dataclass(frozen=True)
class Draw:
    """A line that was drawn: family, values by name, the seed of its run, and prior over proposal."""

    family: str
    values: dict[str, float]
    seed: int
    weight: float = 1.0


@dataclass(frozen=True)
class Table:
    """Draws and what a test on each looked like.

    Attributes
    ----------
    unknowns
        In the order of columns of `values`.
    families
        Number of each draw's family in `line.FAMILIES`.
    values
        A row per draw; NaN for unknowns that its family lacks.
    statistics
        A row per draw, in the order of `statistics.NAMES`.
    weights
        Of each draw: prior over proposal.
    """

    unknowns: tuple[Unknown, ...]
    families: np.ndarray
    values: np.ndarray
    statistics: np.ndarray
    weights: np.ndarray

    def __len__(self) -> int:
        return len(self.families)


def simulate_draw(
    access: Access, load: Load, guess: Guess, one: Draw, cancel: _engine.CancelToken | None = None
) -> _engine.Records:
    """Run a line that was drawn."""
    text = scenario_text(access, load, guess, one.family, one.values) + RECORD
    return simulate(Scenario.parse(text).compiled, one.seed, cancel, memory=RUN_MEMORY)


RUN_MEMORY = 200_000_000
"""Bytes of a run at most. chosen: ten times what ten seconds at a gigabit take."""


def drawn(
    unknowns: Sequence[Unknown],
    count: int,
    seed: int,
    *,
    first: int = 1,
    centres: Mapping[str, tuple[float, float]] | None = None,
    families: Sequence[str] = FAMILIES,
) -> list[Draw]:
    """Return draws; those of a longer list begin with those of a shorter one."""
    found: list[Draw] = []
    for number in range(first, first + count):
        family, values, weight = draw(unknowns, np.random.default_rng([seed, number]), centres, families)
        found.append(Draw(family, values, number, weight))
    return found


def cost_of(access: Access, load: Load, guess: Guess, pilot: Sequence[Draw], most_s: float = math.inf) -> float:
    """Return what a run costs, processor seconds, by the packets of some draws; once it is surely above `most_s`, no more run."""
    hops = 0.0
    for one in pilot:
        hops += simulate_draw(access, load, guess, one).statistics["packet_hops"]
        if RUN_S + HOP_S * hops / len(pilot) > most_s:
            break
    return RUN_S + HOP_S * hops / len(pilot)


def affordable(budget_s: float, cost_s: float) -> int:
    """Return how many runs a budget of processor seconds pays."""
    return max(FEWEST_RUNS, min(MOST_RUNS, int(budget_s / cost_s)))


def simulate_draws(
    access: Access,
    load: Load,
    guess: Guess,
    draws: Sequence[Draw],
    *,
    jobs: int = 1,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> np.ndarray:
    """Return the statistics of each draw, in their order, computed on `jobs` threads."""
    cancel = _engine.CancelToken()
    rows = np.full((len(draws), len(NAMES)), np.nan)

    def run(number: int) -> None:
        one = draws[number]
        records = simulate_draw(access, load, guess, one, cancel)
        rows[number] = statistics_of(seen_in(records, load, one.values.get("offset", 0.0)), load)

    with ThreadPoolExecutor(jobs) as pool:
        try:
            for done, _ in enumerate(pool.map(run, range(len(draws))), start=1):
                progress(done, len(draws))
        except BaseException:
            cancel.cancel()
            pool.shutdown(cancel_futures=True)
            raise
    return rows


def make_table(
    access: Access,
    load: Load,
    guess: Guess,
    unknowns: Sequence[Unknown],
    draws: Sequence[Draw],
    *,
    jobs: int = 1,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Table:
    """Run draws and return them as a table.

    Parameters
    ----------
    access, load, guess
        Kind of line, method of the test, and its reading without a fit.
    unknowns
        Columns.
    draws
        The lines.
    jobs, progress
        Threads, and a callback after each run.
    """
    statistics = simulate_draws(access, load, guess, draws, jobs=jobs, progress=progress)
    values = np.array([[one.values.get(name.name, math.nan) for name in unknowns] for one in draws])
    families = np.array([FAMILIES.index(one.family) for one in draws])
    return Table(tuple(unknowns), families, values, statistics, np.array([one.weight for one in draws]))
