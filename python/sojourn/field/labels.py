"""Probe and treatment of a test: from a table, a schedule, the title of a test, or its file's name.

A title such as `probe=home-07 buffer=48KB week=2` says it, as does a file name in which Flent has
replaced all but letters and digits (`…probe_home-07_buffer_48KB_week_2.flent.gz`), or a row of a CSV file
with the columns `file` (a pattern such as `home-07/*`) and any of `probe`, `treatment`, `week`, `zone`.
The table wins over the title, the title over the file name. A schedule of `trial design` is joined by home and time.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from sojourn.base.errors import Problem, StudyError, UsageError, nearest
from sojourn.base.files import read_named
from sojourn.field.assignments import SCHEDULE, Assignments, read_schedule
from sojourn.field.records import FieldTest

WORDS = {
    "probe": "probe",
    "home": "probe",
    "treatment": "treatment",
    "buffer": "treatment",
    "queue": "treatment",
    "qdisc": "treatment",
    "aqm": "treatment",
    "week": "week",
    "zone": "zone",
}
"""Words before `=`, `:` or `_`, and their labels."""

_IN_TITLE = re.compile(rf"\b({'|'.join(WORDS)})[=:](\S{{1,100}})")
_IN_NAME = re.compile(rf"(?:^|[._])({'|'.join(WORDS)})_([A-Za-z0-9-]+)")
_COLUMNS = ("file", "probe", "treatment", "week", "zone")


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels of a test; empty where no source has them."""

    probe: str = ""
    treatment: str = ""
    week: int | None = None
    zone: str = ""


@dataclass(frozen=True)
class Labelling:
    """Labels from a file beside the measurements.

    Attributes
    ----------
    rows
        Patterns of file names, and what is known of the files.
    assignments
        Who had which treatment when; `None` if the file is no schedule.
    """

    rows: Sequence[tuple[str, Mapping[str, str]]] = ()
    assignments: Assignments | None = None

    def apply(self, tests: Iterable[FieldTest]) -> list[FieldTest]:
        """Return tests with what is said of them."""
        labelled = [self._by_file(test) for test in tests]
        return labelled if self.assignments is None else self.assignments.label(labelled)

    def _by_file(self, test: FieldTest) -> FieldTest:
        found: dict[str, Any] = {}
        for pattern, labels in self.rows:
            if fnmatchcase(test.file, pattern) or fnmatchcase(Path(test.file).name, pattern):
                found |= labels
        if "week" in found:
            found["week"] = _week(found["week"])
        return replace(test, **found) if found else test


def read_labels(path: Path) -> Labelling:
    """Read a table of labels, or a schedule.

    Raises
    ------
    UsageError
        If there is no such file, or a home has two treatments at once.
    StudyError
        Everything wrong with its rows.
    """
    try:
        text = read_named(path).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the labels {path}", "a CSV file in UTF-8") from error
    if set(SCHEDULE) <= set(text.partition("\n")[0].strip().split(",")):
        return Labelling(assignments=Assignments.of(read_schedule(path)))
    reader = csv.DictReader(text.splitlines())
    names = list(reader.fieldnames or ())
    problems = [
        Problem("", f'unknown column "{name}"', nearest(name, _COLUMNS), 1, 1, str(path))
        for name in names
        if name not in _COLUMNS
    ]
    if "file" not in names:
        problems.append(Problem("", "has no column file", "file,probe,treatment,week,zone", 1, 1, str(path)))
    rows: list[tuple[str, Mapping[str, str]]] = []
    for number, row in enumerate(reader, start=2):
        given = {name: (row.get(name) or "").strip() for name in names if name in _COLUMNS}
        week = given.get("week", "")
        if week and not (week.isascii() and week.isdigit()):
            problems.append(Problem("week", f'"{week}" is no number of a week', "1, 2, 3 …", number, 1, str(path)))
        rows.append((given.pop("file", ""), {k: v for k, v in given.items() if v}))
    if problems:
        raise StudyError(problems)
    return Labelling(rows)


def labels_of(file: str, title: str, host: str) -> Labels:
    """Collect what title and file name say; the host is the probe if nothing else names one.

    Examples
    --------
    >>> labels_of("a.flent.gz", "probe=home-07 buffer=48KB week=2", "vm")
    Labels(probe='home-07', treatment='48KB', week=2, zone='')
    """
    found: dict[str, str] = {"probe": host[:100]}
    for pattern, text in ((_IN_NAME, Path(file).name), (_IN_TITLE, title)):
        for word, value in pattern.findall(text):
            found[WORDS[word]] = value
    return Labels(
        probe=found["probe"],
        treatment=found.get("treatment", ""),
        week=_week(found.get("week", "")),
        zone=found.get("zone", ""),
    )


def _week(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else None
