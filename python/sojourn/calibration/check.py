"""Simulation-based calibration: on lines whose truth is known, how often intervals hold it, and whether ranks are even.

Source: Talts, Betancourt, Simpson, Vehtari and Gelman 2018 (ranks of the truth among draws of the posterior are uniform).
Deviations: truths are fitted to one table of draws from the same bounds, without the draws that a first guess adds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn.calibration.fit import Posterior, fit, interval
from sojourn.calibration.line import ACCESSES, FAMILIES, Guess, Unknown, unknowns_of
from sojourn.calibration.measurement import Load
from sojourn.calibration.table import PILOT, Table, affordable, cost_of, drawn, make_table
from sojourn.stats.estimate import wilson

LOAD = Load("up", 1, 5.0, 10.0, 200.0, 84, "sender", congestion="cubic")
"""Flent's `tcp_upload` of 10 s, as in the laboratory's files."""

RATE_MBPS, IDLE_MS = 5.0, 25.0
"""Of the lines, within the usual bounds around. chosen: the rate of the laboratory's files; a run costs by its packets."""

RANKS, BINS = 99, 10
"""Draws of a posterior that the truth is ranked among, and bins of ranks. chosen: a hundred ranks, ten a bin."""


BAND_TAIL = 0.005
"""Chance beyond each end of the band of a coverage. chosen: a band of 99 %, because many quantities are looked at."""

LEAST_P = 0.01
"""Least chance of ranks as uneven, after Holm over quantities. Source: the same."""

FEWEST_DRAWS = 20
"""Draws below which a posterior says nothing of a quantity. chosen: one lies beyond each end of 90 %."""


@dataclass(frozen=True)
class Row:
    """How well one quantity of one family was found."""

    family: str
    unknown: Unknown
    truths: int
    error: float
    error_p90: float
    half_width: float
    covered: int
    p: float

    @property
    def is_held(self) -> bool:
        """True if intervals hold as often as 99 % of honest ones would over this number of truths."""
        low, high = band_of(self.truths)
        return low <= self.covered <= high


