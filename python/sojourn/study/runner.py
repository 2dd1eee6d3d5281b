"""Running a study from the plan to the result directory.

What is in the store is not computed again. The directory grows under a temporary name beside its
destination and is renamed when it is complete: a killed study leaves finished runs in the store and
nothing else that counts.
"""

import contextlib
import math
import os
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, TypedDict, Unpack

from sojourn.base.errors import EnvironmentFailure, RunError, SojournError, UsageError
from sojourn.base.output import dated, new_directory, writing
from sojourn.plugins import PluginFailed
from sojourn.store import Kept, Store
from sojourn.study.execute import Finished, run_on_cluster, run_on_threads
from sojourn.study.manifest import make_manifest
from sojourn.study.plan import Plan, RunSpec
from sojourn.study.precision import Stop
from sojourn.study.precision import stops as stops_of
from sojourn.study.result import StudyResult
from sojourn.study.write import metrics_of, write_result, write_summary

Elsewhere = Callable[[Plan, list[RunSpec], Store], Generator[Finished]]
"""Lets runs of a plan be made by others, and yields them when they are in the store."""


class Progress(Protocol):
    """Callbacks of the progress of runs."""

    def start(self, plan: Plan, to_do: list[RunSpec]) -> None:
        """Note that runs begin; those of the plan that are not to do came from the store."""

    def advance(self, finished: Finished) -> None:
        """Note that a run ended."""

    def stop(self) -> None:
        """Note that no more runs follow."""


class _How(TypedDict):
    """Executor of the runs, and callbacks."""

    jobs: int
    cluster: str | None
    elsewhere: Elsewhere | None
    memory: int | None
    progress: Progress
    lost: list[Finished] | None


@dataclass(frozen=True)
class Outcome:
    """Cost of running a study."""

    directory: Path
    simulated_s: float
    """Over all runs of the result, computed or from the store."""
    wall_s: float
    """Of this call."""
    report_s: float
    """Of them, after the last run: tables of all runs, figures, the page."""
    packet_hops: int
    computed: int
    """Runs made now."""
    reused: int
    """Runs taken from the store."""


def run_study(
    plan: Plan,
    store: Store,
    *,
    out: Path | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    elsewhere: Elsewhere | None = None,
    memory: int | None = None,
    progress: Progress,
    finish: Callable[[StudyResult], None],
    on_last: Callable[[], None] | None = None,
) -> Outcome:
    """Run what is missing and write the result directory.

    Raises `UsageError` if `out` is in use; `RunError` if a run failed; the others are in the store;
    `EnvironmentFailure` if something cannot be written.

    Parameters
    ----------
    plan
        What to run.
    store
        Where finished runs are.
    out
        Result directory, new or empty; below `results/` if left out.
    jobs
        Runs at the same time on this machine.
    cluster
        Address of a Dask scheduler to run on instead.
    elsewhere
        Who lets workers of a shared store make the runs instead.
    memory
        Bytes that runs on this machine may take together; most of what is free if left out.
    progress
        Callbacks.
    finish
        Called with the complete result before its directory gets its final name: writes the report.
    on_last
        Called when no run is left to begin, while the last ones go on.
    """
    began = time.perf_counter()
    started_at = datetime.now(UTC)
    directory = out if out is not None else dated(plan.study.definition.name)
    # What a worker of many cannot make says nothing about the others: it is left out of the result and told.
    lost: list[Finished] | None = None if elsewhere is None else []
    with new_directory(directory, is_ours=out is None) as unfinished:
        plan, entries, computed, stops = _execute(
            plan,
            store,
            jobs=jobs,
            cluster=cluster,
            elsewhere=elsewhere,
            memory=memory,
            progress=progress,
            lost=lost,
            on_last=on_last,
        )
        last_run = time.perf_counter()
        simulated = sum(entry.statistics["simulated_s"] for entry in entries)
        packet_hops = sum(entry.statistics["packet_hops"] for entry in entries)
        measured: dict[str, Any] = {
            "runs": len(entries),
            "computed": computed,
            "reused": len(entries) - computed,
            "jobs": jobs,
            "cluster": cluster,
            "simulated_s": simulated,
            "packet_hops": packet_hops,
            "wall_s": round(last_run - began, 3),
        }
        if stops:
            measured["most_seeds"] = plan.precision.seeds.most if plan.precision is not None else 0
            if plan.precision is not None and plan.precision.runs is not None:
                measured["budget_runs"] = plan.precision.runs
            measured["stopped"] = {point: stop.as_json() for point, stop in stops.items()}
        if plan.is_anytime:
            measured["rule"] = "anytime"
        if plan.share < 1:
            measured["share"] = plan.share
        if lost:
            measured["missing"] = [_said(one) for one in _once(lost)]
        manifest = make_manifest(plan, started_at=started_at, measured=measured)
        with writing(directory):
            fault = _finish(finish, write_result(unfinished, plan, entries, manifest))
    if out is None:
        point_latest(directory)
    if fault is not None:
        fault.add_note(f"the records are in {directory}; `sojourn report {directory}` tries again")
        raise fault
    if lost:
        raise _failed(
            _once(lost),
            len(plan.runs) + len(_once(lost)),
            f"the result without them is in {directory}; what killed its process is in quarantine in the store",
        )
    ended = time.perf_counter()
    return Outcome(
        directory, simulated, ended - began, ended - last_run, packet_hops, computed, len(entries) - computed
    )


