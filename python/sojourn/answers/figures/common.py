"""What figures of several kinds share: axes, reference lines, words about seeds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sojourn.answers.asking import Ask
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.selection import LabelledPoint
from sojourn.answers.winners import missing_words
from sojourn.declarations.base import LabelValue, Where
from sojourn.declarations.figures import AxisDefinition
from sojourn.plots import styles
from sojourn.plots.spec import Mark, Note, Rule

__all__ = [
    "caption_of",
    "look_of",
    "look_of_point",
    "number_or_none",
    "rules_of",
    "spread_words",
    "ticks_of",
]


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
) -> str:
    """Fill the words about seeds into a caption; name points of `where` that are left out."""
    words = spread_words(ask, (point.name for point in points), what)
    left = "" if where is None else missing_words(study, where, points)
    return caption.replace("{spread}", words) + left


def look_of(study: OpenStudy, label: str, value: LabelValue) -> str:
    """Return the look of a value of a label: its own, or one of the palette by its place."""
    own = study.points.look(label, value)
    if styles.is_known(own):
        return own
    values = study.points.labels.get(label, [])
    return f"cycle-{values.index(str(value)) if str(value) in values else 0}"


def look_of_point(study: OpenStudy, point: str) -> str:
    """Return the look of the first of a point's labels that has one, or the first of the palette."""
    labels = study.points.point(point).labels
    looks = (study.points.look(label, value) for label, value in labels.items())
    return next((look for look in looks if styles.is_known(look)), "cycle-0")
