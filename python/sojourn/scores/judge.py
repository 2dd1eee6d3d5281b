"""Scores of what was observed: Quality of Outcome, Apdex, round trips per minute, the rating of a call.

Source: draft-ietf-ippm-qoo; draft-ietf-ippm-responsiveness-09 (MAD 4, ID 5 s); ITU-T G.107; Apdex.
Deviations: percentiles are packets' (`inverted_cdf`) from a hundred samples on and interpolated below. Lost packets are in the loss
alone, unless they shall count as endless delays. A percentile with fewer than ten samples beyond it counts, and is called thin.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

import sojourn._engine as _engine
from sojourn.scores.requirement import Requirement

FEW = 100
"""Samples below which percentiles are interpolated. chosen: a 99th percentile of fewer is their largest."""

BLOCK_S = 1.0
"""Block of the bootstrap, s. chosen: packets of a second wait in the same queue."""

DRAWS = 400
"""Draws of an interval. chosen: ten beyond each end of 95 %."""

INTERVAL_S, INTERVALS = 5.0, 4
"""ID and MAD of draft-ietf-ippm-responsiveness-09."""

JITTER_BUFFER_MS = 60.0
"""Jitter buffer of a phone, ms. Source: White 2012 3.2.2, which calls packets late that are slower by more."""


@dataclass(frozen=True)
class Observed:
    """Delays of one thing that was measured or simulated.

    Attributes
    ----------
    name
        What people call it.
    method
        How it was measured: tool, packets, how often.
    direction
        `two-way`, `up` or `down`.
    sent_s, delay_ms
        When, and how long; infinite if nothing came back.
    is_loss_known
        Whether what is lost is among them; what is not is never told as lost.
    rates_mbps
        What there was for it, by direction.
    flags
        What a reader has to know of it.
    idle
        The same without load, if there was such a time.
    """

    name: str
    method: str
    direction: str
    sent_s: np.ndarray
    delay_ms: np.ndarray
    is_loss_known: bool = True
    rates_mbps: Mapping[str, float] = field(default_factory=dict[str, float])
    flags: tuple[str, ...] = ()
    idle: Observed | None = None

    @property
    def came(self) -> np.ndarray:
        """Delays of what came, in rising order."""
        return np.sort(self.delay_ms[np.isfinite(self.delay_ms)])

    @property
    def loss(self) -> float:
        """Share that was lost."""
        return float(np.mean(~np.isfinite(self.delay_ms))) if len(self.delay_ms) else 0.0


@dataclass(frozen=True)
class Outcome:
    """Quality of Outcome, with its parts.

    Attributes
    ----------
    value
        From 0 to 100; the least of the parts.
    latency, loss, throughput
        The parts; `None` if not measured.
    decides
        What of it is least, in words.
    low, high
        95 % interval; `None` if there was too little to tell.
    flags
        Percentiles that few samples stand for, and what was not judged.
    """

    value: float
    latency: float
    loss: float | None
    throughput: float | None
    decides: str
    low: float | None = None
    high: float | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Responsiveness:
    """Round trips per minute, of new connections, of kept ones and together, and how sure they are."""

    value: float
    foreign: float
    loaded: float
    confidence: str


def judge(
    observed: Observed, needs: Requirement, *, loss_as_delay: bool = False, interval: bool = True
) -> Outcome | None:
    """Return the Quality of Outcome: 0 if nothing came of what was sent; `None` if nothing was sent.

    Parameters
    ----------
    observed, needs
        What was measured, and what is needed, of the same direction.
    loss_as_delay
        Whether what is lost counts as an endless delay as well.
    interval
        Whether to draw blocks of a second anew for an interval.
    """
    outcome = _outcome(observed.delay_ms, observed, needs, loss_as_delay=loss_as_delay)
    if outcome is None or not interval:
        return outcome
    low, high = _interval(observed, needs, loss_as_delay=loss_as_delay)
    return replace(outcome, low=low, high=high)


def _outcome(delays: np.ndarray, observed: Observed, needs: Requirement, *, loss_as_delay: bool) -> Outcome | None:
    came = np.sort(delays if loss_as_delay else delays[np.isfinite(delays)])
    if not len(delays):
        return None
    if not len(came) or not math.isfinite(came[0]):
        back = " back" if observed.direction == "two-way" else ""
        return Outcome(0.0, 0.0, 0.0, None, f"nothing came{back}: {len(delays)} of {len(delays)} lost")
    measured = [_percentile(came, percentile) for percentile, _, _ in needs.latency]
    judged = [(value, perfect, useless) for value, (_, perfect, useless) in zip(measured, needs.latency, strict=True)]
    lost = float(np.mean(~np.isfinite(delays)))
    rates = {
        way: (observed.rates_mbps[way], needed)
        for way, needed in needs.throughput_mbps.items()
        if way in observed.rates_mbps
    }
    loss = (lost, *needs.loss) if observed.is_loss_known else None
    parts = _engine.quality_of_outcome(judged, loss, list(rates.values()))
    flags = [
        f"P{percentile:g} is thin: {_seen(len(came), percentile)}"
        for percentile, _, _ in needs.latency
        if percentile < 100 and not _engine.is_supported(len(came), percentile / 100)
    ]
    flags += [] if observed.is_loss_known else ["loss is not known"]
    missing = [way for way in needs.throughput_mbps if way not in rates]
    flags += [f"throughput {' and '.join(missing)} not judged"] if missing else []
    return Outcome(
        parts[3], parts[0], parts[1], parts[2], _what_decides(parts, judged, needs, lost, rates), flags=tuple(flags)
    )


def _percentile(rising: np.ndarray, percentile: float) -> float:
    if len(rising) < FEW and math.isfinite(rising[-1]):
        return float(np.quantile(rising, percentile / 100))
    return float(np.quantile(rising, percentile / 100, method="inverted_cdf"))


def _seen(count: int, percentile: float) -> str:
    """Say how likely `count` samples are to have none beyond a percentile."""
    chance = (percentile / 100) ** count
    none = f"{chance:.0%}" if chance >= 0.005 else "under 1 %"
    return f"of {count} samples {none.replace('%', ' %').replace('  ', ' ')} see nothing beyond it"


def _what_decides(
    parts: tuple[float, float | None, float | None, float],
    judged: Sequence[tuple[float, float, float]],
    needs: Requirement,
    lost: float,
    rates: Mapping[str, tuple[float, float]],
) -> str:
    latency, loss, throughput, least = parts
    if throughput is not None and throughput <= least < 100:
        way, (measured, needed) = min(rates.items(), key=lambda one: one[1][0] / one[1][1])
        return f"{measured:.3g} of {needed:g} Mb/s {way}"
    if loss is not None and loss <= least < 100:
        return f"{100 * lost:.2g} % lost"
    met = [_engine.quality_of_outcome([one], None, [])[0] for one in judged]
    worst = met.index(min(met)) if latency < 100 else len(met) - 1
    percentile = needs.latency[worst][0]
    return f"P{percentile:g} {judged[worst][0]:.4g} ms"


def _interval(observed: Observed, needs: Requirement, *, loss_as_delay: bool) -> tuple[float | None, float | None]:
    """Draw blocks of a second again and again; without four of them there is no interval."""
    if not len(observed.sent_s):
        return None, None
    number = np.floor((observed.sent_s - observed.sent_s.min()) / BLOCK_S).astype(int)
    order = np.argsort(number, kind="stable")
    ends = np.flatnonzero(np.diff(number[order])) + 1
    blocks: list[np.ndarray] = np.split(observed.delay_ms[order], ends)
    if len(blocks) < INTERVALS:
        return None, None
    random = np.random.default_rng(1)
    drawn: list[float] = []
    for _ in range(DRAWS):
        chosen = random.integers(0, len(blocks), len(blocks))
        drawn_blocks: list[np.ndarray] = [blocks[int(one)] for one in chosen]
        delays: np.ndarray = np.concatenate(drawn_blocks)
        outcome = _outcome(delays, observed, needs, loss_as_delay=loss_as_delay)
        drawn.append(0.0 if outcome is None else outcome.value)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def apdex_of(observed: Observed, satisfied_ms: float) -> float | None:
    """Return the Apdex of delays; what never came is neither satisfied nor tolerated."""
    return _engine.apdex(observed.delay_ms.tolist(), satisfied_ms)


def rating_of(observed: Observed, telr: float | None = _engine.DEFAULT_TELR) -> float | None:
    """Return R of ITU-T G.107 for G.711 that conceals losses: half of a round trip, or a delay one way, and a jitter buffer.

    All packets are played when the fastest has waited for the buffer; those that come later are lost. 0 if nothing came, which is no
    call; `None` if nothing was sent.

    Parameters
    ----------
    observed
        What was measured.
    telr
        Talker echo loudness rating in dB; `None` for telephones without echo.
    """
    came = observed.came
    if not len(came):
        return 0.0 if len(observed.delay_ms) else None
    one_way = came / 2 if observed.direction == "two-way" else came
    in_time = one_way - one_way[0] <= JITTER_BUFFER_MS
    lost = 1 - float(in_time.sum()) / len(observed.delay_ms)
    return _engine.rating_g107(float(one_way[0]) + JITTER_BUFFER_MS, lost, conceals=True, telr=telr)


def responsiveness_of(
    kinds: Mapping[str, Observed], until_s: float, goodput: Sequence[float] = ()
) -> Responsiveness | None:
    """Return round trips per minute at the end of a load, as draft-ietf-ippm-responsiveness-09 has them.

    Parameters
    ----------
    kinds
        Round trips by kind: `tcp`, `tls`, `http`, `self`.
    until_s
        When the load ends, by their clock.
    goodput
        Mean rate of each interval of 5 s of the load, in order, ending with it; empty if it was not measured.
    """
    found = _per_minute(kinds, until_s)
    if found is None:
        return None
    foreign, loaded, together = found
    confidence = "confidence unknown: no goodput"
    if len(goodput):
        if not _engine.is_stable(_moving(goodput)):
            confidence = "low confidence: goodput was not stable"
        else:
            earlier = [_per_minute(kinds, until_s - INTERVAL_S * back) for back in range(3, -1, -1)]
            known = [one[2] for one in earlier if one is not None]
            is_stable = len(known) == len(earlier) and _engine.is_stable(known)
            confidence = "high confidence" if is_stable else "medium confidence"
    return Responsiveness(together, foreign, loaded, confidence)


def _per_minute(kinds: Mapping[str, Observed], until_s: float) -> tuple[float, float, float] | None:
    """Return round trips per minute of the last intervals before a time."""

    def last(kind: str) -> list[float]:
        if kind not in kinds:
            return []
        one = kinds[kind]
        from_s = until_s - INTERVAL_S * INTERVALS
        chosen = (one.sent_s >= from_s) & (one.sent_s < until_s) & np.isfinite(one.delay_ms)
        return one.delay_ms[chosen].tolist()

    return _engine.round_trips_per_minute(last("tcp"), last("tls"), last("http"), last("self"))


def _moving(values: Sequence[float]) -> list[float]:
    """Return means over the last four values, at each."""
    ends = range(INTERVALS, len(values) + 1)
    return [float(np.mean(values[end - INTERVALS : end])) for end in ends]
