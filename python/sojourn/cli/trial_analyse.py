"""`sojourn trial analyse`: what a treatment did, with intervals, and a report."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.add_argument("directory", metavar="DIR", type=Path, help="What `trial import` wrote.")
    parser.option("--labels", "FILE", "As for `trial import`: which home had which treatment when.", type=Path)
    parser.option(
        "--external",
        "DIR",
        "Imported tests of homes without a treatment, same weeks; may be given several times.",
        type=Path,
        action="append",
        default=[],
    )
    parser.option("--effect", "PERCENT", "Change that the table of homes asks for (10).", type=_percent, default=10.0)
    parser.option(
        "--mean",
        "OF",
        "What a home's mean is taken over: its tests, as in the talk, or its periods.",
        choices=("tests", "periods"),
        default="tests",
    )
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> None:
    """Regress percent deltas on treatment, week, day and hour, and write `report.html`."""
    from sojourn.cli.console import note, print_json
    from sojourn.field.analysis import analyse
    from sojourn.field.importer import read_imported
    from sojourn.field.labels import read_labels
    from sojourn.field.records import frame_of_tests, tests_of
    from sojourn.field.report import effect_rows, write_report
    from sojourn.field.tables import headline, headlines

    tests = read_imported(options.directory)
    if options.labels:
        tests = frame_of_tests(read_labels(options.labels).apply(tests_of(tests)))
    external = {str(folder): read_imported(folder) for folder in options.external}
    analysis = analyse(tests, weighting=options.mean, external=external, effect=options.effect / 100.0)
    page = write_report(options.directory, analysis, tests)
    first = headline(analysis)
    if options.json:
        print_json(
            {
                "headline": None if first is None else first.as_json(),
                "report": str(page),
                "tests": analysis.tests,
                "probes": analysis.probes,
                "effects": effect_rows(analysis),
            }
        )
        return
    if first is not None:
        note(first.sentence)
    for sentence in headlines(analysis):
        note(sentence)
    print(page)


def _percent(text: str) -> float:
    from argparse import ArgumentTypeError

    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no number of percent") from None
    if not 0.0 < value <= 1000.0:
        raise ArgumentTypeError(f"{text} is out of range: above 0, at most 1000")
    return value
