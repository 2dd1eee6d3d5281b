"""Headlines of what does not compete: one run, the only setting that has run, transfers that nobody waits beside."""

from __future__ import annotations

import math

from sojourn.headline import words
from sojourn.headline.board import Board, Bout, Listener, Value, mean
from sojourn.headline.felt import GRADES, LATE, LOSS_LIMITS
from sojourn.headline.said import BigNumber, Cell, Headline, Point, digits, many, together

__all__ = ["HARDLY", "ONE_SEED", "big_number", "gone", "only", "rates", "run"]

ONE_SEED = "One seed: differences may be chance."

HARDLY = 1.15
"""Ratio below which settings hardly differ. chosen: nobody feels 15 %."""


def gone(count: int) -> str:
    """Say how many settings have not run."""
    if count == 1:
        return "One setting is missing."
    return f"{many(count).capitalize()} settings are missing."


def _worst(board: Board) -> tuple[Point, Listener]:
    """Return who is worst off, and where."""
    pairs = [(point, listener) for point in board.points for listener in board.listeners]
    return max(pairs, key=lambda pair: (board.place(*pair), -pair[1].order))


def _telling(board: Board, point: Point, listener: Listener) -> Value | None:
    """Return what a listener's state is told by: a delay if there is one."""
    found = [
        value
        for measure in listener.application.all_measures
        if (value := board.value(point, listener, measure)) is not None
    ]
    found.sort(key=lambda value: (value.measure.way == "loss", value.measure.way == "score"))
    return found[0] if found else None


def run(board: Board) -> Headline | None:
    """Say who is worst off in a run, and beside what."""
    point, listener = _worst(board)
    value = _telling(board, point, listener)
    if value is None:
        return None
    place = board.place(point, listener)
    cells = [value.cell]
    score, score_cells = _score(board, point, listener, value)
    cells += score_cells
    beside, rates = _beside_rates(board, point)
    cells += rates
    if place == 0:
        text = f"Nothing disturbs {listener.words}: {words.told(value)}{score}{beside}. Grade A."
    else:
        lost, loss_cells = _lost(board, point, listener, value, has_score=bool(score))
        cells += loss_cells
        text = f"{words.waits(listener.words, value)}{score}{lost}{beside}. Grade {GRADES[place]}."
    return Headline(
        text, "idle" if place == 0 else "run", about=listener.words, big=big_number(listener, value), cells=tuple(cells)
    )


def only(board: Board) -> Headline | None:
    """Say what the only setting that has run gives."""
    point, listener = _worst(board)
    value = _telling(board, point, listener)
    if value is None:
        return None
    text = words.waits(listener.words, value)
    left = gone(len(board.missing))
    (setting,) = board.settings
    return Headline(
        f"Only {setting} has run: {text[0].lower()}{text[1:]}. {left}",
        "only",
        about=listener.words,
        big=big_number(listener, value),
        cautions=(left,),
        cells=(value.cell,),
    )


def _score(board: Board, point: Point, listener: Listener, told: Value) -> tuple[str, list[Cell]]:
    """Return the score of a call, if something else is told first."""
    for measure in listener.application.measures:
        value = board.value(point, listener, measure)
        if measure.way == "score" and value is not None and told.measure is not measure:
            return f", MOS {value.text}", [value.cell]
    return "", []


def _lost(board: Board, point: Point, listener: Listener, told: Value, *, has_score: bool) -> tuple[str, list[Cell]]:
    """Return what share of packets is lost or late, if it is enough to be told."""
    measure = listener.application.loss
    value = None if measure is None else board.value(point, listener, measure)
    if value is None or value.metric == told.metric or value.mean < LOSS_LIMITS[0]:
        return "", []
    return (
        f"{',' if has_score else ''} and {value.text} % of its {words.things(value)} {_fate(point, value)}",
        [value.cell],
    )


def _fate(point: Point, value: Value) -> str:
    """Say whether packets are lost, late, or both; one kind if it is nine tenths of them. chosen."""
    part = point.values.get((value.subject, LATE.get(value.metric, "")))
    if not part or not value.mean:
        return "are lost or come too late"
    share = mean(part) / value.mean
    late = 1 - share if words.things(value) == "frames" else share
    if late >= 0.9:
        return "come too late"
    return "are lost" if late <= 0.1 else "are lost or come too late"


