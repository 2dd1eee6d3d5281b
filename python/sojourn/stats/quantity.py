"""What kind of number a metric is: between which bounds it lies, and which way is better.

Intervals and comparisons ask this, so that no loss falls below zero and no score above its scale, and one page
that took minutes does not hide that all others took seconds.

Source: units of the table `metrics`; MOS and R of ITU-T G.107 Annex B. Deviations: none known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Better", "Quantity", "in_unit", "is_compared_by_ratio", "quantity_of"]

Better = Literal["lower", "higher", ""]
"""Which way a measure is better; empty where neither is (packets sent, connections)."""


@dataclass(frozen=True)
class Quantity:
    """A kind of number.

    Attributes
    ----------
    low, high
        Bounds that no value can pass; infinite where there are none.
    better
        Which way is better for a subscriber.
    by_ratio
        Whether two of them are compared by their ratio: times, which are spread over decades.
    """

    low: float = -math.inf
    high: float = math.inf
    better: Better = ""
    by_ratio: bool = field(default=False, repr=False)

    @property
    def is_share(self) -> bool:
        """Whether both ends are bounded, as of a share or a score."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def indifference(self, best: float) -> float:
        """Return the difference from the best that nobody would notice.

        chosen: 1 % of it; 0.05 points of a share in percent; a tenth of a score of a call.

        Examples
        --------
        >>> Quantity(0.0, 100.0).indifference(0.0), Quantity(0.0).indifference(50.0)
        (0.05, 0.5)
        """
        if self.high == 100.0:
            return 0.05
        if (self.low, self.high) == MOS:
            return 0.1
        return 0.01 * abs(best)


#: Scale of mean opinion scores that a call can reach. Source: ITU-T G.107 Annex B.
MOS = (1.0, 4.5)

#: Unitless metrics with bounds of their own. Source: ITU-T G.107 Annex B; shares of what was possible;
#: Akhtar 2013 gives its predicted score no bounds.
_SCALES: dict[str, tuple[float, float]] = {
    "mos": MOS,
    "mos_min": MOS,
    "mos_loss_only": MOS,
    "rating": (0.0, 100.0),
    "fairness": (0.0, 1.0),
    "video_rate_fairness": (0.0, 1.0),
    "predicted_mos": (-math.inf, math.inf),
    "predicted_mos_min": (-math.inf, math.inf),
}

#: Units of times. chosen: they are positive and spread over decades; shares and scores have ends, rates hardly spread.
#: The number is how many make a second.
_TIMES = {"s": 1.0, "ms": 1e3, "us": 1e6, "µs": 1e6, "ns": 1e9}

#: Beginnings of names, the longest that fits decides. chosen: what a subscriber would say.
_BETTER: dict[str, Better] = {
    "mos": "higher",
    "rating": "higher",
    "predicted_mos": "higher",
    "underflow": "lower",
    "sustained_share": "higher",
    "stalls": "lower",
    "startup_time": "lower",
    "low_buffer": "lower",
    "live_latency": "lower",
    "played_fast": "lower",
    "played_slow": "lower",
    "skips": "lower",
    "skipped_media": "lower",
    "switches_per_minute": "lower",
    "video_rate_mean": "higher",
    "video_rate_fairness": "higher",
    "fairness": "higher",
    "utilisation": "higher",
    "goodput": "higher",
    "forwarded_volume": "higher",
    "pages_completed": "higher",
    "transfers_completed": "higher",
    "delay": "lower",
    "delay_share_under": "higher",
    "queue_delay": "lower",
    "queue_delay_share_under": "higher",
    "sojourn": "lower",
    "backlog": "lower",
    "lost": "lower",
    "late": "lower",
    "loss": "lower",
    "page_load_time": "lower",
    "pages_unfinished": "lower",
    "transfer_time": "lower",
    "retransmissions": "lower",
    "timeouts": "lower",
    "connect_retries": "lower",
    "dropped_packets": "lower",
}


def quantity_of(metric: str, unit: str) -> Quantity:
    """Return what kind of number a metric is; what is not known otherwise is positive.

    Examples
    --------
    >>> quantity_of("loss_total", "%")
    Quantity(low=0.0, high=100.0, better='lower')
    >>> quantity_of("delay_share_under_5ms", "%").better
    'higher'
    """
    fitting = [beginning for beginning in _BETTER if _begins(metric, beginning)]
    better = _BETTER[max(fitting, key=len)] if fitting else ""
    if metric in _SCALES:
        low, high = _SCALES[metric]
    elif unit == "%":
        low, high = 0.0, 100.0
    else:
        low, high = 0.0, math.inf
    return Quantity(low, high, better, is_compared_by_ratio(unit))


def is_compared_by_ratio(unit: str) -> bool:
    """Whether amounts of a unit are compared by their ratio rather than by their difference.

    Examples
    --------
    >>> is_compared_by_ratio("ms"), is_compared_by_ratio("Mb/s"), is_compared_by_ratio("%")
    (True, False, False)
    """
    return unit in _TIMES


def in_unit(seconds: float, unit: str) -> float:
    """Return seconds in a unit of times; without end in any other.

    Examples
    --------
    >>> in_unit(600.0, "ms"), in_unit(600.0, "Mb/s")
    (600000.0, inf)
    """
    return seconds * _TIMES.get(unit, math.inf)


def _begins(metric: str, beginning: str) -> bool:
    """Whether the first words of a metric are these."""
    return metric == beginning or metric.startswith(f"{beginning}_")
