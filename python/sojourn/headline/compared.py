"""Headlines of what was compared before: two results value by value, and the treatments of a field trial."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.base.errors import plain
from sojourn.base.metrics import words_of
from sojourn.headline.applications import APPLICATIONS, WAYS, application_of
from sojourn.headline.said import BigNumber, Headline, number

_MINUS = "−"


@dataclass(frozen=True)
class Moved:
    """A measure that moved, or one of which one seed cannot tell."""

    subject: str
    metric: str
    unit: str
    before: float
    after: float
    noun: str = ""
    """The application that feels it, if one does."""

    @property
    def size(self) -> tuple[bool, float]:
        """Return the order of rows: felt measures first, then by the factor of the change."""
        low, high = sorted((abs(self.before), abs(self.after)))
        factor = math.log(high / low) if low > 0 else (math.inf if high > 0 else 0.0)
        return bool(self.noun), factor


def headline_of_changes(moved: Sequence[Moved], measures: int, *, one_seed: bool = False, points: int = 1) -> Headline:
    """Say what moved between two results.

    Parameters
    ----------
    moved
        What moved beyond chance, or differs on one seed.
    measures
        How many measures both results have.
    one_seed
        Whether what differs rests on one seed.
    points
        Over how many points they spread.

    Examples
    --------
    >>> headline_of_changes([], 210).sentence
    'Nothing moved: 210 measures agree within their intervals.'
    """
    if not moved:
        return Headline(f"Nothing moved: {measures} measures agree within their intervals.", "same")
    first = max(moved, key=lambda one: one.size)
    others, rest = len(moved) - 1, measures - 1
    end = f"{rest} other measures did not move" if not others else f"{others} of {rest} other measures moved, too"
    if one_seed:
        end = f"{others} of {rest} other measures differ, too" if others else f"{rest} other measures are the same"
    in_points = " (the largest change of all points)" if points > 1 else ""
    sentence = f"{_change(first)}{in_points}; {end}."
    caution = "One seed: differences may be chance."
    if one_seed:
        sentence = f"{sentence} {caution}"
    return Headline(
        sentence,
        "moved",
        big=BigNumber(_number(first.after), first.unit, f"{first.subject}, {words_of(first.metric)}"),
        cautions=(caution,) if one_seed else (),
    )


def headline_of_frame(rows: Sequence[Mapping[str, Any]]) -> Headline:
    """Say what moved by the rows of a comparison: subject, metric, unit, before, after and verdict of each."""
    metrics: dict[str, list[str]] = {}
    for row in rows:
        metrics.setdefault(row["subject"], []).append(row["metric"])
    changed = [row for row in rows if row["verdict"] in ("moved", "better", "worse", "one seed")]
    moved = [
        Moved(
            plain(row["subject"]),
            row["metric"],
            row["unit"],
            row["before"],
            row["after"],
            felt_by(metrics[row["subject"]], row["metric"]),
        )
        for row in changed
    ]
    one_seed = bool(changed) and all(row["verdict"] == "one seed" for row in changed)
    points = len({row.get("point") for row in rows})
    return headline_of_changes(moved, len(rows), one_seed=one_seed, points=points)


def _change(one: Moved) -> str:
    before, after = _number(one.before), _number(one.after)
    unit = f" {one.unit}" if one.unit else ""
    who = f"the {one.noun}" if one.noun and one.noun != "page" else one.subject
    start = f"{who[0].upper()}{who[1:]}" if one.noun else who
    if way := _told_by(one):
        tag = f" (P99{_direction(one.metric)})"
        text = WAYS[way].moved.format(who=start, x=after, y=before, tag=tag)
        return f"{text[0].upper()}{text[1:]}"
    if one.metric.startswith("goodput"):
        return f"{start} gets {after} instead of {before} Mb/s"
    return f"{start}: {words_of(one.metric)} is {after} instead of {before}{unit}"


def _told_by(one: Moved) -> str:
    application = APPLICATIONS.get(one.noun)
    for measure in application.all_measures if application else ():
        if one.metric in dict(measure.names):
            return measure.way
    return ""


def _direction(metric: str) -> str:
    for measure in (m for a in APPLICATIONS.values() for m in a.measures):
        direction = dict(measure.names).get(metric)
        if direction:
            return f", {direction}"
    return ""


def _number(value: float) -> str:
    return number(value).replace("-", _MINUS)


def felt_by(subject_metrics: Sequence[str], metric: str) -> str:
    """Return the noun of the application that feels a metric of a traffic entry; empty if none does."""
    noun = application_of(subject_metrics)
    application = APPLICATIONS.get(noun)
    names = {name for m in application.all_measures for name, _ in m.names} if application else ()
    return noun if metric in names else ""


@dataclass(frozen=True)
class Effect:
    """Effect of a treatment on a target, in points of each home's own mean."""

    points: float
    half: float
    """Half the width of its interval; infinite if there is none."""
    is_clear: bool
    """True if it is more than chance."""


def headline_of_trial(
    treatment: str,
    reference: str,
    latency: Effect,
    throughput: Effect | None,
    homes: int,
    *,
    latency_words: str = "latency under load",
) -> Headline:
    """Say what a treatment did in a field trial.

    Parameters
    ----------
    treatment, reference
        Names of the two treatments.
    latency, throughput
        What the treatment changes against the reference.
    homes
        Homes that measured.
    latency_words
        What the latency is called.

    Examples
    --------
    >>> headline_of_trial("8 KB", "96 KB", Effect(-62.0, 9.0, True), Effect(-0.5, 1.2, False), 30).sentence
    '8 KB cuts the latency under load by 62 points against 96 KB and costs no throughput that 30 homes could show (−0.5 ± 1.2 points).'
    """
    told = f"{homes} homes" if homes != 1 else "one home"
    cautions = ("One home says nothing of others.",) if homes == 1 else ()
    if not latency.is_clear:
        sentence = (
            f"Nothing separates {treatment} and {reference} for the {latency_words} that {told} could show "
            f"({_with_half(latency)} points)."
        )
        return Headline(sentence, "tie", cautions=cautions)
    verb = "cuts" if latency.points < 0 else "raises"
    size = number(abs(latency.points))
    text = f"{treatment} {verb} the {latency_words} by {size} points against {reference}"
    if throughput is not None and throughput.is_clear:
        change = "costs" if throughput.points < 0 else "gains"
        text += f" and {change} {number(abs(throughput.points))} points of throughput"
    elif throughput is not None:
        text += f" and costs no throughput that {told} could show ({_with_half(throughput)} points)"
    return Headline(
        f"{text}.",
        "trial",
        big=BigNumber(size, "points", latency_words),
        winner=(treatment if latency.points < 0 else reference,),
        runner_up=reference if latency.points < 0 else treatment,
        cautions=cautions,
    )


def _with_half(effect: Effect) -> str:
    text = number(effect.points).replace("-", _MINUS)
    return f"{text} ± {number(effect.half)}" if math.isfinite(effect.half) else text
