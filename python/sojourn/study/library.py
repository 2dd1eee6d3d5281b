"""Loads studies: the package's own by name, a user's by path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import sojourn._engine as _engine
from sojourn.base.errors import Problem, StudyError, UsageError, nearest, plain, why
from sojourn.base.files import read_file
from sojourn.base.toml_text import parse_toml
from sojourn.scenario.scenario_file import decoded
from sojourn.scenario.settings import apply_settings

if TYPE_CHECKING:
    from sojourn.plugins import Plugin
    from sojourn.study.definition import StudyDefinition
    from sojourn.study.expand import Point


@dataclass(frozen=True)
class Study:
    """A study file together with the scenario it starts from."""

    path: Path
    """The study file."""
    definition: StudyDefinition
    base_path: Path
    base: str
    """Text of the base scenario."""
    builtin: bool
    """True if it belongs to the package."""
    settings: tuple[str, ...] = ()
    """Settings that the user laid over the base scenario."""
    plugins: tuple[Plugin, ...] = ()
    """Queue managers of the user's own."""
    added: tuple[str, ...] = ()
    """Names of those that the study does not ask for, and that compete all the same."""

    def points(self) -> list[Point]:
        """Return all points; see `expand`."""
        from sojourn.study.expand import expand

        return expand(self.definition, self.base, str(self.path))


def _home() -> Path:
    return Path(__file__).parent.parent / "published"


def builtin_names() -> list[str]:
    """Return the names of the studies that come with the package."""
    return sorted(path.parent.name for path in _home().glob("*/study.toml"))


def builtin_title(name: str) -> str:
    """Return what a study of the package is called; nothing else of it is looked at."""
    content = (_home() / name / "study.toml").read_text(encoding="utf-8")
    return str(parse_toml(content).get("title", ""))


def _recipes() -> Path:
    return Path(__file__).parent.parent / "recipes"


def recipe_names() -> list[str]:
    """Return the names of the recipes that come with the package."""
    return sorted(path.stem for path in _recipes().glob("*.toml"))


def recipe_title(name: str) -> str:
    """Return the question that a recipe answers."""
    content = (_recipes() / f"{name}.toml").read_text(encoding="utf-8")
    return str(parse_toml(content).get("title", ""))


def recipe_files(name: str) -> dict[str, str]:
    """Return the files of a recipe: its study and its scenario, as `study.toml` and `scenario.toml`, and programs.

    A recipe may have a folder of its own name with programs to begin with (Python ends in `.py.txt` there, as it is none of
    the package's); those in C get the header of plugins.
    """
    text = (_recipes() / f"{name}.toml").read_text(encoding="utf-8")
    scenario = str(parse_toml(text)["scenario"])
    text = text.replace(f'scenario = "{scenario}"', 'scenario = "scenario.toml"')
    files = {"study.toml": text, "scenario.toml": (_recipes() / scenario).read_text(encoding="utf-8")}
    programs = sorted((_recipes() / name).glob("*.*"))
    if any(path.suffix == ".c" for path in programs):
        programs.append(_recipes().parent / "plugins" / "sojourn_plugin.h")
    return files | {path.name.removesuffix(".txt"): path.read_text(encoding="utf-8") for path in programs}


def load_study(name_or_path: str) -> Study:
    """Load a study or a recipe of the package by name, or any study by path.

    Raises `UsageError` if there is none; `StudyError` if its file, or the base scenario's, is not valid.
    """
    from sojourn.study.definition import load_definition

    path = _home() / name_or_path / "study.toml"
    builtin = name_or_path in builtin_names()
    if not builtin:
        path = Path(name_or_path)
        if path.is_dir():
            path /= "study.toml"
        elif name_or_path in recipe_names():
            path = _recipes() / f"{name_or_path}.toml"
        looks_like_path = path.suffix == ".toml" or len(path.parts) > 1
        if not path.exists() and not looks_like_path:
            names = [*builtin_names(), *recipe_names()]
            raise UsageError(
                f'no study "{name_or_path}"', nearest(name_or_path, names) or "`sojourn study list` names all"
            )
    definition = load_definition(path)
    base_path = path.parent / definition.scenario
    return Study(path, definition, base_path, _load_base(path, base_path), builtin)


def with_settings(study: Study, settings: Sequence[str], tell: Callable[[str], None] = lambda _: None) -> Study:
    """Lay `a.b.c=V` settings over the base scenario; what overlays say stays theirs.

    Raises `UsageError` if a setting is not of that form, or has no place in the scenario.

    Parameters
    ----------
    study, settings
        What is changed, and by what.
    tell
        Called with the settings that change no point; these are left out.
    """
    for setting in settings:
        changed = replace(study, base=apply_settings(study.base, [setting]), settings=(*study.settings, setting))
        if [point.text for point in study.points()] == [point.text for point in changed.points()]:
            tell(
                f"--set {setting} changes nothing: all points have that value already, from the base scenario or "
                "from an overlay"
            )
            continue
        study = changed
    return study


def _load_base(study_path: Path, base_path: Path) -> str:
    def fail(message: str, hint: str = "") -> StudyError:
        return StudyError([Problem("scenario", message, hint, file=str(study_path))])

    try:
        text = decoded(read_file(base_path))
    except UnicodeDecodeError as error:
        raise fail(f"{base_path} is not a UTF-8 text") from error
    except (OSError, ValueError) as error:  # a path with a NUL is a ValueError
        hint = "the path is relative to the study file"
        raise fail(f"{plain(base_path)}: {why(error)}", hint) from error
    try:
        _engine.ScenarioFile.parse(text)
    except _engine.ScenarioProblems as error:
        raise StudyError(
            [
                Problem("", item["message"], item["hint"], item["line"], item["column"], str(base_path))
                for item in error.problems
            ]
        ) from error
    return text
