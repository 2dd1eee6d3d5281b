"""`sojourn data fetch`: a data set from a folder or an address, checked by digest."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
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


def execute(options: Namespace) -> None:
    """Bring the files of a data set."""
    from sojourn.archive.data import data_set, fetch
    from sojourn.base.output import new_directory, writing
    from sojourn.cli.console import hand_over, note

    wanted = data_set(options.name)
    out = options.out or Path(wanted.name)
    with new_directory(out) as directory, writing(out, ""):
        fetch(wanted, options.place, directory)
    note(f"{len(wanted.files)} files as their digests say; licence: {wanted.licence}")
    hand_over(out)
