"""The cases of BBR's draft that are about a state, which a run records as `phase` of `connection_series`.

Where a case begins with a state ("upon entering DRAIN"), a first run without the change tells when that is, and a second one has
the change then.

Source: draft-ietf-ccwg-bbr, appendix "BBR Example Test Cases". Deviations: paths are those of `bbr`; where an application is the
limit, it has 20 of 50 Mb/s, so that six lost packets of a round are less than a fifth of it; a line that loses a tenth of its
rate in DRAIN is drained in time, so it loses more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sojourn.congestion.bbr import BASE, SOURCE, application, own
from sojourn.congestion.scenario import Cell, Number, Phase, Run

LOOK_MS = 2.0
"""Time between two looks. chosen: the shortest state lasts a round trip of 40 ms."""

SETTLED_S = 3.0
"""Start of counting, s. chosen: STARTUP and DRAIN are over after one."""


def _cell(number: int, what: str, numbers: tuple[Number, ...], **other: Any) -> Cell:  # noqa: ANN401 - fields of a cell
    item, section = f"B{number}", f"{SOURCE}, {number}"
    common = {"window_ms": LOOK_MS, "series_ms": 0.0, "from_s": SETTLED_S, "duration_s": 30.0}
    return replace(BASE, item=item, section=section, what=what, numbers=numbers, **{**common, **other})


def _followed(run: Run, word: str, after_s: float = SETTLED_S) -> list[tuple[Phase, Phase]]:
    """Return phases of a word with those that follow, but for probes of the round trip, which may come at any time."""
    pairs = zip(run.phases, run.phases[1:], strict=False)
    return [(one, then) for one, then in pairs if one.word == word and one.begin >= after_s and then.word != "ProbeRTT"]


def _percent(found: Sequence[bool]) -> float:
    return 100 * float(np.mean(found)) if found else np.nan


def _product(run: Run) -> float:
    """Return the bandwidth-delay product in full packets."""
    return run.cell.rate_mbps * 1e3 * run.cell.rtt_ms / (8 * 1500)


def _left(word: str, *goals: str) -> Number:
    """Return how long after the moment, or the first condition, a state is left; the rest of the run if it never is."""

    def of(run: Run) -> float:
        at = LOSS_S if np.isnan(run.cell.at_s) else run.cell.at_s
        for place, phase in enumerate(run.phases):
            if phase.begin <= at < phase.end or (phase.begin <= at and not phase.is_over):
                if phase.word != word:
                    return np.nan
                then = run.phases[place + 1].word if phase.is_over else ""
                return phase.end - at if then in goals else run.cell.duration_s - at
        return np.nan

    return Number("left", f"until it leaves {word} after the first loss", "s", of)


def _in(word: str, *, before: str = "", after_s: float = 0.0, lasting_s: float = 0.0) -> Callable[[Run], float]:
    """Return what tells when a state has lasted so long, the first that comes after a word and a time; NaN if none does."""

    def of(run: Run) -> float:
        words = [phase.word for phase in run.phases]
        first = words.index(before) if before in words else 0 if not before else len(words)
        for phase in run.phases[first:]:
            long = phase.end - phase.begin > lasting_s
            if phase.word == word and long and phase.begin >= after_s:
                return phase.begin + lasting_s
        return np.nan

    return of


def _during(run: Run) -> tuple[Phase, Phase] | None:
    """Return the state in which the moment lies, and the next."""
    for one, then in zip(run.phases, run.phases[1:], strict=False):
        if one.begin <= run.cell.at_s + LOOK_MS / 1e3 < then.begin:
            return one, then
    return None


# Losses while the application is the limit.

LOSS_S = 3.0

DOWN = ("ProbeBW_DOWN", "ProbeBW_CRUISE")
"""With little under way PROBE_DOWN is over at the same acknowledgement, and no look sees it."""

TWENTY = application(20.0, every_ms=10)

# Draining.


def _drain_s(run: Run) -> float:
    found = _during(run)
    return found[0].end - found[0].begin if found else np.nan


def _drain_flight(run: Run) -> float:
    found = _during(run)
    return 100 * found[0].last("flight_segments") / _product(run) if found else np.nan


# Probing.


def _rounds_up(run: Run) -> float:
    """Return the median number of round trips of probes of the rate."""
    found = [
        (one.end - one.begin) / (float(one.looks["round_trip_ns"].mean()) / 1e9)  # type: ignore[arg-type]
        for one, _ in _followed(run, "ProbeBW_UP")
    ]
    return float(np.median(found)) if found else np.nan


def _up_to_down(run: Run) -> float:
    return _percent([then.word == "ProbeBW_DOWN" for _, then in _followed(run, "ProbeBW_UP")])


def _down_to_cruise(run: Run) -> float:
    most = 1.3 * _product(run)  # with three releases of two packets and what a delayed acknowledgement adds
    return _percent(
        [
            then.word == "ProbeBW_CRUISE" and one.last("flight_segments") <= most
            for one, then in _followed(run, "ProbeBW_DOWN")
        ]
    )


def _skipped_cruise(run: Run) -> float:
    found = _during(run)
    return _percent([found[1].word == "ProbeBW_REFILL"]) if found else np.nan


def _down_s(run: Run) -> float:
    found = _during(run)
    return found[0].end - found[0].begin if found else np.nan


def _back_to_startup(run: Run) -> float:
    probes = zip(run.phases, run.phases[1:], run.phases[2:], strict=False)
    found = [
        then.word == "Startup"
        for before, probe, then in probes
        if probe.word == "ProbeRTT" and before.word == "Startup"
    ]
    return _percent(found)


def _bound(run: Run) -> float:
    """Return the bound after the losses over that before them, in %."""
    found = _during(run)
    return 100 * found[1].last("bound_segments") / found[0].last("bound_segments") if found else np.nan


def _bound_left(run: Run) -> float:
    found = _during(run)
    return 100 * found[1].last("bound_segments") / _product(run) if found else np.nan


def _refilled(run: Run) -> list[tuple[Phase, Phase]]:
    """Return refills in which the application paused, with what followed."""
    few = _product(run) / 2
    return [
        (one, then)
        for one, then in _followed(run, "ProbeBW_REFILL")
        if float(one.looks["flight_segments"].min()) < few  # type: ignore[arg-type]
    ]


def _kept(run: Run) -> float:
    """Return the least of the estimated rate after such a refill over that before it, in %."""
    found = [100 * one.last("bandwidth_bps") / float(one.looks["bandwidth_bps"][0]) for one, _ in _refilled(run)]
    return min(found) if found else np.nan


CELLS = (
    _cell(
        2,
        "an application of 20 Mb/s of 50, 15 % lost for 0.1 s in STARTUP",
        (_left("Startup", "Drain", *DOWN),),
        traffic=TWENTY,
        rate_mbps=50.0,
        conditions=f'{{ from = "{LOSS_S:g} s", for = "0.1 s", loss = 0.15 }}',
        duration_s=8.0,
    ),
    _cell(
        4,
        "0.4 of the rate from DRAIN on",
        (
            Number("lasts", "in DRAIN", "s", _drain_s),
            Number("flight", "under way at its end, of a product", "%", _drain_flight),
        ),
        moment=_in("Drain"),
        later='{ from = "@", for = "1 h", rate = "4 Mb/s" }',
        duration_s=6.0,
    ),
    _cell(
        5,
        "probes of the rate at its end",
        (
            Number("rounds", "round trips of PROBE_UP, median", "", _rounds_up),
            Number("down", "of them go to PROBE_DOWN", "%", _up_to_down),
        ),
    ),
    _cell(
        6,
        "an application of 20 Mb/s of 50, 15 % lost for 0.1 s in PROBE_UP",
        (_left("ProbeBW_UP", *DOWN),),
        traffic=TWENTY,
        rate_mbps=50.0,
        # Out of STARTUP by losses above every threshold.
        conditions=f'{{ from = "{LOSS_S:g} s", for = "0.1 s", loss = 0.4 }}',
        moment=_in("ProbeBW_UP", lasting_s=0.4),
        later='{ from = "@", for = "0.1 s", loss = 0.15 }',
    ),
    _cell(
        8,
        "PROBE_DOWN until the queue is empty",
        (Number("cruise", "of them go to CRUISE with a product under way", "%", _down_to_cruise),),
    ),
    _cell(
        9,
        "0.85 of the rate from PROBE_DOWN on",
        (
            Number("skipped", "go to REFILL without CRUISE", "%", _skipped_cruise),
            Number("lasts", "in PROBE_DOWN", "s", _down_s),
        ),
        moment=_in("ProbeBW_DOWN", before="ProbeRTT"),
        later='{ from = "@", for = "1 h", rate = "8.5 Mb/s" }',
    ),
    _cell(
        20,
        "an application of 2 Mb/s, so that STARTUP lasts until a probe of the round trip",
        (Number("back", "of those probes go back to STARTUP", "%", _back_to_startup),),
        traffic=application(2.0, every_ms=10),
    ),
    _cell(
        21,
        "a tenth lost for 60 ms in PROBE_UP, after the bound is known",
        (
            _left("ProbeBW_UP", *DOWN),
            Number("bound", "the bound after it, of that before", "%", _bound),
            Number("left_of_product", "the bound after it, of a product", "%", _bound_left),
        ),
        buffer=1.0,
        moment=_in("ProbeBW_UP", after_s=SETTLED_S, lasting_s=0.04),
        later='{ from = "@", for = "60 ms", loss = 0.1 }',
    ),
    _cell(
        22,
        "files of 400 kB with pauses of 80 ms: some of them in REFILL",
        (
            Number(
                "up",
                "of those go to PROBE_UP",
                "%",
                lambda run: _percent([then.word == "ProbeBW_UP" for _, then in _refilled(run)]),
            ),
            Number("kept", "the rate after them, of that before, least", "%", _kept),
        ),
        traffic=own(', file = "400 kB", gap = "80 ms", reuse_connection = true'),
        duration_s=60.0,
    ),
)
"""Cases about a state."""
