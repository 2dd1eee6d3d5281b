"""A study result as tables, figures and claims ask it: by point, subject and metric.

Everything is read once and kept; a question that the records cannot answer raises `NotRecorded`
with the reason, which becomes the note of a claim that was not run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sojourn.base.errors import RecordError
from sojourn.stats.distribution import Distribution, delays
from sojourn.stats.estimate import Estimate, mean_of

if TYPE_CHECKING:
    import polars as pl

    from sojourn.study.result import StudyResult

NANOSECONDS_PER_SECOND = 1e9
NANOSECONDS_PER_MILLISECOND = 1e6

SMALL_TABLE = 500_000
"""Rows of a record table that is kept in memory; chosen: some 50 MB."""


class NotRecorded(Exception):
    """The result does not hold what was asked for."""


@dataclass(frozen=True, eq=False)
class LinkSeries:
    """Traffic of one link in one run, per bin of equal width; equal to itself alone.

    All arrays have one element per bin. Delays are NaN in bins without a packet.
    """

    start_s: np.ndarray
    width_s: float
    forwarded_bytes: np.ndarray
    forwarded_packets: np.ndarray
    dropped_packets: np.ndarray
    sojourn_mean_ms: np.ndarray
    sojourn_max_ms: np.ndarray
    backlog_packets_mean: np.ndarray
    backlog_packets_max: np.ndarray
    staged_packets_mean: np.ndarray

    @property
    def end_s(self) -> np.ndarray:
        """End of each bin."""
        return self.start_s + self.width_s

    @property
    def rate_mbps(self) -> np.ndarray:
        """Forwarded rate in Mb/s, wire bytes."""
        return self.forwarded_bytes * 8e-6 / self.width_s

    def between(self, first_s: float, last_s: float) -> np.ndarray:
        """Mask of the bins that lie wholly inside a time span."""
        slack = 1e-6 * self.width_s
        return (self.start_s >= first_s - slack) & (self.end_s <= last_s + slack)

    def binned(self, width_s: float) -> tuple[np.ndarray, np.ndarray]:
        """Sum forwarded bytes over wider bins; an incomplete last one is left out.

        Returns
        -------
        tuple
            Starts of the bins in seconds, and their bytes.
        """
        group = max(1, round(width_s / self.width_s))
        count = len(self.forwarded_bytes) // group
        summed = self.forwarded_bytes[: count * group].reshape(count, group).sum(axis=1)
        return self.start_s[: count * group : group], summed


class StudyView:
    """Questions to a study result.

    Parameters
    ----------
    result
        The finished study.
    """

    def __init__(self, result: StudyResult) -> None:
        self.result = result
        self._tables: dict[str, pl.LazyFrame] = {}
        self._series: dict[tuple[str, str], dict[int, LinkSeries]] = {}
        self._delays: dict[tuple[str, str], dict[str, dict[int, Distribution]]] = {}
        self._probes: dict[tuple[str, int], dict[str, dict[int, tuple[np.ndarray, np.ndarray]]]] = {}

    @property
    def metrics(self) -> pl.DataFrame:
        """`point, seed, subject, metric, value, unit` of all runs, as of a result in a notebook."""
        return self.result.metrics

    @property
    def runs(self) -> pl.DataFrame:
        """One row per run, as of a result in a notebook."""
        return self.result.runs

    @property
    def summary(self) -> pl.DataFrame:
        """One row per point, subject and metric, as of a result in a notebook."""
        return self.result.summary

    def records(self, table: str) -> pl.LazyFrame:
        """Return a record table of all runs, as of a result in a notebook.

        Raises `RecordError` if the study kept none of that name.
        """
        return self.result.records(table)

    @property
    def reduced(self) -> str:
        """Reasons why the runs are not the whole study; empty if they are."""
        return self.result.reduced

    @property
    def is_short(self) -> bool:
        """True if runs were cut short: claims and cells that need longer ones are left to the whole study."""
        return any(word in self.reduced for word in ("quick", "shortened"))

    @property
    def is_unfinished(self) -> bool:
        """True if nothing is decided by it: runs are still being made."""
        return self.result.is_unfinished

    @cached_property
    def points(self) -> frozenset[str]:
        """Points that were run."""
        return frozenset(self.result.runs["point"].unique().to_list())

    @cached_property
    def _values(self) -> dict[tuple[str, str, str], tuple[np.ndarray, np.ndarray]]:
        frame = (
            self.result.metrics.sort("seed", maintain_order=True)
            .group_by("point", "subject", "metric", maintain_order=True)
            .agg("seed", "value")
        )
        return {
            (point, subject, metric): (np.asarray(seeds, dtype=np.int64), np.asarray(values, dtype=float))
            for point, subject, metric, seeds, values in frame.iter_rows()
        }

    @cached_property
    def _seeds(self) -> dict[str, np.ndarray]:
        import polars as pl

        frame = self.result.runs.group_by("point").agg(pl.col("seed").sort())
        return {point: np.asarray(seeds, dtype=np.int64) for point, seeds in frame.iter_rows()}

    def seeds(self, point: str) -> list[int]:
        """Seeds of a point, in ascending order."""
        self.require(point)
        return [int(seed) for seed in self._seeds[point]]

    def require(self, *points: str) -> None:
        """Raise `NotRecorded` unless all points were run."""
        missing = [point for point in points if point not in self.points]
        if missing:
            message = f"needs point {', '.join(missing)}"
            raise NotRecorded(message)

    def duration_s(self, point: str) -> float:
        """Return the simulated seconds of a point's runs."""
        self.require(point)
        return self._durations_s[point]

    @cached_property
    def _durations_s(self) -> dict[str, float]:
        import polars as pl

        frame = self.result.runs.group_by("point").agg(pl.col("simulated_s").max())
        return {point: float(seconds) for point, seconds in frame.iter_rows()}

    def require_duration(self, point: str, seconds: float) -> None:
        """Raise `NotRecorded` if the runs of a point are shorter."""
        duration = self.duration_s(point)
        if duration < seconds * (1 - 1e-9):
            message = f"needs runs of {seconds:g} s; those of {point} last {duration:g} s"
            raise NotRecorded(message)

    def require_seeds(self, point: str, seeds: int) -> None:
        """Raise `NotRecorded` if a point has fewer runs."""
        if (runs := len(self.seeds(point))) < seeds:
            message = f"needs {seeds} runs of a point; {point} has {runs}"
            raise NotRecorded(message)

    def values(self, point: str, subject: str, metric: str) -> np.ndarray:
        """One value per seed in the order of `seeds`; NaN where a run gave none.

        Raises `NotRecorded` if the point was not run or has no such metric.
        """
        self.require(point)
        found = self._values.get((point, subject, metric))
        if found is None:
            message = f"point {point} has no metric {metric} of {subject}"
            raise NotRecorded(message)
        seeds, values = found
        wanted = self._seeds[point]
        complete = np.full(len(wanted), np.nan)
        complete[np.searchsorted(wanted, seeds)] = values
        return complete

    def values_or_nan(self, point: str, subject: str, metric: str) -> np.ndarray:
        """As `values`, and NaN for all seeds if the point lacks the metric."""
        try:
            return self.values(point, subject, metric)
        except NotRecorded:
            return np.full(len(self.seeds(point)), np.nan)

    def has(self, point: str, subject: str, metric: str) -> bool:
        """Return whether a metric was measured at a point."""
        return (point, subject, metric) in self._values

    def capacity(self, point: str, link: str) -> np.ndarray:
        """Return what a link could have carried, Mb/s, headers included; one value per seed.

        That is what was forwarded over how busy the link was.

        Raises `NotRecorded` if the point was not run, or its link has no rate of its own.
        """
        used = self.values(point, link, "utilisation")
        forwarded = self.values(point, link, "forwarded_volume") * 8e-3 / self.duration_s(point)
        with np.errstate(divide="ignore", invalid="ignore"):
            return forwarded / used

    def mean(self, point: str, subject: str, metric: str) -> Estimate:
        """Mean over seeds."""
        return mean_of(self.values(point, subject, metric))

    def table(self, name: str, point: str) -> pl.DataFrame:
        """Rows of one record table at one point, all seeds.

        Raises `NotRecorded` if the study kept no such table, or none of its rows belong to the point.
        """
        import polars as pl

        self.require(point)
        frame = self._whole(name).filter(pl.col("point") == point).collect()
        if frame.is_empty():
            message = f"the record table {name} has no rows of point {point}"
            raise NotRecorded(message)
        return frame

    def _whole(self, name: str) -> pl.LazyFrame:
        """Return a record table, in memory if it is small: the next question reads no file."""
        import polars as pl

        found = self._tables.get(name)
        if found is None:
            try:
                found = self.result.records(name)
            except RecordError as error:
                message = f"needs the record table {name}"
                raise NotRecorded(message) from error
            if found.select(pl.len()).collect().item() <= SMALL_TABLE:
                found = found.collect().lazy()
            self._tables[name] = found
        return found

    def time_share(self, point: str, link: str, at_least: int) -> float:
        """Share of the time with at least `at_least` packets in the queue of a link, all seeds together.

        Raises `NotRecorded` if the study kept no occupancy, or the point has none of this link.
        """
        import polars as pl

        rows = self.table("occupancy", point).filter(pl.col("link") == link)
        total = float(rows["time_ns"].sum())
        if total <= 0:
            message = f"no occupancy of {point}"
            raise NotRecorded(message)
        return float(rows.filter(pl.col("packets") >= at_least)["time_ns"].sum()) / total

    def delays(self, point: str, subject: str, direction: str = "upstream") -> dict[int, Distribution]:
        """Access delay in ms of a traffic entry's packets, by seed.

        Raises `NotRecorded` if the study kept no histograms, or the point has none of this subject.
        """
        self.require(point)
        key = (subject, direction)
        if key not in self._delays:
            self._delays[key] = self._all_delays(subject, direction)
        found = self._delays[key].get(point)
        if found is None:
            message = f"point {point} has no {direction} delays of {subject}"
            raise NotRecorded(message)
        return found

    def _all_delays(self, subject: str, direction: str) -> dict[str, dict[int, Distribution]]:
        """Read the delays of one subject at all points at once: the table is long."""
        import polars as pl

        try:
            rows = (
                self.result.records("delay_histogram")
                .filter((pl.col("traffic") == subject) & (pl.col("direction") == direction))
                .select("point", "seed", "delay_ns", "packets")
                .collect()
            )
        except RecordError as error:
            message = "needs the record table delay_histogram"
            raise NotRecorded(message) from error
        found: dict[str, dict[int, Distribution]] = {}
        for point, seed, part in _by_run(rows):
            found.setdefault(point, {})[seed] = delays(part["delay_ns"].to_numpy(), part["packets"].to_numpy())
        return found

    def load_times(self, point: str, subject: str) -> dict[int, Distribution]:
        """Load times in s of the pages that completed, by seed; see `delays`.

        Raises `NotRecorded` if the study kept no pages, or the point has none of this subject.
        """
        self.require(point)
        found = self._load_times.get((point, subject))
        if found is None:
            message = f"point {point} completed no page of {subject}"
            raise NotRecorded(message)
        return found

    @cached_property
    def _load_times(self) -> dict[tuple[str, str], dict[int, Distribution]]:
        import polars as pl

        try:
            rows = (
                self.result.records("pages")
                .filter(pl.col("ended_ns").is_not_null())
                .select("point", "seed", "traffic", pl.col("ended_ns") - pl.col("started_ns"))
                .collect()
            )
        except RecordError as error:
            message = "needs the record table pages"
            raise NotRecorded(message) from error
        found: dict[tuple[str, str], dict[int, Distribution]] = {}
        for subject in rows["traffic"].unique().to_list():
            for point, seed, part in _by_run(rows.filter(pl.col("traffic") == subject)):
                times = part["ended_ns"].to_numpy() / NANOSECONDS_PER_SECOND
                found.setdefault((point, subject), {})[seed] = Distribution.of(times)
        return found

    def probe(self, point: str, subject: str, lane: int = 0) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """Return by seed the times of a probe's requests, s, and its round trips, ms; infinite if no answer came.

        Raises `NotRecorded` if the study kept no transfers, or the point has none of this probe.
        """
        self.require(point)
        key = (subject, lane)
        if key not in self._probes:
            self._probes[key] = self._all_probes(subject, lane)
        found = self._probes[key].get(point)
        if found is None:
            message = f"point {point} has no samples of {subject} (lane {lane})"
            raise NotRecorded(message)
        return found

    def _all_probes(self, subject: str, lane: int) -> dict[str, dict[int, tuple[np.ndarray, np.ndarray]]]:
        """Read the samples of one probe at all points at once: the table is long."""
        import polars as pl

        try:
            rows = (
                self.result.records("transfers")
                .filter((pl.col("traffic") == subject) & (pl.col("lane") == lane))
                .select("point", "seed", "started_ns", "ended_ns")
                .collect()
            )
        except RecordError as error:
            message = "needs the record table transfers"
            raise NotRecorded(message) from error
        found: dict[str, dict[int, tuple[np.ndarray, np.ndarray]]] = {}
        for point, seed, part in _by_run(rows):
            asked = part["started_ns"].to_numpy()
            took = (part["ended_ns"].cast(pl.Float64) - part["started_ns"]).fill_null(math.inf)
            order = np.argsort(asked, kind="stable")
            at, ms = asked[order] / NANOSECONDS_PER_SECOND, took.to_numpy()[order]
            found.setdefault(point, {})[seed] = (at, ms / NANOSECONDS_PER_MILLISECOND)
        return found

    def series(self, point: str, link: str = "upstream") -> dict[int, LinkSeries]:
        """Bins of one link, by seed."""
        import polars as pl

        key = (point, link)
        if key not in self._series:
            rows = (
                self.table("series", point)
                .lazy()
                .filter(pl.col("link") == link)
                .sort("seed", "start_ns")
                .with_columns(pl.col(_SERIES).cast(pl.Float64).fill_null(math.nan))
                .collect()
            )
            self._series[key] = {seed: _link_series(part) for _, seed, part in _by_run(rows)}
        return self._series[key]

    def acknowledged_rate(self, point: str, subject: str, begin_s: float, end_s: float) -> np.ndarray:
        """Return what the peer of a traffic entry acknowledged between two times, by seed, Mb/s; NaN where it is not known.

        Both times are moved to the next row of `connection_series`, and the end to the last one at most.

        Raises `NotRecorded` if the study kept no such table, or the point has none of this entry.
        """
        found: list[float] = []
        for at, data in self._connections(point, subject, "acknowledged_bytes"):
            first, last = np.searchsorted(at, [begin_s - 1e-6, end_s + 1e-6], side="left")
            last = min(int(last), len(at) - 1)
            known = last > first
            found.append((data[last] - data[first]) * 8e-6 / (at[last] - at[first]) if known else np.nan)
        return np.array(found)

    def round_trips(self, point: str, subject: str) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return times in s and smoothed round trips in ms of a traffic entry's connections, by seed.

        Raises `NotRecorded` if the study kept no table `connection_series`, or the point has none of this entry.
        """
        found = self._connections(point, subject, "round_trip_ns")
        return [(at, ns / NANOSECONDS_PER_MILLISECOND) for at, ns in found]

    def _connections(self, point: str, subject: str, column: str) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return times in s and a column of `connection_series` where it is known, by seed."""
        import polars as pl

        rows = (
            self.table("connection_series", point)
            .filter(pl.col("traffic") == subject)
            .select("seed", "at_ns", pl.col(column).cast(pl.Float64))
            .drop_nulls()
            .sort("at_ns")
        )
        parts = rows.partition_by("seed", as_dict=True)
        runs = [parts.get((seed,), rows.clear()) for seed in self.seeds(point)]
        return [(part["at_ns"].to_numpy() / NANOSECONDS_PER_SECOND, part[column].to_numpy()) for part in runs]


