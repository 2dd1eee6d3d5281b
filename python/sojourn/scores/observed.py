"""Observations that scores are judged on: round trips in files, packets and probes of runs.

Source: round trips of packets as of White 2019 4.2: each packet up with the first one down of the same flow that was sent at or after its
arrival.
Deviations: a run shows the spare rate of the line for an entry; on a full line its possible share is not known, and throughput is
not judged.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sojourn.base.errors import RecordError, UsageError, plain, why
from sojourn.base.files import read_file
from sojourn.field.importer import measurement_files
from sojourn.field.samples import is_coarse
from sojourn.field.series import RoundTrips, Series, read_series
from sojourn.scenario.scenario_file import Scenario, decoded, load_scenario
from sojourn.scores.judge import INTERVAL_S, Observed, Responsiveness, responsiveness_of
from sojourn.simulation.averages import seconds_of
from sojourn.simulation.run_directory import is_run, read_run
from sojourn.study.expand import expand
from sojourn.study.result import StudyResult

RAMP_S = 2.0
"""Seconds of a load that do not count as loaded. Source: the crate's `responsiveness`, chosen there."""

FULL = 0.95
"""Share of a line from which it is called full. chosen: what framing and grants leave unused."""

LANES = ("tcp", "http", "self")
"""Kinds of probes over connections, by the lane of their transfers."""

FEWEST = 10
"""Round trips below which there is no score. chosen: fewer than ten say nothing of any tail."""


class Subject:
    """One thing with scores: an entry of a run, the pings of a file.

    Attributes
    ----------
    name
        Of a study, with its point.
    observed
        What there is of each run.
    responsiveness
        Of a probe over connections.
    """

    def __init__(self, name: str, observed: list[Observed], responsiveness: Responsiveness | None = None) -> None:
        self.name = name
        self.observed = observed
        self.responsiveness = responsiveness


def subjects_of(path: Path, directions: Sequence[str] = ("two-way",)) -> list[Subject]:
    """Return what a file of measurements, the directory of a run or the result of a study has to be scored.

    Raises `UsageError` if it has nothing; `RecordError` if a directory is not valid.
    """
    if not path.is_dir():
        found = _of_file(read_series(path))
    elif is_run(path):
        manifest, tables, _ = read_run(path)
        text = load_scenario(path / "scenario.toml").canonical()
        found = _of_run(tables, text, manifest["statistics"]["simulated_s"], directions)
    else:
        _refuse_folder(path)
        found = _of_study(StudyResult.load(path), directions)
    if not found:
        raise UsageError(
            f"{plain(path)} has no round trips",
            "a game, or a probe with `transfers = true` below [record]; of a study, keep datagrams or transfers",
        )
    return found


def _refuse_folder(path: Path) -> None:
    """Refuse a folder of measurements: each file is scored by itself, and all together are a trial.

    Raises `UsageError` if it is one.
    """
    if any((path / name).exists() for name in ("manifest.json", "metrics.parquet")):
        return
    files = measurement_files(path)
    if files:
        some = f"{plain(path)}/{files[0][1]}" + (" …" if len(files) > 1 else "")
        raise UsageError(
            f"{plain(path)} is a folder of {len(files)} files, and a score is that of a file or of a result",
            f"sojourn score {some}; or all as a trial: sojourn trial import {plain(path)} --out DIR",
        )


def _of_file(series: Series) -> list[Subject]:
    found: list[Subject] = []
    kinds: dict[str, Observed] = {}
    for one in series.round_trips:
        observed = _of_series(one, series)
        kinds[one.kind] = observed
        if len(observed.delay_ms) < FEWEST:
            if one.kind == "ping":
                raise UsageError(
                    f"{series.name}: {len(observed.delay_ms)} round trips of {plain(one.name)} are too few for a score",
                    f"at least {FEWEST}, and a thousand for a 99th percentile",
                )
            continue
        found.append(Subject(plain(one.name), [observed]))
    end = max((float(one.sent_s.max()) for one in kinds.values() if len(one.sent_s)), default=0.0)
    until = end + 1e-9 if series.loaded_s is None else series.loaded_s[1]
    rpm = responsiveness_of(kinds, until)
    if rpm is not None:
        found.append(Subject("connections", [], rpm))
    return found


def _of_series(one: RoundTrips, series: Series) -> Observed:
    gaps = np.diff(np.sort(one.sent_s))
    often = f"cyclic, {1e3 * float(np.median(gaps)):.3g} ms" if len(gaps) else "once"
    whole = _observed(one, f"{series.tool}, {one.name}, {often}", series.rates_mbps)
    if series.loaded_s is None:
        return whole
    began, ended = series.loaded_s
    idle = one.within(one.sent_s < began)
    loaded = one.within((one.sent_s >= began) & (one.sent_s <= ended))
    without = _observed(idle, whole.method, {}) if len(idle) else None
    return _observed(loaded, whole.method, series.rates_mbps, without)


