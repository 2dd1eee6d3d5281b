"""Distributions as curves, with their spread over seeds.

Source: Student's t interval of the share at or below each value, over runs with different seeds.
Deviations: curves are thinned to points that a page can show.
"""

from __future__ import annotations

import math

import numpy as np

from sojourn.plots.spec import Band, Line, Mark
from sojourn.studies.distribution import Distribution
from sojourn.studies.estimate import t_quantile
from sojourn.studies.white2013.cases import all_seeds

#: Levels at which a curve has points; chosen: a step of half a percent is as thin as a line on the page.
LEVELS = 200


def curve(distributions: dict[int, Distribution], look: str, label: str) -> list[Mark]:
    """Return the mean over seeds as a step curve, above its 95 % interval if there are several."""
    whole = all_seeds(distributions)
    if whole.is_empty:
        return []
    x, share = _thinned(whole)
    marks: list[Mark] = []
    if len(distributions) > 1:
        low, high = _interval(distributions, x)
        marks.append(Band(x, low, high, look))
    first = np.array([x[0]]), np.array([0.0])
    marks.append(
        Line(
            np.concatenate((first[0], x)), np.concatenate((first[1], share)), look, label, step=True
        )
    )
    return marks


def _thinned(whole: Distribution) -> tuple[np.ndarray, np.ndarray]:
    share = np.cumsum(whole.shares)
    # A sum of a hundred thousand rounded shares need not end at 1.
    share = np.minimum(share / share[-1], 1.0)
    wanted = np.searchsorted(share, np.linspace(0.0, 1.0, LEVELS + 1)[1:] * (1 - 1e-12))
    kept = np.unique(np.concatenate(([0], wanted, [len(share) - 1])))
    return whole.values[kept], share[kept]


def _interval(
    distributions: dict[int, Distribution], x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """95 % interval of the share at or below each value."""
    shares = np.array([_share(one, x) for one in distributions.values() if not one.is_empty])
    count = len(shares)
    centre = shares.mean(axis=0)
    if count < 2:
        return centre, centre
    half = t_quantile(count - 1) * shares.std(axis=0, ddof=1) / math.sqrt(count)
    return np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)


def _share(one: Distribution, x: np.ndarray) -> np.ndarray:
    cumulative = np.concatenate(([0.0], np.cumsum(one.shares)))
    return cumulative[np.searchsorted(one.values, x, side="right")]
