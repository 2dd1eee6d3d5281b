"""`sojourn trace join`: one trace after another."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.add_argument("files", metavar="FILE", type=Path, nargs="+", help="Traces of Mahimahi's form, in order.")
    parser.option("--out", "FILE", "New file.", type=Path, required=True)


def execute(options: Namespace) -> None:
    """Write traces one after the other; each begins where the one before ends."""
    from sojourn.base.errors import UsageError
    from sojourn.base.files import write_file
    from sojourn.base.output import refuse_used, writing
    from sojourn.cli.console import note
    from sojourn.traces.link_traces import join_traces, read_trace, trace_text

    refuse_used(options.out)
    if len(options.files) < 2:
        raise UsageError("one trace is joined to nothing", "sojourn trace join A B --out FILE")
    joined = join_traces([read_trace(path) for path in options.files])
    with writing(options.out):
        write_file(options.out, trace_text(joined))
    note(f"{len(joined)} opportunities in {joined[-1] / 1e3:g} s")
