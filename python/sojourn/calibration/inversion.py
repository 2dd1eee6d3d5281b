"""Quantities of a line straight from a measurement: first guesses, and a check beside what is fitted.

Source: CUBIC (RFC 9438) for the sawtooth, CoDel (RFC 8289) for the spacing of losses, PIE (RFC 8033) for its first burst.
Units and ranges: Mb/s, ms, bytes, seconds since the load began.
Deviations: the share of a drop-tail buffer that the second largest of some fifty pings sees is from simulations of one CUBIC flow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SEEN_SHARE = ((5.0, 0.88), (32.0, 0.97), (65.0, 0.98))
"""Packets that a drop-tail buffer holds, and the share of it that the second largest of 49 pings sees.
fitted: one CUBIC flow, simulated."""

FULL_PACKET, PAYLOAD = 1500, 1448
"""Bytes of a full IP packet, and of its payload with TCP's time stamps."""

OFFLOAD_FRAMES = 45
"""Frames of one unit of segmentation offload: 64 KiB in segments of 1448 B."""


def weighted_mbps(ends_s: np.ndarray, lasted_s: np.ndarray, carried: np.ndarray, from_s: float) -> float:
    """Return the rate of samples from a time on: bytes over seconds, in Mb/s (I1)."""
    inside = ends_s - lasted_s >= from_s - 1e-9
    seconds = float(lasted_s[inside].sum())
    return 8e-6 * float(carried[inside].sum()) / seconds if seconds > 0 else math.nan


def line_rate_mbps(goodput_mbps: float, frame: float, payload: float = PAYLOAD) -> float:
    """Return what a line carries while its payload is a goodput (I1).

    Examples
    --------
    >>> round(line_rate_mbps(4.774, 1514), 4), round(line_rate_mbps(19.121, 1514), 3)
    (4.9916, 19.993)
    """
    return goodput_mbps * frame / payload


@dataclass(frozen=True)
class Knee:
    """Moment at which a bucket was empty: time, its depth in bytes, and the rates before and after."""

    at_s: float
    depth: float
    peak_mbps: float
    rate_mbps: float


MOST_KNEES = 1000
"""Places at which a knee is looked for. chosen: a thousandth of a test, and seconds for the longest."""


def knee_of(at_s: np.ndarray, carried: np.ndarray, length_s: float) -> Knee | None:
    """Return the knee of two straight lines through bytes over time, fitted by least squares (I2); `None` if there is none."""
    if len(at_s) < 8:
        return None
    best: tuple[float, float, float, float] | None = None
    for knee in at_s[2 : -2 : max(1, len(at_s) // MOST_KNEES)]:
        basis = np.stack([np.ones_like(at_s), at_s, np.maximum(at_s - knee, 0.0)], axis=1)
        found, residual, rank, _ = np.linalg.lstsq(basis, carried, rcond=None)
        if rank < 3 or not len(residual):
            continue
        error = float(residual[0])
        if best is None or error < best[0]:
            best = (error, float(knee), 8e-6 * float(found[1]), 8e-6 * float(found[1] + found[2]))
    if best is None:
        return None
    _, at, peak, rate = best
    if not (rate > 0 and peak > 1.1 * rate and 0.3 <= at <= 0.8 * length_s):
        return None
    return Knee(at, (peak - rate) * 1e6 * at / 8, peak, rate)


def buffer_ms(size: float, rate_mbps: float) -> float:
    """Return how long a buffer takes to leave a line (A4).

    Examples
    --------
    >>> [round(buffer_ms(size, 5), 2) for size in (8192, 49152, 98304)]
    [13.11, 78.64, 157.29]
    """
    return 8e-3 * size / rate_mbps


def buffer_bytes(second_largest_ms: float, rate_mbps: float) -> float:
    """Return the drop-tail buffer whose pings had this second largest delay (I3)."""
    seen = second_largest_ms * rate_mbps / 8e-3
    packets, shares = zip(*SEEN_SHARE, strict=True)
    size = seen
    for _ in range(4):
        size = seen / float(np.interp(size / FULL_PACKET, packets, shares))
    return size


def scales_with_rate(delays_ms: Sequence[float], rates_mbps: Sequence[float]) -> float:
    """Return how much of a change of delay between two rates a buffer in bytes explains: 1 all, 0 none (I5)."""
    (first, second), (slow, fast) = delays_ms, rates_mbps
    return math.log(first / second) / math.log(fast / slow)


def sawtooth_least_ms(largest_ms: float, idle_ms: float) -> float:
    """Return the least delay behind drop-tail of a CUBIC flow whose largest this is (I6).

    Examples
    --------
    >>> round(sawtooth_least_ms(78.64, 0), 2), round(sawtooth_least_ms(78.64, 40), 2)
    (55.05, 43.05)
    """
    return max(0.0, 0.7 * (largest_ms + idle_ms) - idle_ms)


def codel_spacings_ms(count: int, interval_ms: float = 100.0) -> list[float]:
    """Return how long CoDel waits from each loss to the next (I7).

    Examples
    --------
    >>> [round(value, 2) for value in codel_spacings_ms(5)]
    [100.0, 70.71, 57.74, 50.0, 44.72]
    """
    return [interval_ms / math.sqrt(number) for number in range(1, count + 1)]


def offload_units(p95_ms: float, p5_ms: float, rate_mbps: float, frame: float = 1514) -> tuple[float, float]:
    """Return the bytes that a spread of delay stands for, and how many units of segmentation offload they are (I10).

    Examples
    --------
    >>> [round(value, 2) for value in offload_units(20.67, 0, 20)]
    [57416.67, 0.84]
    """
    size = (p95_ms - p5_ms) / 0.9 * rate_mbps / 8e-3
    return size, size / (OFFLOAD_FRAMES * frame)


MAP_SAMPLES, MOST_IDLE, LONGEST_IDLE_S = 200, 300, 300.0
"""Fewest idle pings , most of them, and most seconds of them. chosen: each second of pings takes 3,250
more periods to be separated, and the longest test ten seconds of processor."""


def map_interval_ms(sent_s: np.ndarray, rtt_ms: np.ndarray) -> float | None:
    """Return the MAP interval that the phase of idle pings shows; `None` if there are too few or none shows (I11).

    A Rayleigh test of ping phase at periods of 0.9 to 2.2 ms, weighted by delay less its mean. Only the last pings count, and
    none if these are spread over more than five minutes.
    """
    last = np.argsort(sent_s, kind="stable")[-MOST_IDLE:]
    sent_s, rtt_ms = sent_s[last], rtt_ms[last]
    if len(sent_s) < MAP_SAMPLES or np.ptp(sent_s) > LONGEST_IDLE_S:
        return None
    weights = rtt_ms - rtt_ms.mean()
    if not weights.any():
        return None
    weights = weights / math.sqrt(float((weights**2).mean()))
    periods = np.arange(0.9, 2.2, 2e-5 / max(float(np.ptp(sent_s)), 1.0) * 20)
    angles = 2e3 * np.pi * sent_s
    found = [abs(complex((weights * np.exp(1j * angles / period)).sum())) ** 2 / len(sent_s) for period in periods]
    best = int(np.argmax(found))
    chance = len(periods) * math.exp(-min(found[best], 700.0))
    return float(periods[best]) if chance < 1e-3 else None
