"""From a reference table and what was seen to lines that may have made it: rejection, then a local-linear adjustment.

Source: approximate Bayesian computation by rejection with regression adjustment (Beaumont, Zhang and Balding 2002); logit of bounded
quantities (Hamilton, Currat and others 2005).
Deviations: families are separated by the hundred nearest draws of all, each share shrunk by one; near is counted in the noise
of each statistic there, and in its spread over all draws where values are fitted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from sojourn.calibration.line import FAMILIES, Unknown
from sojourn.calibration.statistics import NAMES
from sojourn.calibration.table import Table

NEAREST_ALL, NEAREST_FAMILY = 100, 150
"""Draws that families are counted among, and that values are fitted to. chosen: a few percent of a table, so that they are near."""

FEWEST_NEAREST = 40
"""Draws of a small table that values are fitted to; a third of its family if that is more. chosen: far ones bend the regression."""

FEWEST_MEMBERS = 20
"""Draws of a family below which nothing is fitted to it."""

RIDGE, LEAST_SHARE = 0.1, 0.05
"""Of the regression; and of a family, below which it is not fitted. Source: the same."""

IDLE_SPREAD = 0.01
"""Least unit of idle round trips, as log(1 + ms). chosen: clocks of probes are no better than 0.01 ms."""

EVIDENCE = 3.0
"""Odds below which a family is not told from another. Source: Kass and Raftery 1995, Bayes factors: below 3 not worth more than a bare mention."""

FOLLOWS = {"rate": "goodput", "rtt": "idle_median"}
"""Unknowns whose bounds only spare runs, and the statistic that tells nearly all of them: what is fitted is how far they are from it."""


@dataclass(frozen=True)
class Scaled:
    """Statistics of a table in units of their spread.

    Attributes
    ----------
    rows
        A row per draw.
    names
        Statistics that are used.
    observed
        What was seen, in the same units.
    spread
        The unit of each.
    """

    rows: np.ndarray
    names: tuple[str, ...]
    observed: np.ndarray
    spread: np.ndarray

    def seen(self, name: str) -> float:
        """Return a statistic of what was seen, in its own unit."""
        number = self.names.index(name)
        return float(self.observed[number] * self.spread[number])

    def distances(self) -> np.ndarray:
        """Return how far each draw is from what was seen: root of the mean square over statistics."""
        return np.sqrt(np.mean((self.rows - self.observed) ** 2, axis=1))


def scaled(table: Table, observed: np.ndarray, chosen: Sequence[str] = NAMES) -> Scaled:
    """Return statistics in units of their spread before anything was measured; constant and unknown ones drop out."""
    columns: list[int] = []
    spreads: list[float] = []
    for number, name in enumerate(NAMES):
        values = table.statistics[:, number]
        known = values[np.isfinite(values)]
        if name not in chosen or not math.isfinite(observed[number]) or len(known) < 0.9 * len(values):
            continue
        middle = float(np.median(known))
        spread = 1.4826 * float(np.median(np.abs(known - middle))) + 0.05 * float(known.std())
        if name == "idle_median":
            spread = max(spread, IDLE_SPREAD)
        if spread > 1e-9:
            columns.append(number)
            spreads.append(spread)
    rows = table.statistics[:, columns] / spreads
    rows = np.where(np.isfinite(rows), rows, np.inf)
    names = tuple(NAMES[number] for number in columns)
    return Scaled(rows, names, observed[columns] / np.array(spreads), np.array(spreads))


@dataclass(frozen=True)
class Posterior:
    """Lines that may have made what was seen.

    Attributes
    ----------
    shares
        Of each family, in the order of `line.FAMILIES`.
    families, values, weights
        Draws: number of the family, values in the order of the unknowns (NaN for those that the family lacks), and weight.
    is_robust
        Whether dynamics were left out.
    """

    shares: np.ndarray
    families: np.ndarray
    values: np.ndarray
    weights: np.ndarray
    is_robust: bool = False

    @property
    def best(self) -> int:
        """Number of the likeliest family."""
        return int(np.argmax(self.shares))

    @property
    def alike(self) -> list[int]:
        """Numbers of the families as likely as the likeliest one, which comes first; it alone if the measurement decides."""
        order = np.argsort(-self.shares, kind="stable")
        return [int(one) for one in order if self.shares[one] * EVIDENCE > self.shares[order[0]]]

    def of(self, column: int, family: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return draws of an unknown and their weights, of one family or of all that have it."""
        chosen = np.isfinite(self.values[:, column])
        if family is not None:
            chosen &= self.families == family
        return self.values[chosen, column], self.weights[chosen]