def _observed(one: RoundTrips, method: str, rates: Mapping[str, float], idle: Observed | None = None) -> Observed:
    came = one.rtt_ms[np.isfinite(one.rtt_ms)]
    flags: tuple[str, ...] = ()
    if is_coarse(came):
        flags = (
            f"{100 * np.mean(came <= 0):.0f} % of round trips are not above zero: the clock is coarse, and they count as 0 ms",
        )
    return Observed(
        one.name, method, "two-way", one.sent_s, one.rtt_ms, one.is_loss_known, dict(rates), flags=flags, idle=idle
    )


def _of_run(tables: Mapping[str, pl.DataFrame], text: str, length_s: float, directions: Sequence[str]) -> list[Subject]:
    metrics = {
        (subject, metric): value
        for subject, metric, value in tables["metrics"].select("subject", "metric", "value").iter_rows()
    }
    document = tomllib.loads(text)
    entries: list[dict[str, Any]] = document.get("traffic", [])
    from_s = seconds_of(document.get("measure", {}).get("from")) or 0.0
    found: list[Subject] = []
    for entry in entries:
        name = entry["name"]
        rates, flags = _left_over(metrics, name, length_s - from_s)
        app: dict[str, Any] = entry["app"]  # canonical scenarios spell it out
        if app["kind"] == "probe":
            found += _of_probe(tables, name, app, rates, flags, length_s)
        else:
            found += _of_packets(tables, name, from_s, rates, flags, directions)
    return found


