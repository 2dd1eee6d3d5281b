"""One scenario of a check of congestion controllers: its path, its traffic, and what is read from a run of it.

All data go upstream through one serial line; acknowledgements come back over 1 Gb/s. Buffers are multiples of the
bandwidth-delay product in packets of 1500 B.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    Bins = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

PACKET = 1500

LEAST_BUFFER = 4
"""Packets of a buffer at least. chosen: fewer hold no burst of two acknowledged segments."""

UPSTREAM = "upstream"


@dataclass(frozen=True)
class Stacks:
    """Stacks of a scenario, as inline tables of a scenario file."""

    own: str
    """That of the controller as it comes."""
    marked: str
    """The same with ECN: as it has it, or else as RFC 3168 has it."""
    unmarked: str
    """The same without ECN."""
    classic: str = ""
    """The same with ECN as RFC 3168 has it."""


@dataclass(frozen=True)
class Number:
    """A number that is read from a run."""

    name: str
    title: str
    unit: str
    of: Callable[[Run], float]


@dataclass(frozen=True)
class Cell:
    """One scenario."""

    item: str
    section: str
    """Document and section that asks for it."""
    word: str
    """Level of the requirement in the document: must, should, may; empty where it has none."""
    what: str
    traffic: Callable[[Stacks], str]
    numbers: tuple[Number, ...]
    rate_mbps: float = 10.0
    rtt_ms: float = 40.0
    buffer: float = 1.0
    """In bandwidth-delay products."""
    queue: str = ""
    """Another queue manager than drop-tail, as an inline table."""
    conditions: str = ""
    back: str = ""
    """Conditions of the way back."""
    back_queue: str = '{ kind = "drop-tail", limit = "10000 packets" }'
    """Its queue."""
    duration_s: float = 60.0
    from_s: float = 10.0
    """Start of means over the run, s."""
    series_ms: float = 0.0
    """Width of bins of the time series, if any are read."""
    window_ms: float = 0.0
    """Time between two looks at the window, if it is read."""
    moment: Callable[[Run], float] | None = None
    """Start of `later`, s, from a run without it, which is the same up to then; NaN if it never begins."""
    later: str = ""
    """Conditions from that moment on, which is `@` in their text."""
    at_s: float = math.nan
    """The moment, once it is known."""

    def at(self, moment_s: float) -> Cell:
        """Return the scenario with what begins at its moment."""
        later = self.later.replace("@", f"{moment_s * 1e6:.0f} us")
        both = ", ".join(part for part in (self.conditions, later) if part)
        return replace(self, conditions=both, moment=None, at_s=moment_s)

    @property
    def criterion(self) -> str:
        """The letter and number without what tells its scenarios apart: `G1` of `G1a`, `G2` of `G2-10-40-1`."""
        return self.item.partition("-")[0].rstrip("abcdefghijklmnopqrstuvwxyz")

    @property
    def is_on_grid(self) -> bool:
        """True if it is one of all rates, round trips and buffers."""
        return "-" in self.item


def buffer_packets(rate_mbps: float, rtt_ms: float, products: float) -> int:
    """Return a buffer in packets.

    Examples
    --------
    >>> buffer_packets(10.0, 40.0, 4.0), buffer_packets(0.064, 40.0, 1.0)
    (134, 4)
    """
    return max(LEAST_BUFFER, math.ceil(products * rate_mbps * 1e3 * rtt_ms / (8 * PACKET)))


def scenario_text(cell: Cell, stacks: Stacks) -> str:
    """Return the file of a scenario."""
    limit = buffer_packets(cell.rate_mbps, cell.rtt_ms, cell.buffer)
    queue = cell.queue or f'{{ kind = "drop-tail", limit = "{limit} packets" }}'
    series = f'"{cell.series_ms:g} ms"' if cell.series_ms else '"off"'
    window = f'"{cell.window_ms:g} ms"' if cell.window_ms else '"off"'
    lines = [
        "schema = 1",
        f'name = "congestion-{cell.item}"',
        f'duration = "{cell.duration_s:g} s"',
        f'\n[measure]\nfrom = "{cell.from_s:g} s"',
        "\n[record]\ndatagrams = false\noccupancy = false\ndelays = false",
        f"series = {series}\nconnections = {window}",
        f'\n[access.upstream]\nlink = {{ kind = "serial", rate = "{cell.rate_mbps * 1e6:.0f} b/s" }}\nqueue = {queue}',
        f"conditions = [{cell.conditions}]" if cell.conditions else "",
        f'\n[access.downstream]\nlink = {{ kind = "serial", rate = "1 Gb/s" }}\nqueue = {cell.back_queue}',
        f"conditions = [{cell.back}]" if cell.back else "",
        cell.traffic(stacks),
    ]
    return "\n".join(line for line in lines if line) + "\n"


def flow(
    name: str,
    stack: str,
    *,
    rtt_ms: float = 40.0,
    lanes: int = 1,
    start_s: float = 0.0,
    more: str = "",
    tunnel: str = "",
    jitter_ms: float | None = None,
) -> str:
    """Return a traffic entry of uploads; starts are spread over half a second, or a tenth of the round trip if that is more."""
    jitter_ms = max(500.0, 0.1 * rtt_ms) if jitter_ms is None else jitter_ms
    return (
        f'\n[[traffic]]\nname = "{name}"\napp = {{ kind = "bulk", lanes = {lanes}, start = "{start_s:g} s", '
        f'start_jitter = "{jitter_ms:g} ms"{more} }}\nstack = {stack}\nrtt = "{rtt_ms:g} ms"'
        + (f'\ntunnel = "{tunnel}"' if tunnel else "")
    )


@dataclass(frozen=True)
class Phase:
    """A time in which a controller was about one thing."""

    word: str
    begin: float
    end: float
    """Begin of the next, s."""
    looks: pl.DataFrame
    """Rows of `connection_series` in it."""
    is_over: bool
    """True if another followed before the run ended."""

    def last(self, column: str) -> float:
        """Return the last value of a column that is known, or NaN."""
        known = self.looks[column].drop_nulls()
        return float(known[-1]) if len(known) else math.nan


class Run:
    """Records of one run of a scenario.

    Parameters
    ----------
    cell
        The scenario.
    metrics
        Its metrics by subject and name.
    table
        What gives one of its tables.
    """

    def __init__(
        self, cell: Cell, metrics: Mapping[tuple[str, str], float], table: Callable[[str], pl.DataFrame]
    ) -> None:
        self.cell = cell
        self._metrics, self._table = metrics, table

    def metric(self, subject: str, name: str) -> float:
        """Return a metric, or NaN where there is none."""
        return self._metrics.get((subject, name), math.nan)

    def count(self, subject: str, name: str) -> float:
        """Return a count; without one nothing was counted."""
        return self._metrics.get((subject, name), 0.0)

    @cached_property
    def transfers(self) -> pl.DataFrame:
        """Files that were sent."""
        return self._table("transfers")

    @cached_property
    def windows(self) -> pl.DataFrame:
        """Windows at regular times."""
        return self._table("connection_series")

    @cached_property
    def phases(self) -> list[Phase]:
        """States of the controller in order; empty if it has or records none."""
        import polars as pl

        looks = self.windows.filter(pl.col("direction") == "upstream").sort("at_ns")
        words = looks["phase"].cast(pl.String).to_list()
        if not words or None in words:
            return []
        times = looks["at_ns"].to_numpy() / 1e9
        changed = [n for n in range(1, len(words)) if words[n] != words[n - 1]]
        begins, ends = [0, *changed], [*changed, len(words)]
        last = float(times[-1])
        return [
            Phase(
                words[begin],
                float(times[begin]),
                float(times[end]) if end < len(times) else last,
                looks.slice(begin, end - begin),
                end < len(times),
            )
            for begin, end in zip(begins, ends, strict=True)
        ]

    @cached_property
    def services(self) -> pl.DataFrame:
        """Service queues of the line in each bin of time."""
        import polars as pl

        return self._table("service_series").filter(pl.col("link") == UPSTREAM)

    @cached_property
    def _link(self) -> pl.DataFrame:
        import polars as pl

        return self._table("series").filter(pl.col("link") == UPSTREAM)

    @cached_property
    def _entries(self) -> pl.DataFrame:
        import polars as pl

        return self._table("traffic_series").filter(pl.col("link") == UPSTREAM)

    def _bins(self, frame: pl.DataFrame, column: str, begin: float, end: float) -> Bins:
        """Return a column summed over entries, one value for each bin of the span, and zero where there is no row."""
        import numpy as np

        width = self.cell.series_ms * 1e6
        first, count = round(begin * 1e9 / width), round((end - begin) * 1e9 / width)
        place = (frame["start_ns"].to_numpy() / width).round().astype(int) - first
        inside = (place >= 0) & (place < count)
        values = np.nan_to_num(frame[column].to_numpy().astype(float))
        return np.bincount(place[inside], values[inside], minlength=count).astype(float)

    def packets(self, begin: float, end: float) -> Bins:
        """Return packets that came to the far end of the line in each bin."""
        return self._bins(self._link, "forwarded_packets", begin, end)

    def sent(self, begin: float, end: float) -> Bins:
        """Return packets that were sent, those that were lost among them, in each bin."""
        lost = self._bins(self._link, "dropped_packets", begin, end)
        return self.packets(begin, end) + lost

    def course(self, entry: str, begin: float, end: float) -> Bins:
        """Return the rate of an entry in each bin, Mb/s of IP packets."""
        import polars as pl

        rows = self._entries.filter(pl.col("traffic") == entry)
        return self._bins(rows, "forwarded_bytes", begin, end) * 8e-3 / self.cell.series_ms

    def rate(self, entry: str, begin: float, end: float) -> float:
        """Return the mean rate of an entry in a span, Mb/s of IP packets."""
        return float(self.course(entry, begin, end).mean())

    def share(self, begin: float, end: float, entry: str = "own") -> float:
        """Return the same as a part of the line's rate, in %."""
        return 100 * self.rate(entry, begin, end) / self.cell.rate_mbps

    def wait(self, begin: float, end: float) -> float:
        """Return the mean wait in the queue of packets that left in a span, ms; NaN if none did."""
        packets = self.packets(begin, end)
        weighted = self._bins(self._weighted, "weighted", begin, end)
        return float(weighted.sum() / packets.sum() * 1e-6) if packets.sum() else math.nan

    @cached_property
    def _weighted(self) -> pl.DataFrame:
        import polars as pl

        product = pl.col("sojourn_mean_ns").fill_null(0) * pl.col("forwarded_packets")
        return self._link.with_columns(product.alias("weighted"))

    def waits(self, begin: float, end: float) -> Bins:
        """Return the mean wait in each bin, ms; zero where nothing left."""
        return self._bins(self._link, "sojourn_mean_ns", begin, end) * 1e-6

    def lost(self, entry: str, begin: float, end: float) -> float:
        """Return what part of an entry's packets the queue dropped in a span, %."""
        import polars as pl

        rows = self._entries.filter(pl.col("traffic") == entry)
        dropped = self._bins(rows, "dropped_packets", begin, end).sum()
        sent = self._bins(rows, "forwarded_packets", begin, end).sum() + dropped
        return float(100 * dropped / sent) if sent else math.nan

    def marks(self, begin: float, end: float) -> Bins:
        """Return marks of the controller's flow in each bin."""
        import polars as pl

        rows = self._entries.filter(pl.col("traffic") == "own")
        return self._bins(rows, "marked_packets", begin, end)

    def first_above(self, level_mbps: float, begin: float, end: float, entry: str = "own") -> float:
        """Return how long after `begin` an entry first has a rate for two bins, s; the whole span if never."""
        course = self.course(entry, begin, end)
        enough = (course >= level_mbps)[:-1] & (course >= level_mbps)[1:]
        return float(enough.argmax() * self.cell.series_ms / 1e3) if enough.any() else end - begin

    def transfer_times(self, entry: str, begin: float, end: float) -> Bins:
        """Return how long files took that were begun in a span, s."""
        import polars as pl

        rows = self.transfers.filter(
            pl.col("traffic") == entry,
            pl.col("started_ns").is_between(begin * 1e9, end * 1e9),
            pl.col("ended_ns").is_not_null(),
        )
        return (rows["ended_ns"] - rows["started_ns"]).to_numpy() / 1e9
