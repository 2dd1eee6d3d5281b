"""Table of winners of any study: the values of one label compete, in every combination of the others."""

from __future__ import annotations

import math

import numpy as np

from sojourn.answers.report_content import PlainCell, PlainTable
from sojourn.answers.view import StudyView
from sojourn.answers.winners import TESTED, WINNER, Won
from sojourn.base.digits import significant
from sojourn.base.metrics import words_of
from sojourn.report.roles import MOST_COMPETITORS, Measured, Roles
from sojourn.stats.pairs import Contest, Standing, tally, who_wins
from sojourn.stats.quantity import quantity_of

MOST_MEASURES = 7
"""chosen: what three applications feel, and the rates of both ways beside them."""

MOST_ROWS = 36
"""More combinations of conditions are averaged. chosen: a screen."""

_NO_WINNER = "–"

_BySeed = dict[int, float]


def contests(view: StudyView, roles: Roles) -> Won | None:
    """Return the table and its sentence; `None` if nothing competes."""
    if not 2 <= len(roles.competitors) <= MOST_COMPETITORS:
        return None
    cells = [cell for cell, points in roles.cells.items() if len(points) > 1]
    measures = roles.measures(MOST_MEASURES)
    averaged = len(cells) > MOST_ROWS
    groups = [cells] if averaged else [[cell] for cell in cells]
    rows: list[tuple[Measured, list[tuple[str, ...]], dict[str, _BySeed]]] = []
    for measure in measures[: max(1, MOST_ROWS // max(1, len(groups)))]:
        for group in groups:
            values = {name: _values(view, roles, measure, group, name) for name in roles.competitors}
            if sum(map(bool, values.values())) > 1:
                rows.append((measure, group, values))
    if not rows:
        return None
    standings = who_wins([_contest(measure, values) for measure, _, values in rows])
    conditions = () if averaged else roles.conditions
    body = tuple(
        (
            PlainCell(_title(measure)),
            *(
                PlainCell(roles.words(label, value))
                for label, value in zip(conditions, () if averaged else group[0], strict=True)
            ),
            *(_cell(values[name], is_best=name in standing.marked) for name in roles.competitors),
            PlainCell(_told(standing, roles)),
        )
        for (measure, group, values), standing in zip(rows, standings, strict=True)
    )
    # Bold says who is best, or tied with it; a column of dashes says nothing more.
    names_winners = 2 * sum(row[-1].text != _NO_WINNER for row in body) >= len(body)
    if not names_winners:
        body = tuple(row[:-1] for row in body)
    compete = roles.compete.replace("_", " ")
    over = " Mean over all other labels." if averaged else ""
    tested = f"{TESTED} {WINNER}" if names_winners else TESTED
    table = PlainTable(
        name="summary",
        title="Who wins where",
        caption=f"Means over seeds.{over} {tested} None are: 1 % of the best, 0.1 of a score, 0.05 points of a share.",
        headings=(
            "measure",
            *(label.replace("_", " ") for label in conditions),
            *(roles.name(name) for name in roles.competitors),
            *(("winner",) if names_winners else ()),
        ),
        rows=body,
        groups=(("", 1 + len(conditions)), (compete, len(roles.competitors)), *((("", 1),) if names_winners else ())),
    )
    names = {name: roles.name(name) for name in roles.competitors}
    return Won(table, tally(standings, names))


def _values(view: StudyView, roles: Roles, measure: Measured, cells: list[tuple[str, ...]], name: str) -> _BySeed:
    """Return values by seed, averaged over the cells that all have."""
    found: dict[int, list[float]] = {}
    for cell in cells:
        point = roles.cells[cell].get(name)
        if point is None:
            continue
        values = view.values_or_nan(point, measure.subject, measure.metric)
        for seed, value in zip(view.seeds(point), values, strict=True):
            found.setdefault(seed, []).append(float(value))
    return {
        seed: float(np.mean(values))
        for seed, values in found.items()
        if len(values) == len(cells) and math.isfinite(sum(values))
    }


def _contest(measure: Measured, values: dict[str, _BySeed]) -> Contest:
    quantity = quantity_of(measure.metric, measure.unit)
    seeds = sorted({seed for by_seed in values.values() for seed in by_seed})
    centres = [float(np.mean(list(one.values()))) for one in values.values() if one]
    best = (min if quantity.better == "lower" else max)(centres)
    return Contest(
        {name: [one.get(seed, math.nan) for seed in seeds] for name, one in values.items()},
        quantity.better,
        quantity.indifference(best),
        quantity.by_ratio,
    )


def _title(measure: Measured) -> str:
    unit = f", {measure.unit}" if measure.unit else ""
    return f"{measure.subject}: {words_of(measure.metric)}{unit}"


def _cell(by_seed: _BySeed, *, is_best: bool) -> PlainCell:
    if not by_seed:
        return PlainCell("–", "muted")
    text = significant(float(np.mean(list(by_seed.values()))), 3)
    return PlainCell(text, "best" if is_best else "")


def _told(standing: Standing, roles: Roles) -> str:
    if standing.winner:
        return roles.name(standing.winner)
    if "chance" in standing.note:
        return "one run"
    return _NO_WINNER
