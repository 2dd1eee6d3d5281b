"""`sojourn provision diff`: what differs between two CM configuration files."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.add_argument("before", metavar="A", help="Binary CM configuration file.")
    parser.add_argument("after", metavar="B", help="Another one.")
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> None:
    """Print the settings that differ, by their TLV path."""
    from dataclasses import asdict

    from sojourn.cli.console import note, print_json, print_table
    from sojourn.provisioning import decode, diff

    differences = diff(decode(options.before), decode(options.after))
    if options.json:
        print_json({"differences": [asdict(difference) for difference in differences]})
        return
    if not differences:
        note("no setting differs")
        return
    rows = [(d.path, d.name, d.before or "-", d.after or "-") for d in differences]
    print_table(("TLV", "name", options.before, options.after), rows)
