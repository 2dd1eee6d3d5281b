"""Table 3 of White 2013: what the words for latency and loss mean in numbers, and what ours deserve.

Source: White 2013, Table 3 for the words; sections 1.1 and 4.1.3 for the limits.
Deviations: the document does not say how its words follow from its plots. Here they follow from one
quantile and one mean, by limits that its text names.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sojourn.studies.distribution import Distribution
from sojourn.studies.estimate import Estimate, mean_of
from sojourn.studies.table import Cell, Column, ColumnGroup, Row, Table, format_estimate
from sojourn.studies.tolerance import Rule, Verdict
from sojourn.studies.view import NotRecorded, StudyView
from sojourn.studies.white2013.cases import (
    BITTORRENT,
    BUFFER_CONTROL,
    BUFFERBLOAT,
    CODEL,
    MANAGER_LABELS,
    PIE,
    SFQ_CODEL,
    game_delays,
    over_seeds,
    point_of,
)
from sojourn.studies.white2013.figures.measures import seed_means
from sojourn.studies.white2013.figures.selection import Selection, mix

PRINTED = Path(__file__).parent / "printed" / "gaming_qualitative.csv"

#: Words of Table 3, from the best.
WORDS = ("very good", "good", "poor", "extremely poor")


@dataclass(frozen=True)
class Scale:
    """Words for a number: each ends at a limit, the last has none.

    Attributes
    ----------
    metric, unit, quantity
        What is rated.
    limits
        Ends of all words but the last, in ascending order.
    origins
        Where each limit comes from.
    """

    metric: str
    unit: str
    quantity: str
    limits: tuple[float, float, float]
    origins: tuple[str, str, str]

    def word(self, value: float) -> str:
        """Rate a value; a limit belongs to the better word.

        Examples
        --------
        >>> LATENCY.word(20.0), LATENCY.word(20.1), LATENCY.word(1000.0)
        ('very good', 'good', 'extremely poor')
        """
        better = sum(value > limit for limit in self.limits)
        return WORDS[better]

    def bounds(self, word: str) -> tuple[float | None, float | None]:
        """Return what a word spans; `None` for an open end.

        Examples
        --------
        >>> LOSS.bounds("good"), LOSS.bounds("extremely poor")
        ((0.3, 5.0), (20.0, None))
        """
        place = WORDS.index(word)
        low = self.limits[place - 1] if place else None
        return low, self.limits[place] if place < len(self.limits) else None

    @property
    def sentence(self) -> str:
        """The limits in words, with their origins."""
        parts = [
            f"{word} up to {limit:g} {self.unit} ({origin})"
            for word, limit, origin in zip(WORDS[:-1], self.limits, self.origins, strict=True)
        ]
        return f"{self.quantity}: {', '.join(parts)}, {WORDS[-1]} beyond."


#: Latency. The quantile is chosen: at 50 packets a second, a player meets what lies beyond it more than
#: twice each second, and a median would call a queue good that is full for half of the time.
LATENCY = Scale(
    "delay_p95",
    "ms",
    "P95 of the delay",
    (20.0, 100.0, 200.0),
    (
        "sections 1.1, 4.1.3: games and cloud games need less",
        "4.1.3, Unreal Tournament: noticeable from there",
        "4.1.3, the same: annoying from about there",
    ),
)

#: Loss, mean over the conditions.
LOSS = Scale(
    "lost",
    "%",
    "Mean loss",
    (0.3, 5.0, 20.0),
    (
        "4.1.3: cloud games suffer from there",
        "4.1.3, Unreal Tournament: rarely noticed below",
        "4.1.3, Quake 3: no measurable effect below",
    ),
)

_SCALES = {"latency": LATENCY, "loss": LOSS}

_MANAGERS = {
    MANAGER_LABELS[manager]: manager
    for manager in (BUFFERBLOAT, BUFFER_CONTROL, CODEL, SFQ_CODEL, PIE)
}

_CONDITIONS = {
    "all": "all conditions",
    "most": "without BitTorrent (printed: most conditions)",
    "bittorrent": "with BitTorrent",
}


@dataclass(frozen=True)
class RatingCell(Cell):
    """A printed word beside our number and the word that it deserves."""

    @property
    def ours_text(self) -> str:
        """Our word and the number behind it."""
        value = self.ours.value
        if value is None:
            return format_estimate(self.ours, self.decimals)
        scale = LATENCY if self.metric == LATENCY.metric else LOSS
        return f"{scale.word(value)}: {format_estimate(self.ours, self.decimals)} {self.unit}"

    @property
    def is_equal(self) -> bool:
        """Whether our word is the printed one."""
        return self.verdict is Verdict.MATCH


def table_3(view: StudyView) -> Table:
    """Set the printed words beside ours."""
    cells: dict[tuple[str, str, str], Cell] = {}
    rows: dict[str, Row] = {}
    for printed in printed_rows():
        manager, condition = _MANAGERS[printed["queue_manager"]], printed["condition"]
        key = f"{manager}-{condition}"
        rows.setdefault(key, Row(key, printed["queue_manager"], _CONDITIONS[condition]))
        scale = _SCALES[printed["metric"]]
        cells[key, "", scale.metric] = _cell(view, manager, condition, scale, printed["rating"])
    return Table(
        "table-3",
        "Table 3. Qualitative summary of gaming performance",
        f"{LATENCY.sentence} {LOSS.sentence} Cells of the grid weigh the same. The limits are those of "
        "the text, the quantile is our choice: the document does not say how its words came about. Ours: "
        "mean over seeds.",
        (
            ColumnGroup(
                "Performance of the game: the printed word, and ours with the number behind it",
                (
                    Column("", LATENCY.metric, "latency"),
                    Column("", LOSS.metric, "loss"),
                ),
            ),
        ),
        tuple(rows.values()),
        cells,
    )


def printed_rows() -> tuple[dict[str, str], ...]:
    """Return the twelve printed ratings."""
    with PRINTED.open(newline="", encoding="utf-8") as file:
        return tuple(csv.DictReader(file))


def _cell(view: StudyView, manager: str, condition: str, scale: Scale, word: str) -> RatingCell:
    low, high = scale.bounds(word)
    measure = latency if scale is LATENCY else loss
    try:
        ours = measure(view, manager, condition)
    except NotRecorded:
        ours = Estimate(None)
    return RatingCell(
        item="table-3",
        case=condition,
        queue_manager=manager,
        metric=scale.metric,
        unit=scale.unit,
        printed=word,
        # The limits below judge; no number is printed, and the better end of the word stands for it.
        printed_value=low or 0.0,
        ours=ours,
        decimals=1 if scale is LATENCY else 2,
        rule=Rule("W13-74" if scale is LATENCY else "W13-75", "B", low=low, high=high),
    )


def latency(view: StudyView, manager: str, condition: str) -> Estimate:
    """Return the 95th percentile of the game's delay, cells of the grid at equal weights."""
    chosen = _chosen(view, manager, condition)
    return over_seeds(mix(view, game_delays, manager, chosen), _p95)


