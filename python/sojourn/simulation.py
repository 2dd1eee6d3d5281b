"""One run: a scenario and a seed go in, record tables come out.

With a store, a run that has been made before is not made again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sojourn import _engine
from sojourn.engine import simulate
from sojourn.headline import headline_rows
from sojourn.notebook import pandas_frame, table_html
from sojourn.scenario import Scenario, load_scenario
from sojourn.store import Store, pack

__all__ = ["Run", "run"]


@dataclass(frozen=True, repr=False)
class Run:
    """A finished run."""

    scenario: Scenario
    seed: int
    key: str
    """Content hash of scenario, seed and engine version."""
    statistics: "_engine.RunStatistics"
    tables: Mapping[str, pl.DataFrame]
    """Record tables by name; `sojourn._engine.table_schemas` describes them."""
    from_store: bool
    """Whether it had been made before."""

    @property
    def metrics(self) -> pl.DataFrame:
        """What the run means: `subject, metric, value, unit`."""
        return self.tables["metrics"]

    def __repr__(self) -> str:
        """Name the run."""
        return f"<Run of {self.scenario.name}, seed {self.seed}>"

    def _repr_html_(self) -> str:
        """Show what matters most of the run."""
        title = f"{self.scenario.name}, seed {self.seed}, {self.scenario.duration_s:g} s"
        headings = ("traffic or link", "metric", "value", "unit")
        return table_html(title, headings, headline_rows(self.metrics.rows()))

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas may be absent
        """Return the metrics as a frame of pandas."""
        return pandas_frame(self.metrics)


def run(
    scenario: Scenario | str | Path,
    seed: int | None = None,
    store: Store | None = None,
    watch: Callable[[float], None] | None = None,
) -> Run:
    """Simulate a scenario.

    Parameters
    ----------
    scenario
        A scenario, or the path of its file.
    seed
        What decides all that is random in the run; the file's own if left out.
    store
        Where to look for the run and to keep it; nowhere if left out.
    watch
        Called some twenty times a second with the share of the run that is done.

    Returns
    -------
    Run
        Tables and statistics.

    Raises
    ------
    ScenarioError
        If the scenario is not valid.
    RunError
        If the simulation fails.

    Examples
    --------
    >>> finished = run("scenarios/home.toml", seed=7)  # doctest: +SKIP
    >>> finished.metrics.filter(pl.col("metric") == "delay_p99")  # doctest: +SKIP
    """
    if not isinstance(scenario, Scenario):
        scenario = load_scenario(scenario)
    seed = scenario.seed if seed is None else seed
    watch = watch or _look_for_interrupts
    key = scenario.key(seed)
    if store is None:
        records = simulate(scenario.compiled, seed, watch=watch)
        tables = {name: pl.DataFrame(records.table(name)) for name in records.table_names()}
        return Run(scenario, seed, key, records.statistics, tables, from_store=False)
    entry = store.get(key)
    from_store = entry is not None
    if entry is None:
        store.check_writable()
        records = simulate(scenario.compiled, seed, watch=watch)
        entry = store.put(key, pack(records, key, seed, scenario.canonical()))
    tables = {name: entry.table(name) for name in entry.table_names()}
    return Run(scenario, seed, key, entry.statistics, tables, from_store)


def _look_for_interrupts(_: float) -> None:
    """Do nothing: that Python is called at all lets it see signals."""
