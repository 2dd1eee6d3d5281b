"""Making runs in parallel: threads of this process, or workers of a Dask cluster.

The engine releases the interpreter lock, so threads scale; each has a token that stops its run. Runs go
longest first, which keeps the last ones short. What is finished is in the store before it is reported: what ends
within a second goes into it together.
"""

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sojourn._engine as _engine
from sojourn.base.errors import EnvironmentFailure, InterruptedRun, MissingExtra, RunError, SojournError
from sojourn.base.memory import budget
from sojourn.plugins import MEMORY, Plugin, simulate_apart
from sojourn.scenario.scenario_file import Scenario
from sojourn.simulation.engine import NOTICE_EVERY_S, simulate
from sojourn.store import Kept, PackedRun, Store, pack
from sojourn.study.plan import RunSpec


@dataclass(frozen=True)
class Finished:
    """A run that ended: with an entry of the store, or with an error."""

    spec: RunSpec
    entry: Kept | None
    error: RunError | None = None


def longest_first(specs: Iterable[RunSpec]) -> list[RunSpec]:
    """Return runs in the order in which to start them: those in processes of their own take ten times as long."""
    return sorted(specs, key=lambda spec: (not spec.scenario.is_apart, -spec.scenario.duration_s))


MOST_TOGETHER = 100
"""Runs of a segment. chosen: a run of 10 s of DSL takes 1.1 kB in tens, 0.35 kB in hundreds and 0.25 in thousands."""

LARGEST_TOGETHER = 64 * 2**20
"""Bytes in memory of what waits to be kept. chosen: the files of such a segment are read at once."""

WAITS_S = 1.0
"""How long a finished run may wait to be kept. chosen: what a kill loses is made again in that time."""


class _Together:
    """Finished runs on their way into the store: kept together, in the order of the plan."""

    def __init__(self, specs: Sequence[RunSpec], store: Store) -> None:
        self._store = store
        self._places = {spec.key: place for place, spec in enumerate(specs)}
        self._left = len(specs)
        self._lock = threading.Lock()
        self._waiting: list[tuple[RunSpec, PackedRun]] = []
        self._size = 0
        self._since = 0.0

    def add(self, spec: RunSpec, run: PackedRun) -> list[Finished]:
        """Take a run; return what is in the store now, which may be nothing."""
        with self._lock:
            if not self._waiting:
                self._since = time.monotonic()
            self._waiting.append((spec, run))
            self._size += run.size
            is_long = run.statistics["wall_s"] >= WAITS_S
        return self._ended(at_once=is_long)

    def skip(self, finished: Finished) -> list[Finished]:
        """Note a run that ended otherwise; return it with what is in the store now."""
        return [finished, *self._ended(at_once=False)]

    def _ended(self, *, at_once: bool) -> list[Finished]:
        with self._lock:
            self._left -= 1
            is_full = len(self._waiting) >= MOST_TOGETHER or self._size >= LARGEST_TOGETHER
            at_once = at_once or is_full or self._left == 0
        return self.keep() if at_once else self.keep_old()

    def keep_old(self) -> list[Finished]:
        """Keep what has waited long enough."""
        with self._lock:
            is_old = bool(self._waiting) and time.monotonic() - self._since >= WAITS_S
        return self.keep() if is_old else []

    def keep(self) -> list[Finished]:
        """Keep all that waits, and return it."""
        with self._lock:
            taken, self._waiting, self._size = self._waiting, [], 0
        if not taken:
            return []
        taken.sort(key=lambda item: self._places[item[0].key])
        ended: list[Finished] = []
        for asked in dict.fromkeys(spec.keep for spec, _ in taken):
            alike = [item for item in taken if item[0].keep == asked]
            entries = self._store.put_together([run for _, run in alike], asked)
            ended += [Finished(spec, entry) for (spec, _), entry in zip(alike, entries, strict=True)]
        return ended


