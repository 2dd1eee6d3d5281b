"""Judging and characterising one manager: rows that can fail, and runs of all scenarios."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import sojourn._engine as _engine
from sojourn.aqm.scenarios import CELLS, DURATION_S, Cell, buffer_packets, scenario_text
from sojourn.judging.bands import Band, Tell, band_rows, over_seeds, read_band
from sojourn.plugins import Plugin, PluginFailed, check_apart, simulate_apart
from sojourn.report.checks import Judged
from sojourn.scenario.scenario_file import Scenario
from sojourn.scenario.settings import apply_settings
from sojourn.simulation.engine import simulate
from sojourn.stats.estimate import Estimate

MEASURES = (
    ("utilisation", "utilisation", ""),
    ("sojourn_mean", "mean queuing delay", "ms"),
    ("sojourn_p95", "queuing delay, P95", "ms"),
    ("loss_rate", "lost", "%"),
)
"""Measures of each bottleneck: metric, words, unit."""

BAND = ("codel", "cobalt", "pie", "docsis-pie", "fq-codel", "dualpi2")
"""Managers whose least and greatest value are the band; drop-tail stands apart."""

OWN = "own"
"""Name in the band of a scenario's own number."""

BYTES_ONLY = ("docsis-pie", "docsis-dual-queue", "cake")
"""Kinds that count the buffer in bytes."""

BUFFER_KEYS = {"cake": "memory"}
"""The key of the buffer where it is not `limit`."""


@dataclass(frozen=True)
class Manager:
    """A manager to be judged."""

    name: str
    like: str
    """The kind whose laws it keeps; none if empty."""
    settings: tuple[str, ...] = ()
    plugin: Plugin | None = None

    @property
    def is_itself(self) -> bool:
        """A built-in manager with its own laws, and each key as it stands."""
        return self.plugin is None and self.name == self.like and not self.settings

    @property
    def line(self) -> str:
        """The manager line of a built-in manager."""
        words = [self.name]
        for setting in self.settings:
            key, _, value = setting.partition("=")
            words.append(f'{key}="{value}"' if " " in value and value[0] not in '["' else setting)
        return " ".join(words)

    def queue(self, cell: Cell | None) -> str:
        """Return the inline table of a scenario file, with the buffer of a scenario; its own one without."""
        if self.plugin is not None:
            return f'{{ kind = "plugin", name = "{self.name}" }}'
        limit = ""
        key = BUFFER_KEYS.get(self.name, "limit")
        if cell is not None and not any(one.startswith(f"{key}=") for one in self.settings):
            packets = buffer_packets(cell.rate_mbps, cell.rtt_ms)
            size = f"{packets * 1500} B" if self.name in BYTES_ONLY else f"{packets} packets"
            limit = f', {key} = "{size}"'
        elif cell is None and self.name in ("drop-tail", "ack-priority"):  # which have no default
            limit = ', limit = "84 packets"'
        if self.name == "ack-priority":
            return f'{{ kind = "ack-priority", manager = {{ kind = "drop-tail"{limit} }} }}'
        return f'{{ kind = "{self.name}"{limit} }}'

    def scenario(self, cell: Cell | None, duration_s: float = DURATION_S) -> Scenario:
        """Return a scenario with this manager; for the rows that can fail, with a buffer of its own.

        Raises `ScenarioError` or `UsageError` if a key is not one of it, or its value none.
        """
        text = scenario_text(cell or CELLS[0], self.queue(cell), duration_s=duration_s)
        return Scenario.parse(
            apply_settings(text, [f"access.{(cell or CELLS[0]).direction}.queue.{one}" for one in self.settings])
        )


@dataclass(frozen=True)
class Measured:
    """A scenario with what was measured: estimates by measure."""

    cell: Cell
    values: Mapping[str, Estimate]


@dataclass
class Result:
    """All that is known of a manager."""

    manager: Manager
    judged: list[Judged] = field(default_factory=list[Judged])
    measured: list[Measured] = field(default_factory=list[Measured])

    @property
    def failed(self) -> list[Judged]:
        """Rows that failed."""
        return [row for row in self.judged if row.verdict == "fail"]


