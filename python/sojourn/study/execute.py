"""Making runs in parallel: threads of this process, or workers of a Dask cluster.

The engine releases the interpreter lock, so threads scale; each has a token that stops its run. Runs go
longest first, which keeps the last ones short. What is finished is in the store before it is reported.
"""

import contextlib
import queue
import threading
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sojourn._engine as _engine
from sojourn.engine import NOTICE_EVERY_S, simulate
from sojourn.errors import (
    EnvironmentFailure,
    InterruptedRun,
    MissingExtra,
    RunError,
    SojournError,
)
from sojourn.memory import budget
from sojourn.plugins import MEMORY, Plugin, simulate_apart
from sojourn.scenario import Scenario
from sojourn.store import Entry, Store, pack
from sojourn.study.plan import RunSpec

__all__ = ["Finished", "longest_first", "run_on_cluster", "run_on_threads"]


@dataclass(frozen=True)
class Finished:
    """A run that ended: with an entry of the store, or with an error."""

    spec: RunSpec
    entry: Entry | None
    error: RunError | None = None


def longest_first(specs: Iterable[RunSpec]) -> list[RunSpec]:
    """Return runs in the order in which to start them: those with a plugin take ten times as long."""
    return sorted(specs, key=lambda spec: (not spec.scenario.has_plugin, -spec.scenario.duration_s))


def _compute(
    spec: RunSpec,
    store: Store,
    cancel: _engine.CancelToken,
    memory: int,
    plugins: Sequence[Plugin] = (),
) -> Finished:
    try:
        if spec.scenario.has_plugin:
            files = simulate_apart(spec.scenario, spec.seed, plugins, cancel=cancel, memory=memory)
            return Finished(spec, store.put(spec.key, files))
        records = simulate(spec.scenario.compiled, spec.seed, cancel, memory=memory)
    except RunError as error:
        return Finished(spec, None, error)
    files = pack(records, spec.key, spec.seed, spec.scenario.canonical())
    return Finished(spec, store.put(spec.key, files))


def run_on_threads(
    specs: list[RunSpec],
    store: Store,
    jobs: int,
    memory: int | None = None,
    plugins: Sequence[Plugin] = (),
) -> Generator[Finished]:
    """Make runs on `jobs` threads, which share `memory` bytes, and yield them as they end.

    Runs with plugins are made by a process each, for which a thread waits.

    Closing the generator, or an interrupt while it waits, stops all runs within milliseconds.

    Raises
    ------
    EnvironmentFailure
        If the store cannot be written.
    """
    waiting = queue.SimpleQueue[RunSpec]()
    for spec in longest_first(specs):
        waiting.put(spec)
    ended = queue.SimpleQueue[Finished | BaseException]()
    cancel = _engine.CancelToken()
    threads_wanted = min(jobs, len(specs))
    share = budget(threads_wanted, memory)
    share_apart = share if memory is not None else min(share, MEMORY)

    def work() -> None:
        while not cancel.cancelled:
            try:
                spec = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                most = share_apart if spec.scenario.has_plugin else share
                ended.put(_compute(spec, store, cancel, most, plugins))
            except InterruptedRun:
                return
            except BaseException as error:  # handed to the thread that waits
                ended.put(error)
                return

    threads = [
        threading.Thread(target=work, name=f"run-{number}", daemon=True)
        for number in range(threads_wanted)
    ]
    try:
        for thread in threads:
            thread.start()
        for _ in specs:
            item = _next(ended)
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        cancel.cancel()
        for thread in threads:
            if thread.ident is not None:
                thread.join()


def _next(ended: "queue.SimpleQueue[Finished | BaseException]") -> Finished | BaseException:
    """Wait for the next run to end, open to interrupts."""
    while True:
        with contextlib.suppress(queue.Empty):
            return ended.get(timeout=NOTICE_EVERY_S)


Receipt = tuple[str, str, dict[str, bytes] | str]
"""What a worker sends back: key, its engine version, and the files of the run or what went wrong."""


def compute_remotely(text: str, seed: int, key: str) -> Receipt:
    """Make one run on a worker of a cluster; its files travel back, so no disk has to be shared."""
    version = _engine.engine_version()
    try:
        scenario = Scenario.parse(text)
        if scenario.key(seed) != key:
            return key, version, "the worker has another version of Sojourn"
        records = simulate(scenario.compiled, seed)
        return key, version, pack(records, key, seed, scenario.canonical())
    except SojournError as error:
        return key, version, error.message


def run_on_cluster(specs: list[RunSpec], store: Store, address: str) -> Generator[Finished]:
    """Make runs on the workers of a Dask scheduler and yield them as they end.

    Raises
    ------
    MissingExtra
        If the package `distributed` is not installed.
    EnvironmentFailure
        If the scheduler does not answer or the store cannot be written.
    """
    distributed = _import_distributed()
    try:
        client = distributed.Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise EnvironmentFailure(
            f"no Dask scheduler answers at {address}",
            "start one with `dask scheduler`, and workers with `dask worker ADDRESS --nthreads 1`",
        ) from error
    by_key = {spec.key: spec for spec in specs}
    futures: list[Any] = []
    try:
        futures = [
            client.submit(
                compute_remotely,
                spec.scenario.text,
                spec.seed,
                spec.key,
                key=f"sojourn-{spec.key}",
                retries=3,
                pure=True,
            )
            for spec in longest_first(specs)
        ]
        for future in distributed.as_completed(futures, loop=client.loop):
            spec = by_key[str(future.key).removeprefix("sojourn-")]
            try:
                _, _, outcome = future.result()
            except Exception as error:  # whatever killed the worker
                yield Finished(spec, None, RunError(f"the worker failed: {error}"))
                continue
            if isinstance(outcome, str):
                yield Finished(spec, None, RunError(outcome))
            else:
                yield Finished(spec, store.put(spec.key, outcome))
            future.release()
    finally:
        client.cancel(futures)
        client.close()


def _import_distributed() -> Any:  # noqa: ANN401 - an optional package
    try:
        import distributed
    except ImportError as error:
        raise MissingExtra("--cluster", "distributed", "cluster") from error
    return distributed
