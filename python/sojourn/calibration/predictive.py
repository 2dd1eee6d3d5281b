"""Runs of the posterior beside the measurement, as pictures and as tail probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sojourn.answers.figure import Figure
from sojourn.answers.report_content import PlainCell, PlainTable
from sojourn.base.digits import significant
from sojourn.calibration.answer import draws_of
from sojourn.calibration.measurement import Load, Seen
from sojourn.calibration.side import Side
from sojourn.calibration.simulated import seen_in
from sojourn.calibration.statistics import NAMES, ROBUST, WORDS, statistics_of
from sojourn.calibration.table import Draw, simulate_draw
from sojourn.plots.spec import Axis, Band, Line, Panel, PlotSpec

RUNS = 40
"""Runs of the ensemble in a picture. chosen: two of each line."""

FIRST_SEED = 1_000_000
"""Seeds of them: none of a table's. chosen."""

UNLIKELY = 0.01
"""Tail probability from which a statistic stands in bold. chosen: one in fifty at both ends together."""


@dataclass(frozen=True)
class Prediction:
    """Runs of lines of a posterior: what was seen of each, and its statistics."""

    seen: tuple[Seen, ...]
    statistics: np.ndarray


def predict(side: Side, seed: int, runs: int = RUNS) -> Prediction:
    """Run lines of the posterior as the test was made."""
    load = side.measured.load
    found: list[Seen] = []
    for number, (family, values) in enumerate(draws_of(side, runs, seed)):
        records = simulate_draw(side.access, load, side.guess, Draw(family, values, FIRST_SEED + number))
        found.append(seen_in(records, load, values.get("offset", 0.0)))
    return Prediction(tuple(found), np.stack([statistics_of(seen, load) for seen in found]))


def figures_of(side: Side, prediction: Prediction | None) -> list[Figure]:
    """Return round trips over time, their distribution and rates, measured and as the fitted lines would have it."""
    load = side.measured.load
    panels: list[Panel] = []
    if load.interval_ms:
        panels += [_over_time(side, prediction, load), _distribution(side, prediction)]
    panels.append(_rates(side, prediction, load))
    said = "Band: 5 to 95 % of runs of lines of the posterior." if prediction else "Nothing was fitted."
    way = f"{side.direction}stream"
    plot = PlotSpec(
        f"seen-{side.direction}",
        f"Measured {way}, and what the fitted lines show"
        if side.measured.seen
        else f"What the fitted lines show {way}",
        tuple(panels),
        columns=len(panels),
        height=75,
        legend="below",
        description=f"Round trips over time and as a distribution, and rates, measured under load {way}; {said}",
    )
    return [Figure(plot.name, plot, said, "overview")]


def _over_time(side: Side, prediction: Prediction | None, load: Load) -> Panel:
    marks: list[Band | Line] = []
    if prediction is not None:
        grid = np.arange(-min(load.lead_s, 2.0), load.length_s, 0.2)
        rows = [_stepped(grid, seen.sent_s, seen.rtt_ms) for seen in prediction.seen]
        low, high = np.nanquantile(rows, [0.05, 0.95], axis=0)
        marks.append(Band(grid, low, high, "codel", "fitted lines"))
    for number, seen in enumerate(side.measured.seen[:5]):
        came = np.isfinite(seen.rtt_ms) & (seen.sent_s >= -2) & (seen.sent_s <= load.length_s)
        order = np.argsort(seen.sent_s[came])
        marks.append(
            Line(
                seen.sent_s[came][order],
                seen.rtt_ms[came][order],
                "printed",
                "" if number else "measured",
                weight="thin",
            )
        )
    return Panel(Axis("time since the load began", "s"), Axis("round trip", "ms", low=0.0), tuple(marks))