@dataclass(frozen=True)
class Check:
    """Result of a check.

    Attributes
    ----------
    access, truths, runs
        Kind of line, lines with known truth, and runs of the table.
    confusion
        A row per true family, a column per likeliest one.
    quantities
        Rows.
    """

    access: str
    truths: int
    runs: int
    confusion: np.ndarray
    quantities: tuple[Row, ...]

    headings = (
        "family",
        "quantity",
        "truths",
        "error factor P50",
        "P90",
        "half-width",
        "coverage of 90 %",
        "95 %",
        "p of ranks",
    )

    @property
    def right(self) -> float:
        """Share of truths whose family is the likeliest."""
        return float(np.trace(self.confusion)) / max(1, int(self.confusion.sum()))

    @property
    def coverage(self) -> tuple[float, float, float]:
        """Share of all intervals that hold their truth, with its 95 % interval."""
        hits, count = (sum(row.covered for row in self.quantities), sum(row.truths for row in self.quantities))
        return (hits / count, *wilson(hits, count))

    @property
    def failures(self) -> list[str]:
        """A phrase for each share outside its band."""
        told = [
            f"{row.family} {row.unknown.words}: {row.covered / row.truths:.3f} of {row.truths}"
            for row in self.quantities
            if not row.is_held
        ]
        rising = sorted(self.quantities, key=lambda row: row.p)
        for place, row in enumerate(rising):
            if row.p * (len(rising) - place) >= LEAST_P:
                break
            told.append(f"{row.family} {row.unknown.words}: ranks are uneven, p {row.p:.2g}")
        return told

    @property
    def verdict(self) -> str:
        """Sentence that names the failures, or says that there are none."""
        if self.failures:
            return f"Fails: {'; '.join(self.failures)}."
        return f"Each of {len(self.quantities)} quantities lies within the 99 % band of its number of truths, and ranks are even."

    @property
    def sentence(self) -> str:
        """The answer in a sentence."""
        share, low, high = self.coverage
        return (
            f"Of {self.truths} simulated lines ({ACCESSES[self.access].words}), 90 % intervals hold the truth in {100 * share:.1f} % "
            f"({100 * low:.1f} to {100 * high:.1f} %), and the queue's family is right in {100 * self.right:.0f} %."
        )

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Yield rows of the table."""
        for row in self.quantities:
            low, high = wilson(row.covered, row.truths)
            yield (
                row.family, row.unknown.words, str(row.truths), f"{row.error:.3f}", f"{row.error_p90:.2f}", f"{row.half_width:.3f}",
                f"{row.covered / row.truths:.2f}", f"{low:.2f} to {high:.2f}", f"{row.p:.2g}",
            )  # fmt: skip

    def confusion_told(self) -> str:
        """Return the families, true ones in rows."""
        lines = [f"likeliest: {', '.join(FAMILIES)}"]
        lines += [
            f"{name}: {' '.join(str(count) for count in row)}"
            for name, row in zip(FAMILIES, self.confusion, strict=True)
        ]
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        share, low, high = self.coverage
        return {
            "sentence": self.sentence,
            "access": self.access,
            "truths": self.truths,
            "runs": self.runs,
            "coverage": {"value": share, "low": low, "high": high},
            "families_right": self.right,
            "confusion": self.confusion.tolist(),
            "failures": self.failures,
            "quantities": [
                {
                    "family": row.family,
                    "name": row.unknown.name,
                    "truths": row.truths,
                    "error": row.error,
                    "error_p90": row.error_p90,
                    "half_width": row.half_width,
                    "coverage": row.covered / row.truths,
                    "is_held": row.is_held,
                    "p": row.p,
                }
                for row in self.quantities
            ],
        }


def check(
    access: str,
    *,
    truths: int = 300,
    budget_s: float = 120.0,
    runs: int | None = None,
    seed: int = 1,
    jobs: int = 1,
    progress: Callable[[str, int, int], None] = lambda _what, _done, _total: None,
) -> Check:
    """Draw lines, make measurements of them, fit them, and look how often the truth is where it should be.

    Parameters
    ----------
    access
        Kind of line.
    truths
        How many lines.
    budget_s, runs
        Processor seconds for the table, or how many runs it has.
    seed, jobs, progress
        Seed of the draws; threads; callback.
    """
    kind = ACCESSES[access]
    guess = Guess(RATE_MBPS, IDLE_MS, 10 * RATE_MBPS)
    unknowns = unknowns_of(kind, LOAD, guess)
    count = runs or affordable(budget_s, cost_of(kind, LOAD, guess, drawn(unknowns, PILOT, seed)))

    def made(what: str, many: int, first: int) -> Table:
        draws = drawn(unknowns, many, seed, first=first)
        return make_table(
            kind, LOAD, guess, unknowns, draws, jobs=jobs, progress=lambda done, total: progress(what, done, total)
        )

    return judged(access, made("table", count, 1), made("truths", truths, count + 1), seed)


def judged(access: str, table: Table, truth: Table, seed: int) -> Check:
    """Fit each truth to a table."""
    confusion = np.zeros((len(FAMILIES), len(FAMILIES)), dtype=int)
    found: dict[tuple[int, int], list[tuple[float, float, bool, int]]] = {}
    for number in range(len(truth)):
        posterior = fit(table, truth.statistics[number])
        family = int(truth.families[number])
        confusion[family, posterior.best] += 1
        random = np.random.default_rng([seed, number])
        for column, one in enumerate(truth.unknowns):
            value = float(truth.values[number, column])
            if one.is_reported and math.isfinite(value):
                judgement = _judge(posterior, column, family, value, random)
                if judgement is not None:
                    found.setdefault((family, column), []).append(judgement)
    rows = [_row(FAMILIES[family], truth.unknowns[column], many) for (family, column), many in sorted(found.items())]
    return Check(access, len(truth), len(table), confusion, tuple(rows))


def _judge(
    posterior: Posterior, column: int, family: int, truth: float, random: np.random.Generator
) -> tuple[float, float, bool, int] | None:
    values, weights = posterior.of(column, family)
    if len(values) < FEWEST_DRAWS:
        return None
    middle, low, high = interval(values, weights)
    drawn_values = random.choice(values, RANKS, p=weights / weights.sum())
    rank = int((drawn_values < truth).sum())
    return abs(math.log(middle / truth)), math.log(high / low) / 2, low <= truth <= high, rank


def _row(family: str, one: Unknown, many: list[tuple[float, float, bool, int]]) -> Row:
    errors = np.array([error for error, _, _, _ in many])
    return Row(
        family,
        one,
        len(many),
        math.exp(float(np.quantile(errors, 0.5))),
        math.exp(float(np.quantile(errors, 0.9))),
        math.exp(float(np.median([half for _, half, _, _ in many]))),
        sum(hit for _, _, hit, _ in many),
        evenness([rank for _, _, _, rank in many]),
    )


def band_of(truths: int, level: float = 0.9) -> tuple[int, int]:
    """Return the least and the most of `truths` that honest intervals hold, but for half a per cent each.

    Examples
    --------
    >>> band_of(300)
    (256, 283)
    """
    from sojourn.stats.special import bdtr

    below = bdtr(np.arange(truths + 1), truths, level)
    return int(np.argmax(below >= BAND_TAIL)), int(np.argmax(below >= 1 - BAND_TAIL))


def evenness(ranks: list[int]) -> float:
    """Return how likely ranks at least as uneven are if all are equally likely: chi-squared over ten bins."""
    from sojourn.stats.special import chdtrc

    counts = np.bincount(np.array(ranks) * BINS // (RANKS + 1), minlength=BINS)
    expected = len(ranks) / BINS
    return float(chdtrc(BINS - 1, float(((counts - expected) ** 2 / expected).sum())))
