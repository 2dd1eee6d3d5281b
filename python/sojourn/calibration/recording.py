"""Traces of links from what was measured: a receiver's log of packets, or rates of a test with its pings; and from one form into the other.

Source: the Saturator of Mahimahi for packets (a backlog is kept, so each arrival is a chance to send).
Units and ranges: opportunities are whole milliseconds, rows of a schedule seconds and Mb/s of IP packets.
Deviations: a sample of a rate counts as the line's if the ping nearest to its middle waited for more than two packets; others are filled
from those beside them. One way takes half of the idle round trip.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sojourn.base.csv_tables import content_of, number_of, rows_of, text_of
from sojourn.base.errors import UsageError, plain
from sojourn.calibration.inversion import FULL_PACKET, PAYLOAD
from sojourn.calibration.measurement import Measured, read_measurements
from sojourn.calibration.statistics import idle_ms
from sojourn.traces.link_traces import OPPORTUNITY, read_trace, trace_text

FRAME = 1514
"""Bytes of a full frame, of which two make a sample saturated. chosen: one may be alone in its slot."""

SATURATED = 0.6
"""Share of samples that have to be the line's own. chosen: most, with room for pauses of the sender."""

LARGEST_FILE, MOST_ROWS = 32 * 2**20, 2_000_000
"""Bytes and rows of a table. chosen: a day of samples of 50 ms."""

LONGEST_S, FASTEST_MBPS = 36_000.0, 10_000.0
"""Of a trace. chosen: ten hours, ten gigabits."""


@dataclass(frozen=True)
class Row:
    """A rate that holds from a time on, and what one way takes beside."""

    time_s: float
    rate_mbps: float
    delay_ms: float | None = None


def _table(path: Path, columns: Sequence[str]) -> list[dict[str, float]]:
    """Return the rows of a table with at least these columns, whose times do not run back.

    Raises
    ------
    UsageError
        If it is none, with the line.
    """
    name = plain(path)
    headings, rows = rows_of(text_of(content_of(path, most=LARGEST_FILE), name), name)
    missing = [column for column in columns if column not in headings]
    if missing:
        raise UsageError(f"{name}: has no column {missing[0]}", f"its first line is {','.join(columns)}")
    found: list[dict[str, float]] = []
    for place, cells in rows:
        entry = {column: number_of(cells[column], place) for column in columns}
        if cells.get("delay_ms"):
            entry["delay_ms"] = number_of(cells["delay_ms"], place)
        if found and entry[columns[0]] < found[-1][columns[0]]:
            raise UsageError(f"{place}: time runs back", "sort the rows")
        found.append(entry)
        if len(found) > MOST_ROWS:
            raise UsageError(f"{name}: has more than {MOST_ROWS:,} rows")
    if not found:
        raise UsageError(f"{name}: has no rows")
    return found