_SERIES = (
    "start_ns",
    "width_ns",
    "forwarded_bytes",
    "forwarded_packets",
    "dropped_packets",
    "sojourn_mean_ns",
    "sojourn_max_ns",
    "backlog_packets_mean",
    "backlog_packets_max",
    "staged_packets_mean",
)
"""Columns of `series` that `LinkSeries` holds."""


def _by_run(rows: pl.DataFrame) -> Iterator[tuple[str, int, pl.DataFrame]]:
    """Go through the rows of each run; those of one run stand together in a result's tables.

    Slices are had for nothing, where groups would be copied.
    """
    import polars as pl

    lengths = rows.select(pl.struct("point", "seed").rle().alias("run")).unnest("run")
    start = 0
    for length, run in lengths.iter_rows():
        yield run["point"], int(run["seed"]), rows.slice(start, length)
        start += length


def _link_series(rows: pl.DataFrame) -> LinkSeries:
    column = {name: rows[name].to_numpy() for name in _SERIES}
    return LinkSeries(
        start_s=column["start_ns"] / NANOSECONDS_PER_SECOND,
        width_s=float(column["width_ns"][0]) / NANOSECONDS_PER_SECOND,
        forwarded_bytes=column["forwarded_bytes"],
        forwarded_packets=column["forwarded_packets"],
        dropped_packets=column["dropped_packets"],
        sojourn_mean_ms=column["sojourn_mean_ns"] / NANOSECONDS_PER_MILLISECOND,
        sojourn_max_ms=column["sojourn_max_ns"] / NANOSECONDS_PER_MILLISECOND,
        backlog_packets_mean=column["backlog_packets_mean"],
        backlog_packets_max=column["backlog_packets_max"],
        staged_packets_mean=column["staged_packets_mean"],
    )
