"""`sojourn check`: everything that is wrong with scenarios and studies, without running them."""

from pathlib import Path
from typing import Annotated

import typer

from sojourn.errors import ExitStatus, ScenarioError, SojournError

__all__ = ["check"]


def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", show_default=False)],
) -> None:
    """Validate scenario and study files; all problems at once."""
    from sojourn.cli.console import note, show_error

    failed = False
    for file in files:
        try:
            kind = _check_file(file)
        except SojournError as error:
            show_error(error)
            failed = True
        else:
            note(f"{file}: valid {kind}")
    if failed:
        raise typer.Exit(ExitStatus.INVALID)


def _check_file(file: Path) -> str:
    from sojourn.scenario import check_scenario, read_text

    text = read_text(file)
    if _is_study(text):
        from sojourn.study.library import load_study
        from sojourn.study.plan import RunOptions, make_plan

        make_plan(load_study(str(file)), RunOptions())
        return "study"
    problems = check_scenario(text, str(file))
    if problems:
        raise ScenarioError(problems)
    return "scenario"


def _is_study(text: str) -> bool:
    import tomllib

    try:
        keys = set(tomllib.loads(text))
    except tomllib.TOMLDecodeError:
        return False
    return bool(keys & {"scenario", "points", "matrix", "overlays"})
