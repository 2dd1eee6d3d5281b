"""Traces of links: files of opportunities and tables of conditions, what they are like, and some that are made.

Source: Mahimahi's files (one whole number of milliseconds a line). The generator `lte` is fitted to the statistics of five of its public
traces; `starlink` takes its periods and round trips from Mohan and others (arXiv 2310.09242) and a measurement of UCLouvain (APNIC
blog, 2022-11-28); everything else of `starlink` and `wifi` is chosen.
Deviations: generators make shapes to try queue managers with, and no claims about an operator.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sojourn.base.errors import UsageError, plain, why
from sojourn.base.files import read_named
from sojourn.traces.schedule import opportunities_of

OPPORTUNITY = 1504
"""Bytes. Source: Mahimahi, link_queue.cc."""

STEP_S = 0.02
"""Sampling of rates. chosen: some subframes of LTE; faster changes are the noise of single opportunities."""


@dataclass(frozen=True)
class Lte:
    """Parameters of `make_lte`.

    Attributes
    ----------
    rate
        Mean opportunities a second.
    variation
        Coefficient of variation of the rate outside outages.
    memory_s
        Correlation time of its logarithm.
    outages
        Share of the time without any opportunity, and mean length of it in s, class by class.
    burst
        Opportunities that come together.
    """

    rate: float
    variation: float
    memory_s: float
    outages: tuple[tuple[float, float], ...]
    burst: int


LTE = {
    "att": Lte(431.0, 0.5, 9.0, ((0.065, 0.38),), 2),
    "tmobile": Lte(1064.0, 0.72, 5.0, ((0.13, 0.19), (0.02, 0.12)), 4),
}
"""Presets. fitted: to the statistics of Mahimahi's traces of AT&T and T-Mobile LTE while driving, downstream."""


@dataclass(frozen=True)
class Likeness:
    """Statistics of a trace.

    Attributes
    ----------
    seconds, mean_mbps
        Length and mean rate.
    p5_mbps, p50_mbps, p95_mbps
        Of rates of one second.
    variation, memory
        Their coefficient of variation, and the correlation from one second to the next.
    variation_100ms
        Coefficient of variation of rates of 100 ms.
    gaps_a_minute, gap_share, longest_gap_s
        Gaps of more than 100 ms: how often, which share of the time, the longest.
    """

    seconds: float
    mean_mbps: float
    p5_mbps: float
    p50_mbps: float
    p95_mbps: float
    variation: float
    memory: float
    variation_100ms: float
    gaps_a_minute: float
    gap_share: float
    longest_gap_s: float


def read_trace(path: Path) -> np.ndarray:
    """Return the times of all opportunities of a file, in ms.

    Raises
    ------
    UsageError
        If it cannot be read or is no trace.
    """
    try:
        text = read_named(path).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise UsageError(f"{plain(path)} cannot be read: {why(error)}") from error
    return np.array(opportunities_of(text, plain(path)), dtype=np.int64)


def trace_text(times_ms: np.ndarray, what: str = "") -> str:
    r"""Return opportunities as a file has them, below a comment that says what made them.

    Examples
    --------
    >>> trace_text(np.array([1, 1, 4]), "by hand")
    '# by hand\n1\n1\n4\n'
    """
    head = f"# {what}\n" if what else ""
    return head + "".join(f"{at}\n" for at in times_ms.tolist())


