"""`sojourn trace cut`: a part of a trace."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    from sojourn.cli.arguments import span

    parser.add_argument("file", metavar="FILE", type=Path, help="Trace of Mahimahi's form.")
    parser.option("--from", "SPAN", "Where it begins (0s).", type=span, default=0.0, dest="begin")
    parser.option("--for", "SPAN", "How long it is.", type=span, required=True, dest="length")
    parser.option("--out", "FILE", "New file.", type=Path, required=True)


def execute(options: Namespace) -> None:
    """Write a part of a trace; its times begin at 0."""
    from sojourn.base.files import write_file
    from sojourn.base.output import refuse_used, writing
    from sojourn.cli.console import note
    from sojourn.traces.link_traces import cut_trace, read_trace, trace_text

    refuse_used(options.out)
    times = read_trace(options.file)
    part = cut_trace(times, options.begin, options.length)
    with writing(options.out):
        write_file(options.out, trace_text(part))
    note(f"{len(part)} of {len(times)} opportunities")
