"""Parts that figures of several kinds share: axes, reference lines, words about seeds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

from sojourn.answers.asking import Ask
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.selection import LabelledPoint
from sojourn.answers.winners import missing_words
from sojourn.base.metrics import metrics, words_of
from sojourn.declarations.answers import LabelWords, Measure
from sojourn.declarations.base import LabelValue, Where
from sojourn.declarations.figures import AxisDefinition, FacetFigure
from sojourn.headline.said import together
from sojourn.plots import styles
from sojourn.plots.spec import Axis, Mark, Note, Rule, Scale

MOST_FACETS = 24
"""Panels of a figure. chosen: eight rows of three are two screens."""


def number_or_none(value: float | None) -> float | None:
    """Return a number of the study file as a float."""
    return None if value is None else float(value)


def ticks_of(axis: AxisDefinition) -> tuple[tuple[float, str], ...]:
    """Return positions and labels of the ticks of an axis."""
    labels = axis.tick_labels or [f"{tick:g}" for tick in axis.ticks]
    return tuple((float(at), label) for at, label in zip(axis.ticks, labels, strict=True))


def rules_of(axis: AxisDefinition) -> tuple[Mark, ...]:
    """Return reference lines and words."""
    marks: list[Mark] = []
    for rule in axis.rules:
        if rule.x is not None and rule.y is not None:
            marks.append(Note(float(rule.x), float(rule.y), rule.label, rule.look))
        elif rule.x is not None:
            marks.append(Rule(float(rule.x), "x", rule.label, rule.look))
        elif rule.y is not None:
            marks.append(Rule(float(rule.y), "y", rule.label, rule.look))
    return tuple(marks)


def spread_words(ask: Ask, points: Iterable[str], what: str) -> str:
    """Say what shows the spread over seeds, or that there is none to show."""
    counts = [len(ask.view.seeds(point)) for point in points if point in ask.view.points]
    count = max(counts, default=1)
    return "One seed." if count < 2 else f"{what}: 95 % interval over {count} seeds."


def caption_of(
    study: OpenStudy,
    ask: Ask,
    caption: str,
    points: Sequence[LabelledPoint],
    *,
    what: str,
    where: Where | None = None,
    figure: FacetFigure | None = None,
) -> str:
    """Fill the words about seeds into a caption; name points of `where` and panels of `figure` that are left out."""
    words = spread_words(ask, (point.name for point in points), what)
    left = "" if where is None else missing_words(study, where, points)
    left += "" if figure is None else facets_left(study, figure)
    return caption.replace("{spread}", words) + left


def look_of(study: OpenStudy, label: str, value: LabelValue) -> str:
    """Return the look of a value of a label: its own, or one of the palette by its place among those without one.

    Queue managers keep their looks beside values that have none. Other words that plots know, such as `limit`, count if the
    study gives them, or if every value of the label has a look. Of the palette the colours of these looks are left out.
    """
    values = study.points.labels.get(label, [])
    looks = {str(one): study.points.look(label, one) for one in [*values, value]}
    all_known = all(styles.is_known(look) for look in looks.values())

    def has_own(one: LabelValue) -> bool:
        look = looks[str(one)]
        counts = all_known or look in styles.MANAGERS or bool(study.points.words(label, one).look)
        return counts and styles.is_known(look)

    if has_own(value):
        return looks[str(value)]
    without = [str(one) for one in values if not has_own(one)]
    taken = {styles.look_of(looks[str(one)]).colour for one in values if has_own(one)}
    palette = [f"cycle-{number}" for number in range(styles.PALETTE)]
    free = [look for look in palette if styles.look_of(look).colour not in taken] or palette
    place = without.index(str(value)) if str(value) in without else 0
    return free[place % len(free)]


def look_of_point(study: OpenStudy, point: str) -> str:
    """Return the look of the first of a point's labels that has one, or the first of the palette."""
    labels = study.points.point(point).labels
    looks = (study.points.look(label, value) for label, value in labels.items())
    return next((look for look in looks if styles.is_known(look)), "cycle-0")


def condition_words(study: OpenStudy, label: str, value: LabelValue, *, short: bool = False) -> str:
    """Return what a value of a label is called over a panel, or in a legend.

    A number that the study does not name stands with its label and unit.
    """
    if told := _number_words(study, label, value):
        return told
    if short:
        return study.points.short(label, value)
    name, title = (find(label, value) for find in (study.points.name, study.points.title))
    return title if name == title else f"{name}: {title}"


def value_words(study: OpenStudy, label: str, value: LabelValue) -> str:
    """Return the name of a value; a number that the study does not name stands with its label and unit."""
    return _number_words(study, label, value) or study.points.name(label, value)


def _number_words(study: OpenStudy, label: str, value: LabelValue) -> str:
    """Return a number that the study does not name with its label and unit; nothing for all else."""
    words = study.points.words(label, value)
    plain = str(value).replace(".", "", 1).isdigit() or str(value) in ("True", "False")
    if words != LabelWords() or not plain:
        return ""
    unit = study.definition.label_units().get(label, "")
    return f"{label.replace('_', ' ')} {value} {unit}".strip()


def facets_of(study: OpenStudy, figure: FacetFigure, *, short: bool = False) -> list[tuple[Where, str]]:
    """Return what each panel shows, and its title; one panel without a title if no label makes panels.

    Combinations that no point has are none; of more than `MOST_FACETS` the first are kept, see `facets_left`.
    """
    return _combinations(study, figure, short=short)[:MOST_FACETS]


def facets_left(study: OpenStudy, figure: FacetFigure) -> str:
    """Say that not all combinations have a panel; nothing if they have."""
    count = len(_combinations(study, figure, short=True))
    if count <= MOST_FACETS:
        return ""
    return f" The first {MOST_FACETS} of {count} combinations of {together(figure.facets)}; `where` chooses others."


def _combinations(study: OpenStudy, figure: FacetFigure, *, short: bool) -> list[tuple[Where, str]]:
    names = figure.facets
    if not names:
        return [(figure.where, "")]
    values = [study.points.values(label, figure.where) for label in names]
    found: list[tuple[Where, str]] = []
    for chosen in product(*values):
        pairs = dict(zip(names, chosen, strict=True))
        where: Where = {**figure.where, **pairs}
        if len(names) == 1 or study.points.select(where):
            words = [condition_words(study, label, one, short=short) for label, one in pairs.items()]
            found.append((where, ", ".join(words)))
    return found


def axis_of(name: str, measure: Measure, *, scale: Scale = "linear", low: float | None = None) -> Axis:
    """Return the axis of a measure."""
    quantity = measure.title or words_of(measure.metric) or name
    return Axis(quantity, unit_of(measure), scale=scale, low=None if scale == "log" else low)


def unit_of(measure: Measure) -> str:
    """Return the unit of a measure: its own, or that of its metric if nothing makes it another."""
    if measure.capacity and not measure.unit:
        return "%"
    changed = measure.times != 1 or measure.per or measure.per_second
    changed = changed or measure.per_subject or measure.jain
    known = metrics().get(measure.metric)
    return measure.unit if measure.unit or changed or known is None else known.unit
