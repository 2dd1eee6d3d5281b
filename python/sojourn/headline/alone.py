"""Claims on what does not compete: one run, runs under several conditions, the only setting that has run."""

from __future__ import annotations

import math

from sojourn.headline.applications import LATE, LOSS_LIMITS
from sojourn.headline.board import Board, Listener, Value, mean, transfers
from sojourn.headline.ranges import Range, big_number
from sojourn.headline.said import Cell, Claim, Headline, Point
from sojourn.headline.wording import HARDLY, condition, gone, sentence

TYPE_CHECKING = False  # as type checkers read it; the module typing would take its time
if TYPE_CHECKING:
    from collections.abc import Sequence

FEW = 3
"""Transfers whose rates are named one by one. chosen: as many as one reads in one breath."""


def alone(board: Board) -> Headline | None:
    """Return the sentence about the application that is worst off; or about rates, where there are only transfers."""
    if board.is_of_rates:
        return _rates(board)
    listener, values = _worst(board, board.leading(board.listeners))
    if not values:
        return None
    points = [point for point in board.points if any(point.condition == one.condition for one in values)]
    place = max(board.place(point, listener) for point in points)
    worst = max(values, key=lambda one: one.mean * (-1 if one.measure.more_is_better else 1))
    at, graded = Range(values), listener.application.is_graded
    cells = [value.cell for value in values]
    scores = _others(board, points, listener, "score") if worst.measure.way != "score" else []
    found: list[Claim] = []
    if board.missing:
        found.append(Claim(listener.words, "keeps_at", cells, settings=[], at=at, only=board.settings[0]))
        found.append(Claim("", "missing", count=len(board.missing)))
        left = (gone(len(board.missing)),)
        return _made(found, "only", listener, worst, left)
    score = Range(scores) if scores else None
    seen = [len(values), len(board.points)] if len(values) < len(board.points) else []
    cells += [value.cell for value in scores]
    if place == 0 and graded:
        found.append(Claim(listener.words, "not_felt", cells, at=at, score=score, seen=seen))
    else:
        lost = _others(board, points, listener, "loss") if worst.measure.way != "loss" else []
        lost = lost if any(value.mean >= LOSS_LIMITS[0] for value in lost) else []
        cells += [value.cell for value in lost]
        told = {"score": score, "lost": Range(lost) if lost else None, "fate": _fate(board, lost), "seen": seen}
        if len(values) > 1 and at.high >= HARDLY * at.low:
            told["most"] = condition(worst.condition)
        least = _least(board, listener, worst) if len(values) == 1 else None
        if least is not None:
            told |= {"of_least": least[0].words, "least": Range([least[1]])}
            cells.append(least[1].cell)
        found.append(Claim(listener.words, "keeps_at", cells, settings=[], at=at, **told))
    other, values = _worst(board, [one for one in board.listeners if one.subject not in board.about])
    others = max((board.place(point, other) for point in points), default=0) if values else 0
    if board.about and others > place:  # the subject of the file stands first, and hides no other
        place, at = others, Range(values)
        found.append(Claim(other.words, "keeps_at", [value.cell for value in values], settings=[], at=at))
    found += _beside(board, board.points)
    if graded:
        found.append(Claim(listener.words, "graded", cells, grade=place))
    return _made(found, "idle" if place == 0 and graded else "run", listener, worst)


def _made(
    claims: Sequence[Claim], kind: str, listener: Listener, value: Value, cautions: tuple[str, ...] = ()
) -> Headline:
    big = big_number(listener.words, value)
    return Headline(sentence(claims), kind, about=listener.words, big=big, cautions=cautions, claims=tuple(claims))


def _worst(board: Board, listeners: Sequence[Listener]) -> tuple[Listener, list[Value]]:
    """Return which of some is worst off in any condition, with the value that tells it in each."""
    found: list[tuple[int, float, int, Listener, list[Value]]] = []
    for listener in listeners:
        values = _telling(board, listener)
        if values:
            place = max(board.place(point, listener) for point in board.points)
            size = 0.0 if listener.application.is_graded else max(value.mean for value in values)
            found.append((place, size, -listener.order, listener, values))
    if not found:
        return board.listeners[0], []
    *_, listener, values = max(found, key=lambda one: one[:3])
    return listener, values


