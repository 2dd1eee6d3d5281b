"""One run of the engine as a measurement of the same kind: records, then a series, then what was seen.

Source: Flent and iperf3 for who counts what; Linux `tcp_sndbuf_expand` for how far a sender's socket is ahead of its window.
Deviations: a socket holds twice the largest window so far, which is what Linux lets an application write.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl

import sojourn._engine as _engine
from sojourn.calibration.inversion import FULL_PACKET, PAYLOAD
from sojourn.calibration.measurement import Load, Seen, seen_of
from sojourn.field.rates import Rates
from sojourn.field.series import RoundTrips, Series

STEP_S = 0.2
"""Flent's STEP_SIZE."""

RECORD = """
[record]
datagrams = false
transfers = true
series = "200 ms"
connections = "200 ms"
occupancy = false
delays = false
histograms = false
"""
"""Records that a run must write; it writes no others."""


def series_of(records: _engine.Records, load: Load) -> Series:
    """Return a run with the entries `load` and `ping` as a file would have it.

    Parameters
    ----------
    records
        Of a scenario with `RECORD`.
    load
        How it was made.
    """
    trips: tuple[RoundTrips, ...] = ()
    if load.interval_ms:
        rows = _rows(records, "transfers", ("started_ns", "ended_ns"), "ping")
        took = (rows[1] - rows[0]) / 1e6
        trips = (RoundTrips("Ping (ms) ICMP", "ping", rows[0] / 1e9, np.where(np.isfinite(took), took, np.inf)),)
    rates = _sent(records, load) if load.where == "sender" else _received(records, load)
    window = (load.lead_s, load.lead_s + load.length_s)
    return Series("simulated", "simulated", trips, window, rates=rates)


def seen_in(records: _engine.Records, load: Load, offset_ms: float = 0.0) -> Seen:
    """Return what is seen of a run.

    Parameters
    ----------
    records, load
        As of `series_of`.
    offset_ms
        What the hosts add to each ping.
    """
    series = series_of(records, load)
    pings = series.round_trips[0] if series.round_trips else None
    if pings is not None:
        took = pings.rtt_ms + offset_ms
        pings = RoundTrips(pings.name, pings.kind, pings.sent_s, np.round(took) if load.rounding_ms else took)
    return seen_of(series, pings, load.lead_s)


def _rows(records: _engine.Records, table: str, columns: tuple[str, ...], traffic: str) -> list[np.ndarray]:
    """Return columns of a table as floats; what is missing is NaN."""
    frame = pl.DataFrame(records.table(table))
    frame = frame.filter(pl.col("traffic") == traffic) if traffic else frame
    return [frame[name].cast(pl.Float64).to_numpy() for name in columns]


def _sent(records: _engine.Records, load: Load) -> tuple[Rates, ...]:
    """Return what entered the sockets of the senders."""
    frame = pl.DataFrame(records.table("connection_series")).filter(pl.col("traffic") == "load")
    way = "upstream" if load.direction == "up" else "downstream"
    frame = frame.filter(pl.col("direction") == way)
    found: list[Rates] = []
    for number in frame["connection"].unique(maintain_order=True).to_list():
        rows = frame.filter(pl.col("connection") == number)
        at = rows["at_ns"].cast(pl.Float64).to_numpy() / 1e9
        inside = (at > load.lead_s) & (at <= load.lead_s + load.length_s + 1e-6)
        window = np.maximum.accumulate(rows["window_segments"].cast(pl.Float64).to_numpy()[inside])
        acknowledged = rows["acknowledged_bytes"].cast(pl.Float64).to_numpy()[inside]
        smoothed = rows["round_trip_ns"].cast(pl.Float64).fill_null(np.nan).to_numpy()[inside] / 1e6
        if inside.sum() < 2:
            continue
        entered = acknowledged + 2 * PAYLOAD * window
        found.append(_rates(str(number), load, "sender", at[inside], entered, smoothed))
    return _with_retransmissions(records, found)


def _rates(
    name: str,
    load: Load,
    where: Literal["sender", "receiver"],
    at: np.ndarray,
    entered: np.ndarray,
    smoothed: np.ndarray | None,
) -> Rates:
    """Return samples from bytes until a time."""
    lasted = np.diff(at, prepend=load.lead_s)
    carried = np.maximum(np.diff(entered, prepend=0.0), 0.0)
    if smoothed is not None:
        smoothed = smoothed[np.isfinite(smoothed)]
    return Rates(name, load.direction, where, at, lasted, carried, smoothed_ms=smoothed)


def _received(records: _engine.Records, load: Load) -> tuple[Rates, ...]:
    """Return what came out of the line, less headers."""
    way = "upstream" if load.direction == "up" else "downstream"
    frame = pl.DataFrame(records.table("traffic_series")).filter(
        (pl.col("traffic") == "load") & (pl.col("link") == way)
    )
    starts = frame["start_ns"].cast(pl.Float64).to_numpy() / 1e9
    steps = np.round((starts - load.lead_s) / STEP_S).astype(int)
    count = round(load.length_s / STEP_S)
    carried = np.zeros(count)
    inside = (steps >= 0) & (steps < count)
    forwarded = frame["forwarded_bytes"].cast(pl.Float64).to_numpy()[inside]
    np.add.at(carried, steps[inside], forwarded * PAYLOAD / FULL_PACKET)
    at = load.lead_s + STEP_S * np.arange(1, count + 1)
    return (_rates("load", load, "receiver", at, np.cumsum(carried), None),)


def _with_retransmissions(records: _engine.Records, rates: list[Rates]) -> tuple[Rates, ...]:
    """Give the first stream what all sent again, of which there is one count."""
    from dataclasses import replace

    frame = pl.DataFrame(records.table("traffic")).filter(pl.col("traffic") == "load")
    again = float(frame["retransmissions"].cast(pl.Float64).fill_null(0).sum())
    return tuple(replace(one, retransmitted=again if number == 0 else 0.0) for number, one in enumerate(rates))
