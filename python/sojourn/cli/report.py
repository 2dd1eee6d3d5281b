"""`sojourn report`: tables, figures and page of a finished study, from its records alone."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    parser.add_argument("directory", metavar="DIR", type=Path, help="Result of a study or run.")
    parser.flag("--pdf", "Also write each figure as PDF; doubles the time.")


def execute(options: Namespace) -> int:
    from sojourn.base.output import writing
    from sojourn.cli.console import hand_over, show_failures, warn
    from sojourn.report.single import build_run_report
    from sojourn.simulation.run_directory import is_run
    from sojourn.study.columns import Columns, is_columns

    failures: tuple[str, ...] = ()
    with writing(options.directory):
        if is_run(options.directory):
            damages = build_run_report(options.directory, pdf=options.pdf)
        elif is_columns(options.directory):
            from sojourn.report.columns import build_columns

            build_columns(Columns.load(options.directory), pdf=options.pdf)
            damages = ()
        else:
            from sojourn import report as report_package
            from sojourn.study.result import StudyResult

            result = StudyResult.load(options.directory)
            failures = report_package.build(result, pdf=options.pdf).failures
            damages = result.damages
    for sentence in damages:
        warn(f"{options.directory}: {sentence}; left out")
    hand_over(options.directory / "report.html")
    return show_failures(failures)