def _telling(board: Board, listener: Listener) -> list[Value]:
    """Return the value that describes a listener in each condition: a delay if there is one."""
    measures = sorted(
        listener.application.all_measures, key=lambda measure: (measure.way == "loss", measure.way == "score")
    )
    for measure in measures:
        found = [value for point in board.points if (value := board.value(point, listener, measure)) is not None]
        if found:
            return found
    return []


def _others(board: Board, points: Sequence[Point], listener: Listener, way: str) -> list[Value]:
    """Return the value named beside a delay: the score of a call, or its losses."""
    for measure in listener.application.all_measures:
        if measure.way == way:
            return [value for point in points if (value := board.value(point, listener, measure)) is not None]
    return []


def _least(board: Board, listener: Listener, worst: Value) -> tuple[Listener, Value] | None:
    """Return what waits least of all that the scenario is about, in the same direction; nothing if it is about one alone."""
    found: list[tuple[float, Listener, Value]] = []
    for other in board.leading(board.listeners) if board.about else ():
        if other is not listener and other.application is listener.application:
            values = [one for one in _telling(board, other) if one.direction == worst.direction]
            found += [(one.mean, other, one) for one in values]
    if not found:
        return None
    _, other, value = min(found, key=lambda one: one[0])
    return other, value


def _fate(board: Board, lost: Sequence[Value]) -> str:
    """Say whether packets are lost, late, or both; one kind if it is nine tenths of them in each condition. chosen."""
    shares: list[float] = []
    for value in lost:
        point = next(one for one in board.points if (one.setting, one.condition) == (value.setting, value.condition))
        part = point.values.get((value.subject, LATE.get(value.metric, "")))
        if part and value.mean:
            share = mean(part) / value.mean
            shares.append(1 - share if value.metric.startswith("frames") else share)
    if shares and min(shares) >= 0.9:
        return "come too late"
    return "are lost" if shares and max(shares) <= 0.1 else "are lost or come too late"


def _beside(board: Board, points: Sequence[Point]) -> list[Claim]:
    """Return what the transfers get, one upstream and one downstream at most."""
    if not 1 <= len(board.payers) <= 2:
        return []
    called = transfers(board.payers)
    rates: list[tuple[str, Range]] = []
    cells: list[Cell] = []
    for subject, metric in board.payers.items():
        values = [v for p in points if (v := board.rates(p.condition, subject, metric).values.get(p.setting))]
        if values:
            rates.append((called[subject], Range(values)))
            cells += [value.cell for value in values]
    return [Claim("", "shares", cells, rates=rates)] if rates else []


def _rates(board: Board) -> Headline | None:
    """Return the sentence about rates, where there are only transfers: those of the direction that most share."""
    ways = list(board.payers.values())
    shared = max(dict.fromkeys(ways), key=ways.count)
    listeners = [one for one in board.listeners if ways.count(shared) == 1 or board.payers[one.subject] == shared]
    by_subject = {one.words: _telling(board, one) for one in listeners}
    least = {name: min(value.mean for value in values) for name, values in by_subject.items()}
    order = sorted(by_subject, key=lambda name: -least[name])
    first, last = by_subject[order[0]], by_subject[order[-1]]
    cells = [value.cell for values in by_subject.values() for value in values]
    big = big_number(first[0].subject, first[0])
    factors = [ours.mean / theirs.mean if theirs.mean else math.inf for ours, theirs in zip(first, last, strict=False)]
    every = [value for values in by_subject.values() for value in values]
    kind, winner, runner_up = "rate", "", ""
    if ways.count(shared) == 1 or (len(order) <= FEW and min(factors) < 1 / HARDLY and max(factors) > HARDLY):
        names = order if ways.count(shared) > 1 else list(by_subject)
        claim = Claim("", "shares", cells, rates=[(name, Range(by_subject[name])) for name in names])
    elif len(order) > 2 and Range(every).high < HARDLY * Range(every).low:
        noun = "downloads" if shared == "goodput_downstream" else "uploads"
        kind, claim = "tie", Claim("", "shares", cells, evenly=len(order), noun=noun, at=Range(every))
    else:
        ends = [(order[0], Range(first)), (order[-1], Range(last))]
        claim = Claim("", "shares", cells, rates=ends, factor=[min(factors), max(factors)])
        kind = "tie" if max(factors) < HARDLY else "rate"
        winner, runner_up = (order[0], order[-1]) if kind == "rate" else ("", "")
    return Headline(
        sentence([claim]), kind, big=big, winner=(winner,) if winner else (), runner_up=runner_up, claims=(claim,)
    )