def _finish(finish: Callable[[StudyResult], None], result: StudyResult) -> Exception | None:
    """Write the report; return its fault, if it has one, so that the records are kept all the same."""
    found: Exception | None = None
    try:
        finish(result)
    except (OSError, EnvironmentFailure):
        raise
    except Exception as fault:  # whatever a study's own tables and figures do
        found = fault
    if not (result.directory / "summary.parquet").exists():
        write_summary(result)  # no report is wanted, or it was not reached
    return found


def _execute(
    plan: Plan, store: Store, *, on_last: Callable[[], None] | None, **how: Unpack[_How]
) -> tuple[Plan, list[Kept], int, dict[str, Stop]]:
    """Make the runs of a plan, in rounds until its points are precise enough; return what was run in the end."""
    precision = plan.precision
    if precision is None:
        entries, computed = execute_plan(plan, store, on_last=on_last, **how)
        return _without_lost(plan, how["lost"]), entries, computed, {}
    labels = {item.point.name: item.point.labels for item in plan.points}
    computed = 0
    while True:
        entries, more = execute_plan(plan, store, **how)
        computed += more
        made = _without_lost(plan, how["lost"])
        values = metrics_of(list(zip(made.runs, entries, strict=True)), plan.study.definition)
        found = stops_of(precision, plan.measures, labels, values)
        grown = plan.grown(found)
        if grown is None:
            if on_last is not None:
                on_last()
            return made, entries, computed, found
        plan = grown


def _without_lost(plan: Plan, lost: list[Finished] | None) -> Plan:
    """Return a plan without the runs that could not be made.

    Raises `RunError` if none is left.
    """
    if not lost:
        return plan
    keys = {one.spec.key for one in lost}
    runs = [run for run in plan.runs if run.key not in keys]
    if not runs:
        raise _failed(_once(lost), len(plan.runs), "nothing is left to be reported")
    return replace(plan, runs=runs)


def _once(lost: list[Finished]) -> list[Finished]:
    """Return each run that was lost once, whatever the number of rounds in which it was asked for."""
    return list({one.spec.key: one for one in lost}.values())


def _said(one: Finished) -> str:
    return f"{one.spec.point}, seed {one.spec.seed}: {one.error}"


