"""A measurement as it was taken: each round trip with its time, what was lost, what rates were beside it.

Source: Flent's page on its data format; irtt's and iperf3's JSON output; a CSV table with a header.
Units and ranges: times in seconds from the first round trip, round trips in ms, infinite where nothing came back, rates in Mb/s.
Deviations: loss of Flent's pings is what their numbers leave out; netperf's pings have none, and their loss is not known.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from sojourn.base import csv_tables
from sojourn.base.errors import UsageError, plain
from sojourn.field.flent import flent_load, flent_series, looks_like_flent, lost_pings, ping_kind, stream_direction
from sojourn.field.iperf3 import end_of, iperf3_rates, looks_like_iperf3
from sojourn.field.irtt import irtt_echoes, looks_like_irtt
from sojourn.field.rates import Rates, flent_rates
from sojourn.field.reading import LARGEST_FILE, Unreadable, content_of, document_of

PROBES = ("ping", "tcp", "tls", "http", "self")
"""Kinds of round trips in a table: an echo; and as draft-ietf-ippm-responsiveness has them a handshake of TCP, one of TLS, a
question over a new connection, and one over a connection that is loaded."""

UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
"""Endings of columns of times, in seconds."""

LONGEST_S = 600.0
"""A longer round trip is none. chosen: no tool waits ten minutes; nanoseconds under the wrong heading are longer."""


@dataclass(frozen=True)
class RoundTrips:
    """Round trips of one kind.

    Attributes
    ----------
    name, kind
        As the tool calls them; one of `PROBES`.
    sent_s
        When each was asked, from the first one of the file.
    rtt_ms
        Infinite where nothing came back; 0 where a coarse clock saw no time pass.
    is_loss_known
        Whether it can be seen what was lost.
    runs_back_s
        How far answers jump back in time from one row to the next, at most.
    """

    name: str
    kind: str
    sent_s: np.ndarray
    rtt_ms: np.ndarray
    is_loss_known: bool = True
    runs_back_s: float = 0.0

    def __len__(self) -> int:
        return len(self.rtt_ms)

    def within(self, chosen: np.ndarray) -> RoundTrips:
        """Return those of a mask."""
        return replace(self, sent_s=self.sent_s[chosen], rtt_ms=self.rtt_ms[chosen])


@dataclass(frozen=True)
class Series:
    """Contents of one file.

    Attributes
    ----------
    tool, name
        Who measured, and the file.
    round_trips
        By kind.
    loaded_s
        From when to when there was a load, by the clock of the round trips; `None` if the file does not say.
    rates_mbps
        Mean rate of each direction, `up` and `down`, if there was one.
    rates
        What each stream carried, sample by sample.
    sha256
        Of the file.
    end
        Name of the test, and whether its server wrote the file; `None` where a file has no name of its test.
    """

    tool: str
    name: str
    round_trips: tuple[RoundTrips, ...]
    loaded_s: tuple[float, float] | None = None
    rates_mbps: Mapping[str, float] = field(default_factory=dict[str, float])
    rates: tuple[Rates, ...] = ()
    sha256: str = ""
    end: tuple[str, bool] | None = None


def read_series(path: Path, *, needs_round_trips: bool = True) -> Series:
    """Return the measurements of a file of Flent, irtt or iperf3, or of a CSV table.

    Raises `UsageError` if it is none, with the line where there are some.

    Parameters
    ----------
    path
        The file.
    needs_round_trips
        Whether a file of rates alone, as iperf3 writes them, is refused.
    """
    name = plain(path)
    if path.suffix.lower() == ".csv":
        content = csv_tables.content_of(path, most=LARGEST_FILE)
        found = _table(csv_tables.text_of(content, name), name)
        return replace(found, sha256=hashlib.sha256(content).hexdigest())
    try:
        content = content_of(path)
        found = _series(document_of(content), name, needs_round_trips=needs_round_trips)
    except Unreadable as error:
        raise UsageError(
            f"{name}: {error}", "a file of Flent or irtt, or CSV with the columns time_s and rtt_ms"
        ) from error
    return replace(found, sha256=hashlib.sha256(content).hexdigest())


def _series(document: dict[str, Any], name: str, *, needs_round_trips: bool) -> Series:
    if looks_like_flent(document):
        return _flent(document, name)
    if looks_like_irtt(document):
        return _irtt(document, name)
    if looks_like_iperf3(document):
        if needs_round_trips:
            raise Unreadable("has no round trips of packets: iperf3 tells those that TCP smooths")
        return Series("iperf3", name, (), None, rates=tuple(iperf3_rates(document)), end=end_of(document))
    raise Unreadable("is JSON of no tool that is known here (Flent, irtt, iperf3)")


def _flent(document: dict[str, Any], name: str) -> Series:
    found: list[RoundTrips] = []
    mean_rates: dict[str, float] = {}
    for one in flent_series(document):
        direction = stream_direction(one.name, is_raw=one.is_raw)
        if direction is not None and one.mean is not None:
            mean_rates[direction] = mean_rates.get(direction, 0.0) + one.mean
        if not ping_kind(one.name) or not len(one.samples):
            continue
        took = one.samples.values
        sent = one.samples.at - (took / 1e3 if one.is_raw else 0.0)
        lost = lost_pings(document, one.name, sent)
        extra = np.empty(0) if lost is None else lost
        found.append(
            RoundTrips(
                one.name,
                "ping",
                np.concatenate([sent, extra]),
                np.concatenate([took, np.full(len(extra), np.inf)]),
                is_loss_known=lost is not None,
                runs_back_s=max(0.0, float(-np.diff(one.samples.at).min(initial=0.0))),
            )
        )
    if not found:
        raise Unreadable("has no pings")
    loaded, rates = flent_load(document), tuple(flent_rates(document))
    return Series("Flent", name, tuple(found), loaded, mean_rates, rates)


def _irtt(document: dict[str, Any], name: str) -> Series:
    echoes = irtt_echoes(document)
    if not len(echoes.sent_s) or math.isnan(echoes.sent_s[0]):
        raise Unreadable("has no round trips with times")
    sent = echoes.sent_s - echoes.sent_s[0]
    return Series("irtt", name, (RoundTrips("UDP echoes", "ping", sent, echoes.rtt_ms),))


def _table(text: str, name: str) -> Series:
    header, rows = csv_tables.rows_of(text, name)
    time_column = _one_of(header, "time", name)
    trip_column = _one_of(header, "rtt", name)
    others = {time_column, trip_column, "kind", "load"}
    unknown = [cell for cell in header if cell not in others]
    if unknown or len(set(header)) < len(header):
        raise UsageError(
            f"{name}: its first line has {plain(', '.join(unknown) or 'a column twice')}",
            "time_s, rtt_ms, and perhaps kind and load",
        )
    found: dict[str, list[tuple[float, float]]] = {}
    loaded: list[float] = []
    first = last = math.nan
    for place, cells in rows:
        at = csv_tables.number_of(cells[time_column], place) * UNITS[time_column.rpartition("_")[2]]
        if at < last:
            raise UsageError(
                f"{place}: time runs back, from {last:g} s to {at:g} s",
                "sort the rows, or measure with a clock that is never set",
            )
        first, last = (at if math.isnan(first) else first), at
        kind = cells.get("kind") or "ping"
        if kind not in PROBES:
            raise UsageError(f"{place}: {plain(kind)!r} is no kind", ", ".join(PROBES))
        took = _round_trip(cells[trip_column], trip_column, place)
        found.setdefault(kind, []).append((at - first, took))
        if cells.get("load", "") not in ("", "none", "0"):
            loaded.append(at - first)
    if not found:
        raise UsageError(f"{name}: has no rows")
    series: list[RoundTrips] = []
    for kind in PROBES:
        if kind in found:
            table = np.array(found[kind])
            series.append(RoundTrips(kind, kind, table[:, 0], table[:, 1]))
    window = (min(loaded), max(loaded) + 1e-9) if loaded else None
    return Series("table", name, tuple(series), window)


def _one_of(header: list[str], what: str, name: str) -> str:
    """Return the column of a time, whose ending is its unit."""
    known = [f"{what}_{unit}" for unit in UNITS]
    there = [cell for cell in header if cell in known]
    if len(there) > 1:
        raise UsageError(f"{name}: {' and '.join(there)} in one table", "one unit for the whole file")
    if not there:
        raise UsageError(f"{name}: has no column {known[0]}", f"one of {', '.join(known)}")
    return there[0]


def _round_trip(cell: str, column: str, place: str) -> float:
    """Return a round trip in ms; infinite if the cell is empty."""
    if not cell:
        return math.inf
    value = csv_tables.number_of(cell, place) * UNITS[column.rpartition("_")[2]]
    if value == 0:
        raise UsageError(f"{place}: a round trip of 0", "an empty cell if nothing came back")
    if value > LONGEST_S:
        raise UsageError(f"{place}: a round trip of {value:g} s", f"numbers in the unit that {column} says")
    return 1e3 * value
