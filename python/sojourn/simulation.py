"""One run: a scenario and a seed go in, record tables come out.

With a store, a run that has been made before is not made again.
"""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sojourn import _engine
from sojourn.errors import InterruptedRun, RunError
from sojourn.scenario import Scenario, load_scenario
from sojourn.store import Store, pack

__all__ = ["NOTICE_EVERY_S", "Run", "run", "simulate"]


@dataclass(frozen=True)
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


def run(
    scenario: Scenario | str | Path, seed: int | None = None, store: Store | None = None
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
    key = scenario.key(seed)
    if store is None:
        records = _simulate_interruptibly(scenario.compiled, seed)
        tables = {name: pl.DataFrame(records.table(name)) for name in records.table_names()}
        return Run(scenario, seed, key, records.statistics, tables, from_store=False)
    entry = store.get(key)
    from_store = entry is not None
    if entry is None:
        store.check_writable()
        records = _simulate_interruptibly(scenario.compiled, seed)
        entry = store.put(key, pack(records, key, seed, scenario.canonical()))
    tables = {name: entry.table(name) for name in entry.table_names()}
    return Run(scenario, seed, key, entry.statistics, tables, from_store)


NOTICE_EVERY_S = 0.05
"""How long a wait may last before Python looks for an interrupt.

chosen: a quarter of the 0.2 s within which an interrupt has to work. Waiting without a limit would be
simpler, but once polars is loaded its signal handler restarts system calls, and the wait goes on.
"""


def _simulate_interruptibly(scenario: _engine.Scenario, seed: int) -> _engine.Records:
    """Run the engine on a thread, so that an interrupt reaches this one at once."""
    cancel = _engine.CancelToken()
    ended: list[_engine.Records | BaseException] = []

    def work() -> None:
        try:
            ended.append(simulate(scenario, seed, cancel))
        except BaseException as error:  # handed to the thread that waits
            ended.append(error)

    thread = threading.Thread(target=work, name="run", daemon=True)
    thread.start()
    try:
        while not ended:
            thread.join(NOTICE_EVERY_S)
    finally:
        cancel.cancel()
        while not ended:
            time.sleep(0.001)
    (outcome,) = ended
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def simulate(
    scenario: _engine.Scenario, seed: int, cancel: _engine.CancelToken | None = None
) -> _engine.Records:
    """Run the engine, with its failures as errors of this package.

    Raises
    ------
    InterruptedRun
        If `cancel` was used.
    RunError
        If the engine fails.
    """
    try:
        return _engine.run(scenario, seed, cancel)
    except _engine.Interrupted as error:
        raise InterruptedRun("the run was interrupted") from error
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the engine is not an Exception
        first = (str(error) or type(error).__name__).splitlines()[0]
        raise RunError(
            f"the run of {scenario.name} with seed {seed} failed: {first}",
            "this is a fault of the simulator, not of the scenario; please report it",
        ) from error