def _stepped(grid: np.ndarray, at: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the last value before each time; NaN before the first."""
    order = np.argsort(at, kind="stable")
    place = np.searchsorted(at[order], grid, side="right") - 1
    known = np.where(place >= 0, values[order][np.maximum(place, 0)], np.nan)
    return np.where(np.isfinite(known), known, np.nan)


def _under_load(seen: Seen, load: Load) -> np.ndarray:
    inside = np.isfinite(seen.rtt_ms) & (seen.sent_s >= 0.2) & (seen.sent_s <= load.length_s)
    return np.sort(seen.rtt_ms[inside])


def _distribution(side: Side, prediction: Prediction | None) -> Panel:
    load = side.measured.load
    shares = np.linspace(0.0, 1.0, 101)
    marks: list[Band | Line] = []
    if prediction is not None:
        rows = [np.quantile(_under_load(seen, load), shares) for seen in prediction.seen]
        grid = np.linspace(0, max(float(row[-1]) for row in rows), 200)
        heights = np.stack([np.interp(grid, row, shares, left=0.0, right=1.0) for row in rows])
        low, high = np.quantile(heights, [0.05, 0.95], axis=0)
        marks.append(Band(grid, low, high, "codel", "fitted lines", step=False))
    for number, seen in enumerate(side.measured.seen[:5]):
        came = _under_load(seen, load)
        heights = np.arange(1, len(came) + 1) / len(came)
        marks.append(Line(came, heights, "printed", "" if number else "measured", step=True, weight="thin"))
    return Panel(Axis("round trip under load", "ms", low=0.0), Axis("share of pings", low=0.0, high=1.0), tuple(marks))


def _rates(side: Side, prediction: Prediction | None, load: Load) -> Panel:
    edges = np.arange(0.0, math.floor(load.length_s) + 1e-9, 1.0)
    middles = edges[:-1] + 0.5

    def rates(seen: Seen) -> np.ndarray:
        return 8e-6 * np.diff(np.interp(edges, seen.at_s, seen.carried))

    marks: list[Band | Line] = []
    if prediction is not None:
        low, high = np.quantile([rates(seen) for seen in prediction.seen], [0.05, 0.95], axis=0)
        marks.append(Band(middles, low, high, "codel", "fitted lines", step=False))
    for number, seen in enumerate(side.measured.seen[:5]):
        marks.append(Line(middles, rates(seen), "printed", "" if number else "measured", weight="thin"))
    return Panel(
        Axis("time since the load began", "s"), Axis("goodput, one-second means", "Mb/s", low=0.0), tuple(marks)
    )


def statistics_table(side: Side, prediction: Prediction) -> PlainTable:
    """Return each statistic as measured and as predicted, with the share of runs below it."""
    rows: list[tuple[PlainCell, ...]] = []
    for number, name in enumerate(NAMES):
        value = float(side.observed[number])
        column = prediction.statistics[:, number]
        known = column[np.isfinite(column)]
        if not math.isfinite(value) or not len(known):
            continue
        low, middle, high = np.quantile(known, [0.05, 0.5, 0.95])
        below = float((known < value).sum() + 0.5 * (known == value).sum()) / len(known)
        is_odd = not UNLIKELY <= below <= 1 - UNLIKELY
        rows.append(
            (
                PlainCell(WORDS[name] + (" (robust)" if name in ROBUST else "")),
                PlainCell(_shown(name, value), "best" if is_odd else ""),
                PlainCell(
                    _shown(name, float(middle)), detail=f"{_shown(name, float(low))} to {_shown(name, float(high))}"
                ),
                PlainCell(f"{below:.2f}", "best" if is_odd else ""),
            )
        )
    return PlainTable(
        f"statistics-{side.direction}",
        f"Statistics {side.direction}stream: measured, and of the fitted lines",
        f"Share below: of {len(prediction.seen)} runs of lines of the posterior. Bold: outside 1 to 99 %, unlike the model.",
        ("statistic", "measured", "fitted lines, 5 to 95 %", "share below"),
        tuple(rows),
    )


def _shown(name: str, value: float) -> str:
    """Return a statistic in units that people know."""
    if name in ("goodput", "first_second"):
        return significant(math.exp(value), 3) + (" Mb/s" if name == "goodput" else "")
    if name in ("lag1", "lost", "short", "window_limited"):
        return significant(value, 2)
    unit = {"rate_variation": " %", "retransmitted": ""}.get(name, " ms")
    return significant(math.expm1(value), 3) + unit
