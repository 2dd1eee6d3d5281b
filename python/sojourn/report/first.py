"""The headline of a study's result: its points as `sojourn.headline` takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from sojourn.answers.selection import Points
from sojourn.base.errors import plain
from sojourn.headline.applications import told_metrics
from sojourn.headline.derive import headline_of
from sojourn.headline.said import Headline, Point, amount, together
from sojourn.headline.wording import condition
from sojourn.report.rival import nearest_rival
from sojourn.report.roles import POINT, Roles, kinds_of, marked_of
from sojourn.stats.level import at_level
from sojourn.study.axes import KeyAxis
from sojourn.study.definition import StudyDefinition
from sojourn.study.expand import labels_of_points
from sojourn.study.result import StudyResult

NUISANCES = frozenset(
    """
    rtt round_trip rate line_rate delay distance loss seed duration start sessions lanes users count homes connections
    """.split()  # noqa: SIM905 - a list reads better so
)
"""Last words of keys, and labels, that are no choice: conditions of an answer, never its contest."""

MOST_POINTS = 400
"""Points up to which a headline is derived. chosen: no sentence is true of more, and pages shall not wait for it."""


def headline_of_result(result: StudyResult, compare: str = "", baseline: str = "") -> Headline | None:
    """Return the headline of a study; `None` if it is too large for one, or has no application and no transfer.

    Parameters
    ----------
    result
        The study's result.
    compare, baseline
        Label whose values compete, and the value that others are measured by; as the study says if left out.

    Examples
    --------
    >>> result = StudyResult.load("results/low-latency/latest")  # doctest: +SKIP
    >>> headline_of_result(result).sentence  # doctest: +SKIP
    """
    if result.points.height > MOST_POINTS:
        return None
    definition = result.definition
    roles = Roles.of(result, compare or contest_of(definition))
    is_contest = bool(compare) or roles.compete == POINT or not _is_nuisance(definition, roles.compete)
    baseline = baseline or definition.baseline
    words = Points([], definition.labels)
    declared = dict.fromkeys(
        str(labels[roles.compete]) for labels in labels_of_points(definition).values() if roles.compete in labels
    )
    settings = [_name(roles, words, value) for value in (*declared, *roles.competitors)] if is_contest else []
    with at_level(result.level, anytime=result.is_anytime):
        found = headline_of(
            points_of(result, roles, words, is_contest=is_contest),
            settings=list(dict.fromkeys(settings)),
            kinds=kinds_of(result),
            noun=plain(roles.compete.replace("_", " ")) if any(map(amount, settings)) else "",
            baseline=_name(roles, words, baseline) if baseline else "",
            feels=definition.feels,
            own=[_name(roles, words, name) for name in result.plugins],
            about=marked_of(result),
        )
    fixed = {label: str(definition.at[label]) for label in roles.conditions if label in definition.at}
    if found is not None and fixed:
        where = condition(_condition(replace(roles, conditions=tuple(fixed)), words, tuple(fixed.values())))
        found = found.but(sentence=f"{found.sentence} The numbers are those {where}.")
    if found is not None:
        found = _with_rival(result, roles, found, list(dict.fromkeys((*declared, *roles.competitors))), words)
    if found is not None and roles.compete == POINT and not _are_settings(result):
        return found.but(grades={})
    return found


def _with_rival(result: StudyResult, roles: Roles, found: Headline, settings: Sequence[str], words: Points) -> Headline:
    """Add what must be true for the winner, and its nearest rival, where the study says what its settings need.

    Such settings stand in the order of their changes, so that of winners that are equal the first is advised.
    """
    names = {setting: _name(roles, words, setting) for setting in settings}
    tied = [setting for setting, name in names.items() if name in found.winner]
    needs = {setting: words.words(roles.compete, setting).needs for setting in settings}
    if roles.conditions or not tied or not needs[tied[0]]:
        return found
    winner = tied[0]
    rival = nearest_rival(result.metrics, winner, {name: names[name] for name in settings if needs[name]})
    facts = [*([rival.sentence] if rival else []), needs[winner]]
    if len(tied) > 1:
        facts.append(f"Of {together(found.winner)}, which do not differ clearly, {names[winner]} changes least.")
    return found.but(rival=names[rival.setting] if rival else "", facts=tuple(facts))


def _are_settings(result: StudyResult) -> bool:
    """Return whether points are choices: they have no labels, or one that separates them."""
    labels = result.labels
    return not labels or (len(labels) == 1 and result.points[labels[0]].n_unique() == result.points.height)


def contest_of(definition: StudyDefinition) -> str:
    """Return the label whose values a study's own answers compare; empty if it does not say.

    That is the declared one, else the one by which a claim groups its values, or that lanes of a figure show.
    """
    if definition.compare or definition.winners:
        return definition.compare or (definition.winners.compare if definition.winners else "")
    values = [value for claim in definition.claim for value in claim.values.values()]
    named = [label for value in values for label in (*value.versus, *(value.by or ()), *_lists(value.where))]
    named += [str(getattr(figure, "lanes", "")) for figure in definition.figure]
    return next((label for label in named if label and not _is_nuisance(definition, label)), "")


def _lists(where: Mapping[str, object]) -> list[str]:
    return [label for label, values in where.items() if isinstance(values, list)]


def _is_nuisance(definition: StudyDefinition, label: str) -> bool:
    """Return whether the values of a label are conditions that are no choice, such as round trips and rates."""
    axes = [axis for _, matrix in definition.matrices() for name, axis in matrix.axes.items() if name == label]
    targets = [key.rpartition(".")[2] for axis in axes if isinstance(axis, KeyAxis) for key in axis.targets]
    return bool({label, *targets} & NUISANCES)


def points_of(result: StudyResult, roles: Roles, words: Points, *, is_contest: bool = True) -> list[Point]:
    """Return the points of a result as headlines take them; where nothing competes, all labels are conditions."""
    wanted = result.metrics.filter(pl.col("metric").is_in(told_metrics()))
    values: dict[str, dict[tuple[str, str], dict[int, float]]] = {}
    columns = ("point", "subject", "metric", "seed", "value")
    for point, subject, metric, seed, value in wanted.select(columns).iter_rows():
        of_point = values.setdefault(point, {})
        if value is not None:
            of_point.setdefault((plain(subject), metric), {})[seed] = value
    found: list[Point] = []
    at = {label: str(value) for label, value in roles.result.definition.at.items()}
    for cell, points in roles.cells.items():
        if any(at.get(label, value) != value for label, value in zip(roles.conditions, cell, strict=True)):
            continue
        told = _condition(roles, words, cell)
        for competitor, point in points.items():
            name = _name(roles, words, competitor)
            where = told if is_contest else " and ".join(filter(None, (_named(roles.compete, name), told)))
            found.append(Point(name if is_contest else "", values.get(point, {}), where, point))
    return found


def _name(roles: Roles, words: Points, competitor: str) -> str:
    """Return what a sentence calls a setting."""
    own = words.words(roles.compete, competitor)
    return plain(own.name or own.short or own.title or roles.name(competitor))


def _named(label: str, name: str) -> str:
    """Return a value with the label that it is a value of, unless its own words say so."""
    return name if " " in name else f"{label.replace('_', ' ')} {name}"


def _condition(roles: Roles, words: Points, cell: tuple[str, ...]) -> str:
    """Return what a sentence calls all that does not compete."""
    told: list[str] = []
    for label, value in zip(roles.conditions, cell, strict=True):
        own = words.words(label, value)
        name = own.name or own.short or own.title or roles.words(label, value)
        told.append(_named(label, name))
    return plain(" and ".join(told))
