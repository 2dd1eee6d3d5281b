"""Numbers of scenarios beside those of known ones: what checks of queue managers and of congestion controllers share.

A scenario gives some numbers in each run. Here they become estimates over seeds, and each gets its place in the band, which
is the least and the greatest value of the well-known ones.
"""

from __future__ import annotations

import csv
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from sojourn.answers.report_content import PlainCell
from sojourn.base.digits import significant
from sojourn.base.errors import RunError, UsageError
from sojourn.stats.estimate import Estimate, mean_of

BESIDE = 1e-3
"""Part of the upper end by which a value has to be outside. chosen: the digits that a band is written with."""


class Scenario(Protocol):
    """Properties of a scenario that bands need."""

    @property
    def item(self) -> str:
        """Its name in rows and for `--only`."""
        ...

    @property
    def section(self) -> str:
        """Section of its document."""
        ...

    @property
    def criterion(self) -> str:
        """Criterion that it shares with others of its kind; its item if with none."""
        ...


S = TypeVar("S", bound=Scenario)

Tell = Callable[[float], None]
"""Is called with the share that is done, from any thread."""


def wanted(option: str | None, scenarios: Sequence[S], quick: Sequence[str] | None) -> list[S]:
    """Return the scenarios that `--only` names by item or section; without it all, or those of a first look.

    Raises `UsageError` if there is none of a name.
    """
    if option is None:
        return [one for one in scenarios if quick is None or one.item in quick]
    words = [word.strip() for word in option.split(",") if word.strip()]
    for word in words:
        if not any(word in _names(one) for one in scenarios):
            raise UsageError(
                f'--only: "{word}" is no scenario and no section', f"some of {', '.join(one.item for one in scenarios)}"
            )
    return [one for one in scenarios if not _names(one).isdisjoint(words)]


def _names(scenario: Scenario) -> set[str]:
    return {scenario.item, scenario.criterion, scenario.section}


def over_seeds(
    scenarios: Sequence[S],
    seeds: int,
    jobs: int,
    run: Callable[[S, int, Tell], Mapping[str, float]],
    tell: Tell | None = None,
) -> list[dict[str, Estimate]]:
    """Run scenarios with seeds from 1 on; return the estimates of each by measure.

    Raises `RunError` if a run failed; it names the scenario.

    Parameters
    ----------
    scenarios, seeds
        What is run, and how often.
    jobs
        Runs at a time, on threads.
    run
        One run, with what takes its share that is done: its numbers by measure; NaN where nothing came of it.
    tell
        Called with the share of all runs that is done.
    """
    total = len(scenarios) * seeds
    lock = threading.Lock()
    done = 0.0

    def watch() -> Tell:
        mine = 0.0

        def told(share: float) -> None:
            nonlocal done, mine
            with lock:
                done += max(share - mine, 0.0)
                mine = max(share, mine)
                if tell is not None:
                    tell(min(done / total, 1.0))

        return told

    def guarded(one: S, seed: int) -> Mapping[str, float]:
        told = watch()
        try:
            found = run(one, seed, told)
        except RunError as error:
            raise type(error)(f"{error.message}, in scenario {one.item}", error.hint) from error
        told(1.0)
        return found

    with ThreadPoolExecutor(jobs) as pool:
        futures = [[pool.submit(guarded, one, seed) for seed in range(1, seeds + 1)] for one in scenarios]
        try:
            values = [[future.result() for future in row] for row in futures]
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    return [{name: mean_of([run[name] for run in row]) for name in row[0]} for row in values]


@dataclass(frozen=True)
class Band:
    """Values of the well-known ones."""

    values: Mapping[tuple[str, str], Mapping[str, float]]
    """Mean of each, by scenario and measure."""
    names: Sequence[str]
    """Those whose least and greatest value are the band; others may stand apart."""

    def ends(self, item: str, measure: str) -> tuple[float, float] | None:
        """Return the least and the greatest value, if there are any."""
        known = self.values.get((item, measure), {})
        values = [known[name] for name in self.names if name in known]
        return (min(values), max(values)) if values else None


def place_of(estimate: Estimate, ends: tuple[float, float] | None) -> str:
    """Return `in band`, `below`, `above`, or `shown` where there is no band.

    A value is beside the band only if its whole interval is.

    Examples
    --------
    >>> (place_of(Estimate(0.75, 0.7, 0.79, 5), (0.8, 0.9)), place_of(Estimate(0.75, 0.7, 0.81, 5), (0.8, 0.9)))
    ('below', 'in band')
    """
    if ends is None or estimate.value is None:
        return "shown"
    low = estimate.value if estimate.low is None else estimate.low
    high = estimate.value if estimate.high is None else estimate.high
    tolerance = BESIDE * abs(ends[1])
    if high < ends[0] - tolerance:
        return "below"
    return "above" if low > ends[1] + tolerance else "in band"


def number_cell(estimate: Estimate | None, unit: str, ends: tuple[float, float] | None) -> PlainCell:
    """Return a number with its unit, ▼ or ▲ if it is beside its band, and the band below it."""
    if estimate is None or estimate.value is None:
        return PlainCell("–")
    mark = {"below": "▼ ", "above": "▲ "}.get(place_of(estimate, ends), "")
    detail = "" if ends is None else f"{significant(ends[0])} to {significant(ends[1])}"
    return PlainCell(f"{mark}{significant(estimate.value)} {unit}".strip(), detail=detail)


def estimate_json(estimate: Estimate, ends: tuple[float, float] | None) -> dict[str, Any]:
    """Return a number with its band and its place there for programs."""
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "band": ends,
        "verdict": place_of(estimate, ends),
    }


def read_band(path: Path, names: Sequence[str]) -> Band:
    """Read the file of a band, as `tools/bands` writes it: scenario, measure, whose, value."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    for item, measure, name, value in rows:
        found.setdefault((item, measure), {})[name] = float(value)
    return Band(found, names)


def band_rows(name: str, measured: Sequence[tuple[str, Mapping[str, Estimate]]]) -> Iterator[tuple[str, str, str, str]]:
    """Return the rows of one of a band's file: scenario, measure, whose, value."""
    for item, values in measured:
        for measure, estimate in values.items():
            if estimate.value is not None:
                yield item, measure, name, f"{estimate.value:.5g}"
