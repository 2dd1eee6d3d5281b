"""`sojourn provision encode`: a binary CM configuration file from its text."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    from sojourn.cli.provision_show import secret_option

    parser.add_argument(
        "file", metavar="FILE", help="Text form, as `provision decode` writes it, or text of the docsis tool."
    )
    parser.option("--out", "FILE", "Where to write the octets.", required=True)
    secret_option(parser)
    parser.flag("--seal", "Make the MICs anew (default: with a secret, or if the text has no CM MIC).")


def execute(options: Namespace) -> int:
    """Write the octets and list all issues."""
    from pathlib import Path

    from sojourn.base.errors import ExitStatus
    from sojourn.base.files import write_file
    from sojourn.base.output import writing
    from sojourn.cli.console import note
    from sojourn.cli.provision_show import tell
    from sojourn.provisioning import encode, read_secret
    from sojourn.scenario.scenario_file import read_text

    secret = read_secret(options.secret)
    text = read_text(options.file)
    configuration = encode(text, secret, seal=options.seal or None, file=options.file)
    out = Path(options.out)
    with writing(out):
        write_file(out, configuration.octets)
    issues = configuration.issues
    tell(issues, options.out)
    note(f"{options.out}: {len(configuration.octets)} octets")
    return ExitStatus.INVALID if any(issue.is_error for issue in issues) else ExitStatus.DONE
