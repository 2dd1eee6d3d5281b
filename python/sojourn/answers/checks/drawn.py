"""Checks that tables and figures can be made, and that none of their numbers is a hidden average."""

from __future__ import annotations

from collections.abc import Iterator

from sojourn.answers.averaging import Answer, hidden_of, ways_out
from sojourn.answers.checks.names import Names
from sojourn.answers.checks.values import put_together
from sojourn.base.errors import Problem, nearest
from sojourn.declarations.figures import (
    AnyFigure,
    CdfFigure,
    DistributionFigure,
    DotsFigure,
    FacetFigure,
    FunctionFigure,
    HeatmapFigure,
    RatioFigure,
    ShareFigure,
    StackFigure,
    SwarmFigure,
    SweepFigure,
    TimelineFigure,
    TimeSeriesFigure,
    TradeoffFigure,
)


class Drawn:
    """Checks of tables and figures.

    Parameters
    ----------
    names
        What the study's declarations may name.
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._own = names.own
        self._study = names.study

    def tables(self) -> Iterator[Problem]:
        """Find tables that cannot be made."""
        for table in self._own.table:
            path = f"table {table.item}"
            yield from self._names.label(f"{path}.rows", table.rows)
            yield from self._names.where(f"{path}.where", table.where)
            for group in table.groups:
                for where in (group.where, group.against):
                    yield from self._names.selected(f"{path}.groups", {**table.where, **where})
                yield from self._names.uses(path, *(column.measure for column in group.columns))
                wanted = [*group.match, *(column.printed for column in group.columns)]
                wanted += [column.spread for column in group.columns if column.spread]
                yield from self._names.columns(path, group.printed, wanted)
        for rated in self._own.rated:
            path = f"rated {rated.item}"
            yield from self._names.uses(path, *(column.measure for column in rated.columns))
            for row in rated.rows:
                yield from self._names.selected(path, {**rated.where, **row.where})
            yield from self._names.columns(path, rated.printed, [rated.word])
        for numbers in self._own.numbers:
            path = f"numbers {numbers.name}"
            yield from self._names.uses(path, *(column.measure for column in numbers.columns))
            yield from self._names.selected(f"{path}.where", numbers.where)
            views = [label for view in numbers.views for label in view]
            yield from self._names.label(path, *numbers.rows, *views, numbers.compare)
        if self._own.winners:
            own = self._own.winners
            yield from self._names.uses("winners.measures", *own.measures)
            yield from self._names.label("winners", own.compare, own.columns, *own.rows)
            yield from self._names.selected("winners.where", own.where)

    def figures(self) -> Iterator[Problem]:
        """Find figures that cannot be drawn."""
        items = [figure.item for figure in self._own.figure]
        for item in sorted({item for item in items if items.count(item) > 1}):
            yield self._names.problem(f"figure {item}", "is given twice")
        for figure in self._own.figure:
            path = f"figure {figure.item}"
            if isinstance(figure, FunctionFigure):
                yield from self._names.function(f"{path}.function", figure.function)
            elif isinstance(figure, DotsFigure):
                own = (panel.measure for panel in figure.panels)
                yield from self._names.uses(path, *own)
                lanes = [figure.lanes] if isinstance(figure.lanes, str) else []
                yield from self._names.label(path, *figure.rows, figure.facet, *lanes)
                yield from self._names.selected(f"{path}.where", figure.where)
                for lane in figure.lanes if not isinstance(figure.lanes, str) else []:
                    yield from self._names.where(f"{path}.lanes", lane.where)
            elif isinstance(figure, SwarmFigure):
                yield from self._names.uses(path, figure.panel.measure)
                yield from self._names.label(path, figure.lanes, figure.facet, figure.strata)
                yield from self._names.selected(f"{path}.where", figure.where)
            elif isinstance(figure, DistributionFigure):
                yield from self._names.uses(path, figure.measure)
                yield from self._names.label(path, figure.lanes, *(n for v in figure.views for n in v))
                yield from self._names.selected(f"{path}.where", figure.where)
            elif isinstance(figure, SweepFigure):
                lines = [line.measure for panel in figure.panels for line in panel.lines]
                yield from self._names.uses(path, *lines)
                yield from self._names.label(path, figure.over, figure.lanes, *figure.facets)
                yield from self._names.selected(f"{path}.where", figure.where)
                if figure.lanes and any(len(panel.lines) > 1 for panel in figure.panels):
                    hint = "one panel for each measure"
                    yield self._names.problem(path, "has several measures in a panel with lanes", hint)
            elif isinstance(figure, StackFigure):
                yield from self._names.label(path, figure.rows, *figure.facets)
                yield from self._names.selected(f"{path}.where", figure.where)
                yield from self._names.kept(path, "delays")
            elif isinstance(figure, TimeSeriesFigure):
                yield from self._series(path, figure)
            else:
                yield from self._preset(path, figure)

    def _preset(self, path: str, figure: AnyFigure) -> Iterator[Problem]:
        """Find what is wrong with a figure that names measures and labels, and nothing else."""
        labels = [str(getattr(figure, key, "")) for key in ("lanes", "x", "y")]
        labels += figure.facets if isinstance(figure, FacetFigure) else []
        measures: list[str] = []
        if isinstance(figure, ShareFigure):
            measures, labels = figure.of, [figure.rows, *figure.facets]
        elif isinstance(figure, RatioFigure):
            measures, labels = figure.measures, [*labels, *figure.rows]
            yield from self._names.where(f"{path}.against", {figure.lanes: figure.against})
        elif isinstance(figure, TradeoffFigure):
            measures, labels = [figure.x, figure.y], [figure.lanes, *figure.facets]
        elif isinstance(figure, HeatmapFigure | CdfFigure):
            measures = [figure.measure]
        elif isinstance(figure, TimelineFigure):
            yield from self._names.kept(path, "series")
        else:
            return
        yield from self._names.uses(path, *measures)
        yield from self._names.label(path, *labels)
        yield from self._names.selected(f"{path}.where", figure.where)
        if isinstance(figure, CdfFigure):
            own = self._own.measures.get(figure.measure)
            if own is not None and not own.samples:
                hint = 'for example: samples = "delay", quantile = 0.99'
                yield self._names.problem(path, f"{figure.measure} is no distribution", hint)

    def averages(self) -> Iterator[Problem]:
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
                yield self._names.problem(path, put_together(label, values), hint)

    def _series(self, path: str, figure: TimeSeriesFigure) -> Iterator[Problem]:
        yield from self._names.kept(path, "series")
        for panel in figure.panels:
            for trace in panel.traces:
                if trace.point not in self._study.points.names:
                    hint = nearest(trace.point, self._study.points.names)
                    yield self._names.problem(path, f'no point "{trace.point}"', hint)
                if trace.value not in ("rate", "delay", "backlog"):
                    yield from self._names.function(path, trace.value)