def execute_plan(
    plan: Plan,
    store: Store,
    *,
    jobs: int,
    cluster: str | None = None,
    elsewhere: Elsewhere | None = None,
    memory: int | None = None,
    progress: Progress,
    lost: list[Finished] | None = None,
    on_last: Callable[[], None] | None = None,
) -> tuple[list[Kept], int]:
    """Make the runs that the store lacks; return all entries in the plan's order and how many were made.

    Runs that fail are an error, unless `lost` takes them; then their entries are missing.
    """
    store.sweep()
    entries = kept_runs(plan, store)
    to_do = list({spec.key: spec for spec in plan.runs if spec.key not in entries}.values())
    failures: list[Finished] = []
    left = len(to_do)
    if on_last is not None and (not left or cluster or elsewhere is not None):
        on_last()
        on_last = None
    if to_do:
        store.check_writable()
        progress.start(plan, to_do)
        if elsewhere is not None:
            runs = elsewhere(plan, to_do, store)
        elif cluster:
            runs = run_on_cluster(to_do, store, cluster)
        else:
            runs = run_on_threads(to_do, store, jobs, memory, plan.study.plugins, on_last)
        try:
            with contextlib.closing(runs):
                for finished in runs:
                    if finished.entry is not None:
                        entries[finished.spec.key] = finished.entry
                    else:
                        failures.append(finished)
                    progress.advance(finished)
                    left -= 1
                    if isinstance(finished.error, PluginFailed):
                        raise _without(finished, left)
        finally:
            progress.stop()
    if failures and lost is None:
        raise _failed(failures, len(plan.runs))
    if lost is not None:
        lost += failures
    return [entries[spec.key] for spec in plan.runs if spec.key in entries], len(to_do)


def partial_plan(plan: Plan, store: Store) -> Plan:
    """Return a plan of those runs that the store has, which says how many these are.

    Raises `UsageError` if it has none.
    """
    kept = kept_runs(plan, store)
    runs = [run for run in plan.runs if run.key in kept]
    if not runs:
        raise UsageError("the store has no run of this study yet")
    if len(runs) == len(plan.runs):
        return plan
    there = {run.point for run in runs}
    points = [item for item in plan.points if item.point.name in there]
    share = len(runs) / len(plan.runs)
    reduced = ", ".join(filter(None, (plan.reduced, share_words(share))))
    return replace(plan, runs=runs, points=points, reduced=reduced, precision=None, is_anytime=True, share=share)


def share_words(share: float) -> str:
    """Return how a report calls a part of the runs.

    Examples
    --------
    >>> share_words(0.31), share_words(0.9999)
    ('31 % of the runs', '99 % of the runs')
    """
    return f"{math.floor(100 * share)} % of the runs"


def kept_runs(plan: Plan, store: Store) -> dict[str, Kept]:
    """Return those runs of a plan that the store has, by key, with the tables that the study keeps of them."""
    return store.find({spec.key: spec.keep for spec in plan.runs})


def _without(item: Finished, left: int) -> PluginFailed:
    """Return the failure of a plugin, which ends the study: without it there is nothing to compare."""
    assert item.error is not None
    what = f"{item.spec.point}, seed {item.spec.seed}: {item.error.message}"
    kept = f"; {left} runs were not made, the others are in the store" if left else ""
    return PluginFailed(f"{what}{kept}", item.error.hint)


def _failed(
    failures: list[Finished],
    total: int,
    hint: str = "the others are in the store; leave the failing points out with --points",
) -> SojournError:
    return failed_runs([_said(item) for item in failures], total, hint)


def failed_runs(said: list[str], total: int, hint: str) -> SojournError:
    """Return the error of failed runs, a sentence each; the first stand for all."""
    listed = 5  # chosen: enough to see a pattern
    lines = said[:listed]
    if len(said) > listed:
        lines.append(f"… and {len(said) - listed} more")
    return RunError(f"{len(said)} of {total} runs failed:\n  " + "\n  ".join(lines), hint)


def point_latest(directory: Path) -> None:
    """Let `latest` beside the result point to it."""
    temporary = directory.with_name(f".latest-{os.getpid()}")
    with contextlib.suppress(OSError):
        temporary.unlink(missing_ok=True)
        temporary.symlink_to(directory.name)
        temporary.replace(directory.with_name("latest"))


def available_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
