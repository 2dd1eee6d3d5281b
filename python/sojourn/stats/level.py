"""The level of intervals and tests: 95 % in all reports, and another where runs were stopped by what they showed.

Source: `sojourn.stats.precision` for the other one.
Deviations: none.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["CONFIDENCE", "at_level", "confidence", "significance"]

CONFIDENCE = 0.95
"""Confidence of every interval in the reports; the field's convention."""

_level = ContextVar("level", default=CONFIDENCE)


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


@contextmanager
def at_level(level: float) -> Generator[None]:
    """Compute intervals and tests at another level."""
    token = _level.set(level)
    try:
        yield
    finally:
        _level.reset(token)
