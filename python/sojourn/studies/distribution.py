"""Distributions of delays with weights, and mixtures of them.

Source: White 2013 section 4.1.1 (conditions of a summary weigh the same, however many packets each
had); the metrics page of the documentation ("Mixtures").
Deviations: none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

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
        distinct, where = np.unique(np.asarray(values, dtype=float), return_inverse=True)
        summed = np.bincount(where, weights=weights, minlength=len(distinct))
        total = float(summed.sum())
        return cls(distinct, summed / total if total else summed, round(total))

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in it."""
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
        found = np.quantile(self.values, p, weights=self.shares, method="inverted_cdf")
        return float(found)

    def share_below(self, limit: float) -> float:
        """Return the share of values below `limit`; NaN if empty."""
        if self.is_empty:
            return float("nan")
        return float(self.shares[: int(np.searchsorted(self.values, limit))].sum())

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


def mixture(parts: Iterable[Distribution]) -> Distribution:
    """Put distributions together: each distribution weighs the same; empty ones are left out.

    Examples
    --------
    >>> quiet = Distribution.of(np.array([1.0]), np.array([90]))
    >>> busy = Distribution.of(np.array([9.0]), np.array([10]))
    >>> mixture([quiet, busy]).quantile(0.9), pooled([quiet, busy]).quantile(0.9)
    (9.0, 1.0)
    """
    kept = [part for part in parts if not part.is_empty]
    return _mixed(kept, [1.0] * len(kept))


def _mixed(parts: list[Distribution], weights: list[float] | list[int]) -> Distribution:
    if not parts:
        return Distribution(np.empty(0), np.empty(0), 0)
    values = np.concatenate([part.values for part in parts])
    shares = np.concatenate([p.shares * w for p, w in zip(parts, weights, strict=True)])
    return replace(Distribution.of(values, shares), count=sum(part.count for part in parts))
