"""Files of measurements as loads that can be simulated in the same way: when, which direction, how many streams, which pings.

Source: readers of `sojourn.field.series`.
Units and ranges: seconds since the load began, round trips in ms, bytes of payload.
Deviations: of several kinds of pings one is taken, ICMP if there is one. Loads in both directions at once are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from sojourn.base.errors import UsageError, plain
from sojourn.base.files import folder_names
from sojourn.field.iperf3 import other_ends
from sojourn.field.rates import Direction, Rates
from sojourn.field.series import RoundTrips, Series, read_series

FEWEST = 20
"""Round trips under load below which nothing is fitted. chosen: a quantile of 95 % has one sample beyond it."""

SHORTEST_S = 4.0
"""Seconds of load below which nothing is fitted. chosen: two seconds of start do not count, and two seconds are one sawtooth."""

SLOWEST_MBPS, FASTEST_MBPS, LONGEST_IDLE_MS = 0.05, 10_000.0, 5_000.0
"""Bounds of any access line. chosen: an old modem, ten gigabits, and a satellite beyond the moon."""

LONGEST_S = 600.0
"""Seconds of load that are looked at. chosen: ten minutes are simulated within a second."""

LONGEST_LEAD_S = 10.0
"""Seconds of pings before the load that are simulated. chosen: fifty of them at Flent's interval."""

HELD = 0.95
"""Share of the rate that a sender holds itself to from which that was the limit and not the line. chosen: what its own clock is off by."""

LOST = 0.5
"""Share of lost round trips from which they say nothing of the queue. chosen: most of a series."""

MOST_PINGS, MOST_SAMPLES = 20_000, 100_000
"""Round trips, and samples of rates, of a file. chosen: five a second for an hour; five a second of each of thirty streams for ten minutes."""

MOST_FILES = 1000
"""chosen: as many tests as a home makes in a year of three a day."""

PING_BYTES = {"ICMP": 84, "UDP": 60}
"""IP packets of Flent's pings. Source: `ping` has 56 B and 28 B of headers; netperf's UDP_RR and irtt 32 B of payload at least."""


@dataclass(frozen=True)
class Load:
    """How a test was made; what is simulated is made in the same way.

    Attributes
    ----------
    direction, streams
        Of the load.
    lead_s, length_s
        How long pings ran before it, and how long it lasted.
    interval_ms, packet
        Of pings: how often, and bytes of the IP packet; 0 without pings.
    where
        Who counted bytes.
    rounding_ms
        Step in which round trips are given.
    congestion
        Controller that the file names; empty if none.
    beside
        Streams that load the other direction meanwhile.
    """

    direction: Direction
    streams: int
    lead_s: float
    length_s: float
    interval_ms: float
    packet: int
    where: Literal["sender", "receiver"]
    rounding_ms: float = 0.0
    congestion: str = ""
    beside: int = 0


@dataclass(frozen=True)
class Seen:
    """Observations of one load, measured or simulated.

    Attributes
    ----------
    sent_s, rtt_ms
        Pings; infinite where nothing came back.
    is_loss_known
        Whether what was lost is among them.
    at_s, carried
        Bytes of payload of all streams until a time.
    retransmitted
        Segments sent again; `None` if not known.
    smoothed_ms
        Round trips of TCP under load; empty if not known.
    """

    sent_s: np.ndarray
    rtt_ms: np.ndarray
    is_loss_known: bool
    at_s: np.ndarray
    carried: np.ndarray
    retransmitted: float | None
    smoothed_ms: np.ndarray


@dataclass(frozen=True)
class Told:
    """Numbers of a test whose file is not there.

    Attributes
    ----------
    statistics
        In the order of `statistics.NAMES`; NaN for what is not told.
    goodput_mbps, idle_ms
        Its rate of payload, and its median idle round trip or NaN.
    """

    statistics: np.ndarray
    goodput_mbps: float
    idle_ms: float


@dataclass(frozen=True)
class Measured:
    """Tests of one line that were made in the same way.

    Attributes
    ----------
    load
        The way.
    seen
        What each saw; nothing if that was only told.
    names, digests
        Their files.
    told
        What was written down of one in place of a file.
    """

    load: Load
    seen: tuple[Seen, ...]
    names: tuple[str, ...]
    digests: tuple[str, ...]
    told: Told | None = None


def read_measurements(paths: Sequence[Path]) -> list[Measured]:
    """Read files, and the files of directories, and put together what was made in the same way.

    Raises
    ------
    UsageError
        With the first file that says nothing of a line, and why.
    """
    found: dict[Load, list[tuple[Seen, str, str]]] = {}
    every = [read_series(path, needs_round_trips=False) for path in _files(paths)]
    servers = {file for file, _ in other_ends({one.name: one.end for one in every if one.end is not None})}
    for series in every:
        if series.name in servers:
            continue
        for load, seen in _loads_of(series):
            found.setdefault(load, []).append((seen, series.name, series.sha256))
    groups = [
        Measured(
            load,
            tuple(seen for seen, _, _ in tests),
            tuple(name for _, name, _ in tests),
            tuple(digest for _, _, digest in tests),
        )
        for load, tests in found.items()
    ]
    return by_direction(groups)


