"""`sojourn serve export`: the page as files for any web server."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
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
    parser.option(
        "--lessons",
        "NAME,…",
        "Only what a class needs: these lessons, or all of them if none is named, and Explore with their scenarios. What answers "
        "them is in the folder teacher, to which no page leads. Without this option the site has everything.",
        nargs="?",
        const="all",
    )


def execute(options: Namespace) -> None:
    from sojourn.cli.console import note
    from sojourn.serve.site import export

    for_class = options.lessons is not None
    export(options.out, options.scenario, options.lessons or "all", options.base, for_class=for_class)
    print(options.out / "index.html")
    if for_class:
        note(f"answers: {options.out}/teacher/index.html; leave that folder out of what students get")
