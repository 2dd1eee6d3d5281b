"""A field trial on the desk: its tests are simulated, and written as the files that Flent would have written.

Source: Flent's page on its data format. Pings are those of the simulated probes; throughput is what left the queue of
the access link, less headers. `sojourn.field.importer` reads the files as it reads real ones.
Deviations: a test's other circumstances (`sojourn.field.population`) multiply its samples.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
import tomli_w

import sojourn._engine as _engine
from sojourn.base.errors import Problem, RecordError, ScenarioError, UsageError, nearest
from sojourn.base.files import is_file, read_file, write_file
from sojourn.base.output import refuse_used, writing
from sojourn.field.assignments import SCHEDULE
from sojourn.field.population import (
    Circumstances,
    Home,
    Population,
    calendar_factors,
    circumstances,
    draw_homes,
    home_overlay,
)
from sojourn.scenario.scenario_file import Scenario
from sojourn.simulation.engine import simulate

QUICK_HOMES = 12
"""Homes of a quick simulation. chosen: twice as many as make an effect clear, and a minute for three treatments."""

STEP_S = 0.2
"""Flent's STEP_SIZE."""

MARKS = {"be": "BE", "bk": "BK", "cs5": "CS5", "ef": "EF"}
"""Endings of the named load's streams and pings, and Flent's words for them."""

WORDS = {"up": "upload", "down": "download"}

RECORD: dict[str, Any] = {"record": {"series": "200 ms", "transfers": True}}
"""Records that the file of a test needs."""


@dataclass(frozen=True, slots=True)
class SimulatedTest:
    """One test to be made.

    Attributes
    ----------
    home, number
        Whose it is, and the home's number from 1.
    week, treatment, direction, time
        As in the schedule.
    place
        Number of the test within its home, week and direction, from 1.
    """

    home: Home
    number: int
    week: int
    treatment: str
    direction: str
    time: datetime
    place: int


def queue_of(treatment: str) -> dict[str, Any]:
    """Return the upstream queue that a treatment's name means: a size of drop-tail, or a manager's kind.

    Raises `UsageError` if it means none.

    Examples
    --------
    >>> queue_of("48KB")
    {'kind': 'drop-tail', 'limit': '48 KiB'}
    >>> queue_of("fq-codel")
    {'kind': 'fq-codel'}
    """
    if match := re.fullmatch(r"(\d+(?:\.\d+)?) ?(KB|KiB|MB|MiB|ms|packets)", treatment):
        # Modems count in 1024s.
        unit = {"KB": "KiB", "MB": "MiB"}.get(match[2], match[2])
        return {"kind": "drop-tail", "limit": f"{match[1]} {unit}"}
    kinds = _queue_kinds()
    if treatment in kinds:
        return {"kind": treatment}
    raise UsageError(
        f'"{treatment}" is no treatment that can be simulated by its name',
        nearest(treatment, kinds) or "48KB, fq-codel, or --treatment NAME='{ kind = … }'",
    )


def _queue_kinds() -> list[str]:
    """Return the kinds of queue managers, as the schema of scenarios lists them."""
    found: dict[str, None] = {}

    def collect(part: Any, *, within: bool) -> None:  # noqa: ANN401 - any JSON
        if isinstance(part, dict):
            for key, value in cast("dict[str, Any]", part).items():
                if within and key == "kind":
                    found.update(dict.fromkeys(value.get("enum", ())))
                collect(value, within=within or key == "queue")
        elif isinstance(part, list):
            for value in cast("list[Any]", part):
                collect(value, within=within)

    collect(json.loads(_engine.scenario_schema()), within=False)
    return list(found)


def quick_part(schedule: pl.DataFrame) -> pl.DataFrame:
    """Return the tests of a quick simulation: the first homes of a schedule, with the first day of each treatment."""
    homes = schedule["probe"].unique().sort().head(QUICK_HOMES)
    days = pl.col("time").dt.date()
    first = days == days.min().over("probe", "week")
    return schedule.filter(pl.col("probe").is_in(homes.implode()) & first)


