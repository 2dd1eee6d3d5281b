"""What the claims ask of a condition: one number, the median over seeds.

A run decides once which flows share a sub-flow, and one such lot in three would move any mean.

Source: White 2013, section 3.8. Loss of a game counts lost packets (section 4.1.2), not late ones.
Deviations: none known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from weakref import WeakKeyDictionary

import numpy as np

from sojourn.studies.distribution import Distribution
from sojourn.studies.view import StudyView
from sojourn.studies.white2013 import cases
from sojourn.studies.white2013.cases import CELLS, GROUP_LOADS, LOADS, RF_LEVELS, Cell

#: A level of congestion, without one.
NONE = "none"

#: Households of section 4.1.1 whose uploads keep a drop-tail queue full.
FILLED = ("x02", "x03", "x04", "x05", "x06", "x07")

#: Groups whose traffic SFQ-CoDel takes apart well.
EASY_GROUPS = ("light", "moderate")

#: The households of these groups.
EASY_LOADS = tuple(load for group in EASY_GROUPS for load in GROUP_LOADS[group])


def median_over_seeds(values: np.ndarray | Sequence[float]) -> float:
    """Median over seeds; NaN if no seed has a value.

    Examples
    --------
    >>> median_over_seeds([1.0, float("nan"), 2.0, 9.0])
    2.0
    """
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known)]
    return float(np.median(known)) if len(known) else float("nan")


def mean(values: np.ndarray | Sequence[float]) -> float:
    """Mean over conditions; NaN if none has a value.

    Examples
    --------
    >>> mean([1.0, float("nan"), 2.0])
    1.5
    """
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known)]
    return float(known.mean()) if len(known) else float("nan")


def game(view: StudyView, load: str, rf: str, manager: str, metric: str) -> float:
    """Return a metric of the game in one condition."""
    return median_over_seeds(cases.game(view, load, rf, manager, metric))


def games(
    view: StudyView, manager: str, rf: str, metric: str, loads: Iterable[str] = LOADS
) -> dict[str, float]:
    """Return a metric of the game by household."""
    return {load: game(view, load, rf, manager, metric) for load in loads}


def conditions(
    view: StudyView,
    manager: str,
    metric: str,
    loads: Iterable[str] = LOADS,
    levels: Iterable[str] = RF_LEVELS,
) -> dict[str, float]:
    """Return a metric of the game by household and level of congestion."""
    chosen = tuple(loads)
    return {
        f"{load} {rf}": game(view, load, rf, manager, metric) for rf in levels for load in chosen
    }


def group_mean(view: StudyView, manager: str, metric: str, chosen: Iterable[Cell] = CELLS) -> float:
    """Return a metric of the game, mean over the households of each cell, then over the cells."""
    cells = [
        mean([game(view, load, rf, manager, metric) for load in GROUP_LOADS[group]])
        for rf, group in chosen
    ]
    return mean(cells)


def column(*groups: str) -> tuple[Cell, ...]:
    """Return the cells of load groups, at all levels of congestion."""
    return tuple(cases.cells(groups=groups))


def row(*levels: str) -> tuple[Cell, ...]:
    """Return the cells of levels of congestion, with all load groups."""
    return tuple(cases.cells(rf=levels))


#: Mixtures that were made before, by view: several claims ask for the same ones.
_MADE: WeakKeyDictionary[StudyView, dict[tuple[str, str, tuple[Cell, ...]], list[Distribution]]] = (
    WeakKeyDictionary()
)


def _mixture(
    view: StudyView, kind: str, samples: cases.Samples, manager: str, chosen: Iterable[Cell]
) -> list[Distribution]:
    made = _MADE.setdefault(view, {})
    key = (kind, manager, tuple(chosen))
    if key not in made:
        made[key] = list(cases.summary(view, samples, manager, key[2]).values())
    return made[key]


def delay(view: StudyView, manager: str, p: float, chosen: Iterable[Cell] = CELLS) -> float:
    """Quantile of the game delay in ms, cells weighted alike."""
    parts = _mixture(view, "delay", cases.game_delays, manager, chosen)
    return median_over_seeds([one.quantile(p) for one in parts])


def share_below(
    view: StudyView, manager: str, limit_ms: float, chosen: Iterable[Cell] = CELLS
) -> float:
    """Share of game packets with less delay, cells weighted alike."""
    parts = _mixture(view, "delay", cases.game_delays, manager, chosen)
    return median_over_seeds([one.share_below(limit_ms) for one in parts])


def load_time(view: StudyView, manager: str, p: float, chosen: Iterable[Cell] = CELLS) -> float:
    """Quantile of the page load time in s, cells weighted alike."""
    parts = _mixture(view, "time", cases.load_times, manager, chosen)
    return median_over_seeds([one.quantile(p) for one in parts])
