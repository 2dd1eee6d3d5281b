"""`sojourn trace record`: a trace from what was measured under a load that keeps a backlog."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    from sojourn.cli.arguments import opportunity_option

    parser.epilog = (
        "A table that ends in .csv, with the columns time_us and bytes, is a receiver's log of packets and becomes opportunities. A "
        "download of Flent becomes a schedule of rates: samples without a backlog are filled from those beside them. Either says what "
        "the line does under a backlog, and nothing of lighter use."
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="Log of packets (.csv) or file of Flent.")
    opportunity_option(parser)
    parser.option("--out", "FILE", "New file.", type=Path, required=True)


def execute(options: Namespace) -> None:
    """Write the trace."""
    from sojourn.base.files import write_file
    from sojourn.base.output import refuse_used, writing
    from sojourn.calibration.recording import recorded
    from sojourn.cli.console import note

    refuse_used(options.out)
    text, words = recorded(options.file, opportunity=options.opportunity)
    with writing(options.out):
        write_file(options.out, text)
    note(f"{words}; it says what the line does under a backlog, and nothing of lighter use")
