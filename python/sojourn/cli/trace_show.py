"""`sojourn trace show`: what traces of links are like."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "files", metavar="FILE", type=Path, nargs="+", help="Trace of Mahimahi's form, or table of conditions (.csv)."
    )
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> None:
    """Print a row for each trace."""
    from dataclasses import asdict

    from sojourn.calibration.recording import opportunities_in
    from sojourn.cli.console import print_json, print_table
    from sojourn.traces.link_traces import likeness

    found = [(str(file), likeness(opportunities_in(file))) for file in options.files]
    if options.json:
        print_json({"traces": [{"file": file, **asdict(like)} for file, like in found]})
        return
    headings = (
        "file",
        "s",
        "mean Mb/s",
        "P5",
        "P50",
        "P95",
        "CV 1 s",
        "lag 1",
        "CV 100 ms",
        "gaps/min",
        "gap share",
        "longest s",
    )
    rows = [(file, *(float(f"{value:.3g}") for value in asdict(like).values())) for file, like in found]
    print_table(headings, rows)
