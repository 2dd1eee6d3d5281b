"""Distributions of delays with weights, and mixtures of them.

Source: White 2013 section 4.1.1 (conditions of a summary weigh the same, however many packets each
had); White 2019 sections 4.1 to 4.3 (weights, round trips, variation) with the bin width of its public
plotting script; the metrics page of the documentation ("Mixtures").
Deviations: bins of round trips stand at their middle; the script's are up to two bins low.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

_NANOSECONDS_PER_MILLISECOND = 1_000_000


@dataclass(frozen=True)
class Distribution:
    """Values in ascending order, each with its share of the whole; the shares sum to one.

    Attributes
    ----------
    values
        Distinct values; delays are in ms.
    shares
        Share of each value.
    count
        Samples behind it; a mixture has those of its parts.
    """

    values: np.ndarray
    shares: np.ndarray
    count: int

    @classmethod
    def of(cls, values: np.ndarray, counts: np.ndarray | None = None) -> Distribution:
        """Gather samples, or values with how often each was seen.

        Examples
        --------
        >>> Distribution.of(np.array([3.0, 1.0, 3.0])).shares.round(3).tolist()
        [0.333, 0.667]
        """
        weights = np.ones(len(values)) if counts is None else np.asarray(counts, dtype=float)
        distinct, summed = _gathered(np.asarray(values, dtype=float), weights)
        total = float(summed.sum())
        return cls(distinct, summed / total if total else summed, round(total))

    @property
    def is_empty(self) -> bool:
        """True if there is nothing in it."""
        return self.count == 0

    def quantile(self, p: float) -> float:
        """Return the smallest value that at least the share `p` does not exceed; NaN if empty.

        Examples
        --------
        >>> Distribution.of(np.array([1.0, 2.0, 3.0, 4.0])).quantile(0.5)
        2.0
        """
        if self.is_empty:
            return float("nan")
        place = int(np.searchsorted(self._cumulative, p))
        return float(self.values[min(place, len(self.values) - 1)])

    @cached_property
    def _cumulative(self) -> np.ndarray:
        """Share of the values up to each of them, the last of which is 1: as `numpy.quantile` with weights has it."""
        summed = np.cumsum(self.shares)
        return summed / summed[-1]

    def mean(self) -> float:
        """Return the mean; NaN if empty."""
        return float("nan") if self.is_empty else float(np.dot(self.values, self.shares))

    def trimmed_mean(self, share: float) -> float:
        """Return the mean without this share at either end; NaN if empty. A value at an end counts by what is left of it.

        Examples
        --------
        >>> one = Distribution.of(np.array([1.0, 2.0, 4.0, 90.0]))
        >>> one.trimmed_mean(0.25), one.trimmed_mean(0.375)
        (3.0, 3.0)
        """
        if self.is_empty:
            return float("nan")
        upto = np.clip(self._cumulative, share, 1 - share)
        kept = np.diff(upto, prepend=share)
        return float(np.dot(self.values, kept) / (1 - 2 * share))

    def share_below(self, limit: float) -> float:
        """Return the share of values below `limit`; NaN if empty."""
        if self.is_empty:
            return float("nan")
        return float(self.shares[: int(np.searchsorted(self.values, limit))].sum())

    def above_least(self) -> Distribution:
        """Return the distances from the smallest value: the variation of RFC 5481 (section 4.2)."""
        if self.is_empty:
            return self
        return replace(self, values=self.values - self.values[0])

    def rounded_up(self) -> Distribution:
        """Round each value up to a whole unit, as White 2013 shows its delays in ms.

        Examples
        --------
        >>> Distribution.of(np.array([0.2, 1.0, 1.000001])).rounded_up().values.tolist()
        [1.0, 2.0]
        """
        return replace(Distribution.of(np.ceil(self.values), self.shares), count=self.count)


def delays(nanoseconds: np.ndarray, packets: np.ndarray) -> Distribution:
    """Return the distribution of a recorded histogram of delays, in ms."""
    return Distribution.of(np.asarray(nanoseconds) / _NANOSECONDS_PER_MILLISECOND, packets)


def pooled(parts: Iterable[Distribution]) -> Distribution:
    """Put samples together: each sample weighs the same."""
    kept = [part for part in parts if not part.is_empty]
    return _mixed(kept, [part.count for part in kept])


def mixture(parts: Iterable[Distribution], weights: Sequence[float] | None = None) -> Distribution:
    """Put distributions together by weight, by default the same for each; empty ones are left out.

    Examples
    --------
    >>> quiet = Distribution.of(np.array([1.0]), np.array([90]))
    >>> busy = Distribution.of(np.array([9.0]), np.array([10]))
    >>> mixture([quiet, busy]).quantile(0.9), pooled([quiet, busy]).quantile(0.9)
    (9.0, 1.0)
    """
    each = list(parts)
    weighed = zip(each, [1.0] * len(each) if weights is None else weights, strict=True)
    kept = [(part, weight) for part, weight in weighed if not part.is_empty]
    return _mixed([part for part, _ in kept], [weight for _, weight in kept])


_LEAST_BIN_MS = 0.001
"""Smallest bin of round trips, and into how many the longest delay is divided. Source: the plotting
script of docsis-ns3."""

_BINS = 10_000


def convolved(first: Distribution, second: Distribution) -> Distribution:
    """Return the distribution of the sum of two independent delays in ms, in bins.

    A bin is a ten-thousandth of the longest delay, in whole microseconds and at least one.

    Examples
    --------
    >>> up = Distribution.of(np.array([1.0005, 10.0005]), np.array([8, 2]))
    >>> down = Distribution.of(np.array([1.0005, 4.0005]), np.array([9, 1]))
    >>> whole = convolved(up, down)
    >>> whole.values.round(3).tolist(), whole.shares.round(2).tolist()
    ([2.001, 5.001, 11.001, 14.001], [0.72, 0.08, 0.18, 0.02])
    """
    if first.is_empty or second.is_empty:
        return Distribution(np.empty(0), np.empty(0), 0)
    longest = max(float(first.values[-1]), float(second.values[-1]))
    width = max(_LEAST_BIN_MS, round(longest / _BINS, 3))
    starts, binned = zip(*(_binned(one, width) for one in (first, second)), strict=True)
    shares = np.convolve(*binned)
    filled = np.flatnonzero(shares)
    # Two samples at the middles of their bins.
    values = (sum(starts) + filled + 1.0) * width
    return Distribution(values, shares[filled], min(first.count, second.count))


def _binned(one: Distribution, width: float) -> tuple[int, np.ndarray]:
    """First bin of a distribution, and the shares of all bins from there."""
    # A value at an edge belongs to the bin above, however its division is rounded.
    bins = np.floor(one.values / width + 1e-9).astype(np.int64)
    return int(bins[0]), np.bincount(bins - bins[0], weights=one.shares)


def _gathered(values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct values in ascending order, and the sum of the weights of each in the order they came in."""
    if np.all(values[1:] > values[:-1]):
        return values, weights
    # Parts of a mixture are in order each; a stable sort makes use of that.
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    is_new = np.concatenate(([True], ascending[1:] != ascending[:-1]))
    where = np.empty(len(values), dtype=np.intp)
    where[order] = np.cumsum(is_new) - 1
    return ascending[is_new], np.bincount(where, weights=weights)


def _mixed(parts: list[Distribution], weights: list[float] | list[int]) -> Distribution:
    if not parts:
        return Distribution(np.empty(0), np.empty(0), 0)
    values = np.concatenate([part.values for part in parts])
    shares = np.concatenate([p.shares * w for p, w in zip(parts, weights, strict=True)])
    return replace(Distribution.of(values, shares), count=sum(part.count for part in parts))
