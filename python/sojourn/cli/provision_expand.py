"""`sojourn provision expand`: the service that a modem gets from a CM configuration file."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from sojourn.cli.arguments import Parser


def service_options(parser: Parser) -> None:
    """Declare what is known beside the file."""
    from sojourn.cli.provision_show import secret_option

    parser.option("--aqp", "TABLE", "TOML with service classes, Aggregate QoS Profiles and capabilities.")
    secret_option(parser)
    parser.flag("--allow-bad-mic", "Continue even if a digest is wrong.")
    parser.flag("--downstream-without-modem", "Two queues downstream also for modems without low-latency support.")


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.add_argument("file", metavar="FILE", help="Binary CM configuration file.")
    service_options(parser)
    parser.option("--modem", "KIND", "Kind of modem, instead of the tables' value.", choices=("3.0", "3.1", "3.1-lld"))
    parser.flag("--without-profiles", "Ignore the tables' profiles, as before a migration.")
    parser.flag("--strict", "Treat warnings about doubtful values as errors.")
    parser.option("--out", "FILE", "Also write a file with the same service.")
    parser.option(
        "--style",
        "STYLE",
        "Style of that file: every value, names only, or one service flow per direction.",
        choices=("explicit", "names", "legacy"),
        default="explicit",
    )
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> None:
    """Print each parameter of the service with its origin."""
    from dataclasses import asdict
    from pathlib import Path

    from sojourn.base.files import write_file
    from sojourn.base.output import writing
    from sojourn.cli.console import note, print_json, print_table
    from sojourn.cli.provision_show import tell
    from sojourn.provisioning import decode, expand, read_secret, restate
    from sojourn.provisioning.expansion import parameter_rows
    from sojourn.scenario.scenario_file import read_text

    configuration = decode(options.file, read_secret(options.secret), strict=options.strict)
    choices: dict[str, Any] = {
        "modem": options.modem,
        "profiles": not options.without_profiles,
        "allow_bad_mic": options.allow_bad_mic,
        "downstream_without_modem": options.downstream_without_modem,
        "file": options.file,
    }
    tables = read_text(options.aqp) if options.aqp else ""
    service = expand(configuration, tables, **choices)
    if options.out:
        restated = restate(configuration, tables, style=options.style, **choices)
        out = Path(options.out)
        with writing(out):
            write_file(out, restated.octets)
        note(f"{options.out}: {len(restated.octets)} octets")
    if options.json:
        issues = [asdict(issue) for issue in service.issues]
        print_json({"service": dict(service.content), "summary": dict(service.summary), "issues": issues})
        return
    headings = ("direction", "flow", "parameter", "value", "from")
    print_table(headings, parameter_rows(service))
    tell(service.issues, options.file)
    for direction, words in service.summary.items():
        note(f"{direction}: {words}")
