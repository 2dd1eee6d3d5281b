"""Whether what a study declares can be answered: checked as a whole, before anything is simulated.

Each problem says where it is and what would be right; all are reported at once.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import Formatter
from typing import Any

from sojourn.answers.averaging import Answer, hidden_labels, hidden_of, ways_out
from sojourn.answers.groups import ONE, Groups, condition_problems, groups_of, value_problems
from sojourn.answers.open_study import OpenStudy
from sojourn.answers.selection import LabelledPoint
from sojourn.declarations.answers import (
    ClaimDefinition,
    Condition,
    Measure,
    Value,
    declares_answers,
)
from sojourn.declarations.base import Where
from sojourn.declarations.figures import (
    DistributionFigure,
    DotsFigure,
    FunctionFigure,
    StackFigure,
    SwarmFigure,
    SweepFigure,
    TimeSeriesFigure,
)
from sojourn.errors import Problem, ScenarioError, StudyError, nearest
from sojourn.metrics import metrics
from sojourn.scenario import Scenario
from sojourn.study.expand import Point
from sojourn.study.files import companions, is_inside
from sojourn.study.library import Study

__all__ = ["TWO_WAY", "check_declarations", "unanswerable"]

_MEET = "labels have to meet at one point"

TWO_WAY = frozenset({"online-game", "cloud-game", "video-call"})
"""Kinds of applications that send datagrams both ways; a test holds them against what runs record."""

_BUSIER = re.compile(r"delay_((mean|min|p50|p95|p99|p999|max)|p\d\d|share_under_\w+)")
"""Delays in the direction with more bytes; the second group is there if each direction has them, too."""

_TABLES = {
    "delay": "delay_histogram",
    "round-trip": "delay_histogram",
    "load-time": "pages",
}
"""Record tables that a kind of measure reads."""


def check_declarations(
    study: OpenStudy, traffic: Mapping[str, Mapping[str, str]], file: str
) -> None:
    """Check everything that a study declares about its answers.

    Parameters
    ----------
    study
        The study.
    traffic
        Kinds of the applications of each point, by the names of their traffic entries.
    file
        How problems call the study file.

    Raises
    ------
    StudyError
        If something is wrong; lists all of it.
    """
    checker = _Checker(study, traffic, file)
    problems = list(checker.problems())
    if problems:
        raise StudyError(list(dict.fromkeys(problems)))


def _together(label: str, values: Sequence[str]) -> str:
    """Say that values of a label would be put together; chosen: four of them are enough to know which."""
    listed = ", ".join(values[:4]) + (", …" if len(values) > 4 else "")
    return f"would put {label} ({listed}) into one number"


class _Checker:
    def __init__(
        self, study: OpenStudy, traffic: Mapping[str, Mapping[str, str]], file: str
    ) -> None:
        self._study = study
        self._own = study.definition
        self._traffic = traffic
        self._file = file
        self._labels = study.points.labels
        self._functions: Mapping[str, Any] | None = None

    def _problem(self, path: str, message: str, hint: str = "") -> Problem:
        return Problem(path, message, hint, file=self._file)

    def problems(self) -> Iterator[Problem]:
        """Find everything that is wrong."""
        try:
            self._functions = self._study.functions
        except StudyError as error:
            for found in error.problems:
                yield self._problem(found.path, found.message, found.hint)
        yield from self._files()
        for name, measure in self._own.measures.items():
            yield from self._measure(f"measures.{name}", measure)
        yield from self._claims()
        for number, headline in enumerate(self._own.headline, 1):
            path = f"headline[{number}]"
            groups: dict[str, Groups] = {}
            yield from self._function(f"{path}.function", headline.function)
            yield from self._values(path, headline.values, groups)
            yield from self._template(f"{path}.text", headline.text, groups, ())
        yield from self._tables()
        yield from self._figures()
        yield from self._averages()

    # ---- files and functions ----------------------------------------------------------------------

    def _files(self) -> Iterator[Problem]:
        for name in companions(self._own):
            path = self._study.folder / name
            if not is_inside(name):
                yield self._problem(name, "lies outside the study's folder", "move it there")
            elif not path.is_file() and name != self._own.module:
                hint = "names are relative to the study file"
                yield self._problem(name, f"{path}: no such file", hint)

    def _function(self, path: str, name: str) -> Iterator[Problem]:
        if not name or self._functions is None:
            return
        if not self._own.module:
            yield self._problem(path, f'no module holds "{name}"', 'add: module = "study.py"')
        elif not callable(self._functions.get(name)):
            known = [n for n, f in self._functions.items() if callable(f) and not n.startswith("_")]
            message = f'{self._own.module} has no function "{name}"'
            yield self._problem(path, message, nearest(name, known))

    # ---- labels -----------------------------------------------------------------------------------

    def _where(self, path: str, where: Where) -> Iterator[Problem]:
        for label, given in where.items():
            if label not in self._labels:
                hint = nearest(label, self._labels)
                yield self._problem(path, f'no point has a label "{label}"', hint)
                continue
            for value in given if isinstance(given, list) else [given]:
                if str(value) not in self._labels[label]:
                    hint = nearest(str(value), self._labels[label])
                    yield self._problem(path, f'no point has {label} = "{value}"', hint)

    def _label(self, path: str, *labels: str) -> Iterator[Problem]:
        for label in labels:
            if label and label not in self._labels:
                hint = nearest(label, self._labels)
                yield self._problem(path, f'no point has a label "{label}"', hint)

    def _selected(self, path: str, where: Where) -> Iterator[Problem]:
        found = list(self._where(path, where))
        yield from found
        if not found and where and not self._study.points.select(where):
            words = ", ".join(f"{label} = {value}" for label, value in where.items())
            yield self._problem(path, f"no point has {words}", _MEET)

    def _grouped(self, path: str, measure: Measure, value: Value) -> Iterator[Problem]:
        """Find values of labels that are to make a group and that no point has."""
        where = {**measure.where, **value.where}
        yield from (found := list(self._selected(path, where)))
        chosen = [] if found else self._study.points.select(where)
        for label in (value.where if value.by is None else value.by) if chosen else ():
            given = value.where.get(label)
            met = {str(point.labels.get(label)) for point in chosen}
            for wanted in given if isinstance(given, list) else []:
                if str(wanted) not in met:
                    message = f"no point has {label} = {wanted} with the other labels"
                    yield self._problem(path, message, _MEET)

    # ---- measures and values ----------------------------------------------------------------------

    def _measure(self, path: str, measure: Measure) -> Iterator[Problem]:
        kinds = {
            "metric": bool(measure.metric),
            "samples": bool(measure.samples),
            "series": bool(measure.series),
            "function": bool(measure.function),
            "occupied": measure.occupied is not None,
        }
        chosen = [kind for kind, is_given in kinds.items() if is_given]
        if len(chosen) != 1:
            hint = 'for example: subject = "call", metric = "delay_p95"'
            yield self._problem(path, f"needs one of {', '.join(kinds)}", hint)
            return
        yield from self._function(f"{path}.series", measure.series)
        yield from self._function(f"{path}.function", measure.function)
        yield from self._selected(f"{path}.where", measure.where)
        yield from self._label(f"{path}.cells", *measure.cells)
        for key in ("metric", "per"):
            name = getattr(measure, key)
            if name and name not in metrics():
                yield self._problem(
                    f"{path}.{key}", f'no run has a metric "{name}"', nearest(name, metrics())
                )
        asked = (measure.quantile is not None, measure.share_below is not None, measure.mean)
        if measure.samples and sum(asked) != 1:
            yield self._problem(path, "samples need one of `quantile`, `share_below`, `mean`")
        yield from self._weights(path, measure)
        if measure.metric or measure.samples:
            yield from self._subject(path, measure)
        needs = {"series": "series", "occupied": "occupancy"}.get(chosen[0])
        yield from self._kept(path, _TABLES.get(measure.samples) or needs)

    def _weights(self, path: str, measure: Measure) -> Iterator[Problem]:
        if measure.weights and not measure.cells:
            yield self._problem(f"{path}.weights", "are for the values of a label in `cells`")
        elif measure.weights:
            label = measure.cells[0]
            for value in measure.weights:
                yield from self._where(f"{path}.weights", {label: value})
        if measure.mixed_first and measure.samples != "round-trip":
            yield self._problem(f"{path}.mixed_first", 'is for samples = "round-trip"')

    def _subject(self, path: str, measure: Measure) -> Iterator[Problem]:
        known = {"upstream", "downstream"}.union(*self._traffic.values())
        if measure.subject not in known:
            message = f'no point has traffic "{measure.subject}"'
            yield self._problem(f"{path}.subject", message, nearest(measure.subject, known))
        kinds = {entries.get(measure.subject) for entries in self._traffic.values()}
        name = _BUSIER.fullmatch(measure.metric)
        if name is not None and kinds & TWO_WAY:
            by_direction = f"delay_up_{name[1]} or delay_down_{name[1]}"
            samples = 'samples = "delay" with its `direction`'
            yield self._problem(
                f"{path}.metric",
                f"{measure.subject} sends both ways, and {measure.metric} is of the direction with more bytes",
                f'{by_direction if name[2] else samples}, or samples = "round-trip"',
            )

    def _kept(self, path: str, table: str | None) -> Iterator[Problem]:
        if table and table not in self._own.keep:
            hint = f'add "{table}" to `keep`'
            yield self._problem(path, f"needs the record table {table}", hint)

    def _values(
        self, path: str, values: Mapping[str, Value], groups: dict[str, Groups]
    ) -> Iterator[Problem]:
        """Check values in their order, and learn the groups of each."""
        for name, value in values.items():
            found = list(self._value(f"{path}.values.{name}", value, groups))
            yield from found
            right = not found
            own = groups_of(value, groups, self._own.measures, self._study.points)
            groups[name] = own if right else None

    def _value(self, path: str, value: Value, known: Mapping[str, Groups]) -> Iterator[Problem]:
        yield from self._function(f"{path}.function", value.function)
        yield from self._label(f"{path}.by", *(value.by or []))
        if value.measure:
            measure = self._own.measures.get(value.measure)
            if measure is None:
                hint = nearest(value.measure, self._own.measures)
                yield self._problem(path, f'no measure "{value.measure}"', hint)
            elif not value.points:
                yield from self._grouped(f"{path}.where", measure, value)
                yield from self._put_together(path, value, measure)
            for point in value.points.values():
                if point not in self._study.points.names:
                    hint = nearest(point, self._study.points.names)
                    yield self._problem(f"{path}.points", f'no point "{point}"', hint)
        yield from self._versus(f"{path}.versus", value)
        used = [value.of, value.slope, value.fit, *value.ratio, *value.difference, *value.sum]
        for other in [*used, *value.together.values()]:
            yield from self._known(path, other, known)
        if not (value.measure or value.function or any(used) or value.together):
            yield self._problem(path, "asks for nothing", 'for example: { measure = "delay" }')
        for message, hint in value_problems(value, known):
            yield self._problem(path, message, hint)

    def _put_together(self, path: str, value: Value, measure: Measure) -> Iterator[Problem]:
        """Find labels whose values one number would be made of without a word about it."""
        if value.across is not None:
            return
        listed = [label for label, given in value.where.items() if isinstance(given, list)]
        labels = listed if value.by is None else value.by
        groups = self._study.points.groups({**measure.where, **value.where}, labels, value.name)
        hidden = [label for points in groups.values() for label in hidden_labels(points, measure)]
        for label in dict.fromkeys(hidden):
            known = self._labels.get(label, [])
            hint = f'group by it (by = ["{label}"]), say how (across = "mean"), or fix it (where = {{ {label} = … }})'
            yield self._problem(path, _together(label, known), hint)

    def _versus(self, path: str, value: Value) -> Iterator[Problem]:
        if value.compared and not value.versus:
            yield self._problem(path, "is missing: with what is it compared?")
        if not value.versus:
            return
        yield from (found := list(self._where(path, value.versus)))
        measure = self._own.measures.get(value.measure)
        if measure is None or value.points:
            yield self._problem(path, "is for points by label", "give a `measure` and `where`")
        elif any(isinstance(given, list) for given in value.versus.values()):
            yield self._problem(path, "takes one value of a label, not a list")
        elif not found:
            for point in self._study.points.select({**measure.where, **value.where}):
                labels: Where = {**point.labels, **value.versus}
                others = self._study.points.select(labels)
                if len(others) != 1 or others[0].name == point.name:
                    hint = "one other point has to differ in these labels alone"
                    yield self._problem(path, f"nothing to compare {point.name} with", hint)

    def _known(self, path: str, name: str, known: Mapping[str, Groups]) -> Iterator[Problem]:
        if not name or name in known:
            return
        value, _, group = name.partition(".")
        groups = known.get(value)
        if value not in known:
            hint = nearest(value, known)
            yield self._problem(path, f'no value "{name}" stands before', hint)
        elif groups is not None and group not in groups:
            message = (
                f'{value} has no group "{group}"' if groups != ONE else f"{value} is one number"
            )
            yield self._problem(path, message, nearest(group, groups) if groups != ONE else "")

    def _template(
        self, path: str, text: str, values: Mapping[str, Groups], named: Iterable[str]
    ) -> Iterator[Problem]:
        try:
            fields = [field for _, field, _, _ in Formatter().parse(text) if field is not None]
        except ValueError as error:
            yield self._problem(path, f"not a template: {error}", "write {{ and }} for braces")
            return
        for field in fields:
            yield from self._known(path, field, {**values, **dict.fromkeys(named)})

    # ---- claims -----------------------------------------------------------------------------------

    def _claims(self) -> Iterator[Problem]:
        known = [claim.identifier for claim in self._own.claim]
        for name in sorted({name for name in known if known.count(name) > 1}):
            yield self._problem(f"claim {name}", "is given twice")
        for name in self._own.tests:
            if name not in known:
                yield self._problem(f"tests.{name}", "no such claim", nearest(name, known))
        for claim in self._own.claim:
            yield from self._claim(f"claim {claim.identifier}", claim, known)

    def _claim(self, path: str, claim: ClaimDefinition, known: list[str]) -> Iterator[Problem]:
        groups: dict[str, Groups] = {}
        ways = {
            "holds": bool(claim.holds),
            "function": bool(claim.function),
            "all_of": bool(claim.all_of),
            "not_run": bool(claim.not_run),
        }
        given = [way for way, is_given in ways.items() if is_given]
        if len(given) > 1:
            yield self._problem(path, f"is judged in one way, not by {' and '.join(given)}")
        yield from self._function(f"{path}.function", claim.function)
        yield from self._values(path, claim.values, groups)
        for condition in claim.holds:
            yield from self._condition(f"{path}.holds", condition, groups)
        named = [condition.name for condition in claim.holds if condition.name]
        yield from self._template(f"{path}.ours", claim.ours, groups, named)
        yield from self._template(f"{path}.note", claim.note, groups, named)
        for other in claim.all_of:
            if other not in known:
                yield self._problem(f"{path}.all_of", f'no claim "{other}"', nearest(other, known))
        if claim.identifier in self._behind(claim):
            yield self._problem(f"{path}.all_of", "the claim stands behind itself")
        for measure in (*claim.instead, *claim.instead.values()):
            if measure not in self._own.measures:
                hint = nearest(measure, self._own.measures)
                yield self._problem(f"{path}.instead", f'no measure "{measure}"', hint)

    def _behind(self, claim: ClaimDefinition) -> set[str]:
        """Return all claims that have to hold for one, directly or not."""
        by_name = {one.identifier: one for one in self._own.claim}
        found: set[str] = set()
        open_ones = list(claim.all_of)
        while open_ones:
            name = open_ones.pop()
            if name not in found and name in by_name:
                open_ones += by_name[name].all_of
            found.add(name)
        return found

    def _condition(
        self, path: str, condition: Condition, values: Mapping[str, Groups]
    ) -> Iterator[Problem]:
        for one in condition.any_of:
            yield from self._condition(path, one, values)
        limits = (condition.at_least, condition.at_most, condition.above, condition.below)
        used = [condition.value, *condition.rising, *condition.not_falling]
        used += [limit for limit in (*limits, condition.near) if isinstance(limit, str)]
        for name in used:
            yield from self._known(path, name, values)
        for message, hint in condition_problems(condition, values):
            yield self._problem(path, message, hint)

    # ---- tables -----------------------------------------------------------------------------------

    def _uses(self, path: str, *measures: str) -> Iterator[Problem]:
        for measure in measures:
            if measure not in self._own.measures:
                hint = nearest(measure, self._own.measures)
                yield self._problem(path, f'no measure "{measure}"', hint)

    def _draws(self, path: str, where: Where, *measures: str) -> Iterator[Problem]:
        """Find measures that are not there, and those that are for none of the points that are asked for."""
        yield from self._uses(path, *measures)
        chosen = self._study.points.select(where)
        for name in dict.fromkeys(measures):
            measure = self._own.measures.get(name)
            meant = self._study.points.select(measure.where) if measure else []
            if measure and meant and chosen and not {*_names(meant)} & {*_names(chosen)}:
                words = ", ".join(f"{label} = {value}" for label, value in measure.where.items())
                message = f"{name} is for points with {words}, and none of these points has them"
                yield self._problem(path, message, "change `where` here or of the measure")

    def _tables(self) -> Iterator[Problem]:
        for table in self._own.table:
            path = f"table {table.item}"
            yield from self._label(f"{path}.rows", table.rows)
            yield from self._where(f"{path}.where", table.where)
            for group in table.groups:
                for where in (group.where, group.against):
                    yield from self._selected(f"{path}.groups", {**table.where, **where})
                yield from self._uses(path, *(column.measure for column in group.columns))
                wanted = [*group.match, *(column.printed for column in group.columns)]
                yield from self._columns(path, group.printed, wanted)
        for rated in self._own.rated:
            path = f"rated {rated.item}"
            yield from self._uses(path, *(column.measure for column in rated.columns))
            for row in rated.rows:
                yield from self._selected(path, {**rated.where, **row.where})
            yield from self._columns(path, rated.printed, [rated.word])
        for numbers in self._own.numbers:
            path = f"numbers {numbers.name}"
            yield from self._uses(path, *(column.measure for column in numbers.columns))
            yield from self._selected(f"{path}.where", numbers.where)
            views = [label for view in numbers.views for label in view]
            yield from self._label(path, *numbers.rows, *views, numbers.compare)
        if self._own.winners:
            own = self._own.winners
            yield from self._draws("winners.measures", own.where, *own.measures)
            yield from self._label("winners", own.compare, own.columns, *own.rows)
            yield from self._selected("winners.where", own.where)

    def _columns(self, path: str, name: str, wanted: Iterable[str]) -> Iterator[Problem]:
        file = self._study.folder / name
        if not file.is_file():
            return
        with file.open(newline="", encoding="utf-8") as opened:
            known = next(csv.reader(opened), list[str]())
        for column in wanted:
            if column not in known:
                yield self._problem(
                    path, f'{name} has no column "{column}"', nearest(column, known)
                )

    # ---- figures ----------------------------------------------------------------------------------

    def _figures(self) -> Iterator[Problem]:
        items = [figure.item for figure in self._own.figure]
        for item in sorted({item for item in items if items.count(item) > 1}):
            yield self._problem(f"figure {item}", "is given twice")
        for figure in self._own.figure:
            path = f"figure {figure.item}"
            if isinstance(figure, FunctionFigure):
                yield from self._function(f"{path}.function", figure.function)
            elif isinstance(figure, DotsFigure):
                own = (panel.measure for panel in figure.panels)
                yield from self._draws(path, figure.where, *own)
                lanes = [figure.lanes] if isinstance(figure.lanes, str) else []
                yield from self._label(path, *figure.rows, figure.facet, *lanes)
                yield from self._selected(f"{path}.where", figure.where)
                for lane in figure.lanes if not isinstance(figure.lanes, str) else []:
                    yield from self._where(f"{path}.lanes", lane.where)
            elif isinstance(figure, SwarmFigure):
                yield from self._draws(path, figure.where, figure.panel.measure)
                yield from self._label(path, figure.lanes, figure.facet, figure.strata)
                yield from self._selected(f"{path}.where", figure.where)
            elif isinstance(figure, DistributionFigure):
                yield from self._draws(path, figure.where, figure.measure)
                yield from self._label(path, figure.lanes, *(n for v in figure.views for n in v))
                yield from self._selected(f"{path}.where", figure.where)
            elif isinstance(figure, SweepFigure):
                lines = [line.measure for panel in figure.panels for line in panel.lines]
                yield from self._draws(path, figure.where, *lines)
                yield from self._label(path, figure.over, figure.lanes, figure.facet)
                yield from self._selected(f"{path}.where", figure.where)
                if figure.lanes and any(len(panel.lines) > 1 for panel in figure.panels):
                    hint = "one panel for each measure"
                    yield self._problem(path, "has several measures in a panel with lanes", hint)
            elif isinstance(figure, StackFigure):
                yield from self._label(path, figure.rows, figure.facet)
                yield from self._selected(f"{path}.where", figure.where)
                yield from self._kept(path, "delays")
            elif isinstance(figure, TimeSeriesFigure):
                yield from self._series(path, figure)

    def _averages(self) -> Iterator[Problem]:
        """Find figures and tables that would average over labels that no reader of them sees."""
        own = self._own
        answers: list[tuple[str, Answer]] = [(f"figure {one.item}", one) for one in own.figure]
        answers += [(f"table {one.item}", one) for one in own.table]
        answers += [(f"rated {one.item}", one) for one in own.rated]
        answers += [(f"numbers {one.name}", one) for one in own.numbers]
        answers += [("winners", own.winners)] if own.winners else []
        for path, answer in answers:
            for label, values in hidden_of(self._study.points, own.measures, answer).items():
                hint = ways_out(answer, label, values[0])
                yield self._problem(path, _together(label, values), hint)

    def _series(self, path: str, figure: TimeSeriesFigure) -> Iterator[Problem]:
        yield from self._kept(path, "series")
        for panel in figure.panels:
            for trace in panel.traces:
                if trace.point not in self._study.points.names:
                    hint = nearest(trace.point, self._study.points.names)
                    yield self._problem(path, f'no point "{trace.point}"', hint)
                if trace.value not in ("rate", "delay", "backlog"):
                    yield from self._function(path, trace.value)


def _names(points: Sequence[LabelledPoint]) -> list[str]:
    return [point.name for point in points]


def unanswerable(study: Study, points: list[Point]) -> list[Problem]:
    """Return what is wrong with what the study declares about its answers, if it declares anything."""
    if not declares_answers(study.definition):
        return []
    traffic = _traffic(points)
    try:
        check_declarations(OpenStudy.of(study, points), traffic, str(study.path))
    except StudyError as error:
        return error.problems
    return []


def _traffic(points: list[Point]) -> dict[str, dict[str, str]]:
    """Return what all traffic entries are, by point and name; those that named loads stand for have no kind."""
    known: dict[str, list[str]] = {}
    found: dict[str, dict[str, str]] = {}
    for point in points:
        entries = point.document.get("traffic", [])
        kinds = {str(entry.get("name", "")): _kind(entry.get("app", "")) for entry in entries}
        loads = point.document.get("load", [])
        if loads:
            # Points that differ in other things have the same names.
            kind = str([(load.get("name"), load.get("test")) for load in loads] + list(kinds))
            if kind not in known:
                try:
                    printed = Scenario.parse(point.text).canonical()
                except ScenarioError:  # told when all points are validated
                    printed = ""
                known[kind] = re.findall(
                    r'^\[\[traffic\]\]\nname = "([^"]*)"', printed, re.MULTILINE
                )
            kinds |= dict.fromkeys(known[kind], "") | kinds
        found[point.name] = kinds
    return found


def _kind(app: str | dict[str, Any]) -> str:
    """Return the word that says what an application is; empty if that is not known."""
    return app if isinstance(app, str) else str(app.get("kind", ""))
