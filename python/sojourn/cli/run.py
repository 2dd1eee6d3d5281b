"""`sojourn run`: one scenario, one seed."""

from __future__ import annotations

import contextlib

TYPE_CHECKING = False  # as type checkers read it; the module typing would take its time
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Generator, Sequence
    from typing import Any

    import sojourn._engine as _engine
    from sojourn.api.run import Run
    from sojourn.cli.arguments import Parser
    from sojourn.process.progress import RunProgress
    from sojourn.simulation.engine import Beside

    Row = tuple[str, str, float, str]

LARGEST_SEED = 2**64 - 1

LONGEST = 32 * 2**20
"""Characters of a scenario that are read at once; of longer ones `sojourn.scenario.scenario_file` says what is wrong."""

WORTH_KEEPING_PACKETS = 6e6
"""Runs whose links carry fewer packets are made again rather than kept.

chosen: the engine makes the busiest of them in about a second and most in some tenths, which is what a new process
takes to read a data frame back; keeping them takes as long again.
"""


def arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import size, whole_number

    parser.add_argument("file", metavar="FILE", help="Scenario file.")
    parser.option(
        "--set",
        "A.B.C=V",
        "Change the scenario, for example traffic.bulk.rtt=100ms. May be repeated.",
        action="append",
        default=[],
        dest="settings",
    )
    parser.option(
        "--stack",
        "ENTRY=STACK",
        "The stack of a traffic entry: bulk=linux-6, bulk=linux:cubic of a kernel, or LIBRARY:CONTROLLER with --plugin. May be repeated.",
        action="append",
        default=[],
        dest="stacks",
    )
    parser.option(
        "--seed",
        "N",
        "Seed of all random numbers (default: the file's first, or 1).",
        type=whole_number(0, LARGEST_SEED),
    )
    parser.option("--out", "DIR", "Write all record tables into a new directory.")
    parser.flag("--report", "Also draw rates, queues and delays; without --out, below results/.")
    parser.option("--pcap", "DIR", "Write the packets at both ends of each link into a new directory, for Wireshark.")
    parser.option(
        "--pcap-format",
        "FORM",
        "pcapng: a file for each end of a link; classic: a file for each end and direction, as of the emulator (pcapng).",
        choices=("pcapng", "classic"),
        default="pcapng",
    )
    parser.option("--qlog", "DIR", "Write a qlog of each end of each connection into a new directory, for qvis.")
    parser.flag("--all", "Print all metrics and not only those that matter most.")
    parser.option("--store", "DIR", "Store for finished runs; without it, short runs are not stored.")
    parser.option(
        "--memory", "SIZE", "Memory budget of the run, such as 8GB (default: 3/4 of what is free).", type=size
    )
    parser.option(
        "--plugin",
        "FILE",
        "A queue manager of your own that the scenario asks for, Python or a shared library, or a library of transports. It is run. May be repeated.",
        action="append",
        default=[],
        dest="plugins",
    )
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> None:
    from sojourn.cli.console import note, print_json, print_table
    from sojourn.headline import headline_of_run, headline_rows
    from sojourn.process.progress import RunProgress
    from sojourn.simulation.averages import labelled, since_beginnings

    if options.plugins:
        from sojourn.plugins import read_plugin

        options.plugins = [read_plugin(path) for path in options.plugins]
        for plugin in options.plugins:
            plugin.announce()
    options.settings += [_stack_setting(one) for one in options.stacks]
    scenario, text = _scenario(options.file, options.settings)
    if scenario.warnings:
        _warn(options.file, scenario)
    for setting in _idle(scenario, options):
        note(f"--set {setting} changes nothing: the scenario or a later --set says it")
    seed = scenario.seed if options.seed is None else options.seed
    if options.out is not None:
        _refuse_used(options.out)
    is_beside = _is_beside(options)
    if is_beside and scenario.kernel:
        from sojourn.base.errors import UsageError

        raise UsageError(
            "--pcap and --qlog do not reach into the guest in which a kernel's run is made",
            "sojourn emulate FILE --virtual --pcap DIR -- COMMAND",
        )
    progress = RunProgress(scenario.name)
    finished: Run | None = None
    is_written = options.out is not None or options.report
    if is_beside or not (is_written or options.plugins or scenario.kernel or _is_kept(scenario, options.store)):
        from sojourn.simulation.engine import simulate

        with _beside(options) if is_beside else contextlib.nullcontext() as beside:
            records = simulate(scenario, seed, watch=progress, memory=options.memory, beside=beside)
        statistics, rows, from_store = records.statistics, records.metrics(), False
    else:
        finished = _kept_run(scenario, options, seed, progress)
        statistics, from_store = finished.statistics, finished.from_store
        rows: Sequence[Row] = finished.metrics.rows()
    progress.stop()
    if finished is not None and is_written:
        is_ours = options.out is None
        options.out = options.out or _new_place(scenario.name)
        _write(finished, options.out, options.settings, report=options.report, is_ours=is_ours)
    if is_beside:
        packets, events, files = records.written  # pyright: ignore[reportPossiblyUnboundVariable]
        if options.pcap:
            note(f"{packets:,} packets: {options.pcap}")
        if options.qlog:
            note(f"{events:,} events in {files:,} files: {options.qlog}")
    counted, since = since_beginnings(scenario.canonical(), statistics["simulated_s"], rows)
    headline = headline_of_run(counted, text)
    if options.json:
        print_json(
            {
                "scenario": scenario.name,
                "seed": seed,
                "key": scenario.key(seed),
                "out": options.out,
                "from_store": from_store,
                "headline": None if headline is None else headline.as_json(),
                **statistics,
                "metrics": [dict(zip(_COLUMNS, row, strict=True)) for row in rows],
                "since_traffic_begins": [vars(one) for one in since],
            }
        )
        return
    source = "from the store; it took" if from_store else "in"
    note(
        f"{scenario.name}, seed {seed}: {statistics['simulated_s']:g} s simulated "
        f"{source} {statistics['wall_s']:.2f} s, {statistics['packet_hops']:,} packet-hops"
    )
    if headline is not None:
        note(headline.sentence)
    if options.all:
        print_table(_COLUMNS, rows)
    else:
        shown = headline_rows(counted)
        since = [one for one in since if (one.subject, one.metric) in {row[:2] for row in shown}]
        shown = labelled(shown, since)
        print_table(_COLUMNS, shown)
        if len(shown) < len(rows):
            note(f"{len(rows) - len(shown)} more metrics: --all")
    for one in since:
        note(one.sentence)
    if options.seed is None and scenario.seed_count > 1:
        note(f"the file asks for {scenario.seed_count} seeds; this was the first, --seed runs others")
    if options.report:
        note(f"report: {options.out}/report.html")
    elif options.out is not None:
        note(f"records: {options.out}")


