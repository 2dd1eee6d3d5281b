"""`sojourn capture extract`: a flow of a capture as a list of packets, which scenarios take and which can be shared."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.epilog = (
        "The list holds times, lengths, DSCP and ECN, and no addresses and no payload. "
        "Example: sojourn capture extract call.pcap --flow 1 --out call.sjc; "
        "sojourn run home.toml --set traffic.call.app.packets=@call.sjc"
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="Capture: pcap or pcapng.")
    parser.option(
        "--flow",
        "FILTER",
        "The flow: a number of `sojourn capture show`, or words as in 'udp and port 3478' (default: the only one of more than 100 packets).",
    )
    parser.flag("--both", "With what the other end sends, marked by <.")
    parser.option("--out", "FILE", "New file for the list, such as call.sjc (default: standard output).")


def execute(options: Namespace) -> None:
    """Write the list of one flow."""
    import sojourn._engine as _engine
    from sojourn.base.errors import UsageError
    from sojourn.base.files import write_file
    from sojourn.base.output import refuse_used
    from sojourn.captures.packets import choose, read_capture, worth_a_look
    from sojourn.cli.console import note, say

    if options.out is not None:
        refuse_used(Path(options.out))
    capture = read_capture(options.file)
    if options.flow is not None:
        flows = choose(capture, options.flow)
    else:
        flows = worth_a_look(capture) if len(capture.flows) > 1 else list(capture.flows)
    if len(flows) != 1:
        listed = "; ".join(f"{flow.number}: {flow.words(addresses=True)}" for flow in flows[:4])
        raise UsageError(f"{capture.name}: {len(flows)} flows are asked for", f"--flow N: {listed}")
    (flow,) = flows
    try:
        text = capture.content.extract(flow.place, options.both, "\n")
    except _engine.CaptureProblem as error:
        raise UsageError(f"{capture.name}: {error.args[0]}", error.args[1]) from error
    head = (
        "# ns length dscp ecn; + counts from the packet before, < goes the other way, what is left out is as before\n"
    )
    if flow.protocol == "tcp":
        note("it is TCP: sent again from a list, it does not answer to the queue as it would")
    if options.out is None:
        say(head + text)
        return
    write_file(Path(options.out), f"{head}{text}\n")
    note(f"{flow.packets:,} packets: {options.out}")
