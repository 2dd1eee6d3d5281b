"""`sojourn provision simulate`: what customers get from a file before and after a migration, or from several files."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from sojourn.cli.arguments import Parser
    from sojourn.provisioning.migration import Simulated


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    from sojourn.cli.arguments import whole_number
    from sojourn.cli.provision_expand import service_options

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


def execute(options: Namespace) -> None:
    """Expand the file twice, or each of several files, run all scenarios, and print what differs for the games."""
    from sojourn.cli.console import note, print_json, print_table, say, warn
    from sojourn.cli.provision_show import tell

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
