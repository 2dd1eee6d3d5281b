"""`sojourn trial collector`: the service that probes send their measurements to."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser
    from sojourn.field.collector.storage import Storage

ACTIONS = ("serve", "add", "renew", "revoke", "probes", "viewer", "plan", "export")


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    from sojourn.cli.arguments import whole_number

    parser.add_argument(
        "action",
        metavar="ACTION",
        choices=ACTIONS,
        help="serve: take uploads; add, renew, revoke PROBE…: tokens; probes: who reports; viewer: a token for "
        "the page; plan SCHEDULE: hand each probe its treatments; export: all tests into --out.",
    )
    parser.add_argument("probes", metavar="PROBE", nargs="*", help="Names of probes, or the schedule of a plan.")
    parser.option(
        "--bootfile", "NAME=FILE", "CM configuration file of a treatment, for plan.", action="append", default=[]
    )
    parser.option(
        "--database",
        "URL",
        "sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE (sqlite:///trial.db).",
        default="sqlite:///trial.db",
    )
    parser.option("--host", "ADDRESS", "Where to listen (127.0.0.1).", default="127.0.0.1")
    parser.option("--port", "N", "Where to listen (8440).", type=whole_number(0, 65_535), default=8440)
    parser.option("--certificate", "FILE", "Certificate in PEM form, for HTTPS.", type=Path)
    parser.option("--key", "FILE", "Its key.", type=Path)
    parser.flag("--insecure", "Allow plain HTTP to other machines: anyone on the path can read tokens.")
    parser.option("--out", "DIR", "New directory for an export.", type=Path)


def execute(options: Namespace) -> None:
    """Collect uploads of probes, each exactly once, and show who reports."""
    from sojourn.base.errors import MissingExtra, UsageError
    from sojourn.cli.console import hand_over, note

    try:
        from sojourn.field.collector.service import export, serve
        from sojourn.field.collector.storage import Storage
    except ImportError as error:
        raise MissingExtra("the collector", str(error.name), "collector") from error

    names: list[str] = options.probes
    wants_names = options.action in {"add", "renew", "revoke", "plan"}
    if wants_names != bool(names):
        raise UsageError(
            f"{options.action} takes "
            + ("a schedule" if options.action == "plan" else "names of probes" if wants_names else "no names"),
            "sojourn trial collector add home-01 home-02",
        )
    if options.action == "export" and options.out is None:
        raise UsageError("export needs --out DIR")
    storage = Storage(options.database)
    try:
        if options.action == "serve":
            serve(
                storage,
                options.host,
                options.port,
                options.certificate,
                options.key,
                insecure=options.insecure,
                say=note,
            )
        elif options.action == "viewer":
            print(storage.add_viewer())
        elif options.action == "export":
            tests = export(storage, options.out)
            note(f"{tests} tests")
            print(options.out)
        elif options.action == "probes":
            for probe in storage.probes():
                last = f"{probe.last:%Y-%m-%d %H:%M}" if probe.last else "never"
                revoked = "\trevoked" if probe.revoked else ""
                hand_over(f"{probe.name}\t{probe.uploads}\t{last}{revoked}")
        elif options.action == "plan":
            _plan(storage, names, options.bootfile)
        elif options.action == "revoke":
            for name in names:
                storage.revoke_probe(name)
        else:
            change = storage.add_probe if options.action == "add" else storage.renew_probe
            for name in names:
                hand_over(f"{name}\t{change(name)}")
    finally:
        storage.close()


def _plan(storage: Storage, names: list[str], bootfiles: list[str]) -> None:
    from sojourn.cli.arguments import named_files
    from sojourn.cli.console import note, warn
    from sojourn.field.assignments import Assignments, read_schedule
    from sojourn.field.collector.plan import set_plan
    from sojourn.provisioning.configuration import read_octets

    files = {name: read_octets(path) for name, path in named_files("--bootfile", bootfiles, "48KB=48KB.cm").items()}
    (schedule,) = names[:1]
    assignments = Assignments.of(read_schedule(Path(schedule)))
    set_plan(storage.engine, assignments, files)
    known = {probe.name for probe in storage.probes()}
    for probe in assignments.periods.keys() - known:
        warn(f"{probe} has no token: sojourn trial collector add {probe}")
    note(f"{len(assignments.periods)} homes have a plan")
