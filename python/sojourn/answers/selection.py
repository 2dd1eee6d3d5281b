"""The points of a study by their labels, and how groups of them are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sojourn.base.templates import fill
from sojourn.declarations.answers import LabelValue, LabelWords, Where


@dataclass(frozen=True)
class LabelledPoint:
    """A point of the study, run or not."""

    name: str
    labels: Mapping[str, LabelValue]


class Points:
    """All points of a study, to be chosen by label.

    Parameters
    ----------
    points
        In the order of the study.
    words
        How values of labels are called, by label and value.
    """

    def __init__(
        self, points: Sequence[LabelledPoint], words: Mapping[str, Mapping[str, LabelWords]] | None = None
    ) -> None:
        self._points = tuple(points)
        self._words = words or {}
        self._by_name = {point.name: point for point in self._points}
        self._carrying: dict[str, dict[str, int]] = {}
        """Which points carry a value of a label, one bit each: reports ask for thousands of selections."""
        for place, point in enumerate(self._points):
            for label, value in point.labels.items():
                of_label = self._carrying.setdefault(label, {})
                of_label[str(value)] = of_label.get(str(value), 0) | 1 << place

    @property
    def names(self) -> tuple[str, ...]:
        """All points by name."""
        return tuple(self._by_name)

    @property
    def labels(self) -> dict[str, list[str]]:
        """Values of each label, as text, in the order of the study."""
        return {label: list(values) for label, values in self._carrying.items()}

    def point(self, name: str) -> LabelledPoint:
        """Return a point by name; one that the study does not have carries no labels."""
        return self._by_name.get(name) or LabelledPoint(name, {})

    def select(self, where: Where) -> list[LabelledPoint]:
        """Return the points that carry all of these labels, in the order of the study.

        Examples
        --------
        >>> points = Points([LabelledPoint("a", {"q": "x"}), LabelledPoint("b", {"q": "y"})])
        >>> [point.name for point in points.select({"q": ["y", "z"]})]
        ['b']
        """
        chosen = (1 << len(self._points)) - 1
        for label, values in where.items():
            of_label = self._carrying.get(label, {})
            carrying = 0
            for value in _listed(values):
                carrying |= of_label.get(value, 0)
            chosen &= carrying
        found: list[LabelledPoint] = []
        while chosen:
            lowest = chosen & -chosen
            found.append(self._points[lowest.bit_length() - 1])
            chosen ^= lowest
        return found

    def within(self, where: Where, points: Sequence[LabelledPoint]) -> list[LabelledPoint]:
        """Return those of some points that carry all of these labels, in their order.

        Examples
        --------
        >>> near, far = LabelledPoint("a", {"place": "near"}), LabelledPoint("b", {"place": "far"})
        >>> [point.name for point in Points([near, far]).within({"place": "far"}, [far, near])]
        ['b']
        """
        if not where:
            return list(points)
        carrying = {point.name for point in self.select(where)}
        return [point for point in points if point.name in carrying]

    def meant(self, where: Where, asked: Where, points: Sequence[LabelledPoint]) -> list[LabelledPoint]:
        """Return the points that a measure with this `where` is for; labels that are asked for go before it."""
        own = {label: given for label, given in where.items() if label not in asked}
        return self.within(own, points)

    def values(self, label: str, where: Where) -> list[str]:
        """Return the values of a label in order: as `where` lists them, as named, or as in the study."""
        given = where.get(label)
        if given is not None:
            return _listed(given)
        known = [str(point.labels[label]) for point in self.select(where) if label in point.labels]
        order = list(self._words.get(label, ()))
        found = list(dict.fromkeys(known))
        return [v for v in order if v in found] + [v for v in found if v not in order]

    def groups(self, where: Where, by: Sequence[str] | None = None, name: str = "") -> dict[str, list[LabelledPoint]]:
        """Return the chosen points by group.

        Parameters
        ----------
        where
            What to choose.
        by
            Labels that make the groups, the slowest first; the listed ones if `None`.
        name
            Template of the name of a group; the names of its labels if empty.
        """
        labels = [k for k, v in where.items() if isinstance(v, list)] if by is None else list(by)
        chosen = [p for p in self.select(where) if all(label in p.labels for label in labels)]
        rank = {label: self.values(label, where) for label in labels}

        def place(point: LabelledPoint) -> tuple[int, ...]:
            return tuple(rank[label].index(str(point.labels[label])) for label in labels)

        found: dict[str, list[LabelledPoint]] = {}
        for point in sorted(chosen, key=place):
            names = {label: self.name(label, point.labels[label]) for label in labels}
            text = fill(name, names) if name else " ".join(names.values())
            found.setdefault(text, []).append(point)
        return found

    def words(self, label: str, value: LabelValue) -> LabelWords:
        """Return what a value of a label is called."""
        return self._words.get(label, {}).get(str(value)) or LabelWords()

    def name(self, label: str, value: LabelValue) -> str:
        """Return the name of a value of a label."""
        return self.words(label, value).name or str(value)

    def title(self, label: str, value: LabelValue) -> str:
        """Return the words for a value of a label where there is room."""
        words = self.words(label, value)
        return words.title or words.short or words.name or str(value)

    def short(self, label: str, value: LabelValue) -> str:
        """Return the words for a value of a label in a legend."""
        words = self.words(label, value)
        return words.short or words.name or words.title or str(value)

    def look(self, label: str, value: LabelValue) -> str:
        """Return the name of the look of a value of a label."""
        return self.words(label, value).look or str(value)


def _listed(values: LabelValue | Sequence[LabelValue]) -> list[str]:
    return [str(v) for v in values] if isinstance(values, list) else [str(values)]
