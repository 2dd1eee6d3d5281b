"""`sojourn check`: everything that is wrong with scenarios and studies, without running them."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser

__all__ = ["arguments", "execute"]


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.add_argument("files", metavar="FILE|NAME", nargs="+", help="Scenario or study file, or a study by name.")


def execute(options: Namespace) -> int:
    """Validate scenario and study files; all problems at once."""
    from sojourn.base.errors import ExitStatus, SojournError
    from sojourn.cli.console import note, show_error

    failed = False
    for file in options.files:
        try:
            kind = _check_file(file)
        except SojournError as error:
            show_error(error)
            failed = True
        else:
            note(f"{file}: valid {kind}")
    return ExitStatus.INVALID if failed else ExitStatus.DONE


def _check_file(file: str) -> str:
    from sojourn.base.errors import ScenarioError
    from sojourn.cli.console import show_warnings
    from sojourn.scenario.scenario_file import check_scenario, read_text, scenario_warnings

    if not Path(file).exists() and _is_builtin(file):
        return _check_study(file)
    text = read_text(file)
    if _is_study(text):
        return _check_study(file)
    problems = check_scenario(text, file)
    if problems:
        raise ScenarioError(problems)
    show_warnings(scenario_warnings(text, file))
    return "scenario"


def _is_builtin(name: str) -> bool:
    from sojourn.study.library import builtin_names

    return name in builtin_names()


def _check_study(name: str) -> str:
    from functools import partial

    from sojourn.answers.checks import unanswerable
    from sojourn.cli.console import note, show_warnings
    from sojourn.study.library import load_study
    from sojourn.study.plan import RunOptions, make_plan

    study = load_study(name)
    plan = make_plan(study, RunOptions(), partial(unanswerable, is_run=False))
    show_warnings(plan.warnings)
    if study.definition.module and not study.builtin:
        note(f"{name}: its module {study.definition.module} was read and not run")
    return "study"


def _is_study(text: str) -> bool:
    import tomllib

    from sojourn.base.toml_text import parse_toml

    try:
        keys = set(parse_toml(text))
    except tomllib.TOMLDecodeError:
        return False
    return bool(keys & {"scenario", "points", "matrix", "overlays"})
