"""Identifiability: the quantities of a line that a measurement determines.

Source: contraction of the interval from before to after the measurement.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sojourn.calibration.fit import Posterior, interval
from sojourn.calibration.inversion import MAP_SAMPLES
from sojourn.calibration.line import FAMILIES, Access, Guess, Unknown
from sojourn.calibration.measurement import Load, Seen

KNOWN, ROUGH = 0.8, 0.3
"""Contraction from which a value is known, and below which it is not identifiable. chosen: an interval of a fifth of what was believed before, and of most of it."""

FEWEST_DRAWS = 5
"""Draws below which nothing is said of a quantity. chosen: so few have no interval of 90 %."""

RATE_PRIOR = (1.0, 2000.0)
"""Bounds of the rate before anything is measured, Mb/s; draws come from around the first guess to spare runs."""


@dataclass(frozen=True)
class Finding:
    """Knowledge of one quantity.

    Attributes
    ----------
    unknown
        Which.
    middle, low, high
        Median and ends of the 90 % interval.
    contraction
        Share of the interval before, in logarithms, that is gone.
    family
        Family of lines to which it applies; empty for all.
    """

    unknown: Unknown
    middle: float
    low: float
    high: float
    contraction: float
    family: str = ""

    @property
    def verdict(self) -> str:
        """How well it is known, in words."""
        if self.unknown.low == self.unknown.high:
            return "given"
        if self.contraction >= KNOWN:
            return "known"
        return "roughly" if self.contraction >= ROUGH else "not identifiable"


def findings(unknowns: Sequence[Unknown], posterior: Posterior) -> list[Finding]:
    """Return what is known of each quantity of the line; of the likeliest family where only some have it."""
    found: list[Finding] = []
    for column, one in enumerate(unknowns):
        if not one.is_reported:
            continue
        family = posterior.best if one.families else None
        values, weights = posterior.of(column, family)
        if len(values) < FEWEST_DRAWS:
            continue
        middle, low, high = interval(values, weights)
        found.append(
            Finding(
                one, middle, low, high, _contraction(one, low, high), FAMILIES[family] if family is not None else ""
            )
        )
    return found


def _contraction(one: Unknown, low: float, high: float) -> float:
    if one.low == one.high:
        return 1.0
    least, most = RATE_PRIOR if one.name == "rate" else (one.low, one.high)
    if one.scale == "linear":
        return 1 - (high - low) / (0.9 * (most - least))
    return 1 - math.log(high / low) / (0.9 * math.log(most / least))


def unknowable(
    access: Access, load: Load, seen: Sequence[Seen], guess: Guess, family: str, *, is_bound: bool
) -> list[str]:
    """Return what such a measurement cannot say, a sentence each, whatever comes of a fit."""
    other = "downstream" if load.direction == "up" else "upstream"
    told: list[str] = []
    if is_bound:
        told.append(
            "The buffer: no loss was seen, so the sender's window was the limit and the buffer is larger than what waited in it."
        )
    elif family != "drop-tail":
        told.append("How large the buffer is behind a manager that drops early: it never fills. Its limit is assumed.")
    if load.beside:
        told.append(
            f"In which direction a round trip waited: both were loaded at once. Whatever the {other} queue may be is integrated over."
        )
    else:
        told.append(f"Which manager the {other} direction has: nothing loaded it.")
    if load.interval_ms:
        told.append("Which of several links in a row holds the queue: there is one kind of ping.")
        told.append("How the base round trip divides into up and down: pings are round trips.")
    else:
        told.append("Round trips of packets: the file has rates alone.")
    if math.isnan(guess.idle_ms):
        told.append("The base round trip apart from the queue: nothing was measured without load.")
    if access.has_bucket:
        told.append(
            "Burst and peak rate, unless the bucket runs empty within the test: a bucket that was empty, or lasts longer, looks the same."
        )
    idle = sum(int(np.isfinite(one.rtt_ms[one.sent_s < 0]).sum()) for one in seen)
    if access.name == "docsis31" and (idle < MAP_SAMPLES or load.rounding_ms):
        told.append(
            f"The MAP interval: {idle} idle round trips, and it takes {MAP_SAMPLES} that are not whole milliseconds."
        )
    told.append("What Wi-Fi in the home takes: there is no wired measurement beside it.")
    return told