def _is_beside(options: Namespace) -> bool:
    """Return whether something is written while the run goes on.

    Raises `UsageError` if the run is one whose packets are not to be had.
    """
    first = "--pcap" if options.pcap else "--qlog" if options.qlog else ""
    for name, place in (("--out", options.out), ("--report", options.report), ("--plugin", options.plugins)):
        if first and place:
            from sojourn.base.errors import UsageError

            raise UsageError(f"{first} and {name}: one run writes the one or the other", "two runs are the same")
    return bool(first)


@contextlib.contextmanager
def _beside(options: Namespace) -> Generator[Beside]:
    """Give new directories for what is written while the run goes on; they get their names when it has ended well.

    Raises `UsageError` if one is used.
    """
    from pathlib import Path

    from sojourn.base.output import new_directory
    from sojourn.simulation.engine import Beside

    named = list(dict.fromkeys(place for place in (options.pcap, options.qlog) if place))
    with contextlib.ExitStack() as stack:
        places = {place: str(stack.enter_context(new_directory(Path(place)))) for place in named}
        pcap, qlog = places.get(options.pcap), places.get(options.qlog)
        yield Beside(pcap, apart=options.pcap_format == "classic", qlog=qlog, said=" or ".join(named))


_COLUMNS = ("subject", "metric", "value", "unit")


def _stack_setting(text: str) -> str:
    """Return `ENTRY=STACK` as a setting.

    Raises `UsageError` if it is none.
    """
    from sojourn.base.errors import UsageError
    from sojourn.scenario.settings import stack_of

    entry, equals, stack = text.partition("=")
    if not (entry and equals and stack):
        raise UsageError(f'--stack: "{text}" is not ENTRY=STACK', "for example upload=linux-6, or upload=quinn:cubic")
    name, colon, word = stack.partition(":")
    if colon:
        stack = stack_of(name, word)
    return f"traffic.{entry}.stack={stack}"