def read_packets(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return times in microseconds and bytes of a receiver's log, CSV with the columns `time_us` and `bytes`.

    Raises
    ------
    UsageError
        If it is none.
    """
    rows = _table(path, ("time_us", "bytes"))
    times = np.array([row["time_us"] for row in rows])
    sizes = np.array([row["bytes"] for row in rows])
    if times[-1] - times[0] > LONGEST_S * 1e6:
        raise UsageError(f"{plain(path)}: is longer than {LONGEST_S / 3600:g} h: are its times in microseconds?")
    if not sizes.any():
        raise UsageError(f"{plain(path)}: all its packets have 0 bytes")
    return times, sizes


def read_rows(path: Path) -> list[Row]:
    """Return a schedule, CSV with the columns `time_s` and `rate_mbps` and perhaps `delay_ms`.

    Raises
    ------
    UsageError
        If it is none.
    """
    rows = _table(path, ("time_s", "rate_mbps"))
    found = [Row(row["time_s"], row["rate_mbps"], row.get("delay_ms")) for row in rows]
    if not any(row.rate_mbps for row in found):
        raise UsageError(f"{plain(path)}: all its rates are 0", "a link that never sends is no trace")
    if found[-1].time_s - found[0].time_s > LONGEST_S:
        raise UsageError(f"{plain(path)}: is longer than {LONGEST_S / 3600:g} h")
    if max(row.rate_mbps for row in found) > FASTEST_MBPS:
        raise UsageError(f"{plain(path)}: has more than {FASTEST_MBPS:g} Mb/s: are its rates in Mb/s?")
    return found


def opportunities_of_packets(times_us: np.ndarray, sizes: np.ndarray, opportunity: float) -> np.ndarray:
    """Return the whole milliseconds at which each further `opportunity` of bytes had arrived.

    Examples
    --------
    >>> times = np.array([200.0, 400.0, 3100.0, 3900.0, 9900.0])
    >>> opportunities_of_packets(times, np.full(5, 1500.0), 1500).tolist()
    [1, 1, 4, 4, 10]
    """
    chances = np.floor(np.cumsum(sizes) / opportunity).astype(int)
    new = np.diff(chances, prepend=0)
    return np.repeat(np.maximum(1, np.ceil(times_us / 1e3)).astype(int), new)


def opportunities_of_rows(rows: Sequence[Row], until_s: float, opportunity: float) -> np.ndarray:
    """Return the whole milliseconds at which a schedule has room for a further `opportunity` of bytes."""
    begin = rows[0].time_s
    starts = np.array([row.time_s - begin for row in rows] + [until_s - begin])
    rates = np.array([row.rate_mbps for row in rows])
    carried = np.concatenate([[0.0], np.cumsum(rates * np.diff(starts) * 1e6 / 8)])
    times: np.ndarray = np.arange(1, math.floor(1e3 * float(starts[-1])) + 1)
    chances = np.floor(np.interp(times / 1e3, starts, carried) / opportunity + 1e-9).astype(int)
    return np.repeat(times, np.diff(chances, prepend=0))


def rows_of_opportunities(times_ms: np.ndarray, step_s: float, opportunity: float) -> list[Row]:
    """Return the rate of each step of a trace as a schedule; what is left of it at its end is divided by its own length.

    A rest shorter than half a step belongs to the step before it: its rate would be that of a few opportunities.

    Examples
    --------
    >>> [round(row.rate_mbps, 3) for row in rows_of_opportunities(np.arange(1, 326), 0.1, 1500)]
    [12.0, 12.0, 12.0]
    >>> [round(row.rate_mbps, 3) for row in rows_of_opportunities(np.array([1]), 0.2, 1500)]
    [12.0]
    """
    length_s = float(times_ms[-1]) / 1e3
    count = max(1, math.floor(length_s / step_s + 0.5 + 1e-9))
    places = np.minimum((np.maximum(times_ms - 1, 0) / 1e3 / step_s + 1e-9).astype(int), count - 1)
    sums = np.bincount(places, minlength=count)
    lasted = np.append(np.full(count - 1, step_s), length_s - (count - 1) * step_s)
    return [
        Row(number * step_s, 8e-6 * float(many) * opportunity / float(seconds))
        for number, (many, seconds) in enumerate(zip(sums, lasted, strict=True))
    ]


def filled(rates: np.ndarray, delays_ms: np.ndarray) -> tuple[np.ndarray, float]:
    """Return rates with those that are only bounds filled from the line's own beside them, and the share of these.

    Examples
    --------
    >>> filled(np.array([10.0, 4.0, 12.0]), np.array([30.0, 0.3, 25.0]))
    (array([10., 11., 12.]), 0.6666666666666666)
    """
    with np.errstate(divide="ignore"):
        packet = 8e-3 * FRAME / rates
    own = (delays_ms > 2 * packet) | ((rates == 0) & (delays_ms > 0))
    places = np.arange(len(rates))
    if not own.any():
        return rates, 0.0
    values = np.where(own, rates, np.interp(places, places[own], rates[own]))
    return values, float(own.mean())


def rows_of_measurement(paths: Sequence[Path]) -> list[Row]:
    """Return what a test with a backlog says of the line, one row a sample.

    Raises
    ------
    UsageError
        If it has no pings, its sender counted, or it kept no backlog.
    """
    groups = read_measurements(paths)
    if len(groups) != 1 or len(groups[0].seen) != 1:
        raise UsageError("a trace is of one test", "name one file")
    (measured,) = groups
    name = measured.names[0]
    if measured.load.where != "receiver":
        raise UsageError(f"{name}: its sender counted, and a socket is no line", "a download, or iperf3 --reverse")
    if not measured.load.interval_ms:
        raise UsageError(f"{name}: has no pings, and when the line was full is not known", "a test of Flent")
    return _rows_of(measured)


def converted(
    path: Path, *, opportunity: int = OPPORTUNITY, step_s: float = 0.2, until_s: float | None = None
) -> tuple[str, str]:
    """Return a schedule of rates (.csv) as opportunities, or opportunities as a schedule: its text, and its description.

    Parameters
    ----------
    path
        The file.
    opportunity
        Bytes of an opportunity.
    step_s
        Steps of a schedule.
    until_s
        Where a schedule ends; its last row lasts as long as the one before if left out.

    Raises
    ------
    UsageError
        If it is neither, or carries nothing.
    """
    if not 0.01 <= step_s <= 3600:
        raise UsageError(f"--step {step_s:g} s is out of range: 10 ms to an hour")
    if path.suffix.lower() != ".csv":
        rows = rows_of_opportunities(read_trace(path), step_s, opportunity)
        what = f"sojourn trace convert {path.name!r} --step {step_s:g}s"
        return schedule_text(rows, what), f"{len(rows)} rates of {step_s:g} s"
    return _told(opportunities_in(path, opportunity=opportunity, until_s=until_s), path, opportunity)


def opportunities_in(path: Path, *, opportunity: int = OPPORTUNITY, until_s: float | None = None) -> np.ndarray:
    """Return the opportunities of a trace, or those that a schedule of rates (.csv) has room for, in ms.

    Raises
    ------
    UsageError
        If it is neither.
    """
    if path.suffix.lower() != ".csv":
        return read_trace(path)
    rows = read_rows(path)
    if until_s is None:
        until_s = rows[-1].time_s + (rows[-1].time_s - rows[-2].time_s if len(rows) > 1 else 1.0)
    if not rows[-1].time_s < until_s <= rows[0].time_s + LONGEST_S:
        raise UsageError(f"--until {until_s:g} s is not behind the last row, {rows[-1].time_s:g} s")
    found = opportunities_of_rows(rows, until_s, opportunity)
    if not len(found):
        raise UsageError(f"{plain(path)} carries less than one opportunity of {opportunity} B")
    return found


def recorded(path: Path, *, opportunity: int = OPPORTUNITY) -> tuple[str, str]:
    """Return the trace of a line that was measured under a backlog, by a log of packets (.csv) or a download: text, and words.

    Raises
    ------
    UsageError
        If it is neither, or kept no backlog.
    """
    if path.suffix.lower() == ".csv":
        times_us, sizes = read_packets(path)
        times = opportunities_of_packets(times_us - times_us[0], sizes, opportunity)
        return _told(times, path, opportunity)
    rows = rows_of_measurement([path])
    delay = rows[0].delay_ms
    half = f", one way {delay:.3g} ms: half of the idle round trip" if delay else ""
    return schedule_text(rows, f"sojourn trace record {path.name!r}"), f"{len(rows)} rates{half}"


def _told(times: np.ndarray, path: Path, opportunity: int) -> tuple[str, str]:
    """Return opportunities as a file, and in words."""
    if not len(times):
        raise UsageError(f"{plain(path)} carries less than one opportunity of {opportunity} B")
    words = f"{len(times)} opportunities of {opportunity} B in {times[-1] / 1e3:g} s"
    return trace_text(times), words


def _rows_of(measured: Measured) -> list[Row]:
    seen, load = measured.seen[0], measured.load
    inside = seen.at_s <= load.length_s + 1e-6
    at, carried = seen.at_s[inside], seen.carried[inside]
    rates = 8e-6 * np.diff(carried) / np.diff(at) * FULL_PACKET / PAYLOAD
    middles = (at[1:] + at[:-1]) / 2
    idle = idle_ms(seen)
    came = np.isfinite(seen.rtt_ms)
    delays = _nearest(middles, seen.sent_s[came], seen.rtt_ms[came])
    delays -= 0.0 if math.isnan(idle) else idle
    rates, share = filled(rates, delays)
    if share < SATURATED:
        raise UsageError(
            f"{measured.names[0]}: only {100 * share:.0f} % of its samples are the line's own, the others had no backlog",
            f"at least {100 * SATURATED:.0f} %: more connections, or a larger window",
        )
    delay = None if math.isnan(idle) else idle / 2
    return [Row(float(start), float(rate), delay) for start, rate in zip(at[:-1], rates, strict=True)]


def _nearest(times: np.ndarray, at: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the value nearest to each time; of two as near the earlier one."""
    order = np.argsort(at, kind="stable")
    at, values = at[order], values[order]
    after = np.clip(np.searchsorted(at, times), 1, len(at) - 1)
    is_before = times - at[after - 1] <= at[after] - times
    return np.where(is_before, values[after - 1], values[after])


def schedule_text(rows: Sequence[Row], what: str) -> str:
    """Return a schedule as a table of conditions, with a first line that says what made it."""
    has_delay = any(row.delay_ms for row in rows)
    lines = [f"# {what}", "time_s,rate_mbps" + ",delay_ms" * has_delay]
    for row in rows:
        delay = f",{row.delay_ms or 0:.3f}" if has_delay else ""
        lines.append(f"{row.time_s:.3f},{row.rate_mbps:.4f}{delay}")
    return "\n".join(lines) + "\n"