def loss(view: StudyView, manager: str, condition: str) -> Estimate:
    """Return the mean loss of the game: over the households of a cell, then over cells, then seeds."""
    per_cell = [
        seed_means(view, [point_of(load, rf, manager) for load in loads], "game", "lost")
        for rf, loads in _chosen(view, manager, condition)
    ]
    return mean_of(
        [
            float(np.mean([cell[seed] for cell in per_cell]))
            for seed in per_cell[0]
            if all(seed in cell for cell in per_cell)
        ]
    )


def _chosen(view: StudyView, manager: str, condition: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the cells of a condition, with those of their households that belong to it."""
    selection = Selection.of(view)
    if manager not in selection.managers:
        message = f"needs conditions with {MANAGER_LABELS[manager]}"
        raise NotRecorded(message)
    found = [
        (rf, tuple(load for load in loads if _belongs(load, condition)))
        for (rf, _), loads in selection.loads.items()
    ]
    kept = [(rf, loads) for rf, loads in found if loads]
    if not kept:
        message = f"needs conditions {_CONDITIONS[condition]}"
        raise NotRecorded(message)
    return kept


def _belongs(load: str, condition: str) -> bool:
    return condition == "all" or (load in BITTORRENT) == (condition == "bittorrent")


def _p95(one: Distribution) -> float:
    return one.quantile(0.95)
