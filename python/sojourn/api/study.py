"""A study from Python: what a study file says, as arguments, and run by the same machinery."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import tomli_w

from sojourn.answers.checks import unanswerable
from sojourn.api.result import StudyResult
from sojourn.base.errors import StudyError
from sojourn.base.notebook import table_html
from sojourn.base.whole import whole
from sojourn.plugins import read_plugin, try_plugins
from sojourn.scenario.scenario_file import Scenario, read_text
from sojourn.store import Store
from sojourn.study import library, result
from sojourn.study.competitors import with_plugins
from sojourn.study.plan import RunOptions, make_plan
from sojourn.study.runner import available_cores, run_study

MOST_POINTS = 12  # chosen: what a cell of a notebook shows without scrolling


class Study:
    """Runs of a scenario over what varies, and over seeds.

    Parameters
    ----------
    base
        The scenario, or the path of its file.
    axes
        What varies, as `axes` of a study file: by label, a key with values or a range, or names of
        overlays.
    seeds
        Seeds per point, counted from 1.
    name
        Name of the study; results go below `results/` under it.
    overlays
        Named changes of the base, as `overlays` of a study file.
    keep
        Record tables to keep beside the metrics.

    Examples
    --------
    >>> target = {"key": "access.upstream.queue.target", "values": ["2 ms", "5 ms"]}
    >>> study = Study("home.toml", axes={"target": target}, seeds=5)  # doctest: +SKIP
    >>> study.run().summary  # doctest: +SKIP
    """

    def __init__(
        self,
        base: Scenario | str | Path,
        axes: Mapping[str, object],
        *,
        seeds: int = 1,
        name: str = "study",
        overlays: Mapping[str, object] | None = None,
        keep: Sequence[str] = (),
    ) -> None:
        self.name = name
        self._base = base.text if isinstance(base, Scenario) else read_text(base)
        self._document: dict[str, Any] = {
            "schema": 1,
            "name": name,
            "scenario": "base.toml",
            "seeds": seeds,
            "axes": dict(axes),
            "overlays": dict(overlays or {}),
            "keep": list(keep),
        }
        self._loaded: library.Study | None = None

    @classmethod
    def load(cls, name_or_path: str | Path) -> Self:
        """Return a study of the package by its name, or any study by its path.

        Raises
        ------
        UsageError
            If there is none.
        StudyError
            If it is not valid.
        """
        loaded = library.load_study(str(name_or_path))
        study = cls.__new__(cls)
        study.name, study._loaded = loaded.definition.name, loaded
        return study

    def __repr__(self) -> str:
        """Name the study."""
        return f"<Study {self.name}>"

    def _repr_html_(self) -> str:
        """Show the points with their labels, or what is wrong."""
        try:
            with self._opened() as study:
                plan = make_plan(study, RunOptions(), partial(unanswerable, is_run=False))
        except StudyError as error:
            rows = [(problem.path, problem.message, problem.hint) for problem in error.problems]
            return table_html(f"{self.name} is not valid", ("where", "what", "hint"), rows)
        points = [item.point for item in plan.points]
        labels = list(dict.fromkeys(label for point in points for label in point.labels))
        rows = [(point.name, *map(point.labels.get, labels)) for point in points]
        seeds = "1 seed" if len(plan.seeds) == 1 else f"{len(plan.seeds)} seeds"
        shown = f"{len(rows)} points, {seeds} each"
        if len(rows) > MOST_POINTS:
            shown += f"; the first {MOST_POINTS}"
        return table_html(f"{self.name}: {shown}", ("point", *labels), rows[:MOST_POINTS])

    def run(
        self,
        *,
        points: Sequence[str] = (),
        seeds: int | None = None,
        duration: str | None = None,
        quick: bool = False,
        jobs: int | None = None,
        out: str | Path | None = None,
        store: Store | None = None,
        report: bool = False,
        plugins: Sequence[str | Path] = (),
    ) -> StudyResult:
        """Make the runs that the store lacks, and return the result; progress goes to stderr.

        Parameters
        ----------
        points, seeds, duration, quick
            As the options of `sojourn study run`; such a result is labelled.
        jobs
            Runs at a time; all cores if left out.
        out
            New directory for the result; below `results/` if left out.
        store
            Where finished runs are kept; the user's own if left out.
        report
            Whether to write the report, too.
        plugins
            Files of queue managers of your own, as `--plugin` of `sojourn study run`; they are run.

        Raises
        ------
        StudyError
            If the study is not valid; nothing has been run then.
        UsageError
            If there is no such point or plugin, or `seeds` or `jobs` is no count.
        RunError
            If a run failed; the others are in the store.
        """
        from sojourn.study.progress import StudyProgress

        seeds = None if seeds is None else whole("seeds", seeds, 1)
        workers = available_cores() if jobs is None else whole("jobs", jobs, 1)

        def finish(finished: result.StudyResult) -> None:
            if report:
                from sojourn.report import build

                build(finished)

        own = [read_plugin(path) for path in plugins]
        if own:
            try_plugins(own)
        with self._opened() as opened:
            study = with_plugins(opened, own)
            plan = make_plan(study, RunOptions(tuple(points), seeds, duration, quick), unanswerable)
            outcome = run_study(
                plan,
                Store() if store is None else store,
                out=None if out is None else Path(out),
                jobs=workers,
                progress=StudyProgress("1 thread" if workers == 1 else f"{workers} threads"),
                finish=finish,
            )
        return StudyResult.load(outcome.directory)

    @contextlib.contextmanager
    def _opened(self) -> Generator[library.Study]:
        """Give the study as files; those made here have no name that a message could show."""
        if self._loaded is not None:
            yield self._loaded
            return
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "study.toml"
            try:
                path.write_text(tomli_w.dumps(self._document), encoding="utf-8")
                (path.parent / "base.toml").write_text(self._base, encoding="utf-8")
                yield library.load_study(str(path))
            except StudyError as error:
                nameless = [replace(problem, file="") for problem in error.problems]
                raise StudyError(nameless) from error
