"""Homes of a simulated trial, drawn once: tier, distance, plant, people, clock, and what becomes of the probe.

Source: Klatsky 2016 says "approximately 50 trial participants (some dropped after trial started)", one server, and
nothing about tiers, plants or people. The distributions are chosen: what tiers cable homes of 2016 had, round trips
over a continent to one server, and how much tests of one home differ.
Deviations: none known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Population:
    """Distributions from which homes are drawn.

    Attributes
    ----------
    tiers, shares
        Upstream rates in Mb/s, and the share of homes with each.
    downstream
        Downstream rate as a multiple of the upstream one.
    rtt_median_ms, rtt_sigma, rtt_least_ms
        Log-normal round-trip time to the server.
    latency_sigma, throughput_sigma
        Standard deviations of the logarithms by which a test's latency and throughput differ from the next, for
        reasons that the simulated home does not have (routes, servers, neighbours).
    day_sigma, hour_sigma
        Standard deviations of the logarithms by which days of the week, and hours of the day, differ for all homes alike.
    missing
        Probability that a test is not there.
    dropout, dropout_days
        Share of homes that leave, and between which days.
    """

    tiers: tuple[float, ...] = (3.0, 5.0, 10.0, 20.0)
    shares: tuple[float, ...] = (0.2, 0.4, 0.3, 0.1)
    downstream: float = 5.0
    rtt_median_ms: float = 35.0
    rtt_sigma: float = 0.45
    rtt_least_ms: float = 8.0
    latency_sigma: float = 0.15
    throughput_sigma: float = 0.08
    day_sigma: float = 0.0
    hour_sigma: float = 0.0
    missing: float = 0.05
    dropout: float = 0.10
    dropout_days: tuple[float, float] = (3.0, 21.0)


DEFAULT = Population()
"""chosen before any run: see the module."""

_STACK = "linux-cubic"

_HOUSEHOLDS: tuple[tuple[str, float, tuple[Mapping[str, Any], ...]], ...] = (
    ("quiet", 0.4, ()),
    ("pages", 0.4, ({"name": "page", "app": {"kind": "web", "profile": "white2013", "start_jitter": "25 s"}},)),
    (
        "pages-and-call",
        0.2,
        (
            {"name": "page", "app": {"kind": "web", "profile": "white2013", "start_jitter": "25 s"}},
            {"name": "call", "app": {"kind": "voice", "start_jitter": "10 s"}},
        ),
    ),
)
"""Background activity during a test. chosen: none, web pages, or pages and a call; each begins
within the test at a random moment."""

_CHANNELS_MBPS = (24.576, 98.304)
"""Rates of upstream channels. assumed: one channel of 6.4 MHz with 64-QAM at 0.8, or four of them bonded."""


@dataclass(frozen=True, slots=True)
class Home:
    """One participant.

    Attributes
    ----------
    name
        Such as `home-07`.
    up_mbps, down_mbps
        Its tier.
    rtt_ms
        Round trip to the server without queues.
    channel_mbps
        Rate of its upstream channel.
    household
        What its people do.
    clock_s
        By how much the probe's clock is fast.
    left_after_days
        When it dropped out; infinite if it stayed.
    """

    name: str
    up_mbps: float
    down_mbps: float
    rtt_ms: float
    channel_mbps: float
    household: str
    clock_s: float
    left_after_days: float


def draw_homes(count: int, seed: int = 1, population: Population = DEFAULT) -> list[Home]:
    """Draw homes; the same seed gives the same first homes whatever the count.

    Parameters
    ----------
    count
        How many.
    seed
        What decides them.
    population
        Distributions from which they are drawn.

    Examples
    --------
    >>> [home.name for home in draw_homes(2)]
    ['home-01', 'home-02']
    """
    homes: list[Home] = []
    width = max(2, len(str(count)))
    for number in range(1, count + 1):
        random = np.random.default_rng([seed, number])
        tier = float(random.choice(population.tiers, p=population.shares))
        rtt = population.rtt_median_ms * float(np.exp(population.rtt_sigma * random.normal()))
        household = str(random.choice([name for name, _, _ in _HOUSEHOLDS], p=[p for _, p, _ in _HOUSEHOLDS]))
        channel = float(random.choice(_CHANNELS_MBPS))
        # chosen: most clocks follow a server within a second; one in ten does not, and is minutes off.
        clock = float(random.normal() * (1.0 if random.random() < 0.9 else 300.0))
        leaves = random.random() < population.dropout
        day = float(random.uniform(*population.dropout_days))
        homes.append(
            Home(
                name=f"home-{number:0{width}d}",
                up_mbps=tier,
                down_mbps=tier * population.downstream,
                rtt_ms=round(max(population.rtt_least_ms, rtt), 1),
                channel_mbps=channel,
                household=household,
                clock_s=round(clock, 1),
                left_after_days=day if leaves else float("inf"),
            )
        )
    return homes


def home_overlay(home: Home) -> dict[str, Any]:
    """Return what a home changes of the base scenario of a test."""
    traffic = next(entries for name, _, entries in _HOUSEHOLDS if name == home.household)
    overlay: dict[str, Any] = {
        "access": {
            "upstream": {"link": {"rate": f"{home.up_mbps:g} Mb/s", "channel_rate": f"{home.channel_mbps:g} Mb/s"}},
            "downstream": {"link": {"rate": f"{home.down_mbps:g} Mb/s"}},
        },
        "load": [{"name": "test", "rtt": f"{home.rtt_ms:g} ms"}],
    }
    if traffic:
        overlay["traffic"] = [_entry(one, home) for one in traffic]
    return overlay


def _entry(entry: Mapping[str, Any], home: Home) -> dict[str, Any]:
    with_stack = {"stack": _STACK} if entry["app"]["kind"] == "web" else {}
    return {**entry, **with_stack, "rtt": f"{home.rtt_ms:g} ms"}


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Further conditions of a test.

    Attributes
    ----------
    throughput, latency
        Factors, for reasons that the simulated home does not have.
    is_missing
        Whether the test is not there.
    later_s
        How long after its slot it begins, up to five minutes.
    """

    throughput: float
    latency: float
    is_missing: bool
    later_s: float


def calendar_factors(population: Population, seed: int, time: datetime) -> tuple[float, float]:
    """Draw what a day of the week and an hour, UTC, do to throughput and latency in every home; the same each week.

    Examples
    --------
    >>> calendar_factors(DEFAULT, 1, datetime(2026, 11, 23, 8))
    (1.0, 1.0)
    """
    # Homes are numbered from 1.
    days = np.random.default_rng([seed, 0, 0, time.weekday()]).normal(size=2)
    hours = np.random.default_rng([seed, 0, 1, time.hour]).normal(size=2)
    throughput, latency = np.exp(population.day_sigma * days + population.hour_sigma * hours)
    return float(throughput), float(latency)


def circumstances(population: Population, seed: int, home: int, week: int, direction: str, test: int) -> Circumstances:
    """Draw what else decides about a home's test of a week; homes, weeks and tests are numbered from 1."""
    random = np.random.default_rng([seed, home, week, int(direction == "up"), test])
    factors = np.exp(random.normal(size=2) * (population.throughput_sigma, population.latency_sigma))
    return Circumstances(
        throughput=float(factors[0]),
        latency=float(factors[1]),
        is_missing=bool(random.random() < population.missing),
        later_s=float(random.uniform(0.0, 300.0)),
    )
