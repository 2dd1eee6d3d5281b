"""`sojourn data list`: the data sets of the project."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.flag("--json", "Print one JSON object, with each file and its SHA-256.")


def execute(options: Namespace) -> None:
    """Print names, sizes and licences."""
    from dataclasses import asdict

    from sojourn.archive.data import data_sets
    from sojourn.cli.console import print_json, print_table

    sets = list(data_sets().values())
    if options.json:
        print_json({"data": [asdict(one) for one in sets]})
        return
    rows = [(one.name, str(len(one.files)), f"{one.size / 1e3:,.0f} kB", one.licence, one.about) for one in sets]
    print_table(("name", "files", "size", "licence", "about"), rows)
