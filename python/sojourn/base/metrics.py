"""The metrics of a run and the causes of delay, as the engine declares them.

Names, units, words, bounds and sources stand in one table of the crate `sojourn-metrics`; this module reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

Better = Literal["lower", "higher", ""]
"""Which way a metric is better; empty where neither is (packets sent, connections)."""


@dataclass(frozen=True)
class Metric:
    """A declared metric.

    Attributes
    ----------
    name
        As in the table `metrics`.
    words
        What headings call it.
    unit
        Empty for counts and fractions.
    low, high
        Bounds that no value can pass; infinite where there are none.
    better
        Which way is better for a subscriber.
    meaning, source
        Its definition, and where that comes from.
    """

    name: str
    words: str
    unit: str
    low: float
    high: float
    better: Better
    meaning: str
    source: str


@cache
def metrics() -> Mapping[str, Metric]:
    """Return all metrics by name, in the order of the reference page."""
    import sojourn._engine as _engine

    return {one["name"]: Metric(**one) for one in _engine.metric_schemas()}


def words_of(metric: str) -> str:
    """Return what headings call a metric; a measure that no run declares keeps its name.

    Examples
    --------
    >>> words_of("queue_delay_p99"), words_of("mos"), words_of("my_own")
    ('99th percentile of queuing delay', 'score of the call (MOS)', 'my own')
    """
    declared = metrics().get(metric)
    return declared.words if declared else metric.replace("_", " ")


@cache
def delay_causes() -> Mapping[str, str]:
    """Return the causes of delay with their words, in the order in which a packet meets them.

    Examples
    --------
    >>> list(delay_causes())[:3], delay_causes()["wire"]
    (['sender', 'recovery', 'queue'], 'propagation')
    """
    import sojourn._engine as _engine

    return {name: words for name, words, _ in _engine.delay_causes()}
