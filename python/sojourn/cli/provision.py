"""`sojourn provision`: CM configuration files of DOCSIS."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping, Sequence
    from typing import Any

    from sojourn.cli.arguments import Parser
    from sojourn.provisioning import Configuration, Issue
    from sojourn.provisioning.migration import Simulated


def secret_option(parser: Parser) -> None:
    """Declare where the shared secret is."""
    parser.option("--secret", "FILE", "File with the shared secret of the CMTS MIC (default: SOJOURN_CMTS_SECRET).")


def show_arguments(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="Binary CM configuration file.")
    secret_option(parser)
    parser.flag("--strict", "Treat warnings about doubtful values as errors.")
    parser.flag("--docsis40", "Types 103 and 104 have lengths of two octets.")
    parser.flag("--json", "Print one JSON object.")


def show(options: Namespace) -> int:
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


def decode_arguments(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="Binary CM configuration file.")
    parser.option("--out", "FILE", "Write the text there (default: stdout).")
    parser.flag("--docsis40", "Types 103 and 104 have lengths of two octets.")


def decode(options: Namespace) -> None:
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


def encode_arguments(parser: Parser) -> None:
    parser.add_argument(
        "file", metavar="FILE", help="Text form, as `provision decode` writes it, or text of the docsis tool."
    )
    parser.option("--out", "FILE", "Where to write the octets.", required=True)
    secret_option(parser)
    parser.flag("--seal", "Make the MICs anew (default: with a secret, or if the text has no CM MIC).")


def encode(options: Namespace) -> int:
    from pathlib import Path

    from sojourn.base.errors import ExitStatus
    from sojourn.base.files import write_file
    from sojourn.base.output import writing
    from sojourn.cli.console import note
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


def service_options(parser: Parser) -> None:
    """Declare what is known beside the file."""
    parser.option("--aqp", "TABLE", "TOML with service classes, Aggregate QoS Profiles and capabilities.")
    secret_option(parser)
    parser.flag("--allow-bad-mic", "Continue even if a digest is wrong.")
    parser.flag("--downstream-without-modem", "Two queues downstream also for modems without low-latency support.")


def expand_arguments(parser: Parser) -> None:
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


def expand(options: Namespace) -> None:
    from dataclasses import asdict
    from pathlib import Path

    from sojourn.base.files import write_file
    from sojourn.base.output import writing
    from sojourn.cli.console import note, print_json, print_table
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


def diff_arguments(parser: Parser) -> None:
    parser.add_argument("before", metavar="A", help="Binary CM configuration file.")
    parser.add_argument("after", metavar="B", help="Another one.")
    parser.flag("--json", "Print one JSON object.")


def diff(options: Namespace) -> None:
    from dataclasses import asdict

    from sojourn.cli.console import note, print_json, print_table
    from sojourn.provisioning import decode, diff

    differences = diff(decode(options.before), decode(options.after))
    if options.json:
        print_json({"differences": [asdict(difference) for difference in differences]})
        return
    if not differences:
        note("no setting differs")
        return
    rows = [(d.path, d.name, d.before or "-", d.after or "-") for d in differences]
    print_table(("TLV", "name", options.before, options.after), rows)


def simulate_arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import whole_number

    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="Binary CM configuration file: before and after a migration; several: beside each other.",
    )
    service_options(parser)
    parser.option(
        "--mix",
        "N",
        "Traffic mix of White 2019 Table 2, 1 to 10 (3: one person on the web and one upload).",
        type=whole_number(1, 10),
        default=3,
    )
    parser.option(
        "--before", "KIND", "Modem before the migration (3.1).", choices=("3.0", "3.1", "3.1-lld"), default="3.1"
    )
    parser.option(
        "--after",
        "KIND",
        "Modem after the migration, and of several files (3.1-lld).",
        choices=("3.0", "3.1", "3.1-lld"),
        default="3.1-lld",
    )
    parser.option("--duration", "T", "Simulated time of each run (60 s).", default="60 s")
    parser.option("--seeds", "N", "Runs of each (5).", type=whole_number(1, 1000), default=5)
    parser.option("--out", "DIR", "Where to write the result (default: below results/).")
    parser.option("--store", "DIR", "Where finished runs are kept.")
    parser.flag("--no-figures", "Skip the report.")
    parser.flag("--json", "Print one JSON object.")


def simulate(options: Namespace) -> None:
    from sojourn.cli.console import note, print_json, print_table, say, warn

    simulated = _simulated(options)
    rows, headline = simulated.rows(), simulated.headline
    names = list(simulated.services)
    is_migration = len(options.files) == 1
    for sentence in simulated.notes:
        warn(sentence)
    if options.json:
        services = {name: dict(service.summary) for name, service in simulated.services.items()}
        print_json(
            {
                "headline": None if headline is None else headline.as_json(),
                "out": str(simulated.out),
                **(services if is_migration else {"services": services}),
                "notes": simulated.notes,
                "rows": [
                    {
                        "traffic": row.subject,
                        "metric": row.metric,
                        **(
                            {**row.values, "ratio": _ratio(row.values)}
                            if is_migration
                            else {"values": dict(row.values)}
                        ),
                        "unit": row.unit,
                    }
                    for row in rows
                ],
            }
        )
        return
    for file, (name, service) in zip(
        options.files if not is_migration else [options.files[0], ""], simulated.services.items(), strict=True
    ):
        if file:
            tell(service.issues, file)
        for direction, words in service.summary.items():
            note(f"{name}, {direction}: {words}")
    if headline is not None:
        say(headline.sentence)
        if headline.graded:
            say(headline.graded)
    headings = ("traffic", "metric", *names, "unit", *(["before/after"] if is_migration else []))
    shown = [
        (*(row.subject, row.metric, *row.values.values(), row.unit), *([_ratio(row.values)] if is_migration else []))
        for row in rows
    ]
    print_table(headings, shown)
    if not options.no_figures:
        note(f"report: {simulated.out}/report.html")


def _simulated(options: Namespace) -> Simulated:
    from sojourn.base.errors import UsageError
    from sojourn.provisioning import decode, read_secret
    from sojourn.provisioning.migration import Simulation, migrate, run_beside, services_of
    from sojourn.scenario.scenario_file import read_text

    if len(set(options.files)) < len(options.files):
        raise UsageError("a file is named twice", "each FILE once")
    secret = read_secret(options.secret)
    files = {file: decode(file, secret) for file in options.files}
    tables = read_text(options.aqp) if options.aqp else ""
    simulation = Simulation(
        mix=options.mix,
        duration=options.duration,
        seeds=options.seeds,
        out=options.out,
        figures=not options.no_figures,
        store=options.store,
    )
    doubts: dict[str, bool] = {
        "allow_bad_mic": options.allow_bad_mic,
        "downstream_without_modem": options.downstream_without_modem,
    }
    if len(files) > 1:
        return run_beside(services_of(files, tables, modem=options.after, **doubts), simulation)
    ((file, configuration),) = files.items()
    return migrate(
        configuration, tables, before=options.before, after=options.after, simulation=simulation, file=file, **doubts
    )


def _ratio(values: Mapping[str, float]) -> float:
    """Return how many times less it is after."""
    from math import inf

    before, after = values.values()
    return before / after if after else inf
