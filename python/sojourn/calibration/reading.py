"""Quantities read straight off a measurement: a first guess, and a check that is shown beside what is fitted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from sojourn.calibration.inversion import buffer_bytes, knee_of, line_rate_mbps, map_interval_ms, offload_units
from sojourn.calibration.line import Access
from sojourn.calibration.measurement import Load, Seen, Told
from sojourn.calibration.statistics import FROM_S, NAMES, goodput_mbps, idle_ms, is_window_limited

NEAR_UNIT = 0.2
"""Share of a unit of offload within which a spread of delay is called one. chosen: between two units at the most two in five spreads would be called one by chance."""


@dataclass(frozen=True)
class Reading:
    """Values read off tests; NaN for those that they do not show.

    Attributes
    ----------
    goodput_mbps, rate_mbps
        Payload over time, and what the line carries meanwhile (I1).
    idle_ms, second_largest_ms
        Median idle round trip, and the second largest delay beyond it.
    buffer_bytes
        Of drop-tail, by that delay (I3); of a line whose buffer never filled, what waited in it at least.
    bucket_bytes
        By the knee of bytes over time (I2).
    spread_bytes, offload
        What the spread of delay stands for, and how many units of segmentation offload that is (I10).
    map_ms
        MAP interval by the phase of pings (I11).
    is_window_limited
        Whether the buffer never filled (I9).
    """

    goodput_mbps: float
    rate_mbps: float
    idle_ms: float
    second_largest_ms: float
    buffer_bytes: float
    bucket_bytes: float
    spread_bytes: float
    offload: float
    map_ms: float
    is_window_limited: bool

    @classmethod
    def mean_of(cls, readings: Sequence[Reading]) -> Reading:
        """Return the mean over tests, of those that show a quantity."""
        values = {one.name: [getattr(reading, one.name) for reading in readings] for one in fields(cls)}
        means = {
            name: float(np.mean(known)) if (known := [value for value in many if math.isfinite(value)]) else math.nan
            for name, many in values.items()
            if name != "is_window_limited"
        }
        return cls(**means, is_window_limited=all(values["is_window_limited"]))

    @property
    def is_offloaded(self) -> bool:
        """True if the spread of delay is about one unit of segmentation offload and no queue's dynamics."""
        return (
            self.is_window_limited
            and math.isfinite(self.offload)
            and abs(self.offload - round(self.offload)) <= NEAR_UNIT * max(1, round(self.offload))
            and round(self.offload) >= 1
        )


def read_off(seen: Seen, load: Load, access: Access) -> Reading:
    """Return what is read off one test."""
    is_bound = is_window_limited(seen, load)
    goodput = steady_mbps(seen, load) if is_bound else goodput_mbps(seen, load)
    rate = line_rate_mbps(goodput, access.frame)
    idle = idle_ms(seen)
    second = buffer = spread = units = math.nan
    inside = np.isfinite(seen.rtt_ms) & (seen.sent_s >= FROM_S) & (seen.sent_s <= load.length_s)
    if inside.sum() >= 5:
        delay = np.sort(np.maximum(seen.rtt_ms[inside] - (0.0 if math.isnan(idle) else idle), 0.0))
        second = float(delay[-2])
        buffer = second * rate / 8e-3 if is_bound else buffer_bytes(second, rate)
        later = seen.rtt_ms[inside & (seen.sent_s >= SETTLED_S)]
        if len(later) >= 5:
            high, low = np.quantile(later, [0.95, 0.05])
            spread, units = offload_units(float(high), float(low), rate)
    knee = knee_of(seen.at_s[seen.at_s <= load.length_s], seen.carried[seen.at_s <= load.length_s], load.length_s)
    before = np.isfinite(seen.rtt_ms) & (seen.sent_s < 0)
    interval = map_interval_ms(seen.sent_s[before], seen.rtt_ms[before]) if access.map_ms else None
    return Reading(
        goodput,
        rate,
        idle,
        second,
        buffer,
        math.nan if knee is None else knee.depth,
        spread,
        units,
        math.nan if interval is None else interval,
        is_bound,
    )


def told_off(told: Told, access: Access) -> Reading:
    """Return the reading of numbers from a summary file."""
    second = told.statistics[NAMES.index("largest")]
    largest = math.expm1(second) if math.isfinite(second) else math.nan
    rate = line_rate_mbps(told.goodput_mbps, access.frame)
    return Reading(
        told.goodput_mbps,
        rate,
        told.idle_ms,
        largest,
        buffer_bytes(largest, rate) if math.isfinite(largest) else math.nan,
        *(math.nan,) * 4,
        is_window_limited=False,
    )


SETTLED_S = 2.0
"""Seconds of a load after which a spread of delay is that of a steady state. chosen: slow start is over."""


def steady_mbps(seen: Seen, load: Load) -> float:
    """Return the median rate of samples: where the queue never empties, what is below it is no rate of the line."""
    inside = (seen.at_s[1:] > SETTLED_S) & (seen.at_s[1:] <= load.length_s)
    lasted = np.diff(seen.at_s)[inside]
    carried = np.diff(seen.carried)[inside]
    whole = lasted > 0.5 * np.median(lasted)
    return 8e-6 * float(np.median(carried[whole] / lasted[whole]))
