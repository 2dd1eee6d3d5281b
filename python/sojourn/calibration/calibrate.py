"""From files of measurements to a model of the line: guess, table of runs, fit, gate, answer.

One direction is fitted at a time, to the tests that loaded it; the other carries acknowledgements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sojourn.base.errors import UsageError, nearest
from sojourn.calibration.answer import Answer
from sojourn.calibration.choices import bounds_of, families_of
from sojourn.calibration.files import write_calibration
from sojourn.calibration.fit import Posterior, fit, in_noise, interval, scaled
from sojourn.calibration.identify import findings, unknowable
from sojourn.calibration.line import ACCESSES, FAMILIES, FAMILY_WORDS, Access, Guess, Unknown, unknowns_of
from sojourn.calibration.measurement import Measured, by_direction, read_measurements, shortened
from sojourn.calibration.misfit import NO_POSTERIOR, misfit_of
from sojourn.calibration.reading import Reading, read_off, told_off
from sojourn.calibration.robust import goodput_error, robust_fit
from sojourn.calibration.side import BUDGET_S, Choices, Side, Statistics
from sojourn.calibration.statistics import statistics_of
from sojourn.calibration.summary import is_summary, read_summary
from sojourn.calibration.table import PILOT, affordable, cost_of, drawn, make_table
from sojourn.study.runner import available_cores

FIRST_SHARE = 0.6
"""Of the budget, for runs. chosen: the rest is for runs of the picture and for machines that are slower."""

SLOW_RUN_S, SHORT_LOAD_S = 0.2, 10.0
"""Cost of a run from which the load is shortened, and to how long. chosen: 360 of them are the share of the budget for runs."""

Progress = Callable[[str, int, int], None]


class Calibration(Answer):
    """A line as far as measurements determine it; see `Answer`."""

    def write(self, directory: str | Path | None = None) -> Path:
        """Write scenario, ensemble, posterior, page and manifest into a new directory, or below `results/`; returns the page."""
        return write_calibration(self, None if directory is None else Path(directory))


def _silent(_what: str, _done: int, _total: int) -> None:
    pass


def calibrate(
    files: Sequence[str | Path] | str | Path,
    access: str,
    *,
    direction: str = "both",
    family: str = "auto",
    fix: Mapping[str, str] | None = None,
    prior: Mapping[str, str] | None = None,
    budget: float = BUDGET_S,
    runs: int | None = None,
    statistics: Statistics = "auto",
    seed: int = 1,
    jobs: int | None = None,
    progress: Progress = _silent,
) -> Calibration:
    """Fit a model of an access line to measurements of it.

    Parameters
    ----------
    files
        Results of Flent or iperf3, or directories of them; tests that load one direction at a time.
    access
        `ethernet`, `pon`, `dsl`, `docsis30` or `docsis31`.
    direction
        `up`, `down` or `both`.
    family
        `auto`, or families of queue managers that may be, with commas: `drop-tail`, `codel`, `pie`, `flow queues`.
    fix, prior
        Values, and bounds such as `"50 kB..200 kB"`, by name: `rate`, `rtt`, `buffer`, `target`, `burst`.
    budget, runs
        Processor seconds for runs; or how many runs a direction gets.
    statistics
        `all` trusts the model's dynamics, `robust` leaves them out, `auto` does so if the misfit asks for it.
    seed
        What decides the draws: the same input gives the same bytes.
    jobs
        Threads; as many as there are cores if left out.
    progress
        Told what is done, how much of it, and of how much.

    Returns
    -------
    Calibration
        Shows itself in a notebook; `.lines()`, `.scenario()`, `.ensemble()`, `.write(directory)`.

    Raises
    ------
    UsageError
        If a file says nothing of a line, in a sentence.
    """
    paths = [Path(one) for one in ([files] if isinstance(files, str | Path) else files)]
    threads = jobs or available_cores()
    bounds = bounds_of(fix or {}, prior or {})
    choices = Choices(families_of(family), bounds, budget, runs, statistics, seed, threads)
    return calibrated(paths, access, direction, choices, progress)


def calibrated(
    paths: Sequence[Path], access: str, direction: str, choices: Choices, progress: Progress = _silent
) -> Calibration:
    """Fit a model of an access line to files; see `calibrate`.

    Raises
    ------
    UsageError
        If a file says nothing of a line, in a sentence.
    """
    kind = ACCESSES.get(access)
    if kind is None:
        raise UsageError(f"no access line is called {access!r}", nearest(access, list(ACCESSES)) or ", ".join(ACCESSES))
    summaries = [path for path in paths if is_summary(path)]
    files = [path for path in paths if not is_summary(path)]
    measured = read_measurements(files) if files else []
    measured += [test for path in summaries for test in read_summary(path)]
    by_direction(measured)
    chosen = [one for one in measured if direction in ("both", one.load.direction)]
    if not chosen:
        raise UsageError(f"no file loads the line {direction}", "--direction both takes what there is")
    rates = {one.load.direction: Reading.mean_of(_readings(one, kind)).rate_mbps for one in measured}
    sides = [
        _side(kind, one, rates, replace(choices, budget_s=choices.budget_s / len(chosen)), progress)
        for one in sorted(chosen, key=lambda one: one.load.direction, reverse=True)
    ]
    return Calibration(kind, tuple(sides), choices)


OTHER_WAY = 10.0
"""Rate of a direction that was not measured, over that of the other. chosen: enough for its acknowledgements."""


ACK_SHARE = 70 / (2 * 1514)
"""Rate of acknowledgements over the rate that they acknowledge. Source: RFC 5681 4.2, one for two full segments; frames of 52 B and 18 B."""


def _side(access: Access, measured: Measured, rates: Mapping[str, float], choices: Choices, progress: Progress) -> Side:
    """Fit one direction."""
    load = measured.load
    readings = _readings(measured, access)
    reading = Reading.mean_of(readings)
    rate = reading.rate_mbps
    other = "down" if load.direction == "up" else "up"
    slower = max(2.0, rate / OTHER_WAY) if load.direction == "down" else max(50.0, rate * OTHER_WAY)
    guess = Guess(rate, reading.idle_ms, rates.get(other, slower))
    if load.beside:
        guess = replace(guess, rate_mbps=rate + ACK_SHARE * guess.other_mbps)
    unknowns = unknowns_of(access, load, guess, priors=choices.bounds)
    observed = _observed(measured)
    bound = all(one.is_window_limited for one in readings)
    if bound:
        told = unknowable(access, load, measured.seen, guess, "", is_bound=True)
        return Side(access, measured, guess, reading, observed, tuple(unknowns), None, None, 0.0, 0.0, (), tuple(told))
    centres: dict[str, tuple[float, float]] = {}
    if math.isfinite(reading.buffer_bytes):
        centres["buffer"] = (reading.buffer_bytes, BUFFER_SPREAD)
    pilot = drawn(unknowns, PILOT, choices.seed, centres=centres, families=choices.families)
    slow_s = SLOW_RUN_S if load.length_s > SHORT_LOAD_S else math.inf
    cost_s = cost_of(access, load, guess, pilot, slow_s)
    is_shortened = cost_s > slow_s
    if is_shortened:
        measured = shortened(measured, SHORT_LOAD_S)
        load = measured.load
        observed = _observed(measured)
        cost_s = cost_of(access, load, guess, pilot)
    count = choices.runs or affordable(FIRST_SHARE * choices.budget_s, cost_s)
    draws = drawn(unknowns, count, choices.seed, centres=centres, families=choices.families)
    table = make_table(
        access,
        load,
        guess,
        unknowns,
        draws,
        jobs=choices.jobs,
        progress=lambda done, total: progress(f"{load.direction}stream", done, total),
    )
    posterior: Posterior | None = fit(table, observed)
    misfit = misfit_of(in_noise(table, scaled(table, observed)))
    error = goodput_error(load, reading.goodput_mbps, max(1, len(measured.seen)), measured.seen)
    robust, apart = robust_fit(table, observed, reading.goodput_mbps, posterior.shares, error)
    doubtful = misfit > 1 or disagree(unknowns, posterior, robust)
    if measured.told is not None:
        # A few numbers have no dynamics that could be left out.
        posterior = posterior if misfit <= NO_POSTERIOR else None
    elif choices.statistics == "robust" or (choices.statistics == "auto" and doubtful):
        posterior = robust if apart <= NO_POSTERIOR else None
    found = () if posterior is None else tuple(findings(unknowns, posterior))
    family = "" if posterior is None else FAMILIES[posterior.best]
    told = unknowable(access, load, measured.seen, guess, family, is_bound=False)
    if posterior is not None and len(posterior.alike) > 1:
        words = " and ".join(FAMILY_WORDS[FAMILIES[one]] for one in posterior.alike)
        told.insert(0, f"Which manager the queue has: {words} make what was measured.")
    return Side(
        access, measured, guess, reading, observed, tuple(unknowns), table, posterior,
        misfit, apart, found, tuple(told), is_shortened,
    )  # fmt: skip


def disagree(unknowns: Sequence[Unknown], full: Posterior, robust: Posterior) -> bool:
    """Return whether the rate that all statistics say lies outside of what the robust ones allow."""
    column = [one.name for one in unknowns].index("rate")
    (middle, _, _), (_, least, most) = (interval(*one.of(column)) for one in (full, robust))
    return not least <= middle <= most


BUFFER_SPREAD = 0.5
"""How far the first guess of a buffer is off, as the standard deviation of its logarithm. chosen: wide, for weights undo what is narrow."""


def _readings(measured: Measured, access: Access) -> list[Reading]:
    """Return what is read off each test."""
    if measured.told is not None:
        return [told_off(measured.told, access)]
    return [read_off(seen, measured.load, access) for seen in measured.seen]


def _observed(measured: Measured) -> np.ndarray:
    """Return the mean of tests; NaN where one of them does not know."""
    if measured.told is not None:
        return measured.told.statistics
    return np.mean([statistics_of(seen, measured.load) for seen in measured.seen], axis=0)
