"""The nearest rival of the advised setting: its advantages, and the cost of the winner against it.

chosen: differences are named if they have one sign in all paired seeds, from 2 % for rates and 10 % for delays and load times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sojourn.base.digits import significant

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class _Measure:
    """A measure: its subject, its words, and whether more of it is better."""

    subject: str
    metric: str
    words: str
    unit: str
    is_rate: bool = False

    @property
    def least(self) -> float:
        """The share from which on a difference is named."""
        return 0.02 if self.is_rate else 0.1


MEASURES = (
    _Measure("game", "delay_round_trip_p99", "the game", "ms"),
    _Measure("call", "delay_p99", "the call", "ms"),
    _Measure("page", "page_load_time_median", "a page", "s"),
    _Measure("upload", "goodput", "the upload", "Mb/s", is_rate=True),
    _Measure("download", "goodput_downstream", "the download", "Mb/s", is_rate=True),
)
"""Compared measures; the first that a result has decides which rival is nearest."""


@dataclass(frozen=True)
class Rival:
    """A setting beside the winner.

    Attributes
    ----------
    setting
        Its name.
    sentence
        Its advantages, and the costs of the winner.
    """

    setting: str
    sentence: str


Seeds = Mapping[tuple[str, str, str], Mapping[int, float]]
"""Values by seed, of a setting, a subject and a metric."""


def nearest_rival(metrics: pl.DataFrame, winner: str, names: Mapping[str, str]) -> Rival | None:
    """Return the rival of a result's winner.

    Parameters
    ----------
    metrics
        The metrics of all runs; points are settings.
    winner
        The setting that is advised.
    names
        How sentences call the settings that can be set.
    """
    found: dict[tuple[str, str, str], dict[int, float]] = {}
    for point, seed, subject, metric, value in metrics.select(
        "point", "seed", "subject", "metric", "value"
    ).iter_rows():
        found.setdefault((str(point), str(subject), str(metric)), {})[int(seed)] = float(value)
    return rival_of(found, winner, names)


def rival_of(values: Seeds, winner: str, names: Mapping[str, str]) -> Rival | None:
    """Return the rival whose first measure is nearest to the winner's; `None` if there is no other competitor.

    Examples
    --------
    >>> low, cake = {1: 4.6, 2: 4.8}, {1: 7.5, 2: 7.7}
    >>> values = {("low", "game", "delay_round_trip_p99"): low, ("cake", "game", "delay_round_trip_p99"): cake}
    >>> values |= {
    ...     ("low", "download", "goodput_downstream"): {1: 140, 2: 144},
    ...     ("cake", "download", "goodput_downstream"): {1: 155, 2: 157},
    ... }
    >>> rival_of(values, "low", {"low": "LLD", "cake": "CAKE"}).sentence
    'The nearest rival is CAKE: the game at 7.6 ms for 4.7. LLD costs beside it: the download at 142 Mb/s for 156.'
    """
    others = [name for name in names if name != winner]
    measures = [one for one in MEASURES if (winner, one.subject, one.metric) in values]
    if not others or not measures:
        return None

    def mean(setting: str, measure: _Measure) -> float:
        each = values.get((setting, measure.subject, measure.metric), {})
        return float(np.mean(list(each.values()))) if each else float("nan")

    first = measures[0]
    own = mean(winner, first)
    apart = {name: abs(np.log(max(mean(name, first), 1e-9) / max(own, 1e-9))) for name in others}
    rival = min(others, key=lambda name: (not np.isfinite(apart[name]), apart[name]))
    costs = [
        f"{one.words} at {significant(mean(winner, one), 3)} {one.unit} for {significant(mean(rival, one), 3)}"
        for one in measures[1:]
        if _is_worse(values, winner, rival, one)
    ]
    name = names[winner]
    told = f"The nearest rival is {names[rival]}: {first.words} at {significant(mean(rival, first), 2)} {first.unit} "
    told += f"for {significant(own, 2)}. "
    if costs:
        return Rival(rival, f"{told}{name} costs beside it: {', '.join(costs)}.")
    return Rival(rival, f"{told}{name} costs nothing beside it that all runs agree on.")


def _is_worse(values: Seeds, winner: str, rival: str, measure: _Measure) -> bool:
    """Return whether the winner is worse in each pair of runs, by enough to name."""
    own, other = (values.get((name, measure.subject, measure.metric), {}) for name in (winner, rival))
    pairs: Sequence[tuple[float, float]] = [(own[seed], other[seed]) for seed in own if seed in other]
    if not pairs or min(min(pair) for pair in pairs) <= 0:
        return False
    ratios = [b / a if measure.is_rate else a / b for a, b in pairs]
    return min(ratios) > 1 and float(np.exp(np.mean(np.log(ratios)))) >= 1 + measure.least
