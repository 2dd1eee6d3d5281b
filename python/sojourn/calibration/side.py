"""Choices of a calibration, and its result for one direction of a line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sojourn.calibration.fit import Posterior
from sojourn.calibration.identify import Finding
from sojourn.calibration.line import FAMILIES, Access, Guess, Unknown
from sojourn.calibration.measurement import Measured
from sojourn.calibration.reading import Reading
from sojourn.calibration.table import Table

BUDGET_S = 120.0
"""Processor seconds of a calibration. chosen: a minute and a half on two cores."""

Statistics = Literal["auto", "all", "robust"]


@dataclass(frozen=True)
class Choices:
    """Choices of the user.

    Attributes
    ----------
    families
        Families of queue managers that may be.
    bounds
        Bounds of unknowns in place of the usual ones, by name; equal ones fix it.
    budget_s, runs
        Processor seconds, or how many runs.
    statistics
        `all` trusts the model, `robust` leaves out its dynamics, `auto` does what the misfit asks for.
    seed, jobs
        What decides draws, and threads.
    """

    families: tuple[str, ...] = FAMILIES
    bounds: Mapping[str, tuple[float, float]] | None = None
    budget_s: float = BUDGET_S
    runs: int | None = None
    statistics: Statistics = "auto"
    seed: int = 1
    jobs: int = 1


@dataclass(frozen=True)
class Side:
    """One direction of a line, as far as its tests say.

    Attributes
    ----------
    access, measured, guess
        Kind of line, the tests, and what is read off them.
    reading
        Quantities straight from the measurement.
    observed
        Statistics of what was seen, the mean over tests.
    unknowns, table, posterior
        Of the fit; no table and no posterior if there is only a bound, or nothing fits.
    misfit, robust_misfit
        How unlike the model the measurement is, in all and in robust statistics.
    findings, unknowable
        What is known, and what cannot be.
    is_shortened
        Whether only the beginning of the load counts.
    """

    access: Access
    measured: Measured
    guess: Guess
    reading: Reading
    observed: np.ndarray
    unknowns: tuple[Unknown, ...]
    table: Table | None
    posterior: Posterior | None
    misfit: float
    robust_misfit: float
    findings: tuple[Finding, ...]
    unknowable: tuple[str, ...]
    is_shortened: bool = False

    @property
    def direction(self) -> str:
        """`up` or `down`."""
        return self.measured.load.direction

    @property
    def is_misfit(self) -> bool:
        """True if the measurement is unlike anything that the model makes."""
        return self.misfit > 1
