"""Statistics to which a test under load is reduced before it is compared: 22, measured and simulated alike.

Units and ranges: delays beyond the idle median as log(1 + ms), rates as logarithms of Mb/s, NaN for unknown values.
Deviations: pings count from 0.2 s after the start of the load, rates from 2 s on.
"""

from __future__ import annotations

import math

import numpy as np

from sojourn.calibration.inversion import FULL_PACKET, PAYLOAD, weighted_mbps
from sojourn.calibration.measurement import Load, Seen

WORDS = {
    "idle_median": "idle round trip, median",
    "idle_spread": "idle round trip, P90 less P10",
    "p5": "delay under load, P5",
    "p25": "delay under load, P25",
    "p50": "delay under load, median",
    "p75": "delay under load, P75",
    "p95": "delay under load, P95",
    "largest": "delay under load, largest",
    "second_largest": "delay under load, second largest",
    "mean": "delay under load, mean",
    "sd": "delay under load, standard deviation",
    "lag1": "delay under load, correlation with the one before",
    "first_peak": "largest delay of the first 1.2 s",
    "first_mean": "mean delay of the first 1.2 s",
    "goodput": "goodput",
    "rate_variation": "variation of one-second rates",
    "first_second": "rate of the first second over the rate later",
    "lost": "pings lost",
    "retransmitted": "segments sent again per MB",
    "smoothed": "round trip of the load's TCP beyond the idle one",
    "short": "share of pings that waited for less than two packets",
    "window_limited": "rate never moves: the window is the limit",
}
"""Statistics in their order, with their descriptions."""

NAMES = tuple(WORDS)

ROBUST = ("idle_median", "p95", "second_largest", "goodput", "first_second")
"""Those that hold where the dynamics of a real queue differ from the model's."""

FROM_S, RATES_FROM_S, FIRST_S = 0.2, 2.0, 1.2
"""Seconds of a load after which pings count, after which rates count, and that are called the first."""

STEP_DOWN, STEADY, VISIBLE = 0.15, 0.005, 5.0
"""Fall of the largest delays that is a loss: CUBIC leaves 0.7 of its window. Variation of rates below which nothing moves. Packets
from which there is a queue to be seen. chosen."""


def statistics_of(seen: Seen, load: Load) -> np.ndarray:
    """Return the statistics of a test, in the order of `NAMES`."""
    found = dict.fromkeys(NAMES, math.nan)
    rate = goodput_mbps(seen, load)
    found["goodput"] = _log(rate)
    seconds = _one_second_mbps(seen, load)
    if len(seconds) >= 2:
        found["rate_variation"] = math.log1p(100 * float(seconds.std() / max(seconds.mean(), 1e-9)))
    first = 8e-6 * float(np.interp(1.0, seen.at_s, seen.carried))
    found["first_second"] = _log(first / rate) if rate > 0 else math.nan
    megabytes = float(seen.carried[-1]) / 1e6 if len(seen.carried) else 0.0
    if seen.retransmitted is not None and megabytes > 0:
        found["retransmitted"] = math.log1p(seen.retransmitted / megabytes)
    idle = idle_ms(seen)
    if len(seen.smoothed_ms):
        beyond = float(np.median(seen.smoothed_ms)) - (0.0 if math.isnan(idle) else idle)
        found["smoothed"] = math.log1p(max(0.0, beyond))
    if len(seen.rtt_ms):
        _of_pings(found, seen, load, idle, rate)
    found["window_limited"] = float(is_window_limited(seen, load))
    return np.array([found[name] for name in NAMES])


