"""A study with its module, ready to be asked: built-in or by path, the same way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sojourn.answers.asking import Ask
from sojourn.answers.modules import Guarded, ModuleNames, is_trusted, load_module, names_in, read_module, trust
from sojourn.answers.selection import LabelledPoint, Points
from sojourn.answers.tolerance import Rule, read_rules
from sojourn.answers.view import StudyView
from sojourn.base.errors import Problem, StudyError
from sojourn.study.competitors import with_competitors
from sojourn.study.definition import StudyDefinition
from sojourn.study.expand import Point, labels_of_points
from sojourn.study.files import companions, is_inside
from sojourn.study.library import Study, builtin_names, load_study
from sojourn.study.result import StudyResult


@dataclass(frozen=True)
class OpenStudy:
    """A study's declarations and the folder that they speak of."""

    definition: StudyDefinition
    folder: Path
    points: Points
    root: Path | None = None
    """The result that it came with, if it did: its module runs only if the same bytes were run here before."""
    published: bool = False
    """True if it belongs to the package, whose tests hold the claims that it lists in `tests`."""

    @classmethod
    def of(cls, study: Study, points: Sequence[Point] | None = None) -> OpenStudy:
        """Open a study; `points` are its own, if they are known already."""
        every = study.points() if points is None else points
        labelled = [LabelledPoint(point.name, point.labels) for point in every]
        definition = study.definition
        points_by_label = Points(labelled, definition.labels)
        return cls(definition, study.path.parent, points_by_label, published=study.builtin)

    @classmethod
    def of_result(cls, result: StudyResult) -> OpenStudy:
        """Open the study of a result: of the package if it came with it, else as it was run."""
        if result.builtin and result.name in builtin_names():
            study = load_study(result.name)
            return cls.of(replace(study, definition=with_competitors(study.definition, result.added, result.stacks)))
        definition = result.definition
        # A claim is about all points, so those that were not run have to be known.
        labels = labels_of_points(definition)
        labels |= {
            str(row.pop("point")): {name: v for name, v in row.items() if v is not None}
            for row in result.points.iter_rows(named=True)
        }
        points = [LabelledPoint(name, own) for name, own in labels.items()]
        labelled = Points(points, definition.labels)
        return cls.of_folder(definition, result.study_folder, labelled, result.directory)

    @classmethod
    def of_folder(cls, definition: StudyDefinition, folder: Path, points: Points, root: Path) -> OpenStudy:
        """Open a study by its folder in a result.

        Raises `StudyError` if it names files outside the result.
        """
        outside = [name for name in companions(definition) if not is_inside(name)]
        if outside:
            problems = [Problem(name, "lies outside the result") for name in outside]
            raise StudyError(problems)
        return cls(definition, folder, points, root=root)

    @cached_property
    def functions(self) -> Mapping[str, Any]:
        """Functions of the study's module, by name; empty without one.

        Raises `StudyError` if the module cannot be loaded.
        """
        if not self.definition.module:
            return {}
        path = self.folder / self.definition.module
        source = read_module(path, root=self.root)
        if self.root is not None and not is_trusted(source):
            hint = "if you trust it, run the study once in its own folder"
            message = f"{path.name} came with the result; code that was never run here is not executed"
            return _Refused(message, hint)
        module = load_module(path, source, self.definition.name)
        trust(source)
        return Guarded(vars(module))

    @cached_property
    def names(self) -> ModuleNames:
        """Names of the functions of the study's module, which is read and not run.

        Raises `StudyError` if the module cannot be read.
        """
        if not self.definition.module:
            return ModuleNames()
        path = self.folder / self.definition.module
        return names_in(path, read_module(path, root=self.root))

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """Tolerances of printed cells."""
        name = self.definition.tolerances
        return read_rules(self.folder / name, self.root) if name else ()

    def ask(self, view: StudyView) -> Ask:
        """Return the questions to one result."""
        return Ask(view, self.points, self.definition.measures, self.functions)


class _Refused(dict[str, Any]):
    """The functions of a module that is not run: asking for one says why."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__()
        self._problem = Problem("module", message, hint)

    def __missing__(self, name: str) -> Any:  # noqa: ANN401 - it never returns
        raise StudyError([self._problem])