def by_direction(groups: Sequence[Measured]) -> list[Measured]:
    """Return tests of which there is one way of measuring a direction.

    Raises `UsageError` if there are two.
    """
    found: dict[str, Measured] = {}
    for group in groups:
        direction = group.load.direction
        if direction in found:
            first = found[direction]
            raise UsageError(
                f"{first.names[0]} and {group.names[0]} are tests {direction} of different kinds: "
                f"{_told(first.load)}; {_told(group.load)}",
                "files of one way of measuring at a time",
            )
        found[direction] = group
    return list(groups)


def _told(load: Load) -> str:
    streams = f"{load.streams} stream{'s' * (load.streams != 1)}"
    streams += f" of {plain(load.congestion)}" if load.congestion else ""
    streams += f" beside {load.beside} the other way" if load.beside else ""
    pings = f"a ping each {load.interval_ms:g} ms" if load.interval_ms else "no pings"
    return f"{streams} for {load.length_s:g} s, {pings}"


def _files(paths: Sequence[Path]) -> list[Path]:
    """Return files; of a directory those that look like measurements, of an imported trial those below `files/`."""
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        inside = path / "files" if (path / "files").is_dir() else path
        names = [name for name in sorted(folder_names(inside)) if _is_measurement(name)]
        if not names:
            raise UsageError(f"{plain(path)} has no measurements", "files that end in .flent, .flent.gz, .json or .csv")
        found += [inside / name for name in names]
    if len(found) > MOST_FILES:
        raise UsageError(f"{len(found)} files are too many: at most {MOST_FILES} of one line")
    return found


def _is_measurement(name: str) -> bool:
    return name.lower().removesuffix(".gz").removesuffix(".bz2").endswith((".flent", ".json", ".csv"))


def _loads_of(series: Series) -> list[tuple[Load, Seen]]:
    """Return the load of each direction, and what was seen of it."""
    name = series.name
    if not series.rates and series.loaded_s is None:
        raise UsageError(
            f"{name}: has no load, and an idle line does not show its queue",
            "a test that uploads or downloads while it pings, such as Flent's tcp_upload",
        )
    if not series.rates:
        raise UsageError(
            f"{name}: has no rates, and without them the rate of the line is not known",
            "a file of Flent or iperf3, whose streams have rates",
        )
    found: list[tuple[Load, Seen]] = []
    for direction in dict.fromkeys(one.direction for one in series.rates):
        ours = tuple(one for one in series.rates if one.direction == direction)
        beside = len(series.rates) - len(ours)
        found.append(_load_of(replace(series, rates=ours), beside))
    return found


def _load_of(series: Series, beside: int) -> tuple[Load, Seen]:
    name = series.name
    if sum(float(one.carried.sum()) for one in series.rates) <= 0:
        raise UsageError(f"{name}: its streams carried nothing: all rates are 0", "a test during which the line worked")
    pings = _pings(series)
    _refuse_many(series, pings)
    began, ended = _loaded(series)
    ended = min(ended, began + LONGEST_S)
    if ended - began < SHORTEST_S:
        raise UsageError(
            f"{name}: {ended - began:.3g} s of load are too short", f"at least {SHORTEST_S:g} s; 10 s are good"
        )
    seen = seen_of(series, pings, began)
    interval, packet, rounding = 0.0, 0, 0.0
    if pings is not None:
        _refuse_odd(pings, name)
        inside = (pings.sent_s >= began) & (pings.sent_s <= ended)
        if inside.sum() < FEWEST:
            raise UsageError(
                f"{name}: {int(inside.sum())} round trips under load are too few to tell one queue from another",
                f"at least {FEWEST}; 50 are good, such as 5 a second for 10 s",
            )
        if np.mean(~np.isfinite(pings.rtt_ms[inside])) > LOST:
            raise UsageError(f"{name}: most of its round trips under load never came back")
        gaps = np.diff(np.sort(pings.sent_s))
        interval = _rounded(1e3 * float(np.median(gaps)))
        packet = PING_BYTES["ICMP" if "ICMP" in pings.name else "UDP"]
        rounding = _step(pings.rtt_ms)
    mbps = 8e-6 * float(seen.carried[-1]) / max(float(seen.at_s[-1]), 1e-9)
    held = sum(one.held_mbps or 0.0 for one in series.rates)
    if held and mbps > HELD * held:
        raise UsageError(
            f"{name}: its sender held itself to {held:.4g} Mb/s, and got it: the line carries more, and its queue never filled",
            "iperf3 without -b",
        )
    if not SLOWEST_MBPS <= mbps <= FASTEST_MBPS:
        raise UsageError(
            f"{name}: a load of {mbps:.3g} Mb/s is no access line's",
            f"{SLOWEST_MBPS:g} to {FASTEST_MBPS:g} Mb/s; are its units right?",
        )
    idle = np.isfinite(seen.rtt_ms) & (seen.sent_s < 0)
    if idle.any() and float(np.median(seen.rtt_ms[idle])) > LONGEST_IDLE_MS:
        raise UsageError(
            f"{name}: {float(np.median(seen.rtt_ms[idle])) / 1e3:.3g} s of idle round trip are no access line's",
            "round trips in ms; are its units right?",
        )
    first = series.rates[0]
    load = Load(
        first.direction,
        len(series.rates),
        min(LONGEST_LEAD_S, max(0.0, float(round(began)))),
        float(round(ended - began)),
        interval,
        packet,
        first.where,
        rounding,
        first.congestion,
        beside,
    )
    return load, seen


