"""Price of a study before it starts: its points counted, some of its runs made, core hours and bytes extrapolated.

Points are not expanded: their number is the product of the axes, and a run is made for some points drawn at random. Of those points that are
not looked at, each value of each axis is checked once, and the corners.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from sojourn.base.errors import RunError, ScenarioError, StudyError
from sojourn.cluster.shared_plan import Span
from sojourn.scenario.scenario_file import Scenario
from sojourn.simulation.engine import simulate
from sojourn.store import PackedRun, pack_segment
from sojourn.study.definition import StudyDefinition
from sojourn.study.expand import NumberedPoints
from sojourn.study.plan import PlannedPoint, RunLength, RunSpec, runs_of

PILOT_RUNS = 50
PILOT_S = 30.0
"""No further run is begun after so long."""

MOST_CORNERS = 1024
RANDOM_POINTS = 1000
"""Points that are checked beside corners and single values. chosen: half a second."""

BOOTSTRAPS = 2000
LEVEL = 0.9

EXTRA_S = 0.0004
"""Processor time of a run beside its simulation and its tables: its scenario, its key, its part of a segment.

fitted: 0.17 + 0.05 + 0.11 ms, means of 1000 points of a DSL line.
"""


@dataclass(frozen=True)
class Count:
    """How large a study is.

    Attributes
    ----------
    points
        How many; where a matrix leaves points out by name, at most.
    runs
        How many, with the seeds of each point.
    is_exact
        Whether no matrix leaves points out.
    """

    points: int
    runs: int
    is_exact: bool


def spans_of_study(definition: StudyDefinition, seeds: int) -> list[Span]:
    """Return the runs of a study by the numbers of its points: a span for each listed point, and one for each matrix."""
    from sojourn.study.axes import count_of

    sizes = [(1, max(seeds, point.seeds)) for point in definition.points.values()]
    for _, matrix in definition.matrices():
        sizes.append((count_of(matrix.axes, matrix.sample), max(seeds, matrix.seeds)))
    first = 0
    spans: list[Span] = []
    for points, own in sizes:
        seed = definition.seeds.first
        spans.append(Span(first=first, points=points, seed=seed, seeds=own))
        first += points
    return spans


def count_of_study(definition: StudyDefinition, seeds: int) -> Count:
    """Return how large a study is, without expanding it."""
    spans = spans_of_study(definition, seeds)
    is_exact = not any(matrix.exclude for _, matrix in definition.matrices())
    points = sum(span.points for span in spans)
    return Count(points, sum(span.points * span.seeds for span in spans), is_exact)


def check_some(definition: StudyDefinition, points: NumberedPoints) -> int:
    """Check the scenarios of points that tell most; return how many these were.

    Raises
    ------
    StudyError
        With what is wrong with the first that is invalid.
    """
    telling = _telling(definition, len(points))
    drawn = random.Random(0).sample(range(len(points)), min(RANDOM_POINTS, len(points)))
    checked = 0
    for number in dict.fromkeys([*telling, *drawn]):
        point = points.point(number)
        if point is None:
            continue
        try:
            Scenario.parse(point.text)
        except ScenarioError as error:
            where = f" (point {point.name})"
            problems = [replace(one, message=one.message + where) for one in error.problems]
            raise StudyError(problems) from error
        checked += 1
    return checked


def _telling(definition: StudyDefinition, count: int) -> Iterator[int]:
    """Give the numbers of listed points, of corners, and of points that have each value of each axis."""
    from sojourn.study.axes import count_of

    before = len(definition.points)
    yield from range(before)
    for _, matrix in definition.matrices():
        size = count_of(matrix.axes, matrix.sample)
        if matrix.sample is None:
            sizes = [count_of({name: axis}, None) for name, axis in matrix.axes.items()]
            steps = [1]
            for one in reversed(sizes[1:]):
                steps.insert(0, steps[0] * one)
            ends = itertools.product(*({0, one - 1} for one in sizes))
            for corner in itertools.islice(ends, MOST_CORNERS):
                yield before + sum(place * step for place, step in zip(corner, steps, strict=True))
            for one, step in zip(sizes, steps, strict=True):
                yield from (before + place * step for place in range(one))
        before += size
    assert before == count


@dataclass(frozen=True)
class Price:
    """Cost of all runs, from some of them; times are of one core of this machine.

    Attributes
    ----------
    pilots
        Runs that were made to know it.
    run_s
        Processor time of a run with all that belongs to it: mean, and the ends of a 90 % interval.
    packet_hops
        Packet-hops of a run, mean.
    run_bytes
        What the store keeps of a run, mean.
    """

    pilots: int
    run_s: tuple[float, float, float]
    packet_hops: float
    run_bytes: float

    def core_hours(self, runs: int) -> tuple[float, float, float]:
        """Return mean and interval of the core hours of `runs` runs."""
        mean, low, high = (one * runs / 3600 for one in self.run_s)
        return mean, low, high


def price_of(definition: StudyDefinition, points: NumberedPoints, length: RunLength, seeds: int) -> Price:
    """Make some runs and say what one costs.

    Raises `RunError` if none could be made.
    """
    draw = random.Random(1)
    specs: list[RunSpec] = []
    for number in draw.sample(range(len(points)), min(4 * PILOT_RUNS, len(points))):
        point = points.point(number)
        if point is not None:
            item = length.of(PlannedPoint(point, Scenario.parse(point.text)))
            first = definition.seeds.first
            own = list(runs_of(item, first, seeds, definition))
            specs += draw.sample(own, min(len(own), 1 if len(points) >= PILOT_RUNS else PILOT_RUNS))
        if len(specs) >= PILOT_RUNS:
            break
    specs = specs[:PILOT_RUNS]
    took: list[float] = []
    packed: list[PackedRun] = []
    for seconds, run in measured(specs, PILOT_S):
        took.append(seconds + EXTRA_S)
        packed.append(run)
    if not packed:
        raise RunError("none of the runs that were tried came to its end", "try `sojourn run`")
    _, files = pack_segment(packed, frozenset[str]().union(*(spec.keep for spec in specs)))
    return Price(
        len(packed),
        _interval(np.array(took)),
        float(np.mean([run.statistics["packet_hops"] for run in packed])),
        sum(map(len, files.values())) / len(packed),
    )


def measured(specs: Iterable[RunSpec], within_s: float) -> Iterator[tuple[float, PackedRun]]:
    """Make runs, and give what is kept of each and its processor time; those that fail are left out.

    Parameters
    ----------
    specs
        The runs.
    within_s
        After how long no further one is begun.
    """
    deadline = time.monotonic() + within_s
    for spec in specs:
        began = time.process_time()
        with contextlib.suppress(RunError):  # who makes it in earnest will tell
            records = simulate(spec.scenario.compiled, spec.seed)
            key, canonical = spec.key, spec.together.canonical
            run = PackedRun.of(records, key, spec.seed, canonical, spec.keep)
            yield time.process_time() - began, run
        if time.monotonic() > deadline:
            return


def _interval(took: np.ndarray) -> tuple[float, float, float]:
    """Return the mean with a 90 % interval by bootstrap."""
    draws = np.random.default_rng(1).choice(took, (BOOTSTRAPS, len(took))).mean(axis=1)
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(took.mean()), float(low), float(high)
