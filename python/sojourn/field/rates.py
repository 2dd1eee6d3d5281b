"""What streams of a load carried over time, and what TCP said of itself: samples of Flent and iperf3.

Source: Flent's page on its data format (`raw_values` with `t`, `val` and `dur`; `SERIES_META`); iperf3's JSON output
(`intervals[].streams[]`).
Units and ranges: seconds by the clock of the file's round trips (iperf3: since the load began), bytes of payload, ms.
Deviations: netperf prints what a sender handed to its socket, so an upload of Flent is a rate of the sender. A grid of
points without samples of its own is read as samples that last a step each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np

from sojourn.field.flent import flent_series
from sojourn.field.reading import Unreadable
from sojourn.field.samples import LARGEST

__all__ = ["Direction", "Rates", "flent_rates", "iperf3_rates"]

Direction = Literal["up", "down"]

_STREAM = re.compile(r"TCP (upload|download)( [A-Z]+[0-9]*( \S+)?|::[0-9]+)?")

MOST_STREAMS = 1000
"""chosen: as many connections as a named load may have."""


@dataclass(frozen=True)
class Rates:
    """What one stream carried.

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
        Segments sent again over the whole load; `None` if nobody tells.
    smoothed_ms
        Round trips as TCP smooths them, with the samples; empty if nobody tells.
    congestion
        Name of the congestion controller; empty if nobody tells.
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

    def __len__(self) -> int:
        return len(self.ends_s)


def flent_rates(document: dict[str, Any]) -> list[Rates]:
    """Return the streams of a Flent result that have samples.

    Raises
    ------
    Unreadable
        If something that must be there is missing or of another kind.
    """
    metadata: dict[str, Any] = document["metadata"]
    found: list[Rates] = []
    for one in flent_series(document):
        match = _STREAM.fullmatch(one.name)
        if match is None or len(one.samples) < 2:
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
        direction: Direction = "up" if match[1] == "upload" else "down"
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
                retransmitted=_count(meta.get("TCPI_TOTAL_RETRANS")) if direction == "up" else None,
                congestion=str(meta.get("CONG_CONTROL", ""))[:40],
            )
        )
    return found[:MOST_STREAMS]


def _meta(metadata: dict[str, Any], name: str) -> dict[str, Any]:
    every: Any = metadata.get("SERIES_META")
    one: Any = cast("dict[str, Any]", every).get(name) if isinstance(every, dict) else None
    return cast("dict[str, Any]", one) if isinstance(one, dict) else {}


def _count(value: object) -> float | None:
    """Return a count that stands as a number or as its digits."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < LARGEST:
        return None
    return float(value)


def iperf3_rates(document: dict[str, Any]) -> list[Rates]:
    """Return the streams of an iperf3 result that have samples; times since the load began.

    Raises
    ------
    Unreadable
        If there are none.
    """
    start: Any = document.get("start")
    test: Any = cast("dict[str, Any]", start).get("test_start") if isinstance(start, dict) else None
    options = cast("dict[str, Any]", test) if isinstance(test, dict) else {}
    if options.get("protocol", "TCP") != "TCP":
        raise Unreadable("is an iperf3 test without TCP: what a line does to datagrams at a fixed rate is no load")
    backwards = bool(options.get("reverse"))
    rows: dict[int, list[tuple[float, float, float, float, float]]] = {}
    ways: dict[int, bool] = {}
    for number, entry in _streams(document):
        ends, lasted, carried = (_count(entry.get(key)) for key in ("end", "seconds", "bytes"))
        if ends is None or not lasted or carried is None or entry.get("omitted") is True:
            continue
        sends = entry.get("sender")
        ways[number] = (not backwards) if not isinstance(sends, bool) else sends
        again, smoothed = _count(entry.get("retransmits")), _count(entry.get("rtt"))
        nan = float("nan")
        rows.setdefault(number, []).append(
            (ends, lasted, carried, nan if again is None else again, nan if smoothed is None else smoothed / 1e3)
        )
    found: list[Rates] = []
    for number, entries in sorted(rows.items())[:MOST_STREAMS]:
        table = np.array(sorted(entries))
        if len(table) < 2:
            continue
        again, smoothed = table[:, 3], table[:, 4]
        is_sender = ways[number]
        found.append(
            Rates(
                f"stream {number}",
                "up" if is_sender else "down",
                "sender" if is_sender else "receiver",
                table[:, 0],
                table[:, 1],
                table[:, 2],
                retransmitted=float(again.sum()) if np.isfinite(again).all() else None,
                smoothed_ms=smoothed if np.isfinite(smoothed).all() and smoothed.any() else None,
            )
        )
    if not found:
        raise Unreadable("has no intervals: iperf3 prints them unless it is called with `--interval 0`")
    return found


def _streams(document: dict[str, Any]) -> Iterable[tuple[int, dict[str, Any]]]:
    """Yield the number and the values of each stream in each interval."""
    intervals: Any = document.get("intervals")
    for interval in cast("list[Any]", intervals) if isinstance(intervals, list) else ():
        streams: Any = cast("dict[str, Any]", interval).get("streams") if isinstance(interval, dict) else None
        for stream in cast("list[Any]", streams) if isinstance(streams, list) else ():
            if isinstance(stream, dict):
                entry = cast("dict[str, Any]", stream)
                number = _count(entry.get("socket"))
                yield 0 if number is None else int(number), entry
