"""Rates of a load's streams over time, and TCP's own statistics.

Source: Flent's page on its data format (`raw_values` with `t`, `val` and `dur`; `SERIES_META`); iperf3's is in `sojourn.field.iperf3`.
Units and ranges: seconds by the clock of the file's round trips (iperf3: since the load began), bytes of payload, ms.
Deviations: netperf prints what a sender handed to its socket, so an upload of Flent is a rate of the sender. A grid of
points without samples of its own is read as samples that last a step each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np

from sojourn.field.flent import flent_series, stream_direction
from sojourn.field.samples import LARGEST

Direction = Literal["up", "down"]

MOST_STREAMS = 1000
"""chosen: as many connections as a named load may have."""


@dataclass(frozen=True)
class Rates:
    """Rates of one stream.

    Attributes
    ----------
    stream
        As the tool calls it.
    direction
        `up` or `down`.
    where
        Who counted: the `sender` what entered its socket, the `receiver` what arrived.
    ends_s, lasted_s
        When each sample ended, and for how long it stands.
    carried
        Bytes of payload in each.
    retransmitted
        Segments sent again over the whole load; `None` if it is not told.
    smoothed_ms
        Round trips as TCP smooths them, with the samples; empty if it is not told.
    congestion
        Name of the congestion controller; empty if it is not told.
    held_mbps
        Rate to which its sender was limited; `None` if it was not.
    """

    stream: str
    direction: Direction
    where: Literal["sender", "receiver"]
    ends_s: np.ndarray
    lasted_s: np.ndarray
    carried: np.ndarray
    retransmitted: float | None = None
    smoothed_ms: np.ndarray | None = None
    congestion: str = ""
    held_mbps: float | None = None

    def __len__(self) -> int:
        return len(self.ends_s)


def flent_rates(document: dict[str, Any]) -> list[Rates]:
    """Return the streams of a Flent result that have samples.

    Raises `Unreadable` if something that must be there is missing or of another kind.
    """
    metadata: dict[str, Any] = document["metadata"]
    found: list[Rates] = []
    for one in flent_series(document):
        direction = stream_direction(one.name, is_raw=one.is_raw)
        if direction is None or len(one.samples) < 2:
            continue
        samples = one.samples
        order = np.argsort(samples.at, kind="stable")
        ends, mbps = samples.at[order], samples.values[order]
        if samples.durations is not None:
            lasted = samples.durations[order]
        elif one.is_raw:
            lasted = np.diff(ends, prepend=ends[0] - float(np.median(np.diff(ends))))
        else:
            lasted = np.full(len(ends), float(metadata.get("STEP_SIZE", 0.2)))
        meta = _meta(metadata, one.name)
        found.append(
            Rates(
                one.name,
                direction,
                "sender" if direction == "up" else "receiver",
                ends,
                lasted,
                mbps * lasted * 1e6 / 8,
                # That of the end which netperf runs on: of downloads it is the receiver's, who sends nothing again.
                retransmitted=count_of(meta.get("TCPI_TOTAL_RETRANS")) if direction == "up" else None,
                congestion=str(meta.get("CONG_CONTROL", ""))[:40],
            )
        )
    return found[:MOST_STREAMS]


def _meta(metadata: dict[str, Any], name: str) -> dict[str, Any]:
    every: Any = metadata.get("SERIES_META")
    one: Any = cast("dict[str, Any]", every).get(name) if isinstance(every, dict) else None
    return cast("dict[str, Any]", one) if isinstance(one, dict) else {}


def count_of(value: object) -> float | None:
    """Return a count that stands as a number or as its digits."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < LARGEST:
        return None
    return float(value)
