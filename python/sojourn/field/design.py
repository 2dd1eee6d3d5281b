"""Schedules of trials: who gets which treatment in which week, and when to measure.

Source: Klatsky 2016, "How did we do our field trial?": one treatment a week for all homes, in one order, tests
at 08, 12 and 17 UTC. There, treatment and week cannot be separated; the randomised crossover gives every
home every treatment too, in orders that are balanced over homes (Williams 1949), so that they can.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Literal

import numpy as np
import polars as pl

from sojourn.base.errors import UsageError
from sojourn.field.assignments import LABEL_HINT, SCHEDULE, is_label
from sojourn.field.deltas import SLOTS

Order = Literal["talk", "crossover"]

SPACING = timedelta(minutes=5)
"""Between the test of a slot's one direction and the other's; chosen: a test takes 70 s."""


def schedule(
    probes: Sequence[str],
    treatments: Sequence[str],
    first_day: date,
    *,
    order: Order = "crossover",
    weeks_each: int = 1,
    seed: int = 1,
) -> pl.DataFrame:
    """Return when every probe tests, and under which treatment.

    Raises `UsageError` if a name stands twice, or there are fewer than one probe, two treatments, or one week.

    Parameters
    ----------
    probes, treatments
        Names; treatments in the order of the talk's weeks.
    first_day
        First day, preferably a Monday.
    order
        `talk`: all homes alike, one treatment after the other; `crossover`: orders balanced over homes.
    weeks_each
        Weeks per treatment.
    seed
        Which home gets which order.
    """
    for what, names, least in (("probes", probes, 1), ("treatments", treatments, 2)):
        if len(names) < least:
            raise UsageError(f"a trial needs {least} {what} or more, not {len(names)}")
        if len(set(names)) < len(names):
            raise UsageError(f"the names of {what} must differ")
        for name in names:
            if not is_label(name):
                raise UsageError(f'"{name}" cannot stand in a label of a test', LABEL_HINT)
    if weeks_each < 1:
        raise UsageError(f"a treatment needs a week or more, not {weeks_each}")
    orders = _orders(len(probes), treatments, order, seed)
    rows = [
        (probe, week + 1, own[week // weeks_each], moment, direction)
        for probe, own in zip(probes, orders, strict=True)
        for week in range(weeks_each * len(treatments))
        for day in range(7)
        for slot in SLOTS.values()
        for number, direction in enumerate(("down", "up"))
        for moment in [datetime.combine(first_day + timedelta(weeks=week, days=day), slot, UTC) + number * SPACING]
    ]
    return pl.DataFrame(rows, schema=SCHEDULE, orient="row")


def orders_of_williams(number: int) -> list[list[int]]:
    """Return orders of N treatments in which each follows each other equally often.

    Examples
    --------
    >>> orders_of_williams(4)
    [[0, 1, 3, 2], [1, 2, 0, 3], [2, 3, 1, 0], [3, 0, 2, 1]]
    """
    first = [(-(-k // 2) if k % 2 else -(k // 2)) % number for k in range(number)]
    rows = [[(place + shift) % number for place in first] for shift in range(number)]
    return rows if number % 2 == 0 else rows + [row[::-1] for row in rows]


def _orders(probes: int, treatments: Sequence[str], order: Order, seed: int) -> list[list[str]]:
    if order == "talk":
        return [list(treatments)] * probes
    generator = np.random.default_rng(seed)
    rows = orders_of_williams(len(treatments))
    blocks = [generator.permutation(len(rows)) for _ in range(math.ceil(probes / len(rows)))]
    chosen = np.concatenate(blocks)[:probes]
    return [[treatments[k] for k in rows[int(row)]] for row in chosen]
