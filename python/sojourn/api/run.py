"""One run: a scenario and a seed go in, record tables come out.

With a store, a run that has been made before is not made again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import polars as pl

import sojourn._engine as _engine
from sojourn.base.errors import RecordError, ScenarioError, UsageError, plain
from sojourn.base.notebook import in_notebook, pandas_frame, table_html
from sojourn.base.on_disk import read_text
from sojourn.base.toml_text import parse_toml
from sojourn.base.whole import whole
from sojourn.headline import Headline, headline_of_run, headline_rows
from sojourn.plugins import Plugin, named_in, read_plugin, simulate_apart
from sojourn.process.progress import RunProgress
from sojourn.scenario.scenario_file import Scenario, load_scenario
from sojourn.simulation.averages import Row, Since, labelled, since_beginnings
from sojourn.simulation.engine import simulate
from sojourn.simulation.run_directory import read_run
from sojourn.store import Store, pack

if TYPE_CHECKING:
    from sojourn.api.plot import Plot


@dataclass(frozen=True, repr=False)
class Run:
    """A finished run."""

    scenario: Scenario
    seed: int
    key: str
    """Content hash of scenario, seed and engine version; empty if a queue manager is written in Python."""
    statistics: _engine.RunStatistics
    tables: Mapping[str, pl.DataFrame]
    """Record tables by name; the reference of records describes their columns."""
    from_store: bool
    """True if it had been made before."""
    damages: tuple[str, ...] = ()
    """A sentence for each damaged file of its directory, which is left out."""

    @classmethod
    def load(cls, directory: str | Path) -> Self:
        """Read the directory that `sojourn run --out` wrote.

        Raises
        ------
        RecordError
            If it does not hold a whole run.
        """
        directory = Path(directory)
        manifest, tables, damages = read_run(directory)
        try:
            scenario = Scenario.parse(read_text(directory, "scenario.toml"))
            seed, key, statistics = (manifest[name] for name in ("seed", "key", "statistics"))
        except (RecordError, ValueError, KeyError, ScenarioError) as error:
            raise RecordError(
                f"{directory} does not hold a complete run: {plain(str(error).splitlines()[0])}",
                "run the scenario again with --out",
            ) from error
        return cls(scenario, seed, key, statistics, tables, from_store=False, damages=tuple(damages))

    @property
    def metrics(self) -> pl.DataFrame:
        """Metrics of the run: `subject, metric, value, unit`."""
        return self.tables["metrics"]

    def __repr__(self) -> str:
        """Name the run."""
        return f"<Run of {self.scenario.name}, seed {self.seed}>"

    def _repr_html_(self) -> str:
        """Show what matters most of the run."""
        title = f"{self.scenario.name}, seed {self.seed}, {self.scenario.duration_s:g} s"
        if self.headline is not None:
            title = f"{self.headline.sentence} ({title})"
        headings = ("traffic or link", "metric", "value", "unit")
        rows, since = self._counted
        return table_html(title, headings, labelled(headline_rows(rows), since))

    @property
    def _counted(self) -> tuple[list[Row], list[Since]]:
        """The metrics with rates from where their traffic begins."""
        return since_beginnings(self.scenario.canonical(), self.scenario.duration_s, self.metrics.rows())

    @property
    def headline(self) -> Headline | None:
        """Its first sentence, as the command line prints it."""
        return headline_of_run(self._counted[0], self.scenario.text)

    def plots(self) -> dict[str, Plot]:
        """Return what the run's report draws, by name: rates, queues, delays, and where they come from.

        Each shows itself in a notebook, and has `save("delay.svg")`.
        """
        from sojourn.api.plot import Plot
        from sojourn.report.single import run_figures

        return {
            figure.plot.name: Plot.of(figure.plot)
            for figure in run_figures(dict(self.tables), None, self.scenario.canonical())
        }

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas may be absent
        """Return the metrics as a frame of pandas."""
        return pandas_frame(self.metrics)


def run(
    scenario: Scenario | str | Path,
    seed: int | None = None,
    store: Store | None = None,
    watch: Callable[[float], None] | None = None,
    memory: int | None = None,
    plugins: Sequence[str | Path | Plugin] = (),
) -> Run:
    """Simulate a scenario.

    Parameters
    ----------
    scenario
        A scenario, or the path of its file.
    seed
        What decides all that is random in the run; the file's own if left out.
    store
        Where to look for the run and to keep it; nowhere if left out. Runs with queue managers written in Python
        cannot be kept.
    watch
        Called some twenty times a second with the share of the run that is done; in a notebook, a bar shows it if left
        out.
    memory
        Bytes that the run may take; most of what is free if left out.
    plugins
        Files of queue managers of your own that the scenario asks for; they are run, in a process of their own.

    Returns
    -------
    Run
        Tables and statistics.

    Raises
    ------
    ScenarioError
        If the scenario is not valid.
    UsageError
        If there is no such file, the seed is none, or the scenario does not ask for a plugin.
    MemoryExceeded
        If the run needs more than `memory`.
    RunError
        If the simulation fails.

    Examples
    --------
    >>> finished = run("scenarios/home.toml", seed=7)  # doctest: +SKIP
    >>> finished.metrics.filter(pl.col("metric") == "delay_p99")  # doctest: +SKIP
    """
    own = [one if isinstance(one, Plugin) else read_plugin(one) for one in plugins]
    for plugin in own:
        plugin.announce()
    if not isinstance(scenario, Scenario):
        scenario = load_scenario(scenario)
    seed = scenario.seed if seed is None else whole("seed", seed, 0, LARGEST_SEED)
    _refuse_unnamed(scenario, own)
    progress = RunProgress(scenario.name) if watch is None and in_notebook() else None
    watch = watch or progress or _look_for_interrupts
    try:
        return _run(scenario, seed, store, watch, memory, own)
    finally:
        if progress is not None:
            progress.stop()


LARGEST_SEED = 2**64 - 1


def _refuse_unnamed(scenario: Scenario, plugins: Sequence[Plugin]) -> None:
    """Refuse a plugin that the scenario does not ask for: a run without it would be taken for its run."""
    asked_for = set(named_in(parse_toml(scenario.canonical()))) if plugins else set[str]()
    for plugin in plugins:
        if plugin.name in asked_for:
            continue
        if plugin.is_stack:
            stack = f'{{ kind = "library", name = "{plugin.name}" }}'
            raise UsageError(
                f'no stack of {scenario.name} is the library "{plugin.name}" ({plain(plugin.file)})',
                f"--set 'traffic.NAME.stack={stack}', or in the scenario: stack = {stack}",
            )
        queue = f'{{ kind = "plugin", name = "{plugin.name}" }}'
        raise UsageError(
            f'no queue of {scenario.name} is the plugin "{plugin.name}" ({plain(plugin.file)})',
            f"--set 'access.upstream.queue={queue}' puts it before the line upstream; in the scenario: queue = {queue}",
        )


def _run(
    scenario: Scenario,
    seed: int,
    store: Store | None,
    watch: Callable[[float], None],
    memory: int | None,
    plugins: Sequence[Plugin],
) -> Run:
    key = "" if store is None and scenario.is_prototype else scenario.key(seed)
    is_apart = (scenario.has_plugin and bool(plugins)) or bool(scenario.kernel)
    if store is None and is_apart:
        files = simulate_apart(scenario, seed, plugins, watch=watch, memory=memory)
        statistics: _engine.RunStatistics = json.loads(files.pop("run.json"))["statistics"]
        tables = {name.removesuffix(".parquet"): pl.read_parquet(files[name]) for name in files}
        return Run(scenario, seed, key, statistics, tables, from_store=False)
    if store is None:
        records = simulate(scenario.compiled, seed, watch=watch, memory=memory)
        tables = {name: pl.DataFrame(records.table(name)) for name in records.table_names()}
        return Run(scenario, seed, key, records.statistics, tables, from_store=False)
    entry = store.get(key)
    from_store = entry is not None
    if entry is None:
        store.check_writable()
        if is_apart:
            files = simulate_apart(scenario, seed, plugins, watch=watch, memory=memory)
        else:
            records = simulate(scenario.compiled, seed, watch=watch, memory=memory)
            files = pack(records, key, seed, scenario.canonical())
        entry = store.put(key, files)
    tables = {name: entry.table(name) for name in entry.table_names()}
    return Run(scenario, seed, key, entry.statistics, tables, from_store)


def _look_for_interrupts(_: float) -> None:
    """Do nothing: that Python is called at all lets it see signals."""
