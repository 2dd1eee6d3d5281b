"""`sojourn trace convert`: a schedule of rates into opportunities, and back."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser

__all__ = ["arguments", "execute"]


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    from sojourn.cli.arguments import span, whole_number

    parser.epilog = (
        "A table that ends in .csv, with the columns time_s and rate_mbps, becomes opportunities; a trace of opportunities becomes "
        "such a table, for --set access.downstream.conditions=@FILE of a line of kind serial."
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="Schedule (.csv) or trace.")
    parser.option(
        "--opportunity",
        "BYTES",
        "Bytes of an opportunity (1504).",
        type=whole_number(1, 65_536),
        default=1504,
    )
    parser.option("--step", "SPAN", "Steps of a schedule (200ms).", type=span, default=0.2)
    parser.option(
        "--until", "SPAN", "Where a schedule ends: its last row has no end of its own.", type=span
    )
    parser.option("--out", "FILE", "New file.", type=Path, required=True)


def execute(options: Namespace) -> None:
    """Write the other form."""
    from sojourn.cli.console import note
    from sojourn.errors import UsageError
    from sojourn.files import write_file
    from sojourn.output import refuse_used, writing
    from sojourn.recording import (
        opportunities_of_rows,
        read_rows,
        rows_of_opportunities,
        schedule_text,
    )
    from sojourn.traces import read_trace

    refuse_used(options.out)
    if not 0.01 <= options.step <= 3600:
        raise UsageError(f"--step {options.step:g} s is out of range: 10 ms to an hour")
    if options.file.suffix.lower() == ".csv":
        rows = read_rows(options.file)
        until = options.until
        if until is None:
            until = rows[-1].time_s + (rows[-1].time_s - rows[-2].time_s if len(rows) > 1 else 1.0)
        if not rows[-1].time_s < until <= rows[0].time_s + 36_000:
            raise UsageError(
                f"--until {until:g} s is not behind the last row, {rows[-1].time_s:g} s"
            )
        times = opportunities_of_rows(rows, until, options.opportunity)
        if not len(times):
            raise UsageError(
                f"{options.file} carries less than one opportunity of {options.opportunity} B"
            )
        text = "".join(f"{at}\n" for at in times.tolist())
        told = f"{len(times)} opportunities of {options.opportunity} B in {times[-1] / 1e3:g} s"
    else:
        rows = rows_of_opportunities(read_trace(options.file), options.step, options.opportunity)
        text = schedule_text(
            rows, f"sojourn trace convert {options.file.name!r} --step {options.step:g}s"
        )
        told = f"{len(rows)} rates of {options.step:g} s"
    with writing(options.out):
        write_file(options.out, text)
    note(told)
