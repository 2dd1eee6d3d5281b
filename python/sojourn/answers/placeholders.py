"""Checks a study's own sentence: placeholders for names and settings, and words that may not be typed.

A sentence is filled from the result, so a number or a name that is typed would stay when `--set`, `--quick` or another
overlay changes what is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from string import Formatter
from typing import Any, cast

from sojourn._engine import manager_kinds
from sojourn.answers.numbers import number
from sojourn.answers.selection import Points
from sojourn.base.metrics import metrics
from sojourn.declarations.answers import Measure
from sojourn.headline.applications import APPLICATIONS, application_of
from sojourn.headline.said import together

_STACKS = ("bbr", "cubic", "dctcp", "ledbat", "prague", "reno", "scream")
"""Congestion controls that a sentence may name."""

_FAMILIES = ("docsis-", "linux-")
"""Prefixes of kinds that sentences leave out."""

_PAGES = "web"
"""The kind of traffic that is felt as pages."""

_NUMBER = re.compile(r"(?<![\w./])\d+(?:[.,]\d+)*(?![\w/])")
_ORDINAL = re.compile(r"(?<![\w.])(\d+)(?:st|nd|rd|th)\b")
_NAME = re.compile(r"[A-Za-z][\w-]*")


class Placeholders:
    """Words for placeholders that are no values: labels, traffic, scenario keys, printed numbers.

    Parameters
    ----------
    points
        The study's points, whose labels have names.
    documents
        Scenarios of the points.
    printed
        Numbers that the document prints.
    """

    def __init__(
        self, points: Points, documents: Sequence[Mapping[str, Any]], printed: Mapping[str, float] | None = None
    ) -> None:
        self._points, self._documents, self._printed = points, documents, printed or {}

    def word(self, field: str) -> str | None:
        """Return the words for a placeholder: of a label's value, of the traffic, of a scenario key; nothing if it is none.

        Examples
        --------
        >>> entry = {"name": "game", "app": {"kind": "adaptive-video", "profile": "game"}, "rtt": "20 ms"}
        >>> words = Placeholders(Points([]), [{"traffic": [entry]}])
        >>> words.word("traffic"), words.word("traffic.game"), words.word("traffic.game.rtt"), words.word("rtt")
        ('game', 'game', '20 ms', None)
        """
        head, _, rest = field.partition(".")
        if head == "printed":
            return f"{self._printed[rest]:g}" if rest in self._printed else None
        if rest in self._points.labels.get(head, ()):
            return self._points.name(head, rest)
        if field == "duration":  # which `--quick` shortens
            return None
        found = [word for document in self._documents if (word := _setting(document, field)) is not None]
        return together(list(dict.fromkeys(found))) or None

    def placeholder(self, text: str) -> str:
        """Return the placeholder that would say a number, such as `{access.upstream.link.rate}`; empty if none is known."""
        for label, values in self._points.labels.items():
            for value in values:
                if text in (value, self._points.name(label, value)):
                    return f"{{{label}.{value}}}"
        for document in self._documents:
            for key, value in _leaves(document):
                if str(value).split(" ")[0] == text and key != "duration":
                    return f"{{{key}}}"
        return ""

    @cached_property
    def names(self) -> list[str]:
        """Names of the study's own labels, longest first; a bare number is none."""
        every = [
            name
            for label, values in self._points.labels.items()
            for value in values
            for name in (
                value,
                self._points.name(label, value),
                self._points.title(label, value),
                self._points.short(label, value),
            )
        ]
        return sorted({name for name in every if re.search(r"[A-Za-z]", name)}, key=len, reverse=True)

    @cached_property
    def has(self) -> frozenset[str]:
        """All words of the scenarios and labels, as kinds are written."""
        found = {_bare(word) for name in self.names for word in _NAME.findall(name)}
        for document in self._documents:
            for key, value in _leaves(document):
                found.update(_bare(word) for word in _NAME.findall(f"{key} {value}"))
                found.update(application_of((), str(value)).split())
                found.update({"page", "pages"} if value == _PAGES else ())
        return frozenset(found)

    @property
    def known(self) -> str:
        """The first labels as placeholders, for hints."""
        every = [f"{{{label}.{value}}}" for label, values in self._points.labels.items() for value in values]
        return ", ".join(["{traffic}", *every[:4]])


