"""The level of intervals and tests: 95 % in all reports, and another where runs stopped because of their intervals.

Intervals may also hold at every number of runs, see `sojourn.stats.anytime`.

Source: `sojourn.stats.precision` for the other one.
Deviations: none.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

CONFIDENCE = 0.95
"""Confidence of every interval in the reports; the field's convention."""

_level = ContextVar("level", default=CONFIDENCE)
_anytime = ContextVar("anytime", default=False)


def confidence() -> float:
    """Return the level that intervals are computed for."""
    return _level.get()


def significance() -> float:
    """Return the p-value below which a difference counts as more than chance.

    Examples
    --------
    >>> significance()
    0.05
    """
    return round(1 - _level.get(), 12)


def is_stopped() -> bool:
    """Return whether intervals are of runs that stopped because of them."""
    return _level.get() != CONFIDENCE


def is_anytime() -> bool:
    """Return whether intervals are those of `sojourn.stats.anytime`, which are of `CONFIDENCE` whatever the level."""
    return _anytime.get()


@contextmanager
def at_level(level: float, *, anytime: bool = False) -> Generator[None]:
    """Compute intervals and tests at another level; intervals may be such that they hold whenever one looks."""
    token, other = _level.set(level), _anytime.set(anytime)
    try:
        yield
    finally:
        _level.reset(token)
        _anytime.reset(other)
