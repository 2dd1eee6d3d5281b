"""Misfit: the distance of a measurement from all simulated tests of the model.

Source: the distance to the nearest draw beside what the draws around it are from theirs (posterior predictive checks of rejection
samplers).
"""

from __future__ import annotations

import numpy as np

from sojourn.calibration.fit import Scaled

DRAWS = 300
"""Draws whose nearest neighbours are looked for. chosen: with 300, the 99th percentile rests on three of them."""

NO_POSTERIOR = 3.0
"""Misfit of the robust statistics from which no posterior is given. chosen: three times the distance of the loneliest draws."""


def misfit_of(space: Scaled) -> float:
    """Return how unlike the model a measurement is.

    Its distance to the nearest draw, over the distance within which 99 % of the draws around have theirs; above 1 it is unlike.
    """
    distances = space.distances()
    order = np.argsort(distances, kind="stable")
    around = order[:DRAWS][np.isfinite(distances[order[:DRAWS]])]
    rows = space.rows[np.isfinite(space.rows).all(axis=1)]
    apart: list[float] = []
    for number in around:
        square = np.mean((rows - space.rows[number]) ** 2, axis=1)
        apart.append(float(np.sqrt(np.partition(square, 1)[1])))
    usual = float(np.quantile(apart, 0.99))
    return float(distances[order[0]]) / max(usual, 1e-12)
