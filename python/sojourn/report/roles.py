"""Which label of a study does what in the report of any study: one competes, the others are conditions.

What competes has a colour, conditions make rows and panels; points go by their labels, never by their place.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

import polars as pl

from sojourn.headline import may_be_named
from sojourn.headline.applications import APPLICATIONS, LOSS_LIMITS, application_of
from sojourn.headline.board import LEAST_RATE
from sojourn.headline.kinds import kinds_in, marked_in
from sojourn.plots import styles
from sojourn.stats.quantity import quantity_of
from sojourn.study.result import StudyResult

MOST_COMPETITORS = 7
"""chosen: as many looks as one tells apart, and as many columns as a page has."""

LEAST_DIFFERENCE = 0.01
"""Measures that differ by less, as a share of the largest, say nothing. chosen: too little to notice."""

POINT = "point"
"""Competitors where labels do not separate points."""


@dataclass(frozen=True)
class Measured:
    """A measure of a traffic entry or link."""

    subject: str
    metric: str
    unit: str


@dataclass(frozen=True)
class Roles:
    """The labels of a study by what they do.

    Attributes
    ----------
    result
        The study's result.
    compete
        The label whose values compete: the declared one, or of those that vary and have few enough values, the first
        whose values are names. Amounts (a rate, a distance) are conditions, unless nothing else varies. Where labels do not tell
        points apart, points compete themselves.
    conditions
        The other labels that vary.
    """

    result: StudyResult
    compete: str
    conditions: tuple[str, ...] = ()

    @classmethod
    def of(cls, result: StudyResult, compare: str = "") -> Roles:
        """Give the labels of a result their roles; `compare` is what competes, whatever the study says."""
        points = result.points
        varying = [label for label in result.labels if points[label].n_unique() > 1]
        if not varying or points.select(varying).is_duplicated().any():
            return cls(result, POINT)
        few = [label for label in varying if points[label].n_unique() <= MOST_COMPETITORS]
        if not few:
            return cls(result, POINT)
        names = [label for label in few if not points.schema[label].is_numeric()]
        own = result.definition
        wanted = compare or own.compare or (own.winners.compare if own.winners else "")
        declared = [label for label in varying if label == wanted]
        compete = (declared or names or few)[0]
        return cls(result, compete, tuple(label for label in varying if label != compete))

    @cached_property
    def points(self) -> pl.DataFrame:
        """Points with what competes and the conditions, as words."""
        names = [self.compete, *self.conditions]
        columns = [pl.col(name).cast(pl.String).fill_null("–").alias(f"by_{name}") for name in names]
        return self.result.points.select(POINT, *columns)

    @cached_property
    def competitors(self) -> list[str]:
        """Values that compete, in the order of the study."""
        return self.points[f"by_{self.compete}"].unique(maintain_order=True).to_list()

    @cached_property
    def cells(self) -> dict[tuple[str, ...], dict[str, str]]:
        """By the values of the conditions, the point of each competitor."""
        found: dict[tuple[str, ...], dict[str, str]] = {}
        for point, competitor, *conditions in self.points.iter_rows():
            found.setdefault(tuple(conditions), {})[competitor] = point
        return found

    def words(self, label: str, value: str) -> str:
        """Return a value of a label with its unit."""
        return f"{value} {self.result.label_units.get(label, '')}".strip()

    def name(self, competitor: str) -> str:
        """Return how a competitor is called."""
        return self.words(self.compete, competitor)

    def title(self, condition: Sequence[str]) -> str:
        """Return how a combination of conditions is called.

        A value that is a number, or stands for yes or no, says of what.
        """
        told: list[str] = []
        for label, value in zip(self.conditions, condition, strict=True):
            words = self.words(label, value)
            plain = value.replace(".", "", 1).isdigit() or value in ("true", "false", "–")
            told.append(f"{label.replace('_', ' ')} {words}" if plain else words)
        return ", ".join(told)

    @cached_property
    def looks(self) -> dict[str, str]:
        """Look of each competitor: its own, if all have one, or one of the palette by its place."""
        if all(styles.is_known(value) for value in self.competitors):
            return {value: value for value in self.competitors}
        return {value: f"cycle-{place}" for place, value in enumerate(self.competitors)}

    def measures(self, most: int) -> list[Measured]:
        """Return the measures of most interest: felt ones first, then those that differ most between competitors.

        Measures without a winner, and those that hardly differ, are left out. Where headlines have applications or
        transfers, their measures come first, then their costs, and nothing else.
        """
        summary = self.result.summary.filter(pl.col("mean").is_finite()).join(self.points, on=POINT)
        key = ["subject", "metric", "unit"]
        mean = pl.col("mean")
        spreads = (
            summary.group_by(*key, *(f"by_{name}" for name in self.conditions), maintain_order=True)
            .agg(
                ((mean.max() - mean.min()) / mean.abs().max()).alias("spread"),
                pl.col(f"by_{self.compete}").n_unique().alias("competitors"),
            )
            .filter((pl.col("competitors") > 1) & pl.col("spread").is_finite())
            .group_by(key, maintain_order=True)
            .agg(pl.col("spread").max())
        )
        largest = largest_values(summary)
        roles = by_role(largest, kinds_of(self.result), self.result.definition.feels)
        told = may_be_named(largest)
        found = [
            (
                roles.get((subject, metric), PAID + (1 if (subject, metric) in told else 2)),
                -spread,
                Measured(subject, metric, unit),
            )
            for subject, metric, unit, spread in spreads.iter_rows()
            if spread >= LEAST_DIFFERENCE and quantity_of(metric, unit).better
        ]
        first = min((role for role, *_ in found), default=0)
        # Those with a role; else those that a sentence may name; else whatever differs.
        kept = [one for one in found if one[0] <= max(first, PAID)]
        ranked = [one for *_, one in sorted(kept, key=lambda one: one[:2])]
        return list(itertools.islice(_varied(ranked), most))


def largest_values(summary: pl.DataFrame) -> dict[tuple[str, str], float]:
    """Return the largest mean of each subject and metric."""
    largest = summary.group_by("subject", "metric").agg(pl.col("mean").max()).drop_nulls()
    return {(subject, metric): value for subject, metric, value in largest.iter_rows()}


MOST_ALIKE = 2
"""One measure of more traffic entries than this says the same again. chosen: two can be compared."""


def _varied(ranked: Sequence[Measured]) -> Iterator[Measured]:
    """Yield each kind of measure once, then a second time: six uploads are not six times as interesting as a call."""
    turns: dict[int, list[Measured]] = {}
    seen: Counter[str] = Counter()
    for measure in ranked:
        is_rate = measure.metric.startswith("goodput")  # an upload's says nothing of a download's
        kind = measure.metric if is_rate else re.sub(r"_(up|down|upstream|downstream)(?=_|$)", "", measure.metric)
        turns.setdefault(seen[kind], []).append(measure)
        seen[kind] += 1
    for turn in range(MOST_ALIKE):
        yield from turns.get(turn, [])


FELT, LOST, PAID = 0, 1, 2
"""Roles of measures, in the order of their rows."""


def by_role(
    largest: Mapping[tuple[str, str], float], kinds: Mapping[str, str], feels: Sequence[str]
) -> dict[tuple[str, str], int]:
    """Return the measures by which applications are graded, each in its worse direction, and the rates of transfers."""
    metrics: dict[str, list[str]] = {}
    for subject, metric in largest:
        metrics.setdefault(subject, []).append(metric)
    nouns = {subject: application_of(known, kinds.get(subject, "")) for subject, known in metrics.items()}
    asked = any(one and one in feels for pair in nouns.items() for one in pair)
    found: dict[tuple[str, str], int] = {}
    for subject, noun in nouns.items():
        application = APPLICATIONS.get(noun)
        if application is None:
            found |= dict.fromkeys(_paid(subject, metrics[subject], largest), PAID)
            continue
        if asked and subject not in feels and noun not in feels:
            continue
        for measure in application.all_measures:
            ways = [(subject, name) for name, _ in measure.names if name in metrics[subject]]
            worst = max(ways, key=largest.__getitem__, default=None)
            if worst is not None and (measure.way != "loss" or largest[worst] >= LOSS_LIMITS[0]):
                found[worst] = LOST if measure.way == "loss" else FELT
    return found


def _paid(subject: str, known: Sequence[str], largest: Mapping[tuple[str, str], float]) -> list[tuple[str, str]]:
    """Return the rate of a transfer in the direction of its data; nothing of what is none."""
    rates = [(subject, name) for name in ("goodput", "goodput_downstream") if name in known]
    rate = max(rates, key=largest.__getitem__, default=None)
    is_transfer = {"rtt_mean", "late", "lost"}.isdisjoint(known)
    return [rate] if rate is not None and is_transfer and largest[rate] >= LEAST_RATE else []


def kinds_of(result: StudyResult) -> dict[str, str]:
    """Return the kinds of applications of a result's scenarios, by traffic entry, as far as its files say them."""
    return kinds_in(*_documents(result))


def marked_of(result: StudyResult) -> list[str]:
    """Return the traffic entries that a result's scenario, or its study, marks as its subject."""
    return marked_in(*_documents(result))


def _documents(result: StudyResult) -> list[Mapping[str, Any]]:
    documents: list[Mapping[str, Any]] = list(result.definition.overlays.values())
    try:
        base = result.study_folder / "scenarios" / PurePosixPath(result.definition.scenario).name
        documents.insert(0, tomllib.loads(base.read_text(encoding="utf-8")))
    except (OSError, ValueError):  # the metrics say most of it
        pass
    return documents