def fit(table: Table, observed: np.ndarray) -> Posterior:
    """Return the posterior of what was seen, over the draws of a table.

    Parameters
    ----------
    table
        Draws and their statistics.
    observed
        Statistics of what was seen.
    """
    everything = scaled(table, observed)
    distances = everything.distances()
    shares = family_shares(table, in_noise(table, everything).distances())
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for family in range(len(FAMILIES)):
        members = np.flatnonzero((table.families == family) & np.isfinite(distances))
        if shares[family] < LEAST_SHARE or len(members) < FEWEST_MEMBERS:
            continue
        values, weights = adjusted(table, everything, distances, members)
        weights = weights * shares[family] / weights.sum()
        found.append((np.full(len(weights), family), values, weights))
    families, values, weights = (np.concatenate(part) for part in zip(*found, strict=True))
    return Posterior(shares, families, values, weights / weights.sum())


def family_shares(table: Table, distances: np.ndarray) -> np.ndarray:
    """Return how likely each family is, by the nearest draws of all."""
    order = np.argsort(distances, kind="stable")
    near, width = order[:NEAREST_ALL], distances[order[min(NEAREST_ALL, len(order) - 1)]]
    kernel = np.maximum(0.0, 1 - (distances[near] / max(width, 1e-12)) ** 2) * table.weights[near]
    total = kernel.sum()
    kernel = kernel * len(near) / total if total > 0 else np.ones(len(near))
    counts = np.array([kernel[table.families[near] == family].sum() for family in range(len(FAMILIES))])
    there = np.isin(np.arange(len(FAMILIES)), table.families)
    return np.where(there, counts + 1, 0.0) / (counts.sum() + there.sum())


