"""`sojourn check`: everything that is wrong with scenarios and studies, without running them."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser
    from sojourn.study.library import Study


def arguments(parser: Parser) -> None:
    parser.add_argument("files", metavar="FILE|NAME", nargs="+", help="Scenario or study file, or a study by name.")


def execute(options: Namespace) -> int:
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
    from sojourn.cli.console import show_warnings
    from sojourn.study.expand import has_many_points
    from sojourn.study.library import load_study
    from sojourn.study.plan import RunOptions, make_plan

    study = load_study(name)
    if has_many_points(study.definition):
        return _check_many(study, name)
    plan = make_plan(study, RunOptions(), partial(unanswerable, is_run=False))
    show_warnings(plan.warnings)
    if study.definition.module and not study.builtin:
        _try_module(study, name)
    return "study"


def _check_many(study: Study, name: str) -> str:
    """Check the points that tell most of a study with more points than a list holds, as `study plan` does."""
    from sojourn.answers.open_study import OpenStudy
    from sojourn.answers.selection import Points
    from sojourn.cli.console import note
    from sojourn.cluster.price import check_some
    from sojourn.study.expand import NumberedPoints

    points = NumberedPoints(study.definition, study.base, str(study.path))
    checked = check_some(study.definition, points)
    _ = OpenStudy(study.definition, study.path.parent, Points(())).names  # its module is read, and not run
    note(
        f"{name}: {checked:,} of up to {len(points):,} points checked; `sojourn study plan {name} --check all` checks all"
    )
    return "study"


MOST_POINTS = 24
"""Points of which a module that is trusted is tried. chosen: a second of each is simulated within seconds."""


def _try_module(study: Study, name: str) -> None:
    """Run a module that was run here before on a second of each point; say what of it fails.

    Raises `RunError` if a measure, a figure or a claim of it fails.
    """
    import tempfile

    from sojourn.answers.checks import unanswerable
    from sojourn.answers.modules import is_trusted, read_module
    from sojourn.answers.view import StudyView
    from sojourn.base.errors import RunError
    from sojourn.cli.console import note
    from sojourn.report.builder import study_parts
    from sojourn.store import Store
    from sojourn.study.plan import RunOptions, make_plan
    from sojourn.study.progress import StudyProgress
    from sojourn.study.runner import run_study

    module = study.definition.module
    if not is_trusted(read_module(study.path.parent / module)):
        note(f"{name}: its module {module} was read and not run: it was never run here")
        return
    if len(study.points()) > MOST_POINTS:
        note(f"{name}: its module {module} was read and not run: the study has more than {MOST_POINTS} points")
        return
    plan = make_plan(study, RunOptions(seeds=1, duration="1 s"), unanswerable)
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        store, out = Store(f"{folder}/store"), Path(folder) / "result"
        run_study(
            plan,
            store,
            out=out,
            progress=StudyProgress("1 thread"),
            finish=lambda result: failures.extend(study_parts(result, StudyView(result)).failures),
        )
    if failures:
        raise RunError(
            f"{name}: on one second of each point its module {module} fails:\n  " + "\n  ".join(failures),
            "a module gets what the guides say; `result.metrics` is a table of all runs",
        )
    note(f"{name}: its module {module} was run on one second of each point")


def _is_study(text: str) -> bool:
    import tomllib

    from sojourn.base.toml_text import parse_toml

    try:
        keys = set(parse_toml(text))
    except tomllib.TOMLDecodeError:
        return False
    return bool(keys & {"scenario", "points", "matrix", "overlays"})
