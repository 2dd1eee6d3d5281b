"""Rates of a line that follows a trace: its mean, and its rate in each minute.

Source: the form of `opportunities` as the engine prints it: times in ms, `+` before a gap, `*` before a count.
Deviations: a trace shorter than twenty minutes is cut into twentieths instead of minutes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

PIECES = 20
"""Pieces from which percentiles of rates are taken at least. chosen: a 5th percentile is the least of twenty."""

MINUTE_MS = 60_000


def _opportunities(text: str) -> tuple[np.ndarray, np.ndarray]:
    """Return times in ms, and how many opportunities there are at each."""
    times: list[int] = []
    counts: list[int] = []
    for word in text.split():
        number, _, count = word.removeprefix("+").partition("*")
        before = times[-1] if times and word.startswith("+") else 0
        times.append(before + int(number))
        counts.append(int(count or 1))
    return np.array(times), np.array(counts)


def _bits(link: Mapping[str, Any]) -> float:
    """Return the bits of an opportunity, scaled."""
    octets = int(str(link.get("opportunity", "1504 B")).partition(" ")[0])
    return 8.0 * octets * float(link.get("scale", 1.0))


def mean_mbps(link: Mapping[str, Any]) -> float:
    """Return the mean rate of a trace.

    Examples
    --------
    >>> mean_mbps({"opportunities": "1 +1*2 +1", "opportunity": "1500 B"})
    16.0
    """
    times, counts = _opportunities(str(link["opportunities"]))
    return float(counts.sum()) * _bits(link) / float(times[-1]) / 1000


def minute_rates(link: Mapping[str, Any]) -> list[float]:
    """Return the mean rate of each minute of a trace, Mb/s."""
    times, counts = _opportunities(str(link["opportunities"]))
    length = float(times[-1])
    pieces = max(int(length // MINUTE_MS), PIECES)
    sums, _ = np.histogram(times, bins=pieces, range=(0.0, length), weights=counts)
    rates: list[float] = (sums * _bits(link) / (length / pieces) / 1000).tolist()
    return rates
