"""Checks that labels, points, measures, functions and columns of given names exist."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

from sojourn.answers.modules import ModuleNames
from sojourn.answers.open_study import OpenStudy
from sojourn.base.errors import Problem, StudyError, nearest
from sojourn.base.files import read_file
from sojourn.declarations.base import Where

MEET = "labels have to meet at one point"


class Names:
    """The names that a study's declarations may use.

    Parameters
    ----------
    study
        The study.
    file
        How problems call the study file.
    is_run
        Whether the study's module is run, or read.
    """

    def __init__(self, study: OpenStudy, file: str, *, is_run: bool) -> None:
        self.study = study
        self.own = study.definition
        self.labels = study.points.labels
        self._file = file
        self._is_run = is_run
        self._functions: ModuleNames | None = None

    def module(self) -> Iterator[Problem]:
        """Find what is wrong with the study's module."""
        try:
            study = self.study
            self._functions = ModuleNames.of(study.functions) if self._is_run else study.names
        except StudyError as error:
            for found in error.problems:
                yield self.problem(found.path, found.message, found.hint)

    def problem(self, path: str, message: str, hint: str = "") -> Problem:
        """Return a problem of the study file."""
        return Problem(path, message, hint, file=self._file)

    def function(self, path: str, name: str) -> Iterator[Problem]:
        """Find a function that the study's module does not have."""
        if not name or self._functions is None:
            return
        if not self.own.module:
            yield self.problem(path, f'there is no module to hold "{name}"', 'add: module = "study.py"')
        elif name not in self._functions.known and not self._functions.has_others:
            known = [known for known in self._functions.known if not known.startswith("_")]
            message = f'{self.own.module} has no function "{name}"'
            yield self.problem(path, message, nearest(name, known))

    def where(self, path: str, where: Where) -> Iterator[Problem]:
        """Find labels, and values of them, that no point has."""
        for label, given in where.items():
            if label not in self.labels:
                hint = nearest(label, self.labels)
                yield self.problem(path, f'no point has a label "{label}"', hint)
                continue
            for value in given if isinstance(given, list) else [given]:
                if str(value) not in self.labels[label]:
                    hint = nearest(str(value), self.labels[label])
                    yield self.problem(path, f'no point has {label} = "{value}"', hint)

    def label(self, path: str, *labels: str) -> Iterator[Problem]:
        """Find labels that no point has."""
        for label in labels:
            if label and label not in self.labels:
                hint = nearest(label, self.labels)
                yield self.problem(path, f'no point has a label "{label}"', hint)

    def selected(self, path: str, where: Where) -> Iterator[Problem]:
        """Find labels that no point has, or has together."""
        found = list(self.where(path, where))
        yield from found
        if not found and where and not self.study.points.select(where):
            words = ", ".join(f"{label} = {value}" for label, value in where.items())
            yield self.problem(path, f"no point has {words}", MEET)

    def kept(self, path: str, table: str | None) -> Iterator[Problem]:
        """Find a record table that is needed and not kept."""
        if table and table not in self.own.keep:
            hint = f'add "{table}" to `keep`'
            yield self.problem(path, f"needs the record table {table}", hint)

    def uses(self, path: str, *measures: str) -> Iterator[Problem]:
        """Find measures that are not declared."""
        for measure in measures:
            if measure not in self.own.measures:
                hint = nearest(measure, self.own.measures)
                yield self.problem(path, f'no measure "{measure}"', hint)

    def columns(self, path: str, name: str, wanted: Iterable[str]) -> Iterator[Problem]:
        """Find columns that a printed file lacks."""
        file = self.study.folder / name
        try:
            text = read_file(file).decode()
        except (OSError, ValueError):
            return
        known = next(csv.reader(io.StringIO(text, newline="")), list[str]())
        for column in wanted:
            if column not in known:
                yield self.problem(path, f'{name} has no column "{column}"', nearest(column, known))
