"""`sojourn capture show`: the flows of a capture."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser

SHOWN = 20
"""Flows that are listed unasked."""


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.add_argument("file", metavar="FILE", type=Path, help="Capture: pcap or pcapng.")
    parser.flag("--all", f"All flows, and not only the {SHOWN} with most bytes.")
    parser.flag("--addresses", "Show addresses.")
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> None:
    """List the flows with most bytes first."""
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
