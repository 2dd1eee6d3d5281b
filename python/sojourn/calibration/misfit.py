"""Whether what was seen is like anything that the model makes.

Source: the distance to the nearest draw beside what the draws around it are from theirs (posterior predictive checks of rejection
samplers).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn.calibration.fit import Scaled

__all__ = ["NO_POSTERIOR", "Misfit", "misfit_of"]

DRAWS = 300
"""Draws whose nearest neighbours are looked for. Source: the specification of the gate."""

NO_POSTERIOR = 3.0
"""Misfit of the robust statistics from which no posterior is given. Source: the same."""


@dataclass(frozen=True)
class Misfit:
    """How unlike the model a measurement is.

    Attributes
    ----------
    ratio
        Distance to the nearest draw over what 99 % of the draws around are from theirs; above 1 it is unlike.
    nearest
        Row of the nearest draw.
    """

    ratio: float
    nearest: int


def misfit_of(space: Scaled) -> Misfit:
    """Return the misfit of what was seen."""
    distances = space.distances()
    order = np.argsort(distances, kind="stable")
    around = order[:DRAWS][np.isfinite(distances[order[:DRAWS]])]
    rows = space.rows[np.isfinite(space.rows).all(axis=1)]
    apart: list[float] = []
    for number in around:
        square = np.mean((rows - space.rows[number]) ** 2, axis=1)
        apart.append(float(np.sqrt(np.partition(square, 1)[1])))
    usual = float(np.quantile(apart, 0.99))
    return Misfit(float(distances[order[0]]) / max(usual, 1e-12), int(order[0]))
