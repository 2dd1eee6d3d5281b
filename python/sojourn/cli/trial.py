"""`sojourn trial`: field trials, from the design to the analysis."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping
    from datetime import date
    from typing import Any

    from sojourn.cli.arguments import Parser
    from sojourn.field.collector.storage import Storage
    from sojourn.field.flent_check import Check


def design_arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import whole_number

    parser.add_argument("treatments", metavar="TREATMENT", nargs="+", help="Names, such as 8KB 48KB 96KB.")
    parser.option("--homes", "N", "Number of homes (50).", type=whole_number(1, 100_000), default=50)
    parser.option("--first-day", "DATE", "First day, preferably a Monday.", type=_day, required=True)
    parser.option("--weeks", "N", "Weeks per treatment (1).", type=whole_number(1, 52), default=1)
    parser.option(
        "--order",
        "ORDER",
        "crossover: orders balanced over homes; talk: the same order in all homes.",
        choices=("crossover", "talk"),
        default="crossover",
    )
    parser.option("--seed", "N", "Which home gets which order (1).", type=whole_number(0), default=1)


def design(options: Namespace) -> None:
    from sojourn.base.formulas import without_formulas
    from sojourn.cli.console import hand_over, note
    from sojourn.field.design import schedule

    width = len(str(options.homes))
    table = schedule(
        [f"home-{number:0{width}d}" for number in range(1, options.homes + 1)],
        options.treatments,
        options.first_day,
        order=options.order,
        weeks_each=options.weeks,
        seed=options.seed,
    )
    if options.order == "talk":
        note("week and treatment change together: this design cannot tell them apart")
    hand_over(without_formulas(table).write_csv().removesuffix("\n"))


def _day(text: str) -> date:
    from argparse import ArgumentTypeError
    from datetime import date

    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no date; such as 2026-11-23") from None


def simulate_arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import whole_number

    parser.add_argument("schedule", metavar="SCHEDULE", type=Path, help="What `trial design` printed.")
    parser.option("--out", "DIR", "New directory for the files, one folder per home.", type=Path, required=True)
    parser.option(
        "--treatment",
        "NAME=QUEUE",
        "The upstream queue of a treatment, in TOML; 48KB and fq-codel and their like are known.",
        action="append",
        default=[],
    )
    parser.option(
        "--bootfile",
        "NAME=FILE",
        "The upstream queue of a treatment: what a modem makes of this CM configuration file.",
        action="append",
        default=[],
    )
    parser.option(
        "--scenario",
        "FILE",
        "One test of one home, with a load named test (default: that of the talk's study).",
        type=Path,
    )
    for what in ("day", "hour"):
        parser.option(
            f"--{what}-effect",
            "PERCENT",
            f"How much {what}s differ, in all homes alike: a standard deviation (0).",
            type=_share,
            default=0.0,
        )
    parser.flag(
        "--quick", "Twelve homes at most, and of each treatment the first day: to try what follows in a minute."
    )
    parser.option("--seed", "N", "Which homes (1).", type=whole_number(0), default=1)
    parser.option("--jobs", "N", "Threads (one per core).", type=whole_number(1, 1024))


def simulate(options: Namespace) -> None:
    from dataclasses import replace
    from math import log1p

    from sojourn.base.output import refuse_used
    from sojourn.cli.arguments import named_files
    from sojourn.cli.console import note
    from sojourn.field.assignments import read_schedule
    from sojourn.field.population import DEFAULT
    from sojourn.field.simulate import queue_of, quick_part, simulate_trial, unfinished
    from sojourn.process.progress import CountProgress
    from sojourn.scenario.scenario_file import read_text
    from sojourn.study.library import load_study
    from sojourn.study.runner import available_cores

    refuse_used(options.out)
    schedule = read_schedule(options.schedule)
    if options.quick:
        schedule = quick_part(schedule)
    bootfiles = named_files("--bootfile", options.bootfile, "48KB=48KB.cm")
    given = dict(_treatment(text) for text in options.treatment)
    given |= {name: _queue_of_bootfile(path) for name, path in bootfiles.items()}
    names = schedule["treatment"].unique(maintain_order=True).to_list()
    queues = {name: given.get(name) or queue_of(name) for name in names}
    base = read_text(options.scenario) if options.scenario else load_study("klatsky2016").base
    progress = CountProgress("tests")
    try:
        tests = simulate_trial(
            schedule,
            queues,
            options.out,
            base=base,
            population=replace(DEFAULT, day_sigma=log1p(options.day_effect), hour_sigma=log1p(options.hour_effect)),
            seed=options.seed,
            jobs=options.jobs or available_cores(),
            progress=lambda done, total: progress(str(options.schedule), done, total),
        )
    except KeyboardInterrupt:
        note(f"finished tests stay in {unfinished(options.out)}; the same command goes on with them")
        raise
    finally:
        progress.stop()
    note(f"{tests} of {schedule.height} tests; the others are missing, or of homes that left")
    print(options.out)


def _queue_of_bootfile(path: str) -> Mapping[str, Any]:
    """Return the upstream queue of a modem with this file; rates stay those of each home."""
    from sojourn.cli.console import warn
    from sojourn.cli.provision import tell
    from sojourn.provisioning import decode, expand
    from sojourn.provisioning.configuration import read_octets
    from sojourn.provisioning.scenarios import access, left_out

    service = expand(decode(read_octets(path)), file=path)
    tell(service.issues, path)
    for sentence in left_out(service):
        warn(f"{path}: {sentence}")
    table = access(service)["upstream"]
    if further := sorted(set(table) - {"link", "queue"}):
        warn(f"{path}: a trial takes the queue alone, and leaves out {', '.join(further)}")
    return table["queue"]


def _percent(text: str) -> float:
    from argparse import ArgumentTypeError

    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no number of percent") from None
    if not 0.0 <= value <= 1000.0:
        raise ArgumentTypeError(f"{text} is out of range: 0 to 1000")
    return value


def _share(text: str) -> float:
    return _percent(text) / 100.0


def _treatment(text: str) -> tuple[str, dict[str, Any]]:
    import tomllib
    from typing import cast

    from sojourn.base.errors import UsageError
    from sojourn.base.toml_text import parse_toml

    name, equals, value = text.partition("=")
    try:
        queue = parse_toml(f"queue = {value}")["queue"] if equals else None
    except tomllib.TOMLDecodeError:
        queue = None
    if not name or not isinstance(queue, dict):
        raise UsageError(f"{text!r} is no treatment", '--treatment small=\'{ kind = "drop-tail", limit = "8 KB" }\'')
    return name, cast("dict[str, Any]", queue)


def probe_arguments(parser: Parser) -> None:
    parser.add_argument(
        "action",
        metavar="ACTION",
        choices=("run", "once", "send", "plan", "timer"),
        help="run: measure in each slot until stopped; once: measure now; send: only send what waits; "
        "plan: what the modem has to be given when; "
        "timer: print units for systemd.",
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="Settings of the probe, in TOML.")


def probe(options: Namespace) -> int:
    from sojourn.base.errors import ExitStatus
    from sojourn.cli.console import note, say
    from sojourn.field.probe import running
    from sojourn.field.probe.plan import refresh
    from sojourn.field.probe.settings import load_settings

    settings = load_settings(options.file)
    if options.action == "timer":
        print(running.systemd_units(settings, options.file), end="")
        return ExitStatus.DONE
    if options.action == "plan":
        for period in refresh(settings, note).periods:
            say(period.words(settings.spool))
        return ExitStatus.DONE
    if options.action == "run":
        running.run_forever(settings, note)
        return ExitStatus.DONE
    report = (
        running.once(settings, note) if options.action == "once" else running.send_waiting(settings, note, attempts=4)
    )
    note(f"{report.sent} sent, {report.waiting} wait")
    return ExitStatus.FAILED if report.waiting else ExitStatus.DONE


ACTIONS = ("serve", "add", "renew", "revoke", "probes", "viewer", "plan", "export")


def collector_arguments(parser: Parser) -> None:
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


def collector(options: Namespace) -> None:
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


def import_results_arguments(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", type=Path, help="Folder of files, or one file.")
    parser.option("--out", "DIR", "New directory for the tests.", type=Path, required=True)
    parser.option(
        "--labels",
        "FILE",
        "Who measured under what: a schedule of `trial design`, joined by home and time, or CSV with the columns file, "
        "probe, treatment, week, zone.",
        type=Path,
    )
    parser.flag(
        "--check-flent", "Print our numbers of each of Flent's files beside those of its own summary; needs flent."
    )
    parser.flag("--json", "Print one JSON object.")


def import_results(options: Namespace) -> int:
    from dataclasses import asdict

    from sojourn.base.errors import ExitStatus
    from sojourn.base.output import refuse_used
    from sojourn.cli.console import note, print_json
    from sojourn.field.importer import import_files, write_imported
    from sojourn.field.labels import read_labels
    from sojourn.process.progress import RunProgress

    refuse_used(options.out)
    checks = _checks(options.path) if options.check_flent else []
    labelling = read_labels(options.labels) if options.labels else None
    progress = RunProgress(str(options.path))
    imported = import_files(options.path, labelling, lambda done, total: progress(done / total))
    progress.stop()
    for file, reason in imported.skipped:
        note(f"skipped: {file}: {reason}")
    write_imported(imported, options.out, options.path)
    tests, homes = imported.tests, imported.tests["probe"].n_unique()
    if options.json:
        print_json(
            {
                "out": str(options.out),
                "files": imported.files,
                "tests": tests.height,
                "probes": tests["probe"].n_unique(),
                "skipped": [{"file": file, "reason": reason} for file, reason in imported.skipped],
                **({"checks": [asdict(one) for one in checks]} if options.check_flent else {}),
            }
        )
    else:
        if options.check_flent:
            _show(checks)
        note(
            f"{tests.height} tests of {homes} home{'s' * (homes != 1)} from {imported.files} files, "
            f"{len(imported.skipped)} skipped"
        )
        print(options.out)
    return ExitStatus.DONE if tests.height else ExitStatus.INVALID


def _checks(path: Path) -> list[Check]:
    from sojourn.field.flent_check import check_file
    from sojourn.field.importer import measurement_files

    return [check for file, name in measurement_files(path) for check in check_file(file, name)]


def _show(checks: list[Check]) -> None:
    from sojourn.cli.console import note, print_table

    def number(value: float | None) -> str:
        return "–" if value is None else f"{value:.2f}"

    def both(ours: float | None, theirs: float | None) -> str:
        return f"{number(ours)} | {number(theirs)}"

    print_table(
        ("file", "series", "mean | Flent", "median | Flent", "P99 | Flent", "grid mean", ""),
        [
            (
                one.file,
                one.series,
                both(one.mean, one.flent_mean),
                both(one.median, one.flent_median),
                both(one.p99, one.flent_p99),
                number(one.grid),
                "" if one.agrees else "differs",
            )
            for one in checks
        ],
    )
    differ = sum(not one.agrees for one in checks)
    note(f"{len(checks)} series, {differ} differ from what Flent prints")


def analyse_arguments(parser: Parser) -> None:
    parser.add_argument("directory", metavar="DIR", type=Path, help="What `trial import` wrote.")
    parser.option("--labels", "FILE", "As for `trial import`: which home had which treatment when.", type=Path)
    parser.option(
        "--external",
        "DIR",
        "Imported tests of homes without a treatment, same weeks; may be given several times.",
        type=Path,
        action="append",
        default=[],
    )
    parser.option("--effect", "PERCENT", "Change that the table of homes asks for (10).", type=_effect, default=10.0)
    parser.option(
        "--mean",
        "OF",
        "What a home's mean is taken over: its tests, as in the talk, or its periods.",
        choices=("tests", "periods"),
        default="tests",
    )
    parser.flag("--json", "Print one JSON object.")


def analyse(options: Namespace) -> None:
    from sojourn.cli.console import note, print_json
    from sojourn.field.analysis import analyse
    from sojourn.field.importer import read_imported
    from sojourn.field.labels import read_labels
    from sojourn.field.records import frame_of_tests, tests_of
    from sojourn.field.report import effect_rows, write_report
    from sojourn.field.tables import headline, headlines

    tests = read_imported(options.directory)
    if options.labels:
        tests = frame_of_tests(read_labels(options.labels).apply(tests_of(tests)))
    external = {str(folder): read_imported(folder) for folder in options.external}
    analysis = analyse(tests, weighting=options.mean, external=external, effect=options.effect / 100.0)
    page = write_report(options.directory, analysis, tests)
    first = headline(analysis)
    if options.json:
        print_json(
            {
                "headline": None if first is None else first.as_json(),
                "report": str(page),
                "tests": analysis.tests,
                "probes": analysis.probes,
                "effects": effect_rows(analysis),
            }
        )
        return
    if first is not None:
        note(first.sentence)
    for sentence in headlines(analysis):
        note(sentence)
    print(page)


def _effect(text: str) -> float:
    from argparse import ArgumentTypeError

    value = _percent(text)
    if value == 0.0:
        raise ArgumentTypeError(f"{text} is out of range: above 0, at most 1000")
    return value
