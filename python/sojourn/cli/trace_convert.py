"""`sojourn trace convert`: a schedule of rates into opportunities, and back."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    from sojourn.cli.arguments import opportunity_option, span

    parser.epilog = (
        "A table that ends in .csv, with the columns time_s and rate_mbps, becomes opportunities; a trace of opportunities becomes "
        "such a table, for --set access.downstream.conditions=@FILE of a line of kind serial."
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="Schedule (.csv) or trace.")
    opportunity_option(parser)
    parser.option("--step", "SPAN", "Steps of a schedule (200ms).", type=span, default=0.2)
    parser.option("--until", "SPAN", "Where a schedule ends: its last row has no end of its own.", type=span)
    parser.option("--out", "FILE", "New file.", type=Path, required=True)


def execute(options: Namespace) -> None:
    """Write the other form."""
    from sojourn.base.files import write_file
    from sojourn.base.output import refuse_used, writing
    from sojourn.calibration.recording import converted
    from sojourn.cli.console import note

    refuse_used(options.out)
    text, words = converted(options.file, opportunity=options.opportunity, step_s=options.step, until_s=options.until)
    with writing(options.out):
        write_file(options.out, text)
    note(words)