def _scenario(file: str, settings: list[str]) -> tuple[_engine.Scenario, str]:
    """Read a scenario with its settings, and its text; without mistakes, nothing but the engine is needed."""
    if (valid := _valid(file, settings)) is not None:
        return valid
    from sojourn.scenario.scenario_file import load_scenario  # which says what is wrong, and takes its time

    loaded = load_scenario(file, settings)
    return loaded.compiled, loaded.text


def _valid(file: str, settings: list[str]) -> tuple[_engine.Scenario, str] | None:
    """Return a scenario and its text; `None` if there is anything to say about them."""
    import sojourn._engine as _engine
    from sojourn.scenario.settings import apply_settings

    with contextlib.suppress(Exception), open(file, encoding="utf-8", opener=_opened) as text:
        content = text.read(LONGEST)
        if len(content) < LONGEST:
            content = apply_settings(content, settings) if settings else content
            return _engine.Scenario.parse(content), content
    return None


def _idle(scenario: _engine.Scenario, options: Namespace) -> list[str]:
    """Return the settings without which the scenario would be the same."""
    found: list[str] = []
    for place, setting in enumerate(options.settings):
        others = [*options.settings[:place], *options.settings[place + 1 :]]
        without = _valid(options.file, others)
        if without is not None and without[0].canonical() == scenario.canonical():
            found.append(setting)
    return found


def _opened(path: str, flags: int) -> int:
    """Open a file; pipes are read below."""
    import os
    import stat

    if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - pathlib takes its time
        raise OSError(path)
    return os.open(path, flags)


def _warn(file: str, scenario: _engine.Scenario) -> None:
    from sojourn.base.errors import Problem
    from sojourn.cli.console import show_warnings

    show_warnings([Problem(w["path"], w["message"], w["hint"], file=file) for w in scenario.warnings])


def _refuse_used(out: str) -> None:
    from pathlib import Path

    from sojourn.base.output import refuse_used

    refuse_used(Path(out))


def _is_kept(scenario: _engine.Scenario, store: str | None) -> bool:
    return store is not None or scenario.full_packets >= WORTH_KEEPING_PACKETS


def _kept_run(scenario: _engine.Scenario, options: Namespace, seed: int, progress: RunProgress) -> Run:
    from sojourn.api.run import run
    from sojourn.cli.console import warn
    from sojourn.scenario.scenario_file import load_scenario
    from sojourn.store import Store

    store = Store(options.store, on_damage=warn) if _is_kept(scenario, options.store) else None
    loaded = load_scenario(options.file, options.settings)
    return run(loaded, seed, store, progress, options.memory, options.plugins)


def _new_place(name: str) -> str:
    import re

    from sojourn.base.output import dated

    return str(dated(re.sub(r"[^A-Za-z0-9._-]", "-", name)))


def _write(finished: Run, out: str, settings: list[str], *, report: bool, is_ours: bool) -> None:
    from pathlib import Path

    from sojourn.base.files import write_file
    from sojourn.base.on_disk import list_files
    from sojourn.base.output import new_directory, writing
    from sojourn.study.manifest import describe_machine, describe_source, write_json
    from sojourn.study.write import write_table

    manifest: dict[str, Any] = {
        "schema": 1,
        "scenario": finished.scenario.name,
        "settings": list(settings),
        "seed": finished.seed,
        "key": finished.key,
        **describe_source(),
        "machine": describe_machine(),
        "statistics": dict(finished.statistics),
    }
    if digest := finished.scenario.kernel:
        from sojourn.linux.build import described

        manifest |= {"clock": "virtual", "kernel": described(digest)}
    destination = Path(out)
    with new_directory(destination, is_ours=is_ours) as directory, writing(destination):
        for name, table in finished.tables.items():
            write_table(table, directory / f"{name}.parquet")
        write_file(directory / "scenario.toml", finished.scenario.text)
        manifest["files"] = list_files(directory, directory.glob("*.parquet"))
        write_json(directory / "manifest.json", manifest)
        if report:
            from sojourn.report.single import build_run_report

            build_run_report(directory)
