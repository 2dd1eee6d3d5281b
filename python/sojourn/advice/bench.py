"""Runs for advice: settings under seeds, kept in the store, and what of each run counts.

Source: a percentile is the delay of a packet, the next one above.
Deviations: a delay is what a datagram took from sending to arrival, propagation left out, over all links of its way; the
delay that a run's metrics have is that of the access link alone.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import polars as pl

from sojourn.advice.arms import Arm, Line
from sojourn.advice.race import OutOfTime, Table
from sojourn.advice.uses import User, loss_of
from sojourn.base.errors import RunError
from sojourn.headline.wireless import AIRTIME, WAIT, WAITS
from sojourn.store import Kept, Store
from sojourn.study.execute import run_on_threads
from sojourn.study.plan import RunSpec, Seeds
from sojourn.study.write import rows_of

SCREEN_S, LONG_S, WARM_UP_S = 20.0, 120.0, 3.0
"""Measured seconds of a run of the race and of one that confirms, and what comes before and does not count. Source: the
specification of advice; a slow start takes less than three seconds."""

_KEPT = frozenset({"datagrams"})

_COUNTED = {
    "goodput": "goodput_up",
    "goodput_downstream": "goodput_down",
    "loss_total": "missed",
    "page_load_time_p95": "page",
    **{metric: metric for metric in (AIRTIME, WAIT, *WAITS)},
}
"""Metrics of an entry or a link that are read, and their names here."""


class Bench:
    """Makes runs of settings on a line, and keeps what came of them.

    Parameters
    ----------
    lines
        The line, or several that could be it: run `k` is made with member `k` modulo their number.
    users
        Who counts.
    store
        Where finished runs are kept.
    jobs
        Runs at the same time.
    tell
        Called with the number of runs made, as they end.
    """

    def __init__(
        self,
        lines: Sequence[Line],
        users: Sequence[User],
        store: Store,
        jobs: int,
        tell: Callable[[int], None] = lambda _: None,
        screen_s: float = SCREEN_S,
    ) -> None:
        self.lines = lines
        self.users = users
        self._store = store
        self._jobs = jobs
        self._tell = tell
        self._found: dict[tuple[Arm, int, float], dict[str, float]] = {}
        self.screen_s = screen_s
        self._simulated_s = 0.0
        self.processor_s = 0.0
        """Processor time of all runs that were made or found."""
        self._wall_s = 0.0
        self._made_s = 0.0
        self.until = math.inf
        """Moment of `time.monotonic` from which on no run is waited for."""

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(self._found)

    def affordable_s(self, wall_s: float) -> float:
        """Return how many seconds can be simulated in so much time, by what the runs so far took."""
        by_processor = self.processor_s / self._simulated_s / self._jobs if self._simulated_s else 0.0
        by_wall = self._wall_s / self._made_s if self._made_s else 0.0
        each = max(by_processor, by_wall)
        return wall_s / each if each else math.inf

    def takes_s(self, runs: int, length_s: float | None = None) -> float:
        """Return the expected time of `runs` runs on the clock; each has the length of those of the race by default."""
        return runs * (WARM_UP_S + self.screen_s if length_s is None else length_s) / self.affordable_s(1.0)

    def losses(self, arms: Sequence[Arm], seeds: range) -> Table:
        """Return what settings (rows) cost under seeds (columns)."""
        found = self.measure(arms, seeds, self.screen_s)
        return np.array([[loss_of(self.users, found[arm, seed], self.screen_s) for seed in seeds] for arm in arms])

    def measure(
        self, arms: Sequence[Arm], seeds: range, seconds: float, warm_s: float = WARM_UP_S
    ) -> dict[tuple[Arm, int], Mapping[str, float]]:
        """Return the measures of settings under seeds over `seconds` after `warm_s`; missing runs are made.

        Raises `OutOfTime` if runs have not ended when the moment `until` has come.
        """
        missing = [
            (arm, seed) for arm in dict.fromkeys(arms) for seed in seeds if (arm, seed, seconds) not in self._found
        ]
        if missing:
            self._run(missing, seconds, warm_s)
        return {(arm, seed): self._found[arm, seed, seconds] for arm in arms for seed in seeds}

    def felt(self, arm: Arm) -> float:
        """Return what the first of those who count felt in the race, as a mean over the seeds of a setting."""
        return float(
            np.mean([self.users[0].felt(self._found[arm, seed, self.screen_s]) for seed in self.seeds_of(arm)])
        )

    def seeds_of(self, arm: Arm) -> set[int]:
        """Return the seeds of the race that a setting has had."""
        return {seed for one, seed, seconds in self._found if one == arm and seconds == self.screen_s}

    def of_links(self, arm: Arm) -> dict[tuple[str, str], float]:
        """Return metrics of links by subject and name in one run of the race with a setting; empty if there is none."""
        seeds = self.seeds_of(arm)
        values = self._found[arm, min(seeds), self.screen_s] if seeds else {}
        parts = ((name.rpartition("."), value) for name, value in values.items())
        return {(subject, metric): value for (subject, _, metric), value in parts if metric in (AIRTIME, WAIT, *WAITS)}

    def _run(self, missing: Sequence[tuple[Arm, int]], seconds: float, warm_s: float) -> None:
        """Make runs of this length."""
        specs: list[RunSpec] = []
        places: dict[str, Arm] = {}
        wanted: dict[tuple[Arm, int], list[int]] = {}
        for arm, seed in missing:
            wanted.setdefault((arm, seed % len(self.lines)), []).append(seed)
        for (arm, member), seeds in wanted.items():
            scenario = self.lines[member].with_arm(arm, duration_s=warm_s + seconds, from_s=warm_s)
            together = Seeds(scenario, min(seeds) + 1, max(seeds) - min(seeds) + 1)
            point = str(len(places))
            places[point] = arm
            specs += [RunSpec(point, seed + 1, together, _KEPT) for seed in seeds]
        finished = self._finished(specs)
        for (point, seed), values in _values(finished, warm_s).items():
            self._found[places[point], seed - 1, seconds] = values

    def _finished(self, specs: Sequence[RunSpec]) -> list[tuple[RunSpec, Kept]]:
        """Return runs with their entries in the store, made if need be."""
        entries = self._store.find({spec.key: spec.keep for spec in specs})
        to_do = list({spec.key: spec for spec in specs if spec.key not in entries}.values())
        self._tell(len(specs) - len(to_do))
        if to_do:
            self._store.check_writable()
            self._make(to_do, entries)
        finished = [(spec, entries[spec.key]) for spec in specs]
        for _, entry in finished:
            self.processor_s += entry.statistics["cpu_s"]
            self._simulated_s += entry.statistics["simulated_s"]
        return finished

    def _make(self, to_do: list[RunSpec], entries: dict[str, Kept]) -> None:
        """Make runs, longest on the clock until `until`; what has ended is kept.

        Raises `OutOfTime` if the time is up before all have ended.
        """
        began = time.monotonic()
        ended = 0
        with contextlib.closing(run_on_threads(to_do, self._store, self._jobs)) as runs:
            for item in runs:
                if item.entry is None:
                    raise item.error or RunError("a run failed")
                entries[item.spec.key] = item.entry
                self._made_s += item.spec.scenario.duration_s
                ended += 1
                self._tell(1)
                if ended < len(to_do) and time.monotonic() >= self.until:
                    break
        self._wall_s += time.monotonic() - began
        if ended < len(to_do):
            raise OutOfTime


def _values(finished: Sequence[tuple[RunSpec, Kept]], warm_s: float) -> dict[tuple[str, int], dict[str, float]]:
    """Return what counts of each run, by point and seed; its first `warm_s` do not."""
    found: dict[tuple[str, int], dict[str, float]] = {(spec.point, spec.seed): {} for spec, _ in finished}
    with rows_of("metrics", finished) as rows:
        metrics = (
            rows.select("point", "seed", "subject", "metric", "value")
            .filter(pl.col("metric").is_in(list(_COUNTED)))
            .collect()
        )
    for point, seed, subject, metric, value in metrics.iter_rows():
        measure = _COUNTED[str(metric)]
        values = found[str(point), seed]
        values[f"{subject}.{measure}"] = value
        if measure.startswith("goodput"):
            values[measure] = values.get(measure, 0.0) + value
    with rows_of("datagrams", finished) as rows:
        way_ms = (pl.col("arrived_ns") - pl.col("sent_ns")) / 1e6
        packets = rows.filter(
            pl.col("arrived_ns").is_not_null(), pl.col("sent_ns") >= round(warm_s * 1e9)
        ).with_columns(delay=way_ms - pl.col("wire_ns") / 1e6, way=way_ms)
        delays = packets.group_by(*_BY, "direction").agg(_p99("delay"), _p99("way")).collect()
        trips = _round_trips(packets).group_by(*_BY).agg(_p99("delay"), _p99("way")).collect()
    for point, seed, traffic, direction, delay, whole in delays.iter_rows():
        way = "up" if str(direction) == "upstream" else "down"
        found[str(point), seed][f"{traffic}.delay_{way}"] = delay
        found[str(point), seed][f"{traffic}.way_{way}"] = whole
    for point, seed, traffic, delay, whole in trips.iter_rows():
        found[str(point), seed][f"{traffic}.delay_trip"] = delay
        found[str(point), seed][f"{traffic}.way_trip"] = whole
    return found


_BY = ("point", "seed", "traffic")


def _p99(column: str) -> pl.Expr:
    return pl.col(column).quantile(0.99, interpolation="higher")


def _round_trips(packets: pl.LazyFrame) -> pl.LazyFrame:
    """Return what packets upstream took with the first packet downstream that is sent after their arrival."""
    columns = (*_BY, "delay", "way")
    up = packets.filter(pl.col("direction") == "upstream").select(*columns, at="arrived_ns").sort("at")
    down = packets.filter(pl.col("direction") == "downstream").select(*columns, at="sent_ns").sort("at")
    pairs = up.join_asof(down, on="at", by=list(_BY), strategy="forward", suffix="_down", check_sortedness=False)
    both = [(pl.col(name) + pl.col(f"{name}_down")).alias(name) for name in ("delay", "way")]
    return pairs.filter(pl.col("delay_down").is_not_null()).with_columns(both)


class Clock:
    """Tells when the time is up.

    Parameters
    ----------
    budget_s
        Seconds of the clock on the wall that a search may take.
    """

    def __init__(self, budget_s: float) -> None:
        self._began = time.monotonic()
        self.budget_s = budget_s

    def part(self, share: float) -> float:
        """Return the moment of `time.monotonic` when a share of the time is up."""
        return self._began + share * self.budget_s

    def left_s(self, share: float = 1.0) -> float:
        """Return the seconds that are left of a share of the time."""
        return max(self.part(share) - time.monotonic(), 0.0)