def adjusted(table: Table, space: Scaled, distances: np.ndarray, members: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest draws of a family, moved to where what was seen is, and their weights."""
    order = members[np.argsort(distances[members], kind="stable")]
    count = min(NEAREST_FAMILY, max(FEWEST_NEAREST, len(order) // 3))
    near = order[:count]
    width = distances[order[min(count, len(order) - 1)]]
    weights = np.maximum(1e-6, 1 - (distances[near] / max(width, 1e-12)) ** 2) * table.weights[near]
    offsets = space.rows[near] - space.observed
    kept = np.flatnonzero(np.isfinite(offsets).all(axis=0) & (offsets.std(axis=0) > 1e-9))
    offsets = offsets[:, kept]
    centre = np.average(offsets, axis=0, weights=weights)
    root = np.sqrt(weights / weights.mean())[:, None]
    design = (offsets - centre) * root
    gram = design.T @ design + RIDGE * np.eye(len(kept))
    # What a regression leaves is smaller than what draws that it has not seen would be apart.
    free = float(weights.sum() ** 2 / (weights**2).sum())
    wider = math.sqrt(free / max(free - len(kept), free / 4))
    # Its plane through these draws is itself off where the measurement is, the more the farther from their middle.
    reach = cast("np.ndarray", np.linalg.solve(gram, centre))  # pyright: ignore[reportUnknownMemberType]
    wider *= math.sqrt(1 + (1 + len(near) * float(centre @ reach)) / free)
    values = table.values[near].copy()
    for column, one in enumerate(table.unknowns):
        raw = values[:, column]
        known = np.isfinite(raw)
        if one.scale == "choice" or one.low == one.high or not known.all():
            continue  # choices stay as they were drawn, and so does what some draws do not have
        # A line of another rate is the same line at another speed: what is fitted is the rate over the goodput of each draw, and likewise
        # the base round trip over the idle one.
        teller = FOLLOWS.get(one.name, "")
        follows = teller in space.names
        if follows:
            told = table.statistics[near, NAMES.index(teller)]
            moved = np.log(raw) - _as_log(told, teller)
        else:
            moved = to_line(one, raw)
        middle = np.average(moved, weights=weights)
        target = design.T @ ((moved - middle)[:, None] * root)[:, 0]
        slope = cast("np.ndarray", np.linalg.solve(gram, target))  # pyright: ignore[reportUnknownMemberType]
        left: np.ndarray = moved - middle - (offsets - centre) @ slope
        found = middle - centre @ slope + wider * left
        found = np.exp(found + _as_log(space.seen(teller), teller)) if follows else from_line(one, found)
        values[:, column] = np.clip(found, one.low, one.high)
    return values, weights


def _as_log(value: np.ndarray | float, name: str) -> np.ndarray:
    """Return the logarithm of what a statistic stands for: rates are logarithms, delays those of one more."""
    return np.asarray(value) if name == "goodput" else np.log(np.maximum(np.expm1(value), 1e-9))


def to_line(one: Unknown, values: np.ndarray) -> np.ndarray:
    """Return values on a scale without ends: the logit of their share of the bounds."""
    if one.scale == "log":
        share = np.log(values / one.low) / math.log(one.high / one.low)
    else:
        share = (values - one.low) / (one.high - one.low)
    share = np.clip(share, 1e-6, 1 - 1e-6)
    return np.log(share / (1 - share))


def from_line(one: Unknown, values: np.ndarray) -> np.ndarray:
    """Return values from the scale without ends."""
    share = 1 / (1 + np.exp(-np.clip(values, -40, 40)))
    if one.scale == "log":
        return one.low * (one.high / one.low) ** share
    return one.low + share * (one.high - one.low)


def interval(values: np.ndarray, weights: np.ndarray, level: float = 0.9) -> tuple[float, float, float]:
    """Return the median and the ends of the central interval of weighted draws."""
    tail = (1 - level) / 2
    low, middle, high = quantiles(values, weights, (tail, 0.5, 1 - tail))
    return middle, low, high


def quantiles(values: np.ndarray, weights: np.ndarray, shares: Sequence[float]) -> list[float]:
    """Return weighted quantiles, interpolated between draws."""
    order = np.argsort(values, kind="stable")
    rising, weight = values[order], weights[order]
    at = (np.cumsum(weight) - 0.5 * weight) / weight.sum()
    return [float(np.interp(share, at, rising)) for share in shares]


def in_noise(table: Table, space: Scaled) -> Scaled:
    """Return statistics in units of their spread between lines that are alike."""
    columns = [NAMES.index(name) for name in space.names]
    unit = np.maximum(noise_of(table, columns) / space.spread, LEAST_NOISE)
    return Scaled(space.rows / unit, space.names, space.observed / unit, space.spread * unit)


LEAST_NOISE = 0.02
"""Of a statistic, in units of its spread. chosen: what never varies would else decide alone."""


def noise_of(table: Table, columns: list[int]) -> np.ndarray:
    """Return the standard deviation of statistics between lines that are alike: nearest draws of one family."""
    found: list[np.ndarray] = []
    for number, family in enumerate(FAMILIES):
        members = np.flatnonzero(table.families == number)
        if len(members) < 2:
            continue
        places: list[np.ndarray] = []
        for column, one in enumerate(table.unknowns):
            if one.name in ("rate", "rtt", "buffer", "target") and one.of(family) and one.low < one.high:
                place = np.log(table.values[members, column])
                places.append(place / max(float(place.std()), 1e-12))
        if not places:
            continue
        at = np.stack(places, axis=1)
        for row in range(0, len(members), max(1, len(members) // 100)):
            square = ((at - at[row]) ** 2).sum(axis=1)
            square[row] = np.inf
            other = int(np.argmin(square))
            found.append(table.statistics[members[row], columns] - table.statistics[members[other], columns])
    return 1.4826 / math.sqrt(2) * np.nanmedian(np.abs(found), axis=0)