def join_traces(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return opportunities one after the other; each part begins where the one before ends.

    Examples
    --------
    >>> join_traces([np.array([3, 7]), np.array([1, 1])]).tolist()
    [3, 7, 8, 8]
    """
    ends = np.cumsum([0, *(part[-1] for part in parts[:-1])])
    return np.concatenate([part + end for part, end in zip(parts, ends, strict=True)])


def cut_trace(times_ms: np.ndarray, begin_s: float, length_s: float) -> np.ndarray:
    """Return the opportunities of a part, whose times begin at 0.

    Raises
    ------
    UsageError
        If there is none.

    Examples
    --------
    >>> cut_trace(np.array([3, 7, 12]), 0.005, 0.01).tolist()
    [2, 7]
    """
    begin, end = round(begin_s * 1e3), round((begin_s + length_s) * 1e3)
    part = times_ms[(times_ms > begin) & (times_ms <= end)] - begin
    if not len(part):
        raise UsageError(
            f"no opportunity lies from {begin_s:g} s to {end / 1e3:g} s", f"the trace is {times_ms[-1] / 1e3:g} s long"
        )
    return part


def likeness(times_ms: np.ndarray, opportunity: int = OPPORTUNITY) -> Likeness:
    """Return what a trace is like; one shorter than two seconds is looked at as a run has it, again and again."""
    length_s = float(times_ms[-1]) / 1e3
    whole_s = length_s
    if length_s < 2:
        times_ms = join_traces([times_ms] * math.ceil(2 / length_s))
        length_s = float(times_ms[-1]) / 1e3
    seconds = _rates(times_ms, 1000, opportunity)
    tenths = _rates(times_ms, 100, opportunity)
    gaps = np.diff(np.concatenate([[0], times_ms])) / 1e3
    long = gaps[gaps > 0.1]
    memory = 0.0
    if len(seconds) > 2 and seconds[:-1].std() > 0 and seconds[1:].std() > 0:
        memory = float(np.corrcoef(seconds[:-1], seconds[1:])[0, 1])
    low, middle, high = np.quantile(seconds, [0.05, 0.5, 0.95]).tolist()
    return Likeness(
        whole_s,
        len(times_ms) * opportunity * 8e-6 / length_s,
        low,
        middle,
        high,
        _variation(seconds),
        memory,
        _variation(tenths),
        60 * len(long) / length_s,
        float(long.sum()) / length_s,
        float(gaps.max()),
    )


def _variation(rates: np.ndarray) -> float:
    """Return the standard deviation over the mean; zero if nothing was sent in whole bins."""
    mean = float(rates.mean())
    return float(rates.std()) / mean if mean > 0 else 0.0


def _rates(times_ms: np.ndarray, width_ms: int, opportunity: int) -> np.ndarray:
    """Return rates of whole bins, Mb/s."""
    count = int(times_ms[-1] // width_ms)
    # What leaves at the end of a bin belongs to it.
    places = np.maximum(times_ms - 1, 0) // width_ms
    bins = np.bincount(np.minimum(places, count), minlength=count + 1)[:count]
    return bins * opportunity * 8e-3 / width_ms


def make_lte(preset: Lte, length_s: float, seed: int, mean_mbps: float | None = None) -> np.ndarray:
    """Return times of opportunities like those of LTE while driving, in ms.

    Parameters
    ----------
    preset
        Of `LTE`.
    length_s, seed
        How long, and what decides it.
    mean_mbps
        Mean rate instead of the preset's.
    """
    random = np.random.default_rng(seed)
    rate = preset.rate if mean_mbps is None else mean_mbps * 1e6 / 8 / OPPORTUNITY
    steps = int(np.ceil(length_s / STEP_S))
    square = np.log(1 + preset.variation**2)
    level = _ornstein_uhlenbeck(random, steps, STEP_S / preset.memory_s) * np.sqrt(square)
    shape = np.exp(level - square / 2)
    milliseconds = int(length_s * 1e3)
    open_to = np.ones(milliseconds, dtype=bool)
    for share, mean_s in preset.outages:
        open_to &= ~_outages(random, milliseconds, share, mean_s)
    kept = float(np.prod([1 - share for share, _ in preset.outages]))
    mean = np.repeat(shape, round(STEP_S * 1e3))[:milliseconds] * rate / 1e3 / preset.burst / kept
    counts = preset.burst * random.poisson(mean) * open_to
    return _times(counts)


def _times(counts: np.ndarray) -> np.ndarray:
    """Return a time for each opportunity of counts by millisecond, from 1 ms on; one at the end makes its length known."""
    counts = counts.copy()
    counts[-1] = max(counts[-1], 1)
    return np.repeat(np.arange(1, len(counts) + 1), counts)


def _ornstein_uhlenbeck(random: np.random.Generator, steps: int, over: float) -> np.ndarray:
    """Return a process of mean 0 and deviation 1 whose correlation falls by e in `1 / over` steps."""
    stays = float(np.exp(-over))
    noise = random.standard_normal(steps) * np.sqrt(1 - stays**2)
    noise[0] /= np.sqrt(1 - stays**2)
    found = np.empty(steps)
    level = 0.0
    for step, one in enumerate(noise.tolist()):
        level = stays * level + one
        found[step] = level
    return found


def _outages(random: np.random.Generator, milliseconds: int, share: float, mean_s: float) -> np.ndarray:
    """Return which milliseconds lie in outages of exponential length, `share` of all."""
    found = np.zeros(milliseconds, dtype=bool)
    between_s = mean_s * (1 - share) / share
    at = random.exponential(between_s)
    while at * 1e3 < milliseconds:
        length = random.exponential(mean_s)
        found[int(at * 1e3) : int((at + length) * 1e3)] = True
        at += length + random.exponential(between_s)
    return found


AIRTIME = {"idle": (0.8, 2.0), "busy": (0.35, 0.7)}
"""Share of the airtime that a neighbour leaves, and how long it does, in s. chosen."""

MODULATIONS_MBPS = (13, 26, 52, 78, 104, 130, 173, 260)
"""Rates of modulations. Source: IEEE 802.11n, 20 and 40 MHz; efficiency and walk are chosen."""

EFFICIENCY, AGGREGATE_S, STEPS_S = 0.65, 5e-3, 1.5
"""Share of the modulation's rate that data get, longest aggregate, mean time from one step of the walk to the next. chosen."""


def make_wifi(length_s: float, seed: int, mean_mbps: float | None = None) -> np.ndarray:
    """Return times of opportunities like those of Wi-Fi beside a neighbour, in ms: aggregates, whose rate walks.

    Parameters
    ----------
    length_s, seed
        How long, and what decides it.
    mean_mbps
        Mean rate instead of what comes of the walk.
    """
    random = np.random.default_rng(seed)
    milliseconds = int(length_s * 1e3)
    counts = np.zeros(milliseconds, dtype=np.int64)
    state, place = "idle", len(MODULATIONS_MBPS) // 2
    changes, walks = random.exponential(AIRTIME[state][1]), random.exponential(STEPS_S)
    at, owed = 0.0, 0.0
    while True:
        left = AIRTIME[state][0]
        at += AGGREGATE_S / left
        if at * 1e3 >= milliseconds:
            break
        owed += MODULATIONS_MBPS[place] * EFFICIENCY * 1e6 * AGGREGATE_S / 8 / OPPORTUNITY
        counts[int(at * 1e3)] += int(owed)
        owed -= int(owed)
        while changes < at:
            state = "busy" if state == "idle" else "idle"
            changes += random.exponential(AIRTIME[state][1])
        while walks < at:
            place = int(np.clip(place + random.choice((-1, 1)), 0, len(MODULATIONS_MBPS) - 1))
            walks += random.exponential(STEPS_S)
    if mean_mbps is not None:
        scale = mean_mbps * 1e6 * length_s / 8 / OPPORTUNITY / max(int(counts.sum()), 1)
        upto = np.floor(np.cumsum(counts) * scale).astype(np.int64)
        counts = np.diff(np.concatenate([[0], upto]))
    return _times(counts)


SLOT_S, FIRST_SLOT_S = 15.0, 12.0
"""Time between reconfigurations, and the second of a minute of the first. Source: Mohan and others; public programs."""

STARLINK = {"down": (120.0, 0.5, 5.0, 400.0), "up": (12.0, 0.4, 1.0, 50.0)}
"""Median, coefficient of variation, least and most rate of a slot, Mb/s. chosen: between published extremes."""

FLOOR_MS, SHAPE, SCALE_MS = 20.0, 4.5, 7.2
"""Round trip of a slot: a floor and a Gamma distribution. fitted: quartiles 41, 50, 61 ms for 40, 50, 60 of UCLouvain."""

RIPPLE, RIPPLE_S, RIPPLE_STEP_S = 0.1, 0.5, 0.1
"""Deviation of the rate inside a slot, its memory, and its step. chosen."""


def make_starlink(
    length_s: float, seed: int, direction: str, mean_mbps: float | None = None
) -> list[tuple[float, float, float, float]]:
    """Return conditions like those of a satellite line: time in s, rate in Mb/s, delay one way in ms, share lost.

    Every 15 s the line is configured anew, mostly after an outage of 20 to 150 ms.

    Parameters
    ----------
    length_s, seed
        How long, and what decides it; run time 0 is the first second of a minute.
    direction
        `up` or `down`. With one seed both have the same slots and outages.
    mean_mbps
        Median rate of slots instead of the default.
    """
    random = np.random.default_rng(seed)
    own = np.random.default_rng([seed, direction == "up"])
    median, variation, least, most = STARLINK[direction]
    if mean_mbps is not None:
        least, most, median = (least * mean_mbps / median, most * mean_mbps / median, mean_mbps)
    spread = float(np.sqrt(np.log(1 + variation**2)))
    rows: list[tuple[float, float, float, float]] = []
    begins = FIRST_SLOT_S - SLOT_S
    while begins < length_s:
        delay = (FLOOR_MS + random.gamma(SHAPE, SCALE_MS)) / 2
        outage = float(random.uniform(0.02, 0.15)) if random.random() < 0.8 else 0.0
        loss = 0.3 if random.random() < 0.1 else 0.01
        rate = float(np.clip(median * np.exp(spread * own.standard_normal()), least, most))
        count = round(SLOT_S / RIPPLE_STEP_S)
        ripple = 1 + RIPPLE * _ornstein_uhlenbeck(own, count, RIPPLE_STEP_S / RIPPLE_S)
        if begins > 0 and outage:
            rows.append((round(begins, 6), 0.0, delay, loss))
        for step in range(count):
            at = begins + step * RIPPLE_STEP_S
            end = at + RIPPLE_STEP_S
            if begins > 0 and end <= begins + outage:
                continue
            at = max(at, begins + outage) if begins > 0 else at
            if end > 1e-6 and at < length_s:
                near = begins > 0 and at < begins + NEAR_S
                share = loss if near else BACKGROUND_LOSS
                rows.append((round(max(at, 0.0), 6), max(rate * float(ripple[step]), 0.1), delay, share))
        begins += SLOT_S
    return rows


NEAR_S, BACKGROUND_LOSS = 0.2, 0.002
"""How long a reconfiguration is felt, and what is lost else. chosen; around handovers up to half was seen (IMC 2022)."""

MAKERS = ("lte", "starlink", "wifi")
"""Kinds of `sojourn trace make`."""