def _of_pings(found: dict[str, float], seen: Seen, load: Load, idle: float, rate: float) -> None:
    came = np.isfinite(seen.rtt_ms)
    before = came & (seen.sent_s < 0)
    if math.isfinite(idle):
        found["idle_median"] = math.log1p(idle)
    if before.sum() >= 5:
        found["idle_spread"] = math.log1p(float(np.subtract(*np.quantile(seen.rtt_ms[before], [0.9, 0.1]))))
    inside = (seen.sent_s >= FROM_S) & (seen.sent_s <= load.length_s)
    delay = np.maximum(seen.rtt_ms[inside & came] - (0.0 if math.isnan(idle) else idle), 0.0)
    if seen.is_loss_known and inside.any():
        found["lost"] = float(np.mean(~came[inside]))
    if len(delay) < 5:
        return
    rising = np.sort(delay)
    for name, share in (("p5", 0.05), ("p25", 0.25), ("p50", 0.5), ("p75", 0.75), ("p95", 0.95)):
        found[name] = math.log1p(float(np.quantile(rising, share)))
    found["largest"], found["second_largest"] = math.log1p(rising[-1]), math.log1p(rising[-2])
    found["mean"], found["sd"] = math.log1p(float(delay.mean())), math.log1p(float(delay.std()))
    centred = delay - delay.mean()
    power = float((centred**2).sum())
    found["lag1"] = float((centred[1:] * centred[:-1]).sum()) / power if power > 0 else 0.0
    early = came & (seen.sent_s >= 0) & (seen.sent_s <= FIRST_S)
    if early.any():
        first = np.maximum(seen.rtt_ms[early] - (0.0 if math.isnan(idle) else idle), 0.0)
        found["first_peak"] = math.log1p(float(first.max()))
        found["first_mean"] = math.log1p(float(first.mean()))
    if rate > 0:
        found["short"] = float(np.mean(delay < 2 * packet_ms(rate)))


def packet_ms(goodput: float) -> float:
    """Return how long a full packet takes on a line of a goodput in Mb/s."""
    return 8e-3 * FULL_PACKET / (goodput * FULL_PACKET / PAYLOAD)


def idle_ms(seen: Seen) -> float:
    """Return the median round trip before the load, or from 2 s after it if there was none before; NaN without any."""
    came = np.isfinite(seen.rtt_ms)
    for chosen in (came & (seen.sent_s < 0), came & (seen.sent_s > seen.at_s[-1] + 2.0)):
        if chosen.sum() >= 5:
            return float(np.median(seen.rtt_ms[chosen]))
    return math.nan


def goodput_mbps(seen: Seen, load: Load) -> float:
    """Return payload over time of the samples from 2 s after the start of the load to its end."""
    at = seen.at_s[seen.at_s <= load.length_s + 0.5]
    if len(at) < 2:
        return math.nan
    carried = seen.carried[: len(at)]
    return weighted_mbps(at[1:], np.diff(at), np.diff(carried), RATES_FROM_S)


def _one_second_mbps(seen: Seen, load: Load) -> np.ndarray:
    edges = np.arange(RATES_FROM_S, math.floor(load.length_s) + 1e-9, 1.0)
    return 8e-6 * np.diff(np.interp(edges, seen.at_s, seen.carried))


def is_window_limited(seen: Seen, load: Load) -> bool:
    """Return whether no loss was seen, so that a window was the limit and the buffer never full (I9).

    There is a queue; the second largest delay of two seconds never falls by more than 15 %; nothing was sent again. Without pings,
    rates vary by less than 0.5 %.
    """
    if seen.retransmitted is not None and seen.retransmitted > 0:
        return False
    came = np.isfinite(seen.rtt_ms)
    inside = came & (seen.sent_s >= FROM_S + 1.0) & (seen.sent_s <= load.length_s)
    if inside.sum() < 20:
        seconds = _one_second_mbps(seen, load)
        return len(seconds) >= 3 and float(seconds.std()) < STEADY * float(seconds.mean())
    idle = idle_ms(seen)
    order = np.argsort(seen.sent_s[inside], kind="stable")
    at = seen.sent_s[inside][order]
    delay = seen.rtt_ms[inside][order] - (0.0 if math.isnan(idle) else idle)
    if not np.median(delay) > VISIBLE * packet_ms(goodput_mbps(seen, load)):
        return False
    highest = 0.0
    for number, first in enumerate(np.searchsorted(at, at - 2.0, side="right").tolist()):
        window = delay[first : number + 1]
        if at[number] - at[0] < 1.8 or len(window) < 3:
            continue
        top = float(np.partition(window, -2)[-2])
        if top < (1 - STEP_DOWN) * highest:
            return False
        highest = max(highest, top)
    return True


def _log(value: float) -> float:
    return math.log(value) if value > 0 and math.isfinite(value) else math.nan
