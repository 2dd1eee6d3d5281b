"""Measures of points: a number per run, distributions, and both with intervals.

One number of a group is made in this order: a number of each run, one of its seeds, one of its points.
Distributions are pooled within a cell, cells are mixed by their weights, and the number is that of each
seed's mixture. Round trips are made of each point's directions, or of those of the mixture.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn.answers.averaging import require_visible
from sojourn.answers.composed import composed, other_point
from sojourn.answers.selection import LabelledPoint, Points
from sojourn.answers.view import NotRecorded, StudyView
from sojourn.declarations.answers import LabelValue, Measure, Where
from sojourn.stats.distribution import Distribution, convolved, mixture, pooled
from sojourn.stats.estimate import NOTHING, Estimate, log_mean_of, mean_of, median_of, variation_of
from sojourn.stats.fairness import jain_index

if TYPE_CHECKING:
    import polars as pl


class Measured:
    """Measures of the points of one result.

    Parameters
    ----------
    view
        The result.
    points
        All points of the study, by label.
    measures
        All measures of the study, by name.
    functions
        What the study's module holds, by name.
    """

    def __init__(
        self, view: StudyView, points: Points, measures: Mapping[str, Measure], functions: Mapping[str, Any]
    ) -> None:
        self.view = view
        self.points = points
        self.measures = measures
        self.functions = functions
        self.seconds = 0.0
        """Shortest runs that may answer."""
        self.seeds = 1
        """Fewest runs of a point that may answer."""
        self._declared = {id(one) for one in measures.values()}
        self._numbers: dict[tuple[int, str], np.ndarray] = {}
        """Of declared measures by point: those that are made of others ask for the same again and again."""
        self._mixtures: dict[tuple[str, str, tuple[str, ...]], dict[int, Distribution]] = {}

    @property
    def metrics(self) -> pl.DataFrame:
        """`point, seed, subject, metric, value, unit` of all runs, as of a result in a notebook."""
        return self.view.metrics

    @property
    def runs(self) -> pl.DataFrame:
        """One row per run, as of a result in a notebook."""
        return self.view.runs

    def require_long(self, points: Sequence[LabelledPoint]) -> None:
        """Make sure that the runs of points are long enough to answer, and enough.

        Raises `NotRecorded` if they are not.
        """
        for point in points:
            if self.seconds:
                self.view.require_duration(point.name, self.seconds)
            if self.seeds > 1:
                self.view.require_seeds(point.name, self.seeds)

    def per_seed(self, measure: Measure, point: str) -> np.ndarray:
        """Return one number per seed of a point; see `Measure`.

        Raises `NotRecorded` if the point was not run or does not have it.
        """
        if measure.at:
            there = measure.model_copy(update={"at": {}})
            return self._of_other(there, other_point(self, measure.at, point), point)
        key = (id(measure), point)
        if key in self._numbers:
            return self._numbers[key]
        values = self._per_seed(measure, point)
        if measure.missing == "never":
            values = np.where(np.isfinite(values), values, np.inf)
        if measure.times != 1:
            values = values * measure.times
        if measure.per_second:
            values = values / self.view.duration_s(point)
        if key[0] in self._declared:
            self._numbers[key] = values
        return values

    def _of_other(self, measure: Measure, other: str, point: str) -> np.ndarray:
        """Return the numbers of another point by the seeds of this one; unknown where only this one was run."""
        values = self.per_seed(measure, other).tolist()
        known = dict(zip(self.view.seeds(other), values, strict=True))
        return np.array([known.get(seed, np.nan) for seed in self.view.seeds(point)])

    def _per_seed(self, measure: Measure, point: str) -> np.ndarray:
        view = self.view
        made = composed(self, measure, point)
        if made is not None:
            return made
        if measure.series:
            function: Callable[..., float] = self.functions[measure.series]
            series = view.series(point, measure.link).values()
            return np.array([function(one, *measure.arguments) for one in series], dtype=float)
        if measure.function:
            found = self.functions[measure.function](view, point, *measure.arguments)
            return np.atleast_1d(np.asarray(found, dtype=float))
        if measure.occupied is not None:
            return np.array([view.time_share(point, measure.link, measure.occupied)])
        if measure.samples:
            return np.array(self.of_each(measure, self._samples(measure, point)))
        if measure.absent is not None and not view.has(point, measure.subject, measure.metric):
            return np.full(len(view.seeds(point)), float(measure.absent))
        ask = view.values_or_nan if measure.missing == "never" else view.values
        if measure.jain:
            return jain_index([ask(point, one, measure.metric) for one in measure.jain])
        values = ask(point, measure.subject, measure.metric)
        with np.errstate(divide="ignore", invalid="ignore"):
            if measure.per or measure.per_subject:
                other = measure.per_subject or measure.subject
                values = values / ask(point, other, measure.per or measure.metric)
            if measure.capacity:
                values = 100.0 * values / view.capacity(point, measure.capacity)
        return values

    def estimate(self, measure: Measure, points: Sequence[LabelledPoint], seeds: str = "") -> Estimate:
        """Return a measure of points with its interval over seeds.

        Several points are averaged within each seed that all of them were run with.

        Raises `NotRecorded` if a point was not run or does not have it; `ValueError` if the points differ in what the
        measure does not mean to average.
        """
        require_visible(points, measure)
        if measure.seeds == "variation":
            of_each = [self.per_seed(measure, point.name) for point in points]
            return variation_of(of_each).map(lambda share: 100 * share)
        if measure.samples:
            return mean_of(self.of_each(measure, self.distributions(measure, points)))
        if not points:
            message = f"needs points with {measure.title or measure.metric}"
            raise NotRecorded(message)
        values = self.seed_means(measure, points)
        if (seeds or measure.seeds) == "mean":
            # A ratio of two is as uncertain downwards as upwards by a factor.
            ratio = log_mean_of(values) if measure.per_subject else NOTHING
            return ratio if ratio.is_known else mean_of(values)
        if measure.missing == "never":
            known = np.where(np.isfinite(values), values, np.nan)
            limit = max(self.view.duration_s(point.name) for point in points)
            return median_of(known, censored_above=limit)
        return median_of(values)

    def by_seed(self, measure: Measure, points: Sequence[LabelledPoint], *, strict: bool = False) -> dict[int, float]:
        """Return a measure of points by seed, so that runs of others with the same seed can be paired with it.

        A number that all runs make together stands under the first seed. With `strict` every point has to have samples.

        Raises
        ------
        NotRecorded
            If a point was not run or does not have it.
        ValueError
            As of `estimate`.
        """
        require_visible(points, measure)
        if measure.seeds == "variation" and points:
            value = self.estimate(measure, points).value
            first = self.view.seeds(points[0].name)[0]
            return {first: math.nan if value is None else value}
        if measure.samples:
            mixed = self.distributions(measure, points, strict=strict)
            return dict(zip(mixed, self.of_each(measure, mixed), strict=True))
        if not points:
            message = f"needs points with {measure.title or measure.metric}"
            raise NotRecorded(message)
        values = self.seed_means(measure, points)
        of_each = [self.view.seeds(point.name) for point in points]
        seeds = [seed for seed in of_each[0] if all(seed in others for others in of_each)]
        if len(values) != len(seeds):
            return {seeds[0]: float(np.mean(values))}
        return dict(zip(seeds, values.tolist(), strict=True))

    def seed_means(self, measure: Measure, points: Sequence[LabelledPoint]) -> np.ndarray:
        """Return one number per seed that all points were run with: their mean."""
        if len(points) == 1:
            return self.per_seed(measure, points[0].name)
        by_seed: dict[int, list[float]] = {}
        for point in points:
            values = self.per_seed(measure, point.name)
            for seed, value in zip(self.view.seeds(point.name), values, strict=True):
                by_seed.setdefault(seed, []).append(float(value))
        cells: dict[tuple[str, ...], list[int]] = {}
        for place, point in enumerate(points):
            labels = tuple(str(point.labels.get(label)) for label in measure.cells)
            cells.setdefault(labels, []).append(place)
        complete = [values for values in by_seed.values() if len(values) == len(points)]
        return np.array(
            [float(np.mean([np.mean([values[n] for n in cell]) for cell in cells.values()])) for values in complete]
        )

    def complete(self, where: Where, label: str) -> list[LabelledPoint]:
        """Return the points for which all competing values of a label were run, so that comparing is fair.

        Values of the label of which no point was run do not compete.
        """
        chosen = self.points.select(where)
        run = [point for point in chosen if point.name in self.view.points]
        competing = {str(point.labels[label]) for point in run if label in point.labels}
        groups: dict[tuple[tuple[str, LabelValue], ...], set[str]] = {}
        for point in run:
            groups.setdefault(_others(point, label), set()).add(str(point.labels.get(label)))
        return [point for point in run if groups[_others(point, label)] == competing]

    def distributions(
        self, measure: Measure, points: Sequence[LabelledPoint], *, strict: bool = False
    ) -> dict[int, Distribution]:
        """Return the distribution of a group by seed: pooled within its cells, mixed over them.

        Raises `NotRecorded` if there are no samples.

        Parameters
        ----------
        measure
            One with `samples`.
        points
            The group.
        strict
            Whether every point has to have samples; otherwise those that have stand for all.
        """
        kind = f"{measure.samples} {measure.subject} {measure.direction} {strict}"
        kind += f" {measure.lane} {measure.window} {measure.every}"
        how = f"{measure.cells} {measure.weights} {measure.mixed_first}"
        key = (kind, how, tuple(point.name for point in points))
        if key not in self._mixtures:
            self._mixtures[key] = self._mixed(measure, points, strict=strict)
        return self._mixtures[key]

    def _mixed(self, measure: Measure, points: Sequence[LabelledPoint], *, strict: bool) -> dict[int, Distribution]:
        if len(points) == 1 and strict:
            return self._samples(measure, points[0].name)
        if measure.mixed_first:
            ways = [
                measure.model_copy(update={"samples": "delay", "direction": direction, "mixed_first": False})
                for direction in _DIRECTIONS
            ]
            return _both_ways(*(self._mixed(way, points, strict=strict) for way in ways))
        cells: dict[tuple[str, ...], list[LabelledPoint]] = {}
        for point in points:
            labels = tuple(str(point.labels.get(label)) for label in measure.cells)
            cells.setdefault(labels, []).append(point)
        pools = [self._pooled(measure, members, strict=strict) for members in cells.values()]
        weights = [float(measure.weights.get(labels[0], 1)) if labels else 1.0 for labels in cells]
        seeds = _seeds_of(pools, strict=strict)
        if not seeds:
            message = f"no samples of {measure.subject}"
            raise NotRecorded(message)
        if not measure.cells:
            return pools[0]
        of_seed = {
            seed: [(pool[seed], w) for pool, w in zip(pools, weights, strict=True) if seed in pool] for seed in seeds
        }
        return {
            seed: mixture([part for part, _ in parts], [weight for _, weight in parts])
            for seed, parts in of_seed.items()
        }

    def _pooled(self, measure: Measure, points: Sequence[LabelledPoint], *, strict: bool) -> dict[int, Distribution]:
        parts: list[dict[int, Distribution]] = []
        for point in points:
            try:
                parts.append(self._samples(measure, point.name))
            except NotRecorded:
                if strict:
                    raise
                self.view.require(point.name)
        seeds = _seeds_of(parts, strict=strict)
        return {seed: pooled(part[seed] for part in parts if seed in part) for seed in seeds}

    def _samples(self, measure: Measure, point: str) -> dict[int, Distribution]:
        if measure.samples == "probe":
            return self._probed(measure, point)
        if measure.samples == "delay":
            return self.view.delays(point, measure.subject, measure.direction)
        if measure.samples == "round-trip":
            return _both_ways(*(self.view.delays(point, measure.subject, d) for d in _DIRECTIONS))
        return self.view.load_times(point, measure.subject)

    def _probed(self, measure: Measure, point: str) -> dict[int, Distribution]:
        """Return what a probe measured within the window; what never came back is no sample."""
        low = float(measure.window[0]) if measure.window else -np.inf
        high = float(measure.window[1]) if len(measure.window) > 1 else np.inf
        found: dict[int, Distribution] = {}
        for seed, (at, took_ms) in self.view.probe(point, measure.subject, measure.lane).items():
            inside = took_ms[(at >= low) & (at < high)][:: measure.every]
            found[seed] = Distribution.of(inside[np.isfinite(inside)])
        return found

    def of_each(self, measure: Measure, mixed: Mapping[int, Distribution]) -> list[float]:
        """Return what a measure says of each distribution."""
        factor = float(measure.times)
        shown = [one.above_least() if measure.above_least else one for one in mixed.values()]
        if measure.quantile is not None:
            return [factor * one.quantile(measure.quantile) for one in shown]
        if measure.mean:
            return [factor * one.mean() for one in shown]
        if measure.trimmed is not None:
            return [factor * one.trimmed_mean(measure.trimmed) for one in shown]
        limit = float(measure.share_below or 0)
        return [factor * one.share_below(limit) for one in shown]


_DIRECTIONS = ("upstream", "downstream")


def _seeds_of(parts: Sequence[Mapping[int, Distribution]], *, strict: bool) -> list[int]:
    """Return the seeds of all parts, or those that every part has."""
    every = sorted({seed for part in parts for seed in part})
    return [seed for seed in every if not strict or all(seed in part for part in parts)]


def _both_ways(up: Mapping[int, Distribution], down: Mapping[int, Distribution]) -> dict[int, Distribution]:
    return {seed: convolved(one, down[seed]) for seed, one in up.items() if seed in down}


def _others(point: LabelledPoint, label: str) -> tuple[tuple[str, LabelValue], ...]:
    return tuple((name, value) for name, value in point.labels.items() if name != label)
