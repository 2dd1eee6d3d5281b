"""`sojourn serve export`: the page as files for any web server."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.add_argument("out", metavar="DIR", type=Path, help="New or empty directory.")
    parser.option(
        "--scenario",
        "FILE",
        "A further scenario file to offer. May be repeated.",
        action="append",
        type=Path,
        default=[],
    )
    parser.option(
        "--base", "URL", "Where students find the site: pages for teachers get a QR code of the lesson.", default=""
    )
    parser.option("--lessons", "all|none|NAME,…", "Which lessons (all).", default="all")


def execute(options: Namespace) -> None:
    """Write the files and say where."""
    from sojourn.serve.site import export

    export(options.out, options.scenario, options.lessons, options.base)
    print(options.out / "index.html")
