"""What the study is summed up by: one number for each cell of the grid and manager.

Source: White 2013, sections 4.1 to 4.5 name the quantities; section 4.1.1 how conditions are weighed.
Deviations: a cell's losses, scores and goodput are means over its households.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sojourn.studies.distribution import Distribution
from sojourn.studies.estimate import Estimate, mean_of
from sojourn.studies.view import NotRecorded, StudyView
from sojourn.studies.white2013.cases import (
    LOADED,
    Cell,
    Samples,
    game_delays,
    load_times,
    over_seeds,
    point_of,
)
from sojourn.studies.white2013.figures.selection import Selection, pool

#: Asks for a number of a cell: level of congestion, its households, manager.
Ask = Callable[[StudyView, str, Sequence[str], str], Estimate]


@dataclass(frozen=True)
class Measure:
    """A number, and when two of it are as good as equal.

    Attributes
    ----------
    title, unit, decimals
        How it is written.
    ask
        Where it comes from.
    more_is_better
        Whether large values are good.
    relative, absolute
        Differences, as a share and in the unit, that count as none.
    """

    title: str
    unit: str
    decimals: int
    ask: Ask
    more_is_better: bool = False
    relative: float = 0.0
    absolute: float = 0.0

    def is_best(self, value: float, values: Sequence[float]) -> bool:
        """Whether a value is the best of several, or as good as that.

        Examples
        --------
        >>> DELAY_P95.is_best(21.0, [20.0, 21.0, 30.0]), DELAY_P95.is_best(30.0, [20.0, 21.0, 30.0])
        (True, False)
        """
        best = max(values) if self.more_is_better else min(values)
        return abs(value - best) <= max(self.absolute, self.relative * abs(best))


def estimate(
    view: StudyView, selection: Selection, measure: Measure, manager: str, cell: Cell
) -> Estimate:
    """Return a measure of a cell; unknown if the result does not hold it."""
    try:
        return measure.ask(view, cell[0], selection.loads.get(cell, ()), manager)
    except NotRecorded:
        return Estimate(None)


def known(view: StudyView, selection: Selection, measure: Measure) -> bool:
    """Whether any cell has a measure."""
    return any(
        estimate(view, selection, measure, manager, cell).value is not None
        for cell in selection.cells
        for manager in selection.managers
    )


def seed_means(
    view: StudyView, points: Sequence[str], subject: str, metric: str
) -> dict[int, float]:
    """Mean of a metric over points, for each seed that all of them were run with.

    Raises
    ------
    NotRecorded
        If there are no points, or one of them lacks the metric.
    """
    if not points:
        message = f"needs households with {subject}"
        raise NotRecorded(message)
    by_seed: dict[int, list[float]] = {}
    for point in points:
        values = view.values(point, subject, metric)
        for seed, value in zip(view.seeds(point), values, strict=True):
            by_seed.setdefault(seed, []).append(float(value))
    return {
        seed: float(np.mean(values))
        for seed, values in by_seed.items()
        if len(values) == len(points)
    }


def _quantile(samples: Samples, share: float) -> Ask:
    def number(one: Distribution) -> float:
        return one.quantile(share)

    def ask(view: StudyView, rf: str, loads: Sequence[str], manager: str) -> Estimate:
        return over_seeds(pool(view, samples, manager, rf, loads), number)

    return ask


def _mean(subject: str, metric: str, only: Sequence[str] | None = None) -> Ask:
    def ask(view: StudyView, rf: str, loads: Sequence[str], manager: str) -> Estimate:
        chosen = [load for load in loads if only is None or load in only]
        points = [point_of(load, rf, manager) for load in chosen]
        return mean_of(list(seed_means(view, points, subject, metric).values()))

    return ask


# Differences that do not make one manager better than another. Chosen: what a person would not notice
# or another seed would not confirm.

DELAY_P50 = Measure(
    "median game delay", "ms", 1, _quantile(game_delays, 0.5), relative=0.1, absolute=0.5
)
DELAY_P95 = Measure(
    "P95 of game delay", "ms", 1, _quantile(game_delays, 0.95), relative=0.1, absolute=0.5
)
LOSS = Measure("game packets lost", "%", 2, _mean("game", "lost"), absolute=0.05)
SCORE = Measure(
    "score of the call", "MOS", 2, _mean("game", "mos"), more_is_better=True, absolute=0.1
)
LOAD_TIME = Measure("median page load time", "s", 2, _quantile(load_times, 0.5), relative=0.1)
GOODPUT = Measure(
    "upload goodput",
    "Mb/s",
    2,
    _mean("upload", "goodput", LOADED),
    more_is_better=True,
    relative=0.01,
)

#: All of them, in the order of the summary.
MEASURES = (DELAY_P50, DELAY_P95, LOSS, SCORE, LOAD_TIME, GOODPUT)
