"""Which home has which treatment when: a schedule as periods, and tests joined to it by home and time.

A period reaches half way to the tests before and after it, so that a probe's clock may be wrong by hours at night and
the person in the home has the time between to change the modem.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import polars as pl

from sojourn.base.errors import Problem, StudyError, UsageError
from sojourn.base.files import read_named
from sojourn.field.records import FieldTest

SCHEDULE = pl.Schema(
    {
        "probe": pl.String(),
        "week": pl.Int64(),
        "treatment": pl.String(),
        "time": pl.Datetime("us", "UTC"),
        "direction": pl.String(),
    }
)
"""Columns of `schedule.csv`: one row per test."""

HALF_DAY = timedelta(hours=12)
"""How far a period of one test alone reaches; chosen: some homes test once a day."""

DIGITS = 6
"""Of the number of a week, fewer."""

LABEL_HINT = "letters, digits and signs such as - + . without blanks, at most 100"
"""Form of a name that `is_label` accepts."""


@dataclass(frozen=True, slots=True)
class Period:
    """A home's time under one treatment.

    Attributes
    ----------
    week, treatment
        As in the schedule.
    first, last
        When its tests are due.
    begins, until
        Half way to the tests before and after it.
    """

    week: int
    treatment: str
    first: datetime
    last: datetime
    begins: datetime
    until: datetime


@dataclass(frozen=True)
class Assignments:
    """The periods of each home, in the order of time."""

    periods: Mapping[str, Sequence[Period]]

    @classmethod
    def of(cls, schedule: pl.DataFrame) -> Assignments:
        """Return the periods of a schedule.

        Raises `UsageError` if a home has two treatments at once.

        Parameters
        ----------
        schedule
            Columns of `SCHEDULE`.
        """
        found: dict[str, list[Period]] = {}
        spans = schedule.group_by("probe", "week", "treatment").agg(
            first=pl.col("time").min(), last=pl.col("time").max()
        )
        moments = dict(schedule.group_by("probe").agg(pl.col("time").unique().sort()).iter_rows())
        for (probe,), rows in spans.sort("probe", "first", "last", "treatment").group_by("probe", maintain_order=True):
            times: list[datetime] = moments[probe]
            edge = max((b - a for a, b in pairwise(times)), default=2 * HALF_DAY) / 2
            own = list(rows.select("week", "treatment", "first", "last").iter_rows())
            for (_, one, _, last), (_, other, first, _) in pairwise(own):
                if first <= last:
                    raise UsageError(
                        f"{probe} has {one} and {other} at {first:%Y-%m-%d %H:%M} UTC",
                        "one treatment at a time, as `trial design` prints it",
                    )
            between = [last + (first - last) / 2 for (*_, last), (*_, first, _) in pairwise(own)]
            begins = [own[0][2] - edge, *between]
            until = [*between, own[-1][3] + edge]
            found[str(probe)] = [
                Period(week, treatment, first, last, start, end)
                for (week, treatment, first, last), start, end in zip(own, begins, until, strict=True)
            ]
        return cls(found)

    def at(self, probe: str, time: datetime) -> Period | None:
        """Return the period of a home at a moment; `None` outside the trial."""
        return next((one for one in self.periods.get(probe, ()) if one.begins <= time < one.until), None)

    def label(self, tests: Iterable[FieldTest]) -> list[FieldTest]:
        """Return tests with the treatments and weeks that their homes were given.

        A test that says another treatment of itself is flagged, and so is one that belongs to no period.
        """
        labelled: list[FieldTest] = []
        for test in tests:
            period = self.at(test.probe, test.time)
            if period is None:
                labelled.append(_flagged(test, "outside-the-schedule"))
                continue
            if test.treatment not in ("", period.treatment):
                test = _flagged(test, "says-another-treatment")
            labelled.append(replace(test, treatment=period.treatment, week=period.week))
        return labelled


def _flagged(test: FieldTest, flag: str) -> FieldTest:
    flags = test.flags.split()
    return test if flag in flags else replace(test, flags=" ".join([*flags, flag]))


def is_label(name: str) -> bool:
    """Return whether a name can stand in the title of a test and in the name of a file."""
    return bool(re.fullmatch(r"[^\s/\\.-][^\s/\\]{0,99}", name)) and name.isprintable()


def read_schedule(path: Path) -> pl.DataFrame:
    """Read what `trial design` printed.

    Raises
    ------
    UsageError
        If it is no schedule.
    StudyError
        Everything wrong with its rows.
    """
    hint = "what `trial design` prints"
    try:
        text = read_named(path).decode("utf-8-sig")
        reader = csv.DictReader(text.splitlines())
        names = list(reader.fieldnames or ())
        if missing := [name for name in SCHEDULE if name not in names]:
            raise UsageError(f"{path} has no column {missing[0]}", hint)
        problems: list[Problem] = []
        rows = [_row(row, reader.line_num, str(path), problems) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"cannot read the schedule {path}: {error}", hint) from error
    if problems:
        raise StudyError(problems)
    return pl.DataFrame(rows, schema=SCHEDULE, orient="row")


def _row(
    row: Mapping[str, str | None], line: int, file: str, problems: list[Problem]
) -> tuple[str, int, str, datetime, str]:
    values = {name: (row.get(name) or "").strip() for name in SCHEDULE}
    week, time = 0, datetime.max.replace(tzinfo=UTC)

    def wrong(column: str, hint: str) -> None:
        problems.append(Problem(column, f'"{values[column][:40]}" is no {column}', hint, line, 1, file))

    if values["week"].isascii() and values["week"].isdigit() and len(values["week"]) < DIGITS:
        week = int(values["week"])
    else:
        wrong("week", "a number such as 1")
    try:
        time = datetime.fromisoformat(values["time"])
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
        if not 1971 <= time.year <= 2200:
            wrong("time", "a year from 1971 to 2200")
    except (ValueError, OverflowError):
        wrong("time", "such as 2026-11-23T08:00:00Z")
    for column in ("probe", "treatment"):
        if not is_label(values[column]):
            wrong(column, LABEL_HINT)
    if values["direction"] not in ("up", "down"):
        wrong("direction", "up or down")
    return values["probe"], week, values["treatment"], time, values["direction"]
