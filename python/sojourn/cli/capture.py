"""`sojourn capture`: flows of packet captures."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


SHOWN = 20
"""Flows that are listed unasked."""


def show_arguments(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="Capture: pcap or pcapng.")
    parser.flag("--all", f"All flows, and not only the {SHOWN} with most bytes.")
    parser.flag("--addresses", "Show addresses.")
    parser.flag("--json", "Print one JSON object.")


def show(options: Namespace) -> None:
    from sojourn.captures.packets import read_capture
    from sojourn.cli.console import note, print_json, print_table

    capture = read_capture(options.file)
    rows: list[dict[str, object]] = []
    for flow in capture.flows if options.all else capture.flows[:SHOWN]:
        like = capture.content.likeness(flow.place, 1500)
        duration_s = float(like["duration_s"])
        rows.append(
            {
                "flow": flow.number,
                "what": flow.words(addresses=options.addresses),
                "packets": flow.packets,
                "bytes": flow.bytes,
                "s": round(duration_s, 3),
                "kb/s": round(8e-3 * flow.bytes / duration_s, 1) if duration_s else None,
                "dscp": " ".join(str(value) for value, _ in like["dscp"]),
            }
        )
    if options.json:
        print_json({"flows": rows, "count": len(capture.flows), "caveats": capture.caveats})
        return
    for caveat in capture.caveats:
        note(caveat)
    if rows:
        print_table(list(rows[0]), [list(row.values()) for row in rows])
    if len(rows) < len(capture.flows):
        note(f"{len(capture.flows) - len(rows)} more flows: --all")


def delay_arguments(parser: Parser) -> None:
    parser.epilog = (
        "Captured between a modem and the router behind it. A round trip is from a segment that the home sent to the "
        "acknowledgement that covers it; its excess over the shortest one of its peer is delay in buffers, there and "
        "back (White 2013 1.4, after Allman 2013)."
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="Capture: pcap or pcapng.")
    parser.option("--home", "ADDRESS", "The home's address (the one with most packets of connections).")
    parser.flag("--json", "Print one JSON object.")


def delay(options: Namespace) -> None:
    from sojourn.captures.packets import buffering_delay, read_capture
    from sojourn.cli.console import note, print_json, print_table, say

    capture = read_capture(options.file)
    found = buffering_delay(capture, options.home)
    if options.json:
        print_json(
            {
                "home": found.home,
                "connections": found.connections,
                "peers": found.peers,
                "samples": len(found.delays_ms),
                "quantiles_ms": {f"p{100 * p:g}": found.quantile(p) for p in SHARES},
                "above": {f"{limit} ms": found.above(limit) for limit in LIMITS_MS},
                "caveats": capture.caveats,
            }
        )
        return
    for caveat in capture.caveats:
        note(caveat)
    above = " and ".join(f"above {limit} ms {100 * found.above(limit):.1f} %" for limit in LIMITS_MS)
    say(
        f"Half of the packets waited {found.quantile(0.5):.1f} ms or less in buffers, one in a hundred more than "
        f"{found.quantile(0.99):.0f} ms; {above} of the time."
    )
    print()
    rows = [(f"P{100 * p:g}", f"{found.quantile(p):.1f}") for p in SHARES]
    print_table(("quantile", "delay in buffers, there and back, ms"), rows)
    note(
        f"{len(found.delays_ms):,} round trips of {found.connections} connections with {found.peers} peers. A peer "
        "whose every packet waited looks faster than it was: the delay is at least this."
    )


SHARES = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)

LIMITS_MS = (50, 100)
"""Of the shares that White 2013 prints (25 and 6 % of the time)."""


def extract_arguments(parser: Parser) -> None:
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


def extract(options: Namespace) -> None:
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
