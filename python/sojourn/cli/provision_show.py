"""`sojourn provision show`: what a CM configuration file says, and what is wrong with it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from sojourn.cli.arguments import Parser
    from sojourn.provisioning import Configuration, Issue


def secret_option(parser: Parser) -> None:
    """Declare where the shared secret is."""
    parser.option("--secret", "FILE", "File with the shared secret of the CMTS MIC (default: SOJOURN_CMTS_SECRET).")


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.add_argument("file", metavar="FILE", help="Binary CM configuration file.")
    secret_option(parser)
    parser.flag("--strict", "Treat warnings about doubtful values as errors.")
    parser.flag("--docsis40", "Types 103 and 104 have lengths of two octets.")
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> int:
    """Print all TLVs with their place and meaning, and list all issues."""
    from sojourn.base.errors import ExitStatus
    from sojourn.cli.console import note, print_json, print_table
    from sojourn.provisioning.configuration import Configuration, read_configuration, read_secret

    octets = read_configuration(options.file)
    configuration = Configuration(octets, read_secret(options.secret), options.strict, options.docsis40)
    issues = configuration.issues
    if options.json:
        print_json(_document(configuration))
    else:
        rows = [
            (
                line["offset"],
                line["path"],
                "  " * line["path"].count(".") + (line["name"] or "unknown"),
                line["value"] + (f" ({line['meaning']})" if line["meaning"] else ""),
                line["mark"],
            )
            for line in configuration.tlvs
        ]
        print_table(("octet", "TLV", "name", "value", "source"), rows)
        digests = configuration.integrity
        note(
            f"{len(octets)} octets; CM MIC {digests['cm_mic']}, CMTS MIC {digests['cmts_mic']}, "
            f"extended {digests['extended']}"
        )
        tell(issues, options.file)
    return ExitStatus.INVALID if any(issue.is_error for issue in issues) else ExitStatus.DONE


def _document(configuration: Configuration) -> dict[str, object]:
    from dataclasses import asdict

    return {
        "octets": len(configuration.octets),
        "tlvs": list(configuration.tlvs),
        "integrity": dict(configuration.integrity),
        "issues": [asdict(issue) for issue in configuration.issues],
    }


def tell(issues: Sequence[Issue], file: str) -> None:
    """Print issues: errors as errors, the rest as warnings."""
    from sojourn.cli.console import note, show_problems, warn

    for issue in issues:
        problem = issue.problem(file)
        if issue.is_error:
            show_problems([problem])
            continue
        warn(str(problem))
        if issue.hint:
            note(f"  hint: {issue.hint}")
