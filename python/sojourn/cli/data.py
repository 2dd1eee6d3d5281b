"""`sojourn data`: data sets of the project."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def list_sets_arguments(parser: Parser) -> None:
    parser.flag("--json", "Print one JSON object, with each file and its SHA-256.")


def list_sets(options: Namespace) -> None:
    from dataclasses import asdict

    from sojourn.archive.data import data_sets
    from sojourn.cli.console import print_json, print_table

    sets = list(data_sets().values())
    if options.json:
        print_json({"data": [asdict(one) for one in sets]})
        return
    rows = [(one.name, str(len(one.files)), f"{one.size / 1e3:,.0f} kB", one.licence, one.about) for one in sets]
    print_table(("name", "files", "size", "licence", "about"), rows)


def fetch_arguments(parser: Parser) -> None:
    parser.epilog = "Nothing is fetched from any place but the one named. Addresses need the extra `data`."
    parser.add_argument("name", metavar="NAME", help="Of `sojourn data list`.")
    parser.option(
        "--from",
        "PLACE",
        "Folder or address that mirrors the repository, such as a checkout.",
        dest="place",
        required=True,
    )
    parser.option("--out", "DIR", "New directory (default: NAME).", type=Path)


def fetch(options: Namespace) -> None:
    from sojourn.archive.data import data_set, fetch
    from sojourn.base.output import new_directory, writing
    from sojourn.cli.console import hand_over, note

    wanted = data_set(options.name)
    out = options.out or Path(wanted.name)
    with new_directory(out) as directory, writing(out, ""):
        fetch(wanted, options.place, directory)
    note(f"{len(wanted.files)} files as their digests say; licence: {wanted.licence}")
    hand_over(out)