def _compute(
    spec: RunSpec,
    store: Store,
    together: _Together,
    cancel: _engine.CancelToken,
    memory: int,
    plugins: Sequence[Plugin] = (),
) -> list[Finished]:
    """Make a run; return those that are in the store now, or failed."""
    try:
        if spec.scenario.is_apart:
            files = simulate_apart(spec.scenario, spec.seed, plugins, cancel=cancel, memory=memory)
            return together.skip(Finished(spec, store.put(spec.key, files)))
        records = simulate(spec.scenario.compiled, spec.seed, cancel, memory=memory)
    except RunError as error:
        return together.skip(Finished(spec, None, error))
    run = PackedRun.of(records, spec.key, spec.seed, spec.together.canonical, spec.keep)
    return together.add(spec, run)


def run_on_threads(
    specs: list[RunSpec],
    store: Store,
    jobs: int,
    memory: int | None = None,
    plugins: Sequence[Plugin] = (),
    on_last: Callable[[], None] | None = None,
) -> Generator[Finished]:
    """Make runs on `jobs` threads, which share `memory` bytes, and yield them when they are kept.

    Runs with plugins are made by a process each, for which a thread waits. `on_last` is called when no run is left
    to begin.

    Closing the generator, or an interrupt while it waits, stops all runs within milliseconds, and keeps those that
    have ended.

    Raises `EnvironmentFailure` if the store cannot be written.
    """
    ordered = longest_first(specs)
    waiting = queue.SimpleQueue[RunSpec]()
    for spec in ordered:
        waiting.put(spec)
    together = _Together(ordered, store)
    ended = queue.SimpleQueue[list[Finished] | BaseException]()
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
                most = share_apart if spec.scenario.is_apart else share
                ended.put(_compute(spec, store, together, cancel, most, plugins))
            except InterruptedRun:
                return
            except BaseException as error:  # handed to the thread that waits
                ended.put(error)
                return

    threads = [threading.Thread(target=work, name=f"run-{number}", daemon=True) for number in range(threads_wanted)]
    try:
        for thread in threads:
            thread.start()
        left = len(specs)
        while left:
            item = _next(ended, together)
            if on_last is not None and waiting.empty():
                on_last()
                on_last = None
            if isinstance(item, BaseException):
                raise item
            left -= len(item)
            yield from item
    finally:
        cancel.cancel()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
        with contextlib.suppress(EnvironmentFailure):  # told already, or the caller wants no more
            together.keep()


def _next(
    ended: "queue.SimpleQueue[list[Finished] | BaseException]", together: _Together
) -> list[Finished] | BaseException:
    """Wait a while for runs to end, open to interrupts; return those that are kept now."""
    with contextlib.suppress(queue.Empty):
        return ended.get(timeout=NOTICE_EVERY_S)
    return together.keep_old()


Receipt = tuple[str, str, dict[str, bytes] | str]
"""Answer of a worker: key, engine version, and the files of the run or its error."""


def compute_remotely(text: str, seed: int, key: str) -> Receipt:
    """Make one run on a worker of a cluster; its files travel back, so no disk has to be shared."""
    version = _engine.engine_version()
    try:
        scenario = Scenario.parse(text)
        if scenario.key(seed) != key:
            return key, version, "the worker has another version of Sojourn"
        if scenario.kernel:
            return key, version, simulate_apart(scenario, seed, ())
        records = simulate(scenario.compiled, seed)
        return key, version, pack(records, key, seed, scenario.canonical())
    except SojournError as error:
        return key, version, error.message


def run_on_cluster(specs: list[RunSpec], store: Store, address: str) -> Generator[Finished]:
    """Make runs on the workers of a Dask scheduler and yield them as they end.

    Raises `MissingExtra` if the package `distributed` is not installed; `EnvironmentFailure` if the scheduler does not
    answer or the store cannot be written.
    """
    distributed, client = dask_client(address, "--cluster")
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


def dask_client(address: str, option: str) -> tuple[Any, Any]:
    """Return the package `distributed`, and a client of a Dask scheduler.

    Raises `MissingExtra` if the package `distributed`, which the option needs, is not installed; `EnvironmentFailure` if the
    scheduler does not answer.
    """
    try:
        import distributed as package
    except ImportError as error:
        raise MissingExtra(option, "distributed", "cluster") from error
    distributed: Any = package
    try:
        return distributed, distributed.Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise EnvironmentFailure(
            f"no Dask scheduler answers at {address}",
            "start one with `dask scheduler`, and workers with `dask worker ADDRESS --nthreads 1`",
        ) from error
