"""Points made up for tests of headlines: means with their intervals, as `summary.csv` would have them."""

import math
from collections.abc import Mapping

import numpy as np

from sojourn.headline.said import Point
from sojourn.stats.estimate import t_quantile

PATTERNS = (
    (-1.0, -0.5, 0.0, 0.5, 1.0),
    (0.5, -1.0, 1.0, -0.5, 0.0),
    (0.0, 1.0, -0.5, -1.0, 0.5),
    (1.0, 0.0, 0.5, -1.0, -0.5),
)
"""Five seeds each; orders differ, so that pairs of runs do not agree by themselves."""

ROUND_TRIP = ("game", "delay_round_trip_p99")
UPSTREAM = ("call", "delay_up_p99")
SCORE = ("call", "mos")
PAGE = ("page", "page_load_time_median")
UPLOAD = ("upload", "goodput")
DOWNLOAD = ("download", "goodput_downstream")


def around(mean: float, half: float = 0.0, pattern: int = 0) -> dict[int, float]:
    """Return five runs with this mean, whose Student interval has this half-width."""
    shape = np.array(PATTERNS[pattern % len(PATTERNS)])
    scale = half * math.sqrt(5) / t_quantile(4) / float(np.std(shape, ddof=1))
    return {seed: mean + scale * float(one) for seed, one in enumerate(shape, 1)}


def one(value: float) -> dict[int, float]:
    """Return a single run."""
    return {1: value}


def point(setting: str, values: Mapping[tuple[str, str], Mapping[int, float]], condition: str = "") -> Point:
    """Return a point."""
    return Point(setting, values, condition, f"{setting}/{condition}")
