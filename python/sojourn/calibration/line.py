"""Lines that measurements are fitted to: kinds of access, what is unknown of them, within which bounds, and draws.

Source: RFC 8289, 8033 and 8290 for the families of queue managers; DOCSIS 3.0 and 3.1 for MAP intervals; White 2019 for its links.
Units and ranges: rates in Mb/s, times in ms, sizes in bytes.
Deviations: interleaving is part of the base round trip.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sojourn.calibration.measurement import Load

FAMILIES = ("drop-tail", "codel", "pie", "flow queues")
"""Families of queue managers, equally likely before anything is measured."""

FAMILY_WORDS = {"drop-tail": "drop-tail", "codel": "CoDel", "pie": "PIE", "flow queues": "flow queues (FQ-CoDel, CAKE)"}

STACKS = {
    "cubic": ("linux-cubic", "linux-6"),
    "bbr": ("bbr1", "bbr3"),
    "reno": ("linux-reno",),
    "": ("linux-cubic", "linux-6", "windows-cubic", "bbr1"),
}
"""Stacks that may have made a load, by the controller that the file names."""

Scale = Literal["log", "linear", "choice"]


@dataclass(frozen=True)
class Unknown:
    """An unknown of a line.

    Attributes
    ----------
    name, words, unit
        As programs and people call it.
    low, high
        Bounds before anything is measured.
    scale
        Even in the logarithm, even, or a whole number from 0.
    families
        Those that have it; empty for all.
    key
        Key path of the scenario, `DIRECTION` for the direction of the load; empty for what is integrated over.
    rarely
        Share of draws that do not have it.
    """

    name: str
    words: str
    unit: str
    low: float
    high: float
    scale: Scale = "log"
    families: tuple[str, ...] = ()
    key: str = ""
    rarely: float = 0.0

    @property
    def is_reported(self) -> bool:
        """True if it is a finding of the line."""
        return bool(self.key)

    def of(self, family: str) -> bool:
        """Return whether lines of a family have it."""
        return not self.families or family in self.families


@dataclass(frozen=True)
class Access:
    """A kind of access line.

    Attributes
    ----------
    name, words
        As programs and people call it.
    frame
        Bytes that the line is charged for a full packet of 1500 B.
    overhead_ms
        What the line adds to the median idle round trip beside its propagation: least and most of a hundred draws.
    has_bucket
        Whether a token bucket shapes it.
    map_ms
        Bounds of its MAP interval; empty without one.
    pie
        What its PIE is called.
    """

    name: str
    words: str
    frame: float
    overhead_ms: tuple[float, float]
    has_bucket: bool
    map_ms: tuple[float, ...] = ()
    pie: str = "pie"

    @property
    def propagation_ms(self) -> float:
        """The shortest round trip that its links allow."""
        return 2.5 if self.map_ms else 0.0


ACCESSES = {
    access.name: access
    for access in (
        Access("ethernet", "Ethernet behind a shaper", 1518, (0.0, 0.0), has_bucket=True),
        Access("pon", "fibre without a shaper", 1518, (0.0, 0.0), has_bucket=False),
        Access("docsis31", "DOCSIS 3.1", 1528, (3.0, 5.5), has_bucket=True, map_ms=(0.945, 2.16), pie="docsis-pie"),
        Access("docsis30", "DOCSIS 3.0", 1518, (3.0, 9.5), has_bucket=True, map_ms=(2.0, 2.0), pie="docsis-pie"),
        Access("dsl", "DSL", 1554, (0.0, 0.0), has_bucket=False),
    )
}


@dataclass(frozen=True)
class Guess:
    """Reading of a measurement without a fit; bounds of unknowns follow from it.

    Attributes
    ----------
    rate_mbps
        Of the line (I1).
    idle_ms
        Median idle round trip; NaN if it was not measured.
    other_mbps
        Rate of the other direction.
    """

    rate_mbps: float
    idle_ms: float
    other_mbps: float


AROUND = 1.3
"""Factor around the rate that is guessed, within which it is drawn. chosen: beyond what a guess from goodput misses."""

FIRST_BYTE_S, DEEPEST_S = 0.010, 1.0
"""Least and most buffer, as time at the rate."""

SHORTEST_MS = 0.01
"""Least base round trip. chosen: two machines beside each other."""

MOST_OFFSET_MS = 0.3
"""Most that the two hosts add to each ping, ms. chosen: two stacks that are not busy."""


def unknowns_of(
    access: Access, load: Load, guess: Guess, *, priors: Mapping[str, tuple[float, float]] | None = None
) -> list[Unknown]:
    """Return what is not known of a line, with bounds.

    Parameters
    ----------
    access, load, guess
        Kind of line, method of the test, and its reading without a fit.
    priors
        Bounds in place of these, by name.
    """
    rate = guess.rate_mbps
    second = rate * 1e6 / 8
    idle = guess.idle_ms
    least, most = access.overhead_ms
    if math.isnan(idle):
        trip = (5.0, 200.0)
    else:
        top = max(SHORTEST_MS + 2 * access.propagation_ms, 1.02 * (idle - least))
        # What a ping itself takes on the line there and back, at most.
        serial = 2 * 8e-3 * (load.packet + 18) / rate
        bottom = min(0.9 * (idle - most) - serial, top / 1.02)
        trip = (max(SHORTEST_MS + access.propagation_ms, bottom), top)
    least_bucket = access.frame
    if access.map_ms:
        # A smaller bucket does not fill up between two grants: the line would be slower than its rate.
        least_bucket += max(access.map_ms) / 1e3 * second
    found = [
        Unknown("rate", "rate", "Mb/s", rate / AROUND, rate * AROUND, key="access.DIRECTION.link.rate"),
        Unknown("rtt", "base round trip", "ms", *trip, key="traffic.load.rtt"),
        Unknown(
            "buffer",
            "buffer",
            "B",
            max(4 * access.frame, FIRST_BYTE_S * second),
            max(8 * access.frame, DEEPEST_S * second),
            families=("drop-tail",),
            key="access.DIRECTION.queue.limit",
        ),
        Unknown(
            "target",
            "target",
            "ms",
            2.0,
            30.0,
            families=("codel", "pie", "flow queues"),
            key="access.DIRECTION.queue.target",
        ),
    ]
    if access.has_bucket:
        found.append(
            Unknown(
                "bucket",
                "burst",
                "B",
                least_bucket,
                max(2 * least_bucket, 4.0 * second),
                key="access.DIRECTION.link.burst",
            )
        )
        found.append(Unknown("peak", "peak over rate", "", 1.05, 4.0, rarely=0.5))
    if access.name == "docsis31":
        found.append(
            Unknown(
                "map",
                "MAP interval",
                "ms",
                access.map_ms[0],
                access.map_ms[1],
                "linear",
                key="access.DIRECTION.link.map_interval",
            )
        )
    if access.name == "docsis30":
        found.append(Unknown("grant_delay", "grant delay", "", 0, 3, "choice"))
    if access.name == "dsl":
        found.append(Unknown("cells", "cells of ATM", "", 0, 2, "choice"))
    if load.beside:
        found.append(Unknown("other_buffer", "buffer of the other direction", "ms", 10.0, 1000.0))
        found.append(Unknown("other_kind", "queue of the other direction", "", 0, 2, "choice"))
    found.append(Unknown("stack", "stack", "", 0, len(stacks_of(load)), "choice"))
    if not math.isnan(idle):
        found.append(Unknown("offset", "hosts", "ms", 0.0, min(MOST_OFFSET_MS, 0.1 * idle), "linear"))
    found.append(Unknown("kind", "kind of flow queues", "", 0, 2, "choice", families=("flow queues",)))
    given = priors or {}
    return [
        replace(one, low=given[one.name][0], high=given[one.name][1]) if one.name in given else one for one in found
    ]


def stacks_of(load: Load) -> tuple[str, ...]:
    """Return the stacks that may have made a load."""
    name = load.congestion.lower()
    return next((stacks for word, stacks in STACKS.items() if word and word in name), STACKS[""])


def draw(
    unknowns: Sequence[Unknown],
    random: np.random.Generator,
    centres: Mapping[str, tuple[float, float]] | None = None,
    families: Sequence[str] = FAMILIES,
) -> tuple[str, dict[str, float], float]:
    """Draw a line: its family, values by name, and the weight of the draw; values that it does not have are missing.

    Parameters
    ----------
    unknowns
        With their bounds.
    random
        What decides.
    centres
        Where half of the draws are put instead, by name: the middle, and the standard deviation of the logarithm. Weights undo it.
    families
        Those that may be.
    """
    family = families[int(random.integers(len(families)))]
    is_centred = random.random() < CENTRED if centres else False
    values: dict[str, float] = {}
    prior = proposal = 1.0
    for one in unknowns:
        share, absent, normal = random.random(), random.random(), random.standard_normal()
        if not one.of(family) or absent < one.rarely:
            continue
        if centres is None or one.name not in centres or one.low == one.high:
            values[one.name] = value_at(one, share)
            continue
        middle, spread = centres[one.name]
        middle = min(max(middle, one.low), one.high)
        near = middle * math.exp(spread * normal)
        value = near if is_centred and one.low < near < one.high else value_at(one, share)
        values[one.name] = value
        prior *= 1 / math.log(one.high / one.low)
        apart = math.log(value / middle) / spread
        proposal *= math.exp(-0.5 * apart * apart) / (spread * math.sqrt(2 * math.pi))
    weight = prior / ((1 - CENTRED) * prior + CENTRED * proposal) if centres else 1.0
    return family, values, weight


CENTRED = 0.5
"""Share of draws that are put where the first guess is. chosen: no draw then weighs more than twice an even one."""


def value_at(one: Unknown, share: float) -> float:
    """Return the value below which a share of an unknown lies before anything is measured."""
    if one.scale == "choice":
        return float(min(int(one.low + share * (one.high - one.low)), int(one.high) - 1))
    if one.scale == "linear" or one.low == one.high:
        return one.low + share * (one.high - one.low)
    return one.low * (one.high / one.low) ** share
