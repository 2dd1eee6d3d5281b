"""`sojourn export`: a result as a research object that others can verify."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.epilog = "`sojourn verify DIR` checks the digests of its files, makes the runs again and compares the bits."
    parser.add_argument("result", metavar="RESULT", type=Path, help="Result of a study, or directory of a run.")
    parser.option("--ro-crate", "DIR", "New directory for an RO-Crate 1.1.", type=Path, required=True)
    parser.option("--license", "URL", "Licence on which others may use it (default: none is stated).", default="")
    parser.option("--author", "NAME", "Name of the author.", default="")


def execute(options: Namespace) -> None:
    """Write an RO-Crate."""
    from sojourn.archive.crate import METADATA
    from sojourn.archive.export import Credit, export_crate
    from sojourn.base.output import new_directory, writing
    from sojourn.cli.console import hand_over, note

    target = options.ro_crate
    with new_directory(target) as directory, writing(target, ""):
        files = export_crate(options.result, directory, Credit(options.license, options.author))
    note(f"{files} files; `sojourn verify {target}` makes the runs again and compares")
    hand_over(target / METADATA)
