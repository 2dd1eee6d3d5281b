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
from sojourn.advice.race import Table
from sojourn.advice.uses import User, loss_of
from sojourn.base.errors import RunError
from sojourn.store import Kept, Store
from sojourn.study.execute import run_on_threads
from sojourn.study.plan import RunSpec, Seeds
from sojourn.study.write import rows_of

__all__ = ["LONG_S", "SCREEN_S", "WARM_UP_S", "Bench", "Clock"]

SCREEN_S, LONG_S, WARM_UP_S = 20.0, 120.0, 3.0
"""Measured seconds of a run of the race and of one that confirms, and what comes before and does not count. Source: the
specification of advice; a slow start takes less than three seconds."""

_KEPT = frozenset({"datagrams"})

_COUNTED = {
    "goodput": "goodput_up",
    "goodput_downstream": "goodput_down",
    "loss_total": "missed",
    "page_load_time_p95": "page",
}
"""What is read of the metrics of an entry, and what it is called here."""


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

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(self._found)

    def affordable_s(self, wall_s: float) -> float:
        """Return how many seconds can be simulated in so much time, by what the runs so far took."""
        each = self.processor_s / self._simulated_s if self._simulated_s else 0.0
        return wall_s * self._jobs / each if each else math.inf

    def losses(self, arms: Sequence[Arm], seeds: range) -> Table:
        """Return what settings (rows) cost under seeds (columns)."""
        found = self.measure(arms, seeds, self.screen_s)
        return np.array([[loss_of(self.users, found[arm, seed], self.screen_s) for seed in seeds] for arm in arms])

    def measure(self, arms: Sequence[Arm], seeds: range, seconds: float) -> dict[tuple[Arm, int], Mapping[str, float]]:
        """Return what was measured of settings under seeds; what is missing is run."""
        missing = [
            (arm, seed) for arm in dict.fromkeys(arms) for seed in seeds if (arm, seed, seconds) not in self._found
        ]
        if missing:
            self._run(missing, seconds)
        return {(arm, seed): self._found[arm, seed, seconds] for arm in arms for seed in seeds}

    def _run(self, missing: Sequence[tuple[Arm, int]], seconds: float) -> None:
        """Make runs of this length."""
        specs: list[RunSpec] = []
        places: dict[str, Arm] = {}
        wanted: dict[tuple[Arm, int], list[int]] = {}
        for arm, seed in missing:
            wanted.setdefault((arm, seed % len(self.lines)), []).append(seed)
        for (arm, member), seeds in wanted.items():
            scenario = self.lines[member].with_arm(arm, duration_s=WARM_UP_S + seconds, from_s=WARM_UP_S)
            together = Seeds(scenario, min(seeds) + 1, max(seeds) - min(seeds) + 1)
            point = str(len(places))
            places[point] = arm
            specs += [RunSpec(point, seed + 1, together, _KEPT) for seed in seeds]
        finished = self._finished(specs)
        for (point, seed), values in _values(finished).items():
            self._found[places[point], seed - 1, seconds] = values

    def _finished(self, specs: Sequence[RunSpec]) -> list[tuple[RunSpec, Kept]]:
        """Return runs with their entries in the store, made if need be."""
        entries = self._store.find({spec.key: spec.keep for spec in specs})
        to_do = list({spec.key: spec for spec in specs if spec.key not in entries}.values())
        self._tell(len(specs) - len(to_do))
        if to_do:
            self._store.check_writable()
            with contextlib.closing(run_on_threads(to_do, self._store, self._jobs)) as runs:
                for item in runs:
                    if item.entry is None:
                        raise item.error or RunError("a run failed")
                    entries[item.spec.key] = item.entry
                    self._tell(1)
        finished = [(spec, entries[spec.key]) for spec in specs]
        for _, entry in finished:
            self.processor_s += entry.statistics["cpu_s"]
            self._simulated_s += entry.statistics["simulated_s"]
        return finished


def _values(finished: Sequence[tuple[RunSpec, Kept]]) -> dict[tuple[str, int], dict[str, float]]:
    """Return what counts of each run, by point and seed."""
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
        delay = way_ms - pl.col("wire_ns") / 1e6
        delays = (
            rows.filter(pl.col("arrived_ns").is_not_null(), pl.col("sent_ns") >= round(WARM_UP_S * 1e9))
            .group_by("point", "seed", "traffic", "direction")
            .agg(
                delay.quantile(0.99, interpolation="higher").alias("p99"),
                way_ms.quantile(0.99, interpolation="higher").alias("way"),
            )
            .collect()
        )
    for point, seed, traffic, direction, p99, whole in delays.iter_rows():
        way = "up" if str(direction) == "upstream" else "down"
        found[str(point), seed][f"{traffic}.delay_{way}"] = p99
        found[str(point), seed][f"{traffic}.way_{way}"] = whole
    return found


class Clock:
    """Tells when the time is up.

    Parameters
    ----------
    budget_s
        Seconds of the clock on the wall that a search may take.
    """

    def __init__(self, budget_s: float) -> None:
        began = time.monotonic()
        self._until = began + budget_s
        self._race_until = began + RACE_SHARE * budget_s

    def is_up(self) -> bool:
        """Whether no further round should begin."""
        return time.monotonic() >= self._race_until

    def left_s(self) -> float:
        """Return the seconds that are left."""
        return max(self._until - time.monotonic(), 0.0)


RACE_SHARE = 0.7
"""Share of the time for the search; the rest is for runs that confirm it. chosen: so long take three settings five times."""