def _loaded(series: Series) -> tuple[float, float]:
    """Return from when to when the streams carried something, at most for as long as the file says."""
    began = min(float((one.ends_s - one.lasted_s).min()) for one in series.rates)
    ended = max(float(one.ends_s.max()) for one in series.rates)
    if series.loaded_s is not None:
        ended = min(ended, began + (series.loaded_s[1] - series.loaded_s[0]))
    return began, ended


def _pings(series: Series) -> RoundTrips | None:
    """Return the pings that are looked at."""
    echoes = [one for one in series.round_trips if one.kind == "ping"]
    return next((one for one in echoes if "ICMP" in one.name), echoes[0] if echoes else None)


def _refuse_many(series: Series, pings: RoundTrips | None) -> None:
    """Refuse what takes too long to look at."""
    counts = (
        (len(pings or ()), MOST_PINGS, "round trips"),
        (sum(map(len, series.rates)), MOST_SAMPLES, "samples of rates"),
    )
    for count, most, what in counts:
        if count > most:
            raise UsageError(
                f"{series.name}: {count:,} {what} are too many: at most {most:,}",
                "a shorter test, or one that measures less often",
            )


def _refuse_odd(pings: RoundTrips, name: str) -> None:
    """Refuse what no clock and no tool measures."""
    if pings.runs_back_s > RUNS_BACK_S:
        raise UsageError(
            f"{name}: time runs back by {pings.runs_back_s:.3g} s from one round trip to the next",
            "a measurement during which the clock was not set",
        )
    came = np.isfinite(pings.rtt_ms)
    if not (pings.rtt_ms[came] > 0).any():
        raise UsageError(f"{name}: all its round trips are 0", "a file in which something was measured")


RUNS_BACK_S = 1.0
"""By how much answers may come before those of earlier rows. chosen: packets overtake each other by less than a second."""


def seen_of(series: Series, pings: RoundTrips | None, began: float) -> Seen:
    """Return what was seen of a load that began at a time."""
    sent = np.empty(0) if pings is None else pings.sent_s - began
    took = np.empty(0) if pings is None else pings.rtt_ms
    times, carried = _together(series.rates, began)
    again = [one.retransmitted for one in series.rates]
    smoothed = [one.smoothed_ms for one in series.rates if one.smoothed_ms is not None]
    return Seen(
        sent,
        took,
        pings is not None and pings.is_loss_known,
        times,
        carried,
        None if None in again else float(sum(one for one in again if one is not None)),
        np.concatenate(smoothed) if smoothed else np.empty(0),
    )


def _together(rates: Sequence[Rates], began: float) -> tuple[np.ndarray, np.ndarray]:
    """Return bytes of all streams until the ends of their samples; between them at an even rate."""
    times = np.unique(np.concatenate([[0.0], *(one.ends_s - began for one in rates)]))
    total = np.zeros(len(times))
    for one in rates:
        start = float(one.ends_s[0] - one.lasted_s[0]) - began
        at = np.concatenate([[start], one.ends_s - began])
        total += np.interp(times, at, np.concatenate([[0.0], np.cumsum(one.carried)]))
    return times, total


def _rounded(value: float) -> float:
    """Return two digits, so that tests made in the same way are found to be."""
    return float(f"{value:.2g}")


def _step(values: np.ndarray) -> float:
    """Return 1 if round trips are whole milliseconds, else 0."""
    came = values[np.isfinite(values)]
    return 1.0 if len(came) and bool(np.all(came == np.round(came))) else 0.0


def shortened(measured: Measured, length_s: float) -> Measured:
    """Return tests as if their load had ended earlier."""
    if measured.load.length_s <= length_s:
        return measured

    def cut(seen: Seen) -> Seen:
        kept = seen.sent_s <= length_s
        inside = seen.at_s <= length_s
        times = np.append(seen.at_s[inside], length_s)
        return replace(
            seen,
            sent_s=seen.sent_s[kept],
            rtt_ms=seen.rtt_ms[kept],
            at_s=times,
            carried=np.interp(times, seen.at_s, seen.carried),
            retransmitted=None,
        )

    return Measured(
        replace(measured.load, length_s=length_s),
        tuple(cut(seen) for seen in measured.seen),
        measured.names,
        measured.digests,
    )
