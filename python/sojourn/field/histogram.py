"""Latency histograms as modems and CMTSs report them: packets in bins of delay, and the longest delay.

Source: White 2019 section 5.4 and Figure 14: quantiles are estimated from the bins.
Units and ranges: delays in ms; 1 to 15 edges, hence 2 to 16 bins.
Deviations: the file that a device sends after a latency report is not read; its layout is in no public document.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import sojourn._engine as _engine
from sojourn.base.csv_tables import content_of, rows_of, text_of
from sojourn.base.errors import UsageError, plain
from sojourn.field.reading import LARGEST_FILE

MOST_EDGES = 15
"""Edges that a device takes. Source: TLV 40.6 has up to 15."""

LONGEST_MS = 3_600_000.0
"""A longer delay is none. chosen: an hour; nanoseconds under the wrong heading are longer."""

BINS = ("from_ms", "to_ms", "packets")
REPORTS = ("edges_ms", "counts")

Rows = Iterator[tuple[str, dict[str, str]]]
"""Places, and cells by heading."""


@dataclass(frozen=True)
class Quantile:
    """A quantile as far as bins bound it.

    Attributes
    ----------
    share
        Of all packets, that are not slower.
    estimate_ms
        Interpolated within the bin; `None` in a last bin without an end.
    low_ms, high_ms
        Ends of the bin that holds it: it cannot lie outside. `None` as above.
    """

    share: float
    estimate_ms: float | None
    low_ms: float
    high_ms: float | None


@dataclass(frozen=True)
class LatencyHistogram:
    """Packets counted in bins of delay.

    Attributes
    ----------
    name
        Whose it is: a modem, a service flow, a queue.
    edges_ms
        Between the bins, rising; a delay on an edge belongs to the bin above it.
    counts
        One more than edges.
    longest_ms
        The longest delay, if the device told it; without it the last bin has no end.

    Examples
    --------
    >>> report = LatencyHistogram("flow 1", (1.0, 2.0), (50, 40, 10), longest_ms=12.0)
    >>> report.quantile(0.95)
    Quantile(share=0.95, estimate_ms=7.0, low_ms=2.0, high_ms=12.0)
    """

    name: str
    edges_ms: tuple[float, ...]
    counts: tuple[int, ...]
    longest_ms: float | None = None

    @property
    def packets(self) -> int:
        """Packets in all bins."""
        return sum(self.counts)

    def quantiles(self, shares: Sequence[float], *, logarithmic: bool = False) -> list[Quantile]:
        """Estimate quantiles; none without packets.

        Raises `UsageError` if the counts are none of such bins.

        Parameters
        ----------
        shares
            From 0 to 1.
        logarithmic
            Whether the logarithms of delays lie evenly in a bin rather than the delays; not in the first one.
        """
        found = _quantiles(self, shares, logarithmic=logarithmic)
        return [Quantile(share, *one) for share, one in zip(shares, found, strict=False)]

    def quantile(self, share: float, *, logarithmic: bool = False) -> Quantile | None:
        """Estimate one quantile; `None` without packets."""
        return next(iter(self.quantiles([share], logarithmic=logarithmic)), None)


def _quantiles(
    histogram: LatencyHistogram, shares: Sequence[float], *, logarithmic: bool
) -> list[tuple[float | None, float, float | None]]:
    longest = histogram.longest_ms
    try:
        return _engine.histogram_quantiles(
            [_nanoseconds(edge) for edge in histogram.edges_ms],
            list(histogram.counts),
            None if longest is None else _nanoseconds(longest),
            list(shares),
            logarithmic,
        )
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{plain(histogram.name)}: {plain(str(error))}") from error


def _nanoseconds(ms: float) -> int:
    if not 0 <= ms <= LONGEST_MS:
        raise ValueError(f"{ms:g} ms is no delay")
    return round(ms * 1_000_000)


def read_histograms(path: Path) -> list[LatencyHistogram]:
    """Return the histograms of a CSV file.

    Either a row is a bin, with the columns `from_ms`, `to_ms` (empty of the last) and `packets`, and perhaps `longest_ms`; or
    a row is a report, with `edges_ms` and `counts` as numbers between blanks, and perhaps `longest_ms`. All other columns
    name whose it is.

    Raises `UsageError` if it is none, with the line.
    """
    name = plain(path)
    headings, rows = rows_of(text_of(content_of(path, most=LARGEST_FILE), name), name)
    if len(set(headings)) == len(headings):
        if set(BINS) <= set(headings):
            return _checked(_of_bins(rows, name), name)
        if set(REPORTS) <= set(headings):
            return _checked(_of_reports(rows), name)
    raise UsageError(
        f"{name}: is no latency histogram",
        f"CSV with the columns {', '.join(BINS)}, or {', '.join(REPORTS)}; longest_ms besides",
    )


def _checked(found: Iterator[LatencyHistogram], name: str) -> list[LatencyHistogram]:
    histograms = list(found)
    if not histograms:
        raise UsageError(f"{name}: holds no bins")
    for histogram in histograms:
        if not 1 <= len(histogram.edges_ms) <= MOST_EDGES:
            raise UsageError(
                f"{name}: {plain(histogram.name)} has {len(histogram.edges_ms)} edges",
                f"from 1 to {MOST_EDGES}, as devices take them",
            )
        histogram.quantiles([1.0])
    return histograms


def _of_bins(rows: Rows, name: str) -> Iterator[LatencyHistogram]:
    """Give the histograms of a table with one row for each bin."""
    groups: dict[str, list[tuple[float, float | None, int, float | None]]] = {}
    for place, row in rows:
        ends = row["to_ms"]
        groups.setdefault(_whose(row, (*BINS, "longest_ms")), []).append(
            (
                _number(row["from_ms"], place),
                _number(ends, place) if ends else None,
                _count(row["packets"], place),
                _longest(row, place),
            )
        )
    for whose, bins in groups.items():
        starts, ends = [one[0] for one in bins], [one[1] for one in bins]
        if starts[0] != 0 or ends[-1] is not None or starts[1:] != ends[:-1]:
            raise UsageError(
                f"{name}: the bins of {whose or 'the histogram'} do not follow each other",
                "the first begins at 0, each where the one before ends, and the last has no end",
            )
        longest = max((one[3] for one in bins if one[3] is not None), default=None)
        yield LatencyHistogram(whose, tuple(starts[1:]), tuple(one[2] for one in bins), longest)


def _of_reports(rows: Rows) -> Iterator[LatencyHistogram]:
    """Give the histograms of a table with one row for each of them."""
    for place, row in rows:
        edges = tuple(_number(word, place) for word in row["edges_ms"].split())
        counts = tuple(_count(word, place) for word in row["counts"].split())
        whose = _whose(row, (*REPORTS, "longest_ms"))
        yield LatencyHistogram(whose, edges, counts, _longest(row, place))


def _whose(row: dict[str, str], others: Sequence[str]) -> str:
    return " ".join(plain(word) for key, word in row.items() if word and key not in others)


def _longest(row: dict[str, str], place: str) -> float | None:
    said = row.get("longest_ms")
    return _number(said, place) if said else None


def _number(said: str, place: str) -> float:
    try:
        found = float(said)
    except ValueError:
        found = math.nan
    if not 0 <= found <= LONGEST_MS:
        raise UsageError(f'{place}: "{plain(said)}" is no delay', "in ms, up to an hour")
    return found


def _count(said: str, place: str) -> int:
    if not (said.isascii() and said.isdigit() and len(said) <= len(str(2**63))):
        raise UsageError(f'{place}: "{plain(said)}" is no number of packets')
    return int(said)