def ends(found: Sequence[float], unit: str, spec: str) -> str:
    """Write what a metric is over all points: a range, with its own unit.

    Examples
    --------
    >>> ends([4.41, 3.02], "", "2"), ends([9.4], "Mb/s", "")
    ('3 to 4.4', '9.4 Mb/s')
    """
    count = int(spec) if spec.isdigit() else 3
    numbers = dict.fromkeys(number(value, count) for value in (min(found), max(found)))
    return " to ".join(numbers) + (f" {unit}" if unit else "")


def is_metric(field: str, subjects: Sequence[str]) -> bool:
    """Return whether a placeholder is a metric of a traffic entry or link, such as `call.mos`."""
    subject, _, metric = field.rpartition(".")
    return subject in subjects and metric in metrics()


def typed(text: str, words: Placeholders, measures: Sequence[Measure]) -> Iterator[tuple[str, str]]:
    """Find numbers that are typed, and settings and applications that the study does not have; each with a hint.

    Numbers that belong to the definition of a measure, such as the percentile or a limit in its title, are none.
    """
    said = " ".join(literal for literal, _, _, _ in Formatter().parse(text))
    for name in words.names:
        said = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", said)
    defined = {found for measure in measures for found in _of_definition(measure)}
    for found in [*_NUMBER.findall(said), *_ORDINAL.findall(said)]:
        if found not in defined:
            of_value = 'a value: {x} with values.x = { measure = "…" }'
            yield (
                f'the number "{found}" is typed, and stays when the study changes',
                words.placeholder(found) or of_value,
            )
    managers = {_bare(kind) for kind in manager_kinds()}
    for first, found in enumerate(_NAME.findall(said)):  # the first word may begin a sentence
        is_setting = _bare(found) in {*managers, *_STACKS} and (found != found.lower() or "-" in found) and first > 0
        is_application = found.lower().removesuffix("s") in APPLICATIONS
        if (is_setting and _bare(found) not in words.has) or (
            is_application and words.has.isdisjoint((found.lower(), found.lower().removesuffix("s")))
        ):
            yield f'the study has no "{found}"', f"placeholders for its own names: {words.known}"


def _of_definition(measure: Measure) -> Iterator[str]:
    if measure.quantile is not None:
        yield f"{100 * measure.quantile:g}"
    if measure.share_below is not None:
        yield f"{measure.share_below:g}"
    yield from re.findall(r"\d+", f"{measure.metric} {measure.title} {measure.subject}")


def _bare(word: str) -> str:
    """Return a word as kinds are written, without the family."""
    text = word.lower()
    for family in _FAMILIES:
        text = text.removeprefix(family)
    return text


def _setting(value: object, path: str) -> str | None:
    """Return what a scenario says at a path; of a table its application, profile or kind."""
    for key in path.split(".") if path else ():
        value = _named(value, key)
    if isinstance(value, list):
        return together([str(name) for one in cast("list[Any]", value) if (name := _named(one, "name"))]) or None
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        return next((_setting(table[key], "") for key in ("app", "profile", "kind") if key in table), None)
    return None if value is None else application_of((), str(value)) or str(value)


def _named(value: object, key: str) -> object:
    """Return the key of a table, or the entry of this name of a list; nothing if there is none."""
    if isinstance(value, list):
        return next((one for one in cast("list[Any]", value) if _named(one, "name") == key), None)
    return cast("dict[str, Any]", value).get(key) if isinstance(value, dict) else None


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, Any]]:
    """Return all keys of a scenario with their values; entries of lists go by their names."""
    if isinstance(value, dict):
        for key, one in cast("dict[str, Any]", value).items():
            yield from _leaves(one, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for one in cast("list[Any]", value):
            name = _named(one, "name")
            yield from _leaves(one, f"{path}.{name}" if name else path)
    else:
        yield path, value
