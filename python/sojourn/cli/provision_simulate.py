"""`sojourn provision simulate`: what customers get from a file, before and after a migration."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser

__all__ = ["arguments", "execute"]


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    from sojourn.cli.arguments import whole_number
    from sojourn.cli.provision_expand import service_options

    parser.add_argument("file", metavar="FILE", help="Binary CM configuration file.")
    service_options(parser)
    parser.option(
        "--mix",
        "N",
        "Traffic mix of White 2019 Table 2, 1 to 10 (3: one person on the web and one upload).",
        type=whole_number(1, 10),
        default=3,
    )
    parser.option(
        "--before",
        "KIND",
        "Modem before the migration (3.1).",
        choices=("3.0", "3.1", "3.1-lld"),
        default="3.1",
    )
    parser.option(
        "--after",
        "KIND",
        "Modem after the migration (3.1-lld).",
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
    """Expand the file twice, run both scenarios, and print what changes for the games."""
    from sojourn.cli.console import note, print_json, print_table, say, warn
    from sojourn.cli.provision_show import tell
    from sojourn.provisioning import decode, read_secret
    from sojourn.provisioning.migration import migrate
    from sojourn.scenario import read_text

    migration = migrate(
        decode(options.file, read_secret(options.secret)),
        read_text(options.aqp) if options.aqp else "",
        mix=options.mix,
        before=options.before,
        after=options.after,
        duration=options.duration,
        seeds=options.seeds,
        out=options.out,
        figures=not options.no_figures,
        store=options.store,
        allow_bad_mic=options.allow_bad_mic,
        downstream_without_modem=options.downstream_without_modem,
        file=options.file,
    )
    rows = migration.rows()
    for sentence in migration.notes:
        warn(sentence)
    if options.json:
        columns = ("traffic", "metric", "before", "after", "ratio", "unit")
        print_json(
            {
                "headline": {"sentence": migration.headline},
                "out": str(migration.out),
                "before": dict(migration.before.summary),
                "after": dict(migration.after.summary),
                "notes": migration.notes,
                "rows": [dict(zip(columns, row, strict=True)) for row in rows],
            }
        )
        return
    tell(migration.before.issues, options.file)
    for when, service in (("before", migration.before), ("after", migration.after)):
        for direction, words in service.summary.items():
            note(f"{when}, {direction}: {words}")
    if migration.headline:
        say(migration.headline)
    shown = [(*row[:4], row[5], row[4]) for row in rows]
    print_table(("traffic", "metric", "before", "after", "unit", "before/after"), shown)
    if not options.no_figures:
        note(f"report: {migration.out}/report.html")
