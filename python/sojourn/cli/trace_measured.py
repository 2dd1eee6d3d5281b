"""`sojourn trace record`: a trace from what was measured under a load that keeps a backlog."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser

__all__ = ["arguments", "execute"]


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    from sojourn.cli.arguments import whole_number

    parser.epilog = (
        "A table that ends in .csv, with the columns time_us and bytes, is a receiver's log of packets and becomes opportunities. A "
        "download of Flent becomes a schedule of rates: samples without a backlog are filled from those beside them. Either says what "
        "the line does under a backlog, and nothing of lighter use."
    )
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="Log of packets (.csv) or file of Flent."
    )
    parser.option(
        "--opportunity",
        "BYTES",
        "Bytes of an opportunity (1504).",
        type=whole_number(1, 65_536),
        default=1504,
    )
    parser.option("--out", "FILE", "New file.", type=Path, required=True)


def execute(options: Namespace) -> None:
    """Write the trace."""
    from sojourn.cli.console import note
    from sojourn.errors import UsageError
    from sojourn.files import write_file
    from sojourn.output import refuse_used, writing
    from sojourn.recording import (
        opportunities_of_packets,
        read_packets,
        rows_of_measurement,
        schedule_text,
    )

    refuse_used(options.out)
    if options.file.suffix.lower() == ".csv":
        times_us, sizes = read_packets(options.file)
        times = opportunities_of_packets(times_us - times_us[0], sizes, options.opportunity)
        if not len(times):
            raise UsageError(
                f"{options.file} carries less than one opportunity of {options.opportunity} B"
            )
        text = "".join(f"{at}\n" for at in times.tolist())
        told = f"{len(times)} opportunities of {options.opportunity} B"
    else:
        rows = rows_of_measurement([options.file])
        text = schedule_text(rows, f"sojourn trace record {options.file.name!r}")
        delay = rows[0].delay_ms
        told = f"{len(rows)} rates" + (
            f", one way {delay:.3g} ms: half of the idle round trip" if delay else ""
        )
    with writing(options.out):
        write_file(options.out, text)
    note(f"{told}; it says what the line does under a backlog, and nothing of lighter use")
