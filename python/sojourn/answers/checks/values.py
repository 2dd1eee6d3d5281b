"""Checks that measures and values can be answered; the groups of each value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import Formatter

from sojourn.answers.averaging import hidden_labels
from sojourn.answers.checks.names import MEET, Names
from sojourn.answers.composed import COMPARED, parts_of
from sojourn.answers.groups import ONE, Groups, groups_of, value_problems
from sojourn.answers.placeholders import Placeholders, is_metric
from sojourn.base.errors import Problem, nearest
from sojourn.base.metrics import metrics
from sojourn.declarations.answers import Measure, Value
from sojourn.declarations.base import Where
from sojourn.study.pool import pooled_subjects

TWO_WAY = frozenset({"adaptive-video", "cloud-game", "online-game", "video-call"})
"""Kinds of applications that send datagrams both ways; a test holds them against what runs record."""

_BUSIER = re.compile(r"delay_((mean|min|p50|p95|p99|p999|max)|p\d\d|share_under_\w+)")
"""Delays in the direction with more bytes; the second group is there if each direction has them, too."""

_LINKS = {"upstream", "downstream", "group", "group/downstream"}
"""Subjects that are no traffic: the access link, and the channels of a service group."""

_TABLES = {"delay": "delay_histogram", "round-trip": "delay_histogram", "load-time": "pages", "probe": "transfers"}
"""Record tables that a kind of measure reads."""


def put_together(label: str, values: Sequence[str]) -> str:
    """Say that values of a label would be put together; chosen: four of them are enough to know which."""
    listed = ", ".join(values[:4]) + (", …" if len(values) > 4 else "")
    return f"would put {label} ({listed}) into one number"


class Values:
    """Checks of measures and values.

    Parameters
    ----------
    names
        What the study's declarations may name.
    traffic
        Kinds of the applications of each point, by the names of their traffic entries.
    """

    def __init__(self, names: Names, traffic: Mapping[str, Mapping[str, str]]) -> None:
        self._names = names
        self._own = names.own
        self._study = names.study
        pool = names.own.pool
        self._traffic = {point: {**entries, **pooled_subjects(entries, pool)} for point, entries in traffic.items()}

    def _grouped(self, path: str, measure: Measure, value: Value) -> Iterator[Problem]:
        """Find values of labels that are to make a group and that no point has."""
        where = {**measure.where, **value.where}
        yield from (found := list(self._names.selected(path, where)))
        chosen = [] if found else self._study.points.select(where)
        for label in (value.where if value.by is None else value.by) if chosen else ():
            given = value.where.get(label)
            met = {str(point.labels.get(label)) for point in chosen}
            for wanted in given if isinstance(given, list) else []:
                if str(wanted) not in met:
                    message = f"no point has {label} = {wanted} with the other labels"
                    yield self._names.problem(path, message, MEET)

    def measure(self, path: str, measure: Measure) -> Iterator[Problem]:
        """Find what is wrong with a measure."""
        kinds = {
            "metric": bool(measure.metric),
            "samples": bool(measure.samples),
            "series": bool(measure.series),
            "function": bool(measure.function),
            "occupied": measure.occupied is not None,
            "by_label": bool(measure.by_label),
            **{key: bool(getattr(measure, key)) for key in (*COMPARED, "order")},
        }
        chosen = [kind for kind, is_given in kinds.items() if is_given]
        if len(chosen) != 1:
            hint = 'for example: subject = "call", metric = "delay_p95"'
            yield self._names.problem(path, f"needs one of {', '.join(kinds)}", hint)
            return
        yield from self._names.function(f"{path}.series", measure.series)
        yield from self._names.function(f"{path}.function", measure.function)
        yield from self._names.selected(f"{path}.where", measure.where)
        yield from self._names.label(f"{path}.cells", *measure.cells)
        for key in ("metric", "per"):
            name = getattr(measure, key)
            if name and name not in metrics():
                yield self._names.problem(f"{path}.{key}", f'no run has a metric "{name}"', nearest(name, metrics()))
        asked = (
            measure.quantile is not None,
            measure.share_below is not None,
            measure.mean,
            measure.trimmed is not None,
        )
        if measure.samples and sum(asked) != 1:
            yield self._names.problem(path, "samples need one of `quantile`, `share_below`, `mean`, `trimmed`")
        yield from self._made_of(path, measure)
        yield from self._weights(path, measure)
        yield from self._shared(path, measure)
        if (measure.metric or measure.samples) and not measure.jain:
            yield from self._subject(path, measure)
        needs = {"series": "series", "occupied": "occupancy"}.get(chosen[0])
        yield from self._names.kept(path, _TABLES.get(measure.samples) or needs)

    def _made_of(self, path: str, measure: Measure) -> Iterator[Problem]:
        """Check a measure that is made of others, or asked elsewhere."""
        problem = self._names.problem
        yield from self._names.where(f"{path}.at", measure.at)
        for label, choices in measure.by_label.items():
            for value in choices:
                yield from self._names.where(f"{path}.by_label", {label: value})
        if len(measure.by_label) > 1:
            yield problem(f"{path}.by_label", "chooses by one label")
        for key in (*COMPARED, "order"):
            if len(getattr(measure, key)) == 1:
                yield problem(f"{path}.{key}", "takes two", f'{key} = ["reported", "true"]')
        if bool(measure.order) != bool(measure.among):
            yield problem(f"{path}.among", "names the labels in which the points of `order` differ")
        yield from self._names.label(f"{path}.among", *measure.among)
        if measure.window and len(measure.window) == 2 and measure.window[0] >= measure.window[1]:
            yield problem(f"{path}.window", "ends before it begins")
        if (measure.lane or measure.window or measure.every > 1) and measure.samples != "probe":
            yield problem(path, '`lane`, `window` and `every` are for samples = "probe"')
        for name in dict.fromkeys(parts_of(measure)):
            if name not in self._own.measures:
                yield problem(path, f'no measure "{name}"', nearest(name, self._own.measures))
        if self._is_endless(measure):
            yield problem(path, "is made of itself")

    def _is_endless(self, measure: Measure) -> bool:
        """Return whether a measure is made of one that is made of it."""
        seen: set[str] = set()
        waiting = parts_of(measure)
        while waiting:
            name = waiting.pop()
            one = self._own.measures.get(name)
            if one is measure:
                return True
            if one is not None and name not in seen:
                seen.add(name)
                waiting += parts_of(one)
        return False

    def _shared(self, path: str, measure: Measure) -> Iterator[Problem]:
        """Check what divides a metric, and among whom it is shared."""
        problem = self._names.problem
        ways = [measure.per_subject, measure.capacity, measure.jain]
        if sum(map(bool, ways)) > 1:
            yield problem(path, "takes one of `per_subject`, `capacity`, `jain`")
        if any(ways) and not measure.metric:
            yield problem(path, "is a share of nothing", 'name the metric: metric = "goodput"')
        if len(measure.jain) == 1 or (measure.jain and measure.subject):
            hint = 'jain = ["one", "other"], without `subject`'
            yield problem(f"{path}.jain", "names all who share", hint)
        known = _LINKS.union(*self._traffic.values())
        for name in (*measure.jain, *([measure.per_subject] if measure.per_subject else [])):
            if name not in known:
                yield problem(path, f'no point has traffic "{name}"', nearest(name, known))

    def _weights(self, path: str, measure: Measure) -> Iterator[Problem]:
        if measure.weights and not measure.cells:
            yield self._names.problem(f"{path}.weights", "are for the values of a label in `cells`")
        elif measure.weights:
            label = measure.cells[0]
            for value in measure.weights:
                yield from self._names.where(f"{path}.weights", {label: value})
        if measure.mixed_first and measure.samples != "round-trip":
            yield self._names.problem(f"{path}.mixed_first", 'is for samples = "round-trip"')

    def _subject(self, path: str, measure: Measure) -> Iterator[Problem]:
        known = _LINKS.union(*self._traffic.values())
        if measure.subject not in known:
            message = f'no point has traffic "{measure.subject}"'
            yield self._names.problem(f"{path}.subject", message, nearest(measure.subject, known))
        kinds = {entries.get(measure.subject) for entries in self._traffic.values()}
        name = _BUSIER.fullmatch(measure.metric)
        if name is not None and kinds & TWO_WAY:
            by_direction = f"delay_up_{name[1]} or delay_down_{name[1]}"
            samples = 'samples = "delay" with its `direction`'
            yield self._names.problem(
                f"{path}.metric",
                f"{measure.subject} sends both ways, and {measure.metric} is of the direction with more bytes",
                f'{by_direction if name[2] else samples}, or samples = "round-trip"',
            )

    def values(self, path: str, values: Mapping[str, Value], groups: dict[str, Groups]) -> Iterator[Problem]:
        """Check values in their order, and learn the groups of each."""
        for name, value in values.items():
            found = list(self._value(f"{path}.values.{name}", value, groups))
            yield from found
            right = not found
            own = groups_of(value, groups, self._own.measures, self._study.points)
            groups[name] = own if right else None

    def _value(self, path: str, value: Value, known: Mapping[str, Groups]) -> Iterator[Problem]:
        yield from self._names.function(f"{path}.function", value.function)
        yield from self._names.label(f"{path}.by", *(value.by or []))
        if value.measure:
            measure = self._own.measures.get(value.measure)
            if measure is None:
                hint = nearest(value.measure, self._own.measures)
                yield self._names.problem(path, f'no measure "{value.measure}"', hint)
            elif not value.points:
                yield from self._grouped(f"{path}.where", measure, value)
                yield from self._put_together(path, value, measure)
            for point in value.points.values():
                if point not in self._study.points.names:
                    hint = nearest(point, self._study.points.names)
                    yield self._names.problem(f"{path}.points", f'no point "{point}"', hint)
        yield from self._versus(f"{path}.versus", value)
        used = [value.of, value.slope, value.fit, *value.ratio, *value.difference, *value.sum]
        for other in [*used, *value.together.values()]:
            yield from self.known(path, other, known)
        if not (value.measure or value.function or any(used) or value.together):
            yield self._names.problem(
                path, "has no measure, function or other value", 'for example: { measure = "delay" }'
            )
        for message, hint in value_problems(value, known):
            yield self._names.problem(path, message, hint)

    def _put_together(self, path: str, value: Value, measure: Measure) -> Iterator[Problem]:
        """Find labels whose values one number would be made of without a word about it."""
        if value.across is not None:
            return
        listed = [label for label, given in value.where.items() if isinstance(given, list)]
        labels = listed if value.by is None else value.by
        groups = self._study.points.groups({**measure.where, **value.where}, labels, value.name)
        hidden = [label for points in groups.values() for label in hidden_labels(points, measure)]
        for label in dict.fromkeys(hidden):
            known = self._names.labels.get(label, [])
            hint = f'group by it (by = ["{label}"]), say how (across = "mean"), or fix it (where = {{ {label} = … }})'
            yield self._names.problem(path, put_together(label, known), hint)

    def _versus(self, path: str, value: Value) -> Iterator[Problem]:
        if value.compared and not value.versus:
            yield self._names.problem(path, "is missing: what to compare with")
        if not value.versus:
            return
        yield from (found := list(self._names.where(path, value.versus)))
        measure = self._own.measures.get(value.measure)
        if measure is None or value.points:
            yield self._names.problem(path, "is for points by label", "give a `measure` and `where`")
        elif any(isinstance(given, list) for given in value.versus.values()):
            yield self._names.problem(path, "takes one value of a label, not a list")
        elif not found:
            for point in self._study.points.select({**measure.where, **value.where}):
                labels: Where = {**point.labels, **value.versus}
                others = self._study.points.select(labels)
                if len(others) != 1 or others[0].name == point.name:
                    hint = "one other point has to differ in these labels alone"
                    yield self._names.problem(path, f"nothing to compare {point.name} with", hint)

    def known(self, path: str, name: str, known: Mapping[str, Groups]) -> Iterator[Problem]:
        """Find a value, or a group of one, that does not stand before."""
        if not name or name in known:
            return
        value, _, group = name.partition(".")
        groups = known.get(value)
        if value not in known:
            hint = nearest(value, known)
            yield self._names.problem(path, f'no value "{name}" is defined above', hint)
        elif groups is not None and group not in groups:
            message = f'{value} has no group "{group}"' if groups != ONE else f"{value} is one number"
            yield self._names.problem(path, message, nearest(group, groups) if groups != ONE else "")

    def template(
        self,
        path: str,
        text: str,
        values: Mapping[str, Groups],
        named: Iterable[str],
        words: Placeholders | None = None,
    ) -> Iterator[Problem]:
        """Find what a sentence asks for and neither a value nor, if `words` is given, the study's words have."""
        try:
            fields = [field for _, field, _, _ in Formatter().parse(text) if field is not None]
        except ValueError as error:
            yield self._names.problem(path, f"not a template: {error}", "write {{ and }} for braces")
            return
        subjects = sorted(_LINKS.union(*self._traffic.values()))
        for field in fields:
            found = list(self.known(path, field, {**values, **dict.fromkeys(named)}))
            if found and words is not None and (is_metric(field, subjects) or words.word(field) is not None):
                continue
            yield from found