def simulate_trial(
    schedule: pl.DataFrame,
    queues: Mapping[str, Mapping[str, Any]],
    directory: Path,
    *,
    base: str,
    population: Population,
    seed: int = 1,
    jobs: int = 1,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> int:
    """Simulate every test of a schedule that takes place, and write its file.

    Raises `UsageError` if the directory is in use, or the unfinished one belongs to another trial; `ScenarioError` if a
    test's scenario is not valid.

    Parameters
    ----------
    schedule
        Columns of `sojourn.field.assignments.SCHEDULE`.
    queues
        The upstream queue of each treatment, as a scenario says it.
    directory
        A new directory; one folder per home. Until all tests are there, they stand in the directory that `unfinished`
        names, and a further call with the same arguments goes on with it.
    base
        Scenario of a test, with a named load `test`.
    population, seed
        What homes are drawn from, and what decides them.
    jobs
        Threads.
    progress
        Told after each test.

    Returns
    -------
    int
        How many tests there are.
    """
    tests, homes = _tests_of(schedule, population, seed)
    scenarios: dict[tuple[str, str, str], Scenario] = {}
    for test in tests:
        key = (test.home.name, test.treatment, test.direction)
        if key not in scenarios:
            scenarios[key] = _scenario(base, test, queues[test.treatment])
    folder = _begin(directory, json.dumps([schedule.write_csv(), queues, base, repr(population), seed]))
    with writing(folder):
        for home in homes:
            (folder / home).mkdir(exist_ok=True)

    def make(test: SimulatedTest) -> None:
        around = circumstances(population, seed, test.number, test.week, test.direction, test.place)
        throughput, latency = calendar_factors(population, seed, test.time)
        around = replace(around, throughput=around.throughput * throughput, latency=around.latency * latency)
        path = folder / test.home.name / _name_of(test, around)
        if not is_file(path):
            write_file(path, _file_of(scenarios[test.home.name, test.treatment, test.direction], test, around))

    with ThreadPoolExecutor(jobs) as pool:
        try:
            for done, _ in enumerate(pool.map(make, tests), start=1):
                progress(done, len(tests))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    with writing(directory):
        (folder / TRIAL).unlink()
        folder.rename(directory)
    return len(tests)


TRIAL = "trial.sha256"
"""The file of an unfinished directory that says which trial it is of."""


def unfinished(directory: Path) -> Path:
    """Return where the finished tests of a trial stand while others are missing."""
    return directory.with_name(f"{directory.name}.partial")


def _begin(directory: Path, trial: str) -> Path:
    """Return the unfinished directory of a trial, new or with the tests of a call that was stopped."""
    refuse_used(directory)
    folder = unfinished(directory)
    digest = hashlib.sha256(f"{_engine.engine_version()} {trial}".encode()).hexdigest()
    if folder.exists():
        if (
            not is_file(folder / TRIAL)
            or read_file(folder / TRIAL, most=len(digest)).decode("ascii", "replace") != digest
        ):
            raise UsageError(
                f"{folder} holds tests of another trial, or of another version", "remove it, or take another --out"
            )
    else:
        with writing(folder):
            folder.mkdir(parents=True)
            write_file(folder / TRIAL, digest)
    return folder


def _tests_of(schedule: pl.DataFrame, population: Population, seed: int) -> tuple[list[SimulatedTest], list[str]]:
    """Return the tests that take place, in the order of the schedule, and the names of all homes."""
    names = sorted(schedule["probe"].unique().to_list())
    drawn = draw_homes(len(names), seed, population)
    homes = {name: (number, home) for number, (name, home) in enumerate(zip(names, drawn, strict=True), 1)}
    first = schedule["time"].min()
    tests: list[SimulatedTest] = []
    places: dict[tuple[str, int, str], int] = {}
    for probe, week, treatment, time, direction in schedule.select(list(SCHEDULE)).iter_rows():
        number, home = homes[probe]
        place = places[probe, week, direction] = places.get((probe, week, direction), 0) + 1
        around = circumstances(population, seed, number, week, direction, place)
        day = (time - first).days
        if around.is_missing or day >= home.left_after_days:
            continue
        named = Home(**{**_fields(home), "name": probe})
        tests.append(SimulatedTest(named, number, week, treatment, direction, time, place))
    return tests, names


def _fields(home: Home) -> dict[str, Any]:
    return {name: getattr(home, name) for name in Home.__slots__}


def _scenario(base: str, test: SimulatedTest, queue: Mapping[str, Any]) -> Scenario:
    """Return the scenario of a test."""
    file = _engine.ScenarioFile.parse(base)
    load = {"load": [{"name": "test", "test": f"rrul_{test.direction}"}]}
    remove = {"remove": ["access.upstream.queue"]}
    for overlay in (remove, home_overlay(test.home), load, RECORD):
        file, problems = file.laid(tomli_w.dumps(overlay))
        _raise(problems)
    file, problems = file.laid(tomli_w.dumps({"access": {"upstream": {"queue": dict(queue)}}}))
    _raise(problems)
    return Scenario.parse(file.text())


def _raise(problems: Sequence[Any]) -> None:
    if problems:
        raise ScenarioError([Problem(one["path"], one["message"], one["hint"]) for one in problems])


def _began(test: SimulatedTest, around: Circumstances) -> datetime:
    """Return when a test begins, by the clock of its home."""
    return (test.time + timedelta(seconds=around.later_s + test.home.clock_s)).astimezone(UTC)


def _name_of(test: SimulatedTest, around: Circumstances) -> str:
    """Return the name of a test's file."""
    title = f"probe_{test.home.name}_treatment_{test.treatment}_week_{test.week}"
    return f"rrul_{test.direction}-{_began(test, around):%Y-%m-%dT%H%M%S.%f}.{title}.flent.gz"


def _file_of(scenario: Scenario, test: SimulatedTest, around: Circumstances) -> bytes:
    """Simulate a test, and return the content of its file."""
    records = simulate(scenario.compiled, test.place)
    document = flent_document(
        {name: pl.DataFrame(records.table(name)) for name in ("traffic_series", "transfers")},
        {(subject, metric): value for subject, metric, value, _ in records.metrics()},
        duration_s=scenario.duration_s,
        direction=test.direction,
        title=f"probe={test.home.name} treatment={test.treatment} week={test.week}",
        began=_began(test, around),
        around=around,
    )
    return gzip.compress(json.dumps(document).encode(), mtime=0)


def flent_document(
    tables: Mapping[str, pl.DataFrame],
    metrics: Mapping[tuple[str, str], float],
    *,
    duration_s: float,
    direction: str,
    title: str,
    began: datetime,
    around: Circumstances,
) -> dict[str, Any]:
    """Return a run with a named load `test` as a result of Flent, format 4.

    Raises `RecordError` if the run has no such load.

    Parameters
    ----------
    tables
        `traffic_series` in bins of 200 ms, and `transfers`.
    metrics
        By subject and metric.
    duration_s
        Length of the run.
    direction
        `up` or `down`.
    title, began
        As Flent keeps them.
    around
        What multiplies the samples.
    """
    count = math.floor(duration_s / STEP_S + 0.5)
    word = WORDS[direction]
    streams: dict[str, np.ndarray] = {}
    for mark, name in MARKS.items():
        entry = f"test-{word}-{mark}"
        if (entry, "goodput_loaded") in metrics:
            rates = _rates(tables["traffic_series"], metrics, entry, direction, duration_s, count)
            streams[f"TCP {word} {name}"] = rates * around.throughput
    if not streams:
        raise RecordError(f"the run has no load test-{word}-…")
    pings = {"Ping (ms) ICMP": "test-ping"} | {
        f"Ping (ms) UDP {name}": f"test-ping-udp-{mark}" for mark, name in MARKS.items()
    }
    results: dict[str, list[float | None]] = {name: _listed(values) for name, values in streams.items()}
    results[f"TCP {word} avg"] = _listed(np.mean(list(streams.values()), axis=0))
    results[f"TCP {word} sum"] = _listed(np.sum(list(streams.values()), axis=0))
    for name, entry in pings.items():
        values = _round_trips(tables["transfers"], entry, count)
        if values is not None:
            results[name] = _listed(values * around.latency)
    loaded = np.flatnonzero(np.isfinite(next(iter(streams.values()))))
    length = STEP_S * len(loaded)
    time = began.isoformat(timespec="microseconds").replace("+00:00", "Z")
    return {
        "version": 4,
        "x_values": [round(STEP_S * (step + 1), 3) for step in range(count)],
        "results": results,
        "metadata": {
            "NAME": f"rrul_{direction}",
            "TITLE": title,
            "TIME": time,
            "LOCAL_HOST": "simulated",
            "HOST": "simulated",
            "LENGTH": round(length),
            "TOTAL_LENGTH": round(duration_s),
            "STEP_SIZE": STEP_S,
        },
        "raw_values": {},
    }


def _rates(
    series: pl.DataFrame,
    metrics: Mapping[tuple[str, str], float],
    entry: str,
    direction: str,
    duration_s: float,
    count: int,
) -> np.ndarray:
    """Return application Mb/s of a stream by step; NaN before and after its load."""
    link, ending = ("upstream", "") if direction == "up" else ("downstream", "_downstream")
    rows = series.filter((pl.col("link") == link) & (pl.col("traffic") == entry))
    rates = np.zeros(count)
    steps = (rows["start_ns"].to_numpy() / (STEP_S * 1e9) + 0.5).astype(int)
    inside = steps < count
    np.add.at(rates, steps[inside], rows["forwarded_bytes"].to_numpy()[inside] * 8e-6 / STEP_S)
    # What is payload: goodput over what was forwarded, both over the whole run.
    forwarded = metrics[entry, f"forwarded_volume{ending}"] * 8e-3 / duration_s
    if forwarded > 0:
        rates *= metrics[entry, f"goodput{ending}"] / forwarded
    goodput, whole = (metrics[entry, "goodput_loaded"], metrics[entry, f"goodput{ending}"] * duration_s)
    steps_loaded = round(whole / goodput / STEP_S) if goodput > 0 else 0
    first = (count - steps_loaded) // 2
    rates[:first] = np.nan
    rates[first + steps_loaded :] = np.nan
    return rates


def _round_trips(transfers: pl.DataFrame, entry: str, count: int) -> np.ndarray | None:
    """Return round trips in ms by step; NaN where none came back; `None` without such a probe."""
    rows = transfers.filter((pl.col("traffic") == entry) & (pl.col("lane") == 0))
    if rows.is_empty():
        return None
    values = np.full(count, np.nan)
    for started, ended in rows.select("started_ns", "ended_ns").iter_rows():
        step = int(started / (STEP_S * 1e9))
        if ended is not None and step < count:
            values[step] = (ended - started) / 1e6
    return values


def _listed(values: np.ndarray) -> list[float | None]:
    return [round(float(value), 4) if math.isfinite(value) else None for value in values]
