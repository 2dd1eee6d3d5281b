"""The files of a study's folder: what the study file includes, and what a result keeps of them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, cast

from sojourn.base.errors import Problem, plain, why
from sojourn.base.files import is_file, make_folder, read_file, write_file
from sojourn.base.toml_text import parse_toml
from sojourn.declarations.answers import Declarations
from sojourn.scenario.scenario_file import decoded


def merge_includes(document: dict[str, Any], folder: Path | None, file: str, root: Path | None = None) -> list[Problem]:
    """Add the tables of included files to a study's document; return what is wrong with them.

    Lists are appended, tables are merged by their keys, and no key may be given twice.
    """
    names = document.get("include", [])
    if folder is None or not isinstance(names, list):
        return []
    problems: list[Problem] = []
    for name in cast("list[object]", names):
        path = folder / str(name)
        try:
            included = parse_toml(decoded(read_file(path, root=root)))
        except tomllib.TOMLDecodeError as error:
            problems.append(Problem("include", f"{path} is not TOML: {error}", file=file))
            continue
        except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
            reason = "not a UTF-8 text" if isinstance(error, UnicodeDecodeError) else why(error)
            hint = "names are relative to the study file"
            problems.append(Problem("include", f"{plain(path)}: {reason}", hint, file=file))
            continue
        problems += _merge(document, included, "", str(path))
    return problems


def _merge(target: dict[str, Any], source: dict[str, Any], prefix: str, file: str) -> list[Problem]:
    problems: list[Problem] = []
    for key, value in source.items():
        path = f"{prefix}{key}"
        if key not in target:
            target[key] = value
        elif isinstance(value, list) and isinstance(target[key], list):
            target[key] = [*target[key], *value]
        elif isinstance(value, dict) and isinstance(target[key], dict):
            own = cast("dict[str, Any]", value)
            problems += _merge(cast("dict[str, Any]", target[key]), own, f"{path}.", file)
        else:
            hint = "each key belongs into one file"
            problems.append(Problem(path, "is given in two files", hint, file=file))
    return problems


def companions(definition: Declarations) -> list[str]:
    """Return the names of the files that a study needs beside its own to make its report."""
    names = [*definition.include, definition.module, definition.notes, definition.tolerances]
    names += [group.printed for table in definition.table for group in table.groups]
    names += [table.printed for table in definition.rated]
    return [name for name in dict.fromkeys(names) if name]


def is_inside(name: str) -> bool:
    """Return whether a file named by a study lies in the study's folder.

    Examples
    --------
    >>> is_inside("printed/table.csv"), is_inside("../table.csv"), is_inside("/etc/hosts")
    (True, False, False)
    """
    return not Path(name).is_absolute() and ".." not in Path(name).parts


def copy_companions(path: Path, definition: Declarations, directory: Path) -> None:
    """Copy a study file and all that its report needs into the folder `study` of a result.

    The result is complete in itself then: its report is made again without the study's own folder.
    """
    names = companions(definition)
    if not names:
        return
    for name in [path.name, *names]:
        target = directory / "study" / ("study.toml" if name == path.name else name)
        make_folder(target.parent, root=directory)
        write_file(target, read_file(path.parent / name), root=directory)


def study_folder_of(directory: Path) -> Path:
    """Return where the files of a result's study lie: beside the records if it needs no others."""
    folder = directory / "study"
    return folder if is_file(folder / "study.toml", root=directory) else directory