def _left_over(
    metrics: Mapping[tuple[str, str], float], name: str, length_s: float
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return what each direction of the line had left for an entry, and what is to be said of it."""
    rates: dict[str, float] = {}
    flags: list[str] = []
    for way, link, own in (
        ("up", "upstream", "forwarded_volume"),
        ("down", "downstream", "forwarded_volume_downstream"),
    ):
        used, volume = metrics.get((link, "utilisation")), metrics.get((link, "forwarded_volume"))
        if not used or volume is None:
            continue
        if used >= FULL:
            flags.append(f"the line {way} was full")
            continue
        others = volume - metrics.get((name, own), 0.0)
        rates[way] = (volume / used - others) * 8e-3 / length_s
    if rates:
        flags.append(f"throughput {' and '.join(rates)} is what the others left of the line")
    return rates, tuple(flags)


def _of_probe(
    tables: Mapping[str, pl.DataFrame],
    name: str,
    app: Mapping[str, Any],
    rates: Mapping[str, float],
    flags: tuple[str, ...],
    length_s: float,
) -> list[Subject]:
    if "transfers" not in tables:
        return []
    rows = tables["transfers"].filter(pl.col("traffic") == name).sort("started_ns")
    began = seconds_of(app.get("loaded_from")) or 0.0
    ended = seconds_of(app.get("loaded_until")) or length_s
    is_echo = app.get("over", "datagrams") == "datagrams"
    kinds: dict[str, Observed] = {}
    for lane, kind in enumerate(LANES):
        part = rows.filter(pl.col("lane") == lane)
        if part.is_empty():
            continue
        sent = part["started_ns"].to_numpy() / 1e9
        took = (part["ended_ns"] - part["started_ns"]).cast(pl.Float64).fill_null(math.inf)
        delays = took.to_numpy() / 1e6
        # What was asked shortly before the end may still be on its way.
        longest_s = delays[np.isfinite(delays)].max(initial=0.0) / 1e3
        decided = np.isfinite(delays) | (sent < length_s - longest_s)
        sent, delays = sent[decided], delays[decided]
        method = f"simulated, {'echoes' if is_echo else kind}, cyclic, {app.get('interval', '')}"
        idle, loaded = sent < began, (sent >= began + RAMP_S) & (sent < ended)
        before = Observed(name, method, "two-way", sent[idle], delays[idle]) if idle.any() else None
        kinds[kind] = Observed(
            name, method, "two-way", sent[loaded], delays[loaded], rates_mbps=rates, flags=flags, idle=before
        )
    if not kinds or len(kinds["tcp"].delay_ms) < FEWEST:
        return []
    rpm = None
    if not is_echo:
        rpm = responsiveness_of(kinds, ended, _goodput(tables, name, began, ended))
    return [Subject(name, [kinds["tcp"]], rpm)]


def _goodput(tables: Mapping[str, pl.DataFrame], name: str, began: float, ended: float) -> list[float]:
    """Return the rate of the load beside a probe in whole intervals that end with it, Mb/s."""
    if "traffic_series" not in tables:
        return []
    load = name.rpartition("-")[0]
    rows = tables["traffic_series"].filter(
        pl.col("traffic").cast(pl.String).str.contains(rf"^{re.escape(load)}-(up|down)load")
    )
    end = rows["start_ns"].to_numpy() / 1e9 + rows["width_ns"].to_numpy() / 1e9
    count = int((ended - began) / INTERVAL_S)
    place = np.ceil((ended - end) / INTERVAL_S - 1e-9).astype(int)
    sums = np.zeros(max(count, 0))
    inside = (end <= ended + 1e-9) & (end > ended - count * INTERVAL_S) & (place < count)
    np.add.at(sums, count - 1 - place[inside], rows["forwarded_bytes"].to_numpy()[inside])
    return (sums * 8e-6 / INTERVAL_S).tolist()


def _of_packets(
    tables: Mapping[str, pl.DataFrame],
    name: str,
    from_s: float,
    rates: Mapping[str, float],
    flags: tuple[str, ...],
    directions: Sequence[str],
) -> list[Subject]:
    if "datagrams" not in tables:
        return []
    rows = tables["datagrams"].filter((pl.col("traffic") == name) & (pl.col("sent_ns") >= from_s * 1e9))
    ways = {
        way: rows.filter(pl.col("direction") == link).sort("sent_ns")
        for way, link in (("up", "upstream"), ("down", "downstream"))
    }
    found: list[Subject] = []
    for direction in dict.fromkeys(directions):
        if direction == "two-way":
            sent, delays = paired_trips(ways["up"], ways["down"])
        else:
            sent = ways[direction]["sent_ns"].to_numpy() / 1e9
            delays = _one_way(ways[direction]) / 1e6
        if len(delays) >= FEWEST:
            method = f"simulated, its own packets, {direction}"
            one = Observed(name, method, direction, sent, delays, rates_mbps=rates, flags=flags)
            found.append(Subject(name, [one]))
    return found


def _one_way(rows: pl.DataFrame) -> np.ndarray:
    """Return delays in ns; infinite where a packet never came."""
    took = rows["arrived_ns"].cast(pl.Float64) - rows["sent_ns"].cast(pl.Float64)
    return took.fill_null(math.inf).to_numpy()


def paired_trips(up: pl.DataFrame, down: pl.DataFrame, *, at_once: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return when packets were sent up, in s, and their round trips in ms; infinite where either way lost its packet.

    Packets behind the last answer have no round trip and are left out.

    Parameters
    ----------
    up, down
        Datagrams of each way, in order of sending.
    at_once
        Whether a packet up meets the first one down that was sent after it was sent, and not after it arrived: no round trip
        of anything, for comparison.
    """
    times: list[np.ndarray] = []
    trips: list[np.ndarray] = []
    answers = down.partition_by("flow", as_dict=True)
    for key, part in up.partition_by("flow", as_dict=True).items():
        if key not in answers:
            continue
        there, back = _one_way(part), _one_way(answers[key])
        sent = part["sent_ns"].to_numpy().astype(float)
        answered = answers[key]["sent_ns"].to_numpy().astype(float)
        arrives = np.where(np.isfinite(there) & (not at_once), sent + there, sent)
        place = np.searchsorted(answered, arrives, side="left")
        known = place < len(answered)
        times.append(sent[known] / 1e9)
        trips.append((there[known] + back[place[known]]) / 1e6)
    if not times:
        return np.empty(0), np.empty(0)
    return np.concatenate(times), np.concatenate(trips)


def _of_study(result: StudyResult, directions: Sequence[str]) -> list[Subject]:
    found: dict[str, Subject] = {}
    for point, _, subject in _of_runs(result, directions):
        name = f"{point}: {subject.name}"
        direction = subject.observed[0].direction
        found.setdefault(f"{name} {direction}", Subject(name, [])).observed += subject.observed
    return list(found.values())


def observed_at(result: StudyResult, point: str, name: str, direction: str) -> dict[int, Observed]:
    """Return what there is of an entry at a point of a study, by seed.

    Raises `RecordError` if a directory is not valid.
    """
    return {
        seed: one
        for _, seed, subject in _of_runs(result, [direction], point)
        if subject.name == name
        for one in subject.observed
        if one.direction == direction
    }


def _of_runs(
    result: StudyResult, directions: Sequence[str], only: str | None = None
) -> Iterator[tuple[str, int, Subject]]:
    """Give what each run has to be scored, with its point and seed; of one point only if it is named."""
    kept = {
        table: result.records(table).collect()
        for table in ("datagrams", "transfers", "traffic_series")
        if table in result.tables()
    }
    name = Path(result.definition.scenario).name
    try:
        base = decoded(read_file(result.directory / "scenarios" / name, root=result.directory))
    except (OSError, UnicodeDecodeError) as error:
        raise RecordError(f"scenarios/{name} of {result.directory}: {why(error)}") from error
    texts = {
        point.name: Scenario.parse(point.text).canonical()
        for point in expand(result.definition, base, result.definition.scenario)
        if only in (None, point.name)
    }
    for point, seed, length_s in result.runs.select("point", "seed", "simulated_s").iter_rows():
        if point not in texts:
            continue
        tables = {
            name: table.filter((pl.col("point") == point) & (pl.col("seed") == seed))
            for name, table in {**kept, "metrics": result.metrics}.items()
        }
        for subject in _of_run(tables, texts[point], length_s, directions):
            yield point, seed, subject
