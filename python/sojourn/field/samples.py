"""Samples of a tool: time, value, and the duration that each stands for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

LARGEST = 1e9
"""Larger values are no milliseconds, Mb/s or seconds. chosen: eleven days, a petabit per second, thirty years."""

BLACKOUT_S = 1.0
"""Time without an answer from which a test has a blackout, s. chosen: fifty packets of a call."""

COARSE = 0.01
"""Share of round trips at or below zero from which a clock is too coarse for them. chosen: one in a hundred moves a 99th
percentile."""

LATEST = 1e11
"""Later times are beyond any calendar, in seconds since 1970."""


@dataclass(frozen=True)
class Samples:
    """The samples of one series.

    Attributes
    ----------
    at
        When, in seconds.
    values
        How much.
    durations
        For how long, in seconds; `None` if each is one packet.
    """

    at: np.ndarray
    values: np.ndarray
    durations: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.values)

    def where(self, chosen: np.ndarray) -> Samples:
        """Return those of a mask."""
        durations = None if self.durations is None else self.durations[chosen]
        return Samples(self.at[chosen], self.values[chosen], durations)

    def mean(self) -> float | None:
        """Return the mean over time: a sample counts for as long as it lasted; `None` without samples."""
        if not len(self):
            return None
        return float(np.average(self.values, weights=self.durations))

    def quantile(self, share: float) -> float | None:
        """Return a quantile, interpolated between the two samples beside it; `None` without samples."""
        return float(np.quantile(self.values, share)) if len(self) else None


def samples_of(entries: Iterable[Any], *, are_rates: bool = False, are_pings: bool = False) -> Samples:
    """Return the samples in a list of objects with `t`, `val` and perhaps `dur`; what is none is left out.

    Parameters
    ----------
    entries
        Any JSON.
    are_rates
        Whether values that last for some time are transactions a second instead of milliseconds.
    are_pings
        Whether values below zero are round trips of 0, as a clock that is set meanwhile gives them.
    """
    found: list[tuple[float, float, float]] = []
    for entry in entries:
        if not isinstance(entry, dict):
            continue
        fields = cast("dict[str, Any]", entry)
        at, lasted = (_number(fields.get(key)) for key in ("t", "dur"))
        value = _number(fields.get("val"), clamped=are_pings)
        if at is None or value is None or at > LATEST:
            continue
        if are_rates and lasted:
            if not value:
                continue
            value = 1000.0 / value
        if value <= LARGEST:
            found.append((at, value, lasted if lasted and lasted <= LARGEST else 0.0))
    table = np.array(found, dtype=float).reshape(-1, 3)
    lasted = table[:, 2]
    return Samples(table[:, 0], table[:, 1], lasted if len(table) and lasted.all() else None)


def _number(value: object, *, clamped: bool = False) -> float | None:
    """Return a number from 0, which those below are if they are clamped; `None` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
        return None
    return max(float(value), 0.0) if value >= 0 or clamped else None


def is_coarse(rtt_ms: np.ndarray) -> bool:
    """Return whether the share of round trips at or below zero shows that the clock is too coarse for them."""
    return bool(len(rtt_ms)) and float(np.mean(rtt_ms <= 0)) >= COARSE


def blackout_flag(sent_s: np.ndarray, rtt_ms: np.ndarray) -> list[str]:
    """Return `blackout` if for `BLACKOUT_S` nothing that was sent came back; infinite is what did not.

    Examples
    --------
    >>> sent = np.arange(100) * 0.02
    >>> blackout_flag(sent, np.where(sent < 1.1, np.inf, 20.0)), blackout_flag(sent, np.full(100, 20.0))
    (['blackout'], [])
    """
    order = np.argsort(sent_s, kind="stable")
    sent, lost = sent_s[order], ~np.isfinite(rtt_ms[order])
    edges = np.flatnonzero(np.diff(np.concatenate([[False], lost, [False]]).astype(int)))
    for first, after in zip(edges[::2], edges[1::2], strict=True):
        end = sent[min(after, len(sent) - 1)]
        if end - sent[first] >= BLACKOUT_S:
            return ["blackout"]
    return []


def pooled_mean(series: Iterable[Samples]) -> float | None:
    """Return the mean of the means of several series; `None` without samples."""
    means = [mean for one in series if (mean := one.mean()) is not None]
    return float(np.mean(means)) if means else None


def pooled_quantile(series: Sequence[Samples], share: float) -> float | None:
    """Return a quantile of the samples of all series together; `None` without samples."""
    if not series:
        return None
    values = np.concatenate([one.values for one in series])
    return Samples(values, values).quantile(share)
