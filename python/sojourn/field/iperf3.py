"""Results of `iperf3 --json` of either end: throughput without latency, and what each stream carried.

Source: iperf3's JSON output (`start.test_start`, `end.sum_received`, `intervals[].streams[].sender`). The throughput is that of the
average stream, as in the talk, so four streams of 5 Mb/s are 5 Mb/s. It is what arrived: for UDP, `end.sum` says
what was sent, and files of old versions that hold nothing else are read less the share that was lost. Where only the sending end
is known, it is what was sent, and a flag says so.
Deviations: the end that a file does not know is 0 in it, and is left out. A client's upload is what its server receives: `sender` is of
the end that wrote the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sojourn.field.labels import labels_of
from sojourn.field.rates import MOST_STREAMS, Direction, Rates, count_of
from sojourn.field.reading import SUMS, Unreadable, first_problem
from sojourn.field.records import FieldTest

APART = 0.2
"""Share by which the sum of a direction may differ from its intervals. chosen: bytes in flight and the last, cut interval."""

COOKIE = 36
"""Signs of the name of a test, which both ends write. Source: iperf3, `COOKIE_SIZE`."""


class _Timestamp(BaseModel):
    timesecs: float = Field(ge=0, le=32_503_680_000)


class _TestStart(BaseModel):
    model_config = ConfigDict(extra="ignore")

    protocol: str = "TCP"
    num_streams: int = Field(1, ge=1, le=1_000_000)
    reverse: int = 0
    target_bitrate: float = Field(0.0, ge=0, allow_inf_nan=False)


class _Start(BaseModel):
    model_config = ConfigDict(extra="ignore")

    timestamp: _Timestamp
    test_start: _TestStart
    title: str = ""
    extra_data: str = ""
    accepted_connection: dict[str, Any] | None = None
    connecting_to: dict[str, Any] | None = None


class _Sum(BaseModel):
    model_config = ConfigDict(extra="ignore")

    bits_per_second: float = Field(ge=0, allow_inf_nan=False)
    lost_percent: float | None = Field(0.0, ge=0, le=100)
    sender: bool | None = None

    @property
    def arrived(self) -> float | None:
        """Sent less lost, b/s; `None` if the loss is not known."""
        return None if self.lost_percent is None else self.bits_per_second * (1.0 - self.lost_percent / 100.0)


class _End(BaseModel):
    model_config = ConfigDict(extra="ignore")

    sum_sent: _Sum | None = None
    sum_received: _Sum | None = None
    sum: _Sum | None = None
    sum_sent_bidir_reverse: _Sum | None = None
    sum_received_bidir_reverse: _Sum | None = None
    sum_bidir_reverse: _Sum | None = None


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore")

    start: _Start
    end: _End
    title: str = ""
    extra_data: str = ""

    @property
    def is_server(self) -> bool:
        """True if the server wrote it."""
        return self.start.accepted_connection is not None and self.start.connecting_to is None

    def direction(self, sum_: _Sum, *, is_back: bool) -> Direction:
        """Return the direction of a sum: by who sends, or else by the options of the test."""
        if sum_.sender is not None:
            return "up" if sum_.sender != self.is_server else "down"
        return "up" if bool(self.start.test_start.reverse) == is_back else "down"


@dataclass
class _Way:
    """Sums of a file for one direction, b/s; `None` for the end that it does not know."""

    sent: float | None = None
    received: float | None = None


def looks_like_iperf3(document: dict[str, Any]) -> bool:
    """Return whether a JSON object has the keys of an iperf3 result."""
    return {"start", "end", "intervals"} <= document.keys()


def end_of(document: dict[str, Any]) -> tuple[str, bool] | None:
    """Return the name of a test that both of its ends write, and whether the server wrote this one; `None` without a name."""
    start: Any = document.get("start")
    if not looks_like_iperf3(document) or not isinstance(start, dict):
        return None
    values = cast("dict[str, Any]", start)
    name = values.get("cookie")
    if not isinstance(name, str) or len(name) != COOKIE:
        return None
    return name, "accepted_connection" in values and "connecting_to" not in values


def other_ends(ends: Mapping[str, tuple[str, bool]]) -> list[tuple[str, str]]:
    """Return the files of servers whose client's file is there as well, each with that one: both are one test.

    Parameters
    ----------
    ends
        Of files that have a name of their test, that and whether the server wrote them; see `end_of`.
    """
    clients = {test: file for file, (test, is_server) in ends.items() if not is_server}
    return [(file, clients[test]) for file, (test, is_server) in ends.items() if is_server and test in clients]


def read_iperf3(document: dict[str, Any], file: str) -> list[FieldTest]:
    """Return the tests in an iperf3 result, two of a bidirectional one; `--title` and `--extra-data` may carry labels.

    Raises `Unreadable` if something that must be there is missing or of another kind, or the file contradicts itself.
    """
    content = _content(document)
    ways = _ways(content)
    rates = _rates(document, content)
    if not ways:
        raise Unreadable("is no complete iperf3 result: end.sum_received: missing")
    for one in rates:
        ways.setdefault(one.direction, _Way())
    return [_test(content, file, direction, way, rates) for direction, way in ways.items()]


def iperf3_rates(document: dict[str, Any]) -> list[Rates]:
    """Return the streams of an iperf3 result that have samples; times since the load began.

    Raises `Unreadable` if there are none, or the file contradicts itself.
    """
    content = _content(document)
    if content.start.test_start.protocol != "TCP":
        raise Unreadable("is an iperf3 test without TCP: what a line does to datagrams at a fixed rate is no load")
    rates = _rates(document, content)
    if not rates:
        raise Unreadable("has no intervals: iperf3 prints them unless it is called with `--interval 0`")
    for direction, way in _ways(content).items():
        _refuse_contradiction(content, direction, way, rates)
    return rates


def _content(document: dict[str, Any]) -> _File:
    """Return what is read of a file; of one with doubled sums as if it had been written since 3.11.

    Raises `Unreadable` if something that must be there is missing or of another kind.
    """
    if isinstance(document.get("error"), str):
        raise Unreadable(f"is a test that failed: {document['error'][:100]}")
    end: Any = document.get("end")
    if isinstance(end, dict):
        values = cast("dict[str, Any]", end)
        doubled = {name: values[name] for name in SUMS if isinstance(values.get(name), tuple)}
        if any("sender" not in one for pair in doubled.values() for one in pair if isinstance(one, dict)):
            raise Unreadable("is a bidirectional test of iperf3 before 3.11 whose sums do not say their direction")
        parted = {name: pair[0] for name, pair in doubled.items()}
        parted |= {f"{name}_bidir_reverse": pair[1] for name, pair in doubled.items()}
        document = {**document, "end": {**values, **parted}}
    try:
        return _File.model_validate(document)
    except ValidationError as error:
        raise Unreadable(f"is no complete iperf3 result: {first_problem(error)}") from error


def _ways(content: _File) -> dict[Direction, _Way]:
    """Return what the sums say of each direction, without what the end that wrote them cannot know."""
    end = content.end
    ways: dict[Direction, _Way] = {}
    for sent, received, both, is_back in (
        (end.sum_sent, end.sum_received, end.sum, False),
        (end.sum_sent_bidir_reverse, end.sum_received_bidir_reverse, end.sum_bidir_reverse, True),
    ):
        known = received or sent or both
        if known is None:
            continue
        direction = content.direction(known, is_back=is_back)
        way = ways[direction] = _Way(sent and sent.bits_per_second, received and received.bits_per_second)
        if both is not None and sent is None:
            way.sent = both.bits_per_second
        if both is not None and received is None:
            way.received = both.bits_per_second if content.is_server else both.arrived
        if content.is_server and direction == "down":
            way.received = None
        elif content.is_server:
            way.sent = None
    return ways


def _of_intervals(rates: list[Rates], direction: Direction) -> float | None:
    """Return the rate of a direction by its intervals, b/s; `None` without any."""
    ours = [one for one in rates if one.direction == direction]
    if not ours:
        return None
    began = min(float(one.ends_s[0] - one.lasted_s[0]) for one in ours)
    seconds = max(float(one.ends_s[-1]) for one in ours) - began
    return 8 * sum(float(one.carried.sum()) for one in ours) / max(seconds, 1e-9)


def _refuse_contradiction(content: _File, direction: Direction, way: _Way, rates: list[Rates]) -> None:
    """Make sure that the sum of a direction is that of its intervals.

    Raises `Unreadable` if it is another.
    """
    seen = _of_intervals(rates, direction)
    if rates and seen is None:
        raise Unreadable(f"contradicts itself: it has a sum {direction} and no interval of a stream {direction}")
    is_sender = (direction == "up") != content.is_server
    own = way.sent if is_sender else way.received
    if seen is not None and own is not None and abs(seen - own) > APART * max(seen, own):
        raise Unreadable(
            f"contradicts itself: {own / 1e6:.4g} Mb/s {direction} in its sum, {seen / 1e6:.4g} in its intervals"
        )
    if way.sent and way.received and way.received > (1 + APART) * way.sent:
        raise Unreadable(
            f"contradicts itself: {way.received / 1e6:.4g} Mb/s {direction} arrived, and {way.sent / 1e6:.4g} were sent"
        )


def _test(content: _File, file: str, direction: Direction, way: _Way, rates: list[Rates]) -> FieldTest:
    _refuse_contradiction(content, direction, way, rates)
    start = content.start
    total, flags = way.received, list[str]()
    if total is None:
        total, flags = way.sent, ["sent-not-received"]
    if total is None:
        total = _of_intervals(rates, direction) or 0.0
    if not total:
        flags.append("no-throughput")
    title = " ".join((content.title, content.extra_data, start.title, start.extra_data))
    labels = labels_of(file, title, "")
    word = "upload" if direction == "up" else "download"
    return FieldTest(
        probe=labels.probe or "unknown",
        time=datetime.fromtimestamp(start.timestamp.timesecs, UTC),
        direction=direction,
        throughput_mbps=total / start.test_start.num_streams / 1e6,
        latency_ms=None,
        latency_kind="",
        latency_loaded_ms=None,
        latency_idle_ms=None,
        samples=0,
        expected_samples=0,
        treatment=labels.treatment,
        week=labels.week,
        zone=labels.zone,
        flags=" ".join(flags),
        test=f"iperf3 {start.test_start.protocol} {word}",
        tool="iperf3",
        file=file,
    )


def _rates(document: dict[str, Any], content: _File) -> list[Rates]:
    """Return the streams that have samples; times since the load began."""
    sends_unless_told = bool(content.start.test_start.reverse) == content.is_server
    rows: dict[int, list[tuple[float, float, float, float, float]]] = {}
    ways: dict[int, bool] = {}
    for number, entry in _streams(document):
        ends, lasted, carried = (count_of(entry.get(key)) for key in ("end", "seconds", "bytes"))
        if ends is None or not lasted or carried is None or entry.get("omitted") is True:
            continue
        sends = entry.get("sender")
        ways[number] = sends if isinstance(sends, bool) else sends_unless_told
        again, smoothed = count_of(entry.get("retransmits")), count_of(entry.get("rtt"))
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
                "up" if is_sender != content.is_server else "down",
                "sender" if is_sender else "receiver",
                table[:, 0],
                table[:, 1],
                table[:, 2],
                retransmitted=float(again.sum()) if np.isfinite(again).all() else None,
                smoothed_ms=smoothed if np.isfinite(smoothed).all() and smoothed.any() else None,
                held_mbps=content.start.test_start.target_bitrate / 1e6 or None,
            )
        )
    return found


def _streams(document: dict[str, Any]) -> Iterable[tuple[int, dict[str, Any]]]:
    """Yield the number and the values of each stream in each interval."""
    intervals: Any = document.get("intervals")
    for interval in cast("list[Any]", intervals) if isinstance(intervals, list) else ():
        streams: Any = cast("dict[str, Any]", interval).get("streams") if isinstance(interval, dict) else None
        for stream in cast("list[Any]", streams) if isinstance(streams, list) else ():
            if isinstance(stream, dict):
                entry = cast("dict[str, Any]", stream)
                number = count_of(entry.get("socket"))
                yield 0 if number is None else int(number), entry
