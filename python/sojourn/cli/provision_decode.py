"""`sojourn provision decode`: a binary CM configuration file as text."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.add_argument("file", metavar="FILE", help="Binary CM configuration file.")
    parser.option("--out", "FILE", "Write the text there (default: stdout).")
    parser.flag("--docsis40", "Types 103 and 104 have lengths of two octets.")


def execute(options: Namespace) -> None:
    """Write the text form, from which `provision encode` makes the same octets."""
    from pathlib import Path

    from sojourn.base.files import write_file
    from sojourn.base.output import writing
    from sojourn.cli.console import hand_over
    from sojourn.provisioning.configuration import Configuration, read_configuration

    text = Configuration(read_configuration(options.file), docsis40=options.docsis40).text
    if options.out is None:
        hand_over(text.removesuffix("\n"))
        return
    out = Path(options.out)
    with writing(out):
        write_file(out, text)