def judge(manager: Manager, tell: Tell | None = None) -> list[Judged]:
    """Judge a manager by its contract and the laws of its document; `tell` is called with the share of rows that is done."""
    scenario = manager.scenario(None)
    rows = _engine.check_rows(manager.like)
    if manager.plugin is None:
        return [Judged(*row, *_engine.check_row(scenario.compiled, manager.like, row[0])) for row in rows]
    # X8 has a process of its own: memory that other rows have freed would hide what a leak takes.
    done = 0

    def told() -> None:
        nonlocal done
        done += 1
        if tell is not None:
            tell(min(done / len(rows), 1.0))

    judged = _apart(manager, manager.plugin, scenario, [row for row in rows if row[0] != COST], told)
    place, cost = next((n, row) for n, row in enumerate(rows) if row[0] == COST)
    if any(row.found == FAILED_BEFORE or row.expected == NO_CRASH for row in judged):
        alone = [Judged(*cost, "not judged", "", FAILED_BEFORE)]
    else:
        alone = _apart(manager, manager.plugin, scenario, [cost], told)
    return judged[:place] + alone + judged[place:]


COST = "X8"
"""The row about time and memory of a call."""

NO_CRASH = "no crash, no loop and no broken rule"

FAILED_BEFORE = "the manager failed before"

BROKEN = {"not ECN-capable": "X5", "dequeue returned None": "X2"}
"""Words of a plugin's failure that tell which row it broke."""


def _apart(
    manager: Manager, plugin: Plugin, scenario: Scenario, rows: Sequence[tuple[str, str, str]], told: Callable[[], None]
) -> list[Judged]:
    """Judge a plugin by some rows, in a process of their own; `told` is called after each."""
    found: list[tuple[str, str, str]] = []
    failure = ""

    def keep(outcome: tuple[str, str, str]) -> None:
        found.append(outcome)
        told()

    try:
        check_apart(scenario, plugin, manager.like, [item for item, _, _ in rows], keep)
    except PluginFailed as error:
        failure = error.message
    judged = [Judged(*row, *outcome) for row, outcome in zip(rows, found, strict=False)]
    if failure:
        judged += [Judged(*row, "not judged", "", FAILED_BEFORE) for row in rows[len(found) :]]
        broken = next((row for words, row in BROKEN.items() if words in failure), "")
        place = next((n for n, row in enumerate(rows) if row[0] == broken), len(found))
        judged[place] = Judged(*rows[place], "fail", NO_CRASH, failure)
    return judged


def characterise(
    manager: Manager, cells: Sequence[Cell], seeds: int, duration_s: float, jobs: int, tell: Tell | None = None
) -> list[Measured]:
    """Run scenarios with a manager, `seeds` times each.

    Raises `RunError` if a run failed.

    Parameters
    ----------
    manager, cells, seeds, duration_s
        What is run, how often and how long.
    jobs
        Runs at a time.
    tell
        Called with the share of the runs that is done.
    """

    def run(cell: Cell, seed: int, watch: Tell) -> dict[str, float]:
        return _values(cell, _metrics(manager, manager.scenario(cell, duration_s), seed, watch))

    estimates = over_seeds(cells, seeds, jobs, run, tell)
    return [Measured(cell, values) for cell, values in zip(cells, estimates, strict=True)]


def _metrics(manager: Manager, scenario: Scenario, seed: int, watch: Tell) -> dict[tuple[str, str], float]:
    if manager.plugin is None:
        rows = simulate(scenario.compiled, seed, watch=watch).metrics()
    else:
        import io

        import polars as pl

        files = simulate_apart(scenario, seed, [manager.plugin], watch=watch)
        rows = pl.read_parquet(io.BytesIO(files["metrics.parquet"])).rows()
    return {(str(subject), str(metric)): float(value) for subject, metric, value, _ in rows}


def _values(cell: Cell, metrics: dict[tuple[str, str], float]) -> dict[str, float]:
    found = {name: metrics[cell.direction, name] for name, _, _ in MEASURES}
    if cell.own is not None:
        try:
            value = cell.own.of(metrics)
        except KeyError:  # nothing came to its end
            value = math.nan
        found[OWN] = value if math.isfinite(value) else math.nan
    return found


def measures_of(cell: Cell) -> list[tuple[str, str]]:
    """Return what is measured in a scenario: names and units."""
    own = [] if cell.own is None else [(OWN, cell.own.unit)]
    return [*((name, unit) for name, _, unit in MEASURES), *own]


def known_managers() -> Band:
    """Return what is known of known managers, as `tools/bands` measured it."""
    return read_band(Path(__file__).with_name("band.csv"), BAND)


def rows_of(result: Result) -> Iterator[tuple[str, str, str, str]]:
    """Return the rows of a manager in the band's file."""
    return band_rows(result.manager.name, [(one.cell.item, one.values) for one in result.measured])
