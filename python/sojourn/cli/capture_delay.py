"""`sojourn capture delay`: how long packets waited in buffers, from the round trips in a capture."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.epilog = (
        "Captured between a modem and the router behind it. A round trip is from a segment that the home sent to the "
        "acknowledgement that covers it; its excess over the shortest one of its peer is delay in buffers, there and "
        "back (White 2013 1.4, after Allman 2013)."
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="Capture: pcap or pcapng.")
    parser.option("--home", "ADDRESS", "The home's address (the one with most packets of connections).")
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> None:
    """Print quantiles of the delay, and the shares that the document prints."""
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