def _beside_rates(board: Board, point: Point) -> tuple[str, list[Cell]]:
    """Return what the transfers get, one upstream and one downstream at most."""
    active = board.active(point.condition)
    parts: list[str] = []
    cells: list[Cell] = []
    names = words.transfers(active)
    for subject, metric in active.items():
        value = board.by_setting(point.condition, subject, metric)[point.setting]
        parts.append(f"{names[subject]} {{gets}}{value.text}")
        cells.append(value.cell)
    if not 1 <= len(parts) <= 2:
        return "", []
    text = " and ".join(parts).replace("{gets}", "gets ", 1).replace("{gets}", "")
    return f", while {text} Mb/s", cells


def big_number(listener: Listener, value: Value) -> BigNumber:
    """Return what a page sets large."""
    measure = value.measure
    parts = (listener.words.removeprefix("the "), measure.tag, value.direction)
    return BigNumber(value.text, measure.unit, ", ".join(part for part in parts if part))


def rates(board: Board) -> Headline | None:
    """Say who gets how much, where nobody waits."""
    if not board.payers:
        return None
    if len(board.settings) > 1:
        return _rates_by_setting(board)
    point = board.points[0]
    active = board.active(point.condition)
    values = [board.by_setting(point.condition, subject, metric)[point.setting] for subject, metric in active.items()]
    if not values:
        return None
    ways = list(active.values())
    shared = max(dict.fromkeys(ways), key=ways.count)
    if ways.count(shared) > 1:  # those of one direction share a link
        values = [value for value in values if value.metric == shared]
    values.sort(key=lambda value: -value.mean)
    first, last = values[0], values[-1]
    big = BigNumber(first.text, "Mb/s", first.subject)
    cells = tuple(value.cell for value in values)
    if ways.count(shared) == 1:
        beside, _ = _beside_rates(board, point)
        text = beside.removeprefix(", while ")
        return Headline(f"{text[0].upper()}{text[1:]}.", "rate", big=big, cells=cells)
    if len(values) > 2 and first.mean < HARDLY * last.mean:
        noun = "downloads" if shared == "goodput_downstream" else "uploads"
        text = f"The {many(len(values))} {noun} share evenly ({words.span([first, last])})."
        return Headline(text, "tie", big=big, cells=cells)
    return _rate(first.subject, first, last.subject, last, big)


def _rate(best: str, first: Value, worst: str, last: Value, big: BigNumber, to: str = "") -> Headline:
    """Return the ratio of two rates; `to` is the transfer that settings give it to, with a space."""
    cells = (first.cell, last.cell)
    ratio = first.mean / last.mean if last.mean else math.inf
    pair = f"({first.text} for {last.text} Mb/s)"
    verb = f"gives {to}" if to else "gets "
    if math.isinf(ratio):
        text = f"{best} {verb}{first.text} Mb/s, {worst} none."
    elif ratio < HARDLY and not to:
        return Headline(f"{best} and {worst} get the same {pair}.", "tie", big=big, cells=cells)
    else:
        factor = "twice" if 1.9 <= ratio < 2.2 else f"{digits(ratio)} times"
        if ratio < HARDLY:
            factor = "hardly more than"
        text = f"{best} {verb}{factor} {words.whose(worst, 'rate')} {pair}."
    return Headline(text, "rate", big=big, winner=(best,), runner_up=worst, cells=cells)


def _rates_by_setting(board: Board) -> Headline | None:
    """Compare what a transfer gets: the one that settings tell apart most."""
    found: list[tuple[bool, float, Bout, str]] = []
    for condition in board.conditions:
        active = board.active(condition)
        names = words.transfers(active)
        for subject, metric in active.items():
            bout = board.rates(condition, subject, metric)
            if bout is not None:
                found.append((bout.tells_apart, bout.width, bout, names[subject]))
    if not found:
        return None
    *_, bout, name = max(found, key=lambda one: one[:2])
    order = bout.sorted(list(bout.values))
    first, last = bout.values[order[0]], bout.values[order[-1]]
    big = BigNumber(first.text, "Mb/s", name.removeprefix("the "))
    if not bout.tells_apart:
        text = f"Nothing separates {together(list(bout.values))} for {name}: {words.span([first, last])}."
        cells = tuple(value.cell for value in bout.values.values())
        made = Headline(text, "tie", big=big, cells=cells)
    else:
        made = _rate(order[0], first, order[-1], last, big, f"{name} ")
        best = [one for one in order if one in bout.standing.best]
        made = made.but(winner=tuple(best))
    if bout.rests_on_one_seed:
        text = made.sentence[0].lower() + made.sentence[1:] if made.kind == "tie" else made.sentence
        made = made.but(sentence=f"In this run {text} {ONE_SEED}", winner=(), cautions=(ONE_SEED,))
    return made
