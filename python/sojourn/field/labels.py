"""Who measured, and under which treatment: from a table, the title of a test, or its file's name.

A title such as `probe=home-07 buffer=48KB week=2` says it, as does a file name in which Flent has
replaced all but letters and digits (`…probe_home-07_buffer_48KB_week_2.flent.gz`), or a row of a CSV file
with the columns `file` (a pattern such as `home-07/*`) and any of `probe`, `treatment`, `week`, `zone`.
The table wins over the title, the title over the file name.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from sojourn.errors import Problem, StudyError, UsageError, nearest

__all__ = ["LabelRow", "Labels", "labels_of", "read_labels"]

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
"""Words before `=`, `:` or `_`, and what they say."""

_IN_TITLE = re.compile(rf"\b({'|'.join(WORDS)})[=:](\S{{1,100}})")
_IN_NAME = re.compile(rf"(?:^|[._])({'|'.join(WORDS)})_([A-Za-z0-9-]+)")
_COLUMNS = ("file", "probe", "treatment", "week", "zone")


@dataclass(frozen=True, slots=True)
class Labels:
    """What is known of a test besides its measurements; empty where nothing says it."""

    probe: str = ""
    treatment: str = ""
    week: int | None = None
    zone: str = ""


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One row of a table of labels."""

    pattern: str
    labels: Mapping[str, str]


def read_labels(path: Path) -> list[LabelRow]:
    """Read a table of labels.

    Raises
    ------
    UsageError
        If there is no such file.
    StudyError
        Everything wrong with its rows.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the labels {path}", "a CSV file in UTF-8") from error
    reader = csv.DictReader(text.splitlines())
    names = list(reader.fieldnames or ())
    problems = [
        Problem("", f'unknown column "{name}"', nearest(name, _COLUMNS), 1, 1, str(path))
        for name in names
        if name not in _COLUMNS
    ]
    if "file" not in names:
        problems.append(
            Problem("", "has no column file", "file,probe,treatment,week,zone", 1, 1, str(path))
        )
    rows: list[LabelRow] = []
    for number, row in enumerate(reader, start=2):
        given = {name: (row.get(name) or "").strip() for name in names if name in _COLUMNS}
        week = given.get("week", "")
        if week and not (week.isascii() and week.isdigit()):
            problems.append(
                Problem(
                    "week", f'"{week}" is no number of a week', "1, 2, 3 …", number, 1, str(path)
                )
            )
        rows.append(LabelRow(given.pop("file", ""), {k: v for k, v in given.items() if v}))
    if problems:
        raise StudyError(problems)
    return rows


def labels_of(file: str, title: str, host: str, table: Sequence[LabelRow]) -> Labels:
    """Collect what table, title and file name say; the host is the probe if nothing else names one.

    Examples
    --------
    >>> labels_of("a.flent.gz", "probe=home-07 buffer=48KB week=2", "vm", [])
    Labels(probe='home-07', treatment='48KB', week=2, zone='')
    """
    found: dict[str, str] = {"probe": host[:100]}
    for pattern, text in ((_IN_NAME, Path(file).name), (_IN_TITLE, title)):
        for word, value in pattern.findall(text):
            found[WORDS[word]] = value
    for row in table:
        if fnmatchcase(file, row.pattern) or fnmatchcase(Path(file).name, row.pattern):
            found.update(row.labels)
    week = found.get("week", "")
    return Labels(
        probe=found["probe"],
        treatment=found.get("treatment", ""),
        week=int(week) if week.isascii() and week.isdigit() and len(week) < 5 else None,
        zone=found.get("zone", ""),
    )
