"""`sojourn emulate`: real programs behind the simulated access link."""

from __future__ import annotations

import contextlib

TYPE_CHECKING = False  # as type checkers read it; the module typing would take its time
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Generator
    from pathlib import Path
    from typing import Any

    import sojourn._engine as _engine
    from sojourn.cli.arguments import Parser
    from sojourn.scenario.scenario_file import Scenario

LARGEST_SEED = 2**64 - 1


def arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import whole_number

    parser.takes_command()
    parser.add_argument("file", metavar="FILE", nargs="?", help="Scenario file.")
    parser.option(
        "--set",
        "A.B.C=V",
        "Change the scenario, for example access.upstream.rate=20Mbps. May be repeated.",
        action="append",
        default=[],
        dest="settings",
    )
    parser.option(
        "--rtt",
        "SPAN",
        "Base round trip to the far end, such as 30ms; once more for each further far address.",
        action="append",
        default=[],
    )
    parser.option("--for", "SPAN", "End after this time.", dest="lasts")
    parser.option(
        "--seed",
        "N",
        "Seed of the link's and the queue's draws (default: the file's first, or 1).",
        type=whole_number(0, LARGEST_SEED),
    )
    parser.flag("--isolated", "No Internet: only the far end is behind the link.")
    parser.option(
        "--far",
        "COMMAND",
        'Run this beside the far end, for example "iperf3 -s". May be repeated.',
        action="append",
        default=[],
    )
    parser.option("--tcp", "NAME", "Congestion controller of connections inside.")
    parser.option("--far-tcp", "NAME", "Congestion controller of the far end.")
    parser.option("--ecn", "off|on", "Whether connections use ECN.", choices=("off", "on"))
    parser.add_argument(
        "--between",
        nargs=2,
        metavar=("IF_A", "IF_B"),
        help="Put the link between two Ethernet interfaces, IF_A towards the subscriber, without a command; as root.",
    )
    parser.flag("--take", "With --between: also interfaces that have addresses, which they lose.")
    parser.option("--record", "DIR", "Write all record tables and a report into a new directory.")
    parser.option(
        "--pcap",
        "DIR",
        "Write what enters and leaves the link into four captures in a new directory: 96 bytes of each packet.",
    )
    parser.option(
        "--view",
        "auto|plain|off",
        "Show rate, delay and queue while it runs (default: auto).",
        choices=("auto", "plain", "off"),
        default="auto",
    )
    parser.flag("--precise", "Look at the clock without pause before each packet; needs priority.")
    parser.option(
        "--priority",
        "auto|off",
        "Real-time priority, where it is allowed (default: auto).",
        choices=("auto", "off"),
        default="auto",
    )
    parser.flag(
        "--check",
        "Measure what this machine can do, without a command: eight seconds, with FILE or an own 50/10 Mb/s line.",
    )
    parser.choice(
        "--virtual",
        "slow",
        "Run in Linux under its own clock, which stands while programs compute (=slow: it does not).",
        alone="infinite",
        others=("slow",),
    )
    parser.option("--kernel", "NAME", "With --virtual: a kernel of `sojourn linux list` (default: the newest).")
    parser.option("--join", "PID", "Run the command in an emulation that is running.", type=whole_number(1))
    parser.flag("--far-side", "With --join: beside the far end.")
    parser.option("--watch", "PID", "Show an emulation that is running.", type=whole_number(1))
    parser.flag("--json", "Print one JSON object at the end; the command's output goes to stderr.")


def execute(options: Namespace) -> int:
    import sys

    from sojourn.base.errors import EnvironmentFailure, UsageError

    if not sys.platform.startswith("linux"):
        raise EnvironmentFailure("the emulator runs on Linux only", "simulate instead: sojourn run FILE")
    if options.watch is not None:
        return _watch(options.watch)
    if options.join is not None:
        return _join(options)
    if options.check:
        return _check(options)
    if options.file is None:
        raise UsageError("which scenario?", "sojourn emulate FILE -- COMMAND")
    if options.virtual is not None:
        return _in_virtual_time(options)
    if options.kernel is not None:
        raise UsageError("--kernel is for --virtual", "sojourn emulate FILE --virtual --kernel NAME -- COMMAND")
    if options.between is not None:
        _refuse_ends(options)
    elif options.take:
        raise UsageError("--take is for --between", "sojourn emulate FILE --between IF_A IF_B")
    return _emulate(options)


VIRTUAL = "SOJOURN_VIRTUAL"
"""Environment variable that says to the emulation in a guest which clock and kernel it has, as JSON."""


def _in_virtual_time(options: Namespace) -> int:
    """Start the same emulation in a guest with a clock of its own."""
    import json
    import os
    import sys

    from sojourn.base.errors import UsageError
    from sojourn.base.output import OWNER, owner
    from sojourn.linux import build, virtual
    from sojourn.scenario.scenario_file import load_scenario

    real = {
        "--between": options.between,
        "--precise": options.precise,
        "--take": options.take,
        "a shell": not options.command,
    }
    for name, value in real.items():
        if value:
            raise UsageError(
                f"--virtual takes no {name.removeprefix('a ')}: its clock is not that of people and devices",
                "sojourn emulate FILE --virtual -- COMMAND",
            )
    kernel = build.find(options.kernel)
    scenario = load_scenario(options.file, options.settings, is_emulated=True)
    seed = scenario.compiled.seed if options.seed is None else options.seed
    words = ["emulate", options.file, "--isolated", "--priority", "auto", "--seed", str(seed)]
    for name, values in (("--set", options.settings), ("--rtt", options.rtt), ("--far", options.far)):
        words += [word for value in values for word in (name, value)]
    given = {
        "--for": options.lasts,
        "--tcp": options.tcp,
        "--far-tcp": options.far_tcp,
        "--ecn": options.ecn,
        "--record": options.record,
        "--pcap": options.pcap,
        "--view": options.view,
    }
    words += [word for name, value in given.items() if value is not None for word in (name, value)]
    if options.json:
        words.append("--json")
    clock = {"clock": "virtual" if options.virtual == virtual.INFINITE else "slow", "kernel": kernel.described()}
    environment = {**os.environ, VIRTUAL: json.dumps(clock), OWNER: owner()}
    command = [sys.executable, "-P", "-m", "sojourn", *words, "--", *options.command]
    return virtual.run(kernel, command, environment, seed, options.virtual).status


def _clock() -> dict[str, Any]:
    """Return which clock this emulation has, and under which kernel if it is a guest's."""
    import json
    import os

    return json.loads(os.environ.get(VIRTUAL, '{"clock": "real"}'))


def _refuse_ends(options: Namespace) -> None:
    """Refuse what only an emulation around a command has."""
    from sojourn.base.errors import UsageError

    given = {
        "a command": options.command,
        "--far": options.far,
        "--isolated": options.isolated,
        "--tcp": options.tcp,
        "--far-tcp": options.far_tcp,
        "--ecn": options.ecn,
    }
    for name, value in given.items():
        if value:
            raise UsageError(
                f"--between takes no {name.removeprefix('a ')}: both ends are real",
                "sojourn emulate FILE --between IF_A IF_B --for 60s",
            )


def _watch(process: int) -> int:
    import sys

    from sojourn.cli.console import note
    from sojourn.emulation.control import views_of
    from sojourn.emulation.view import View

    view = View(sys.stdout, is_drawn=sys.stdout.isatty())
    for seen in views_of(process):
        view.show(seen)
    note("the emulation has ended")
    return 0


def _join(options: Namespace) -> int:
    import sojourn._engine as _engine
    from sojourn.base.errors import UsageError
    from sojourn.emulation.control import namespaces_of

    command, environment = _command(options, "")
    descriptors = namespaces_of(options.join)
    try:
        return _engine.emulation_join(descriptors, command, environment, options.far_side)
    except _engine.EmulationRefused as error:
        message, hint, _ = error.args
        raise UsageError(message, hint) from error


def _check(options: Namespace) -> int:
    """Measure what this machine can do, and say so: the sentence first, then its reasons."""
    import sojourn._engine as _engine
    from sojourn.base.errors import ExitStatus, UsageError
    from sojourn.cli.console import print_json
    from sojourn.emulation.check import LINE, measure, probe_far
    from sojourn.emulation.priority import GRANT
    from sojourn.scenario.scenario_file import Scenario, load_scenario

    if options.command:
        raise UsageError("--check runs no command", "sojourn emulate --check FILE")
    if options.between is not None:
        raise UsageError("--check takes no interfaces", "sojourn emulate --check FILE")
    if options.file is None:
        scenario = Scenario.parse(LINE, is_emulated=True)
    else:
        scenario = load_scenario(options.file, options.settings, is_emulated=True)
    options.isolated, options.far = True, [probe_far()]

    def begin(command: list[str]) -> _engine.Emulation:
        options.command = command
        return _begin(options, scenario.compiled)

    found = measure(begin, _engine.emulation_rates(scenario.compiled), GRANT)
    if options.json:
        print_json(found.as_json())
    else:
        for line in found.lines():
            print(line)
    return ExitStatus.FAILED if found.grade == "poor" else ExitStatus.DONE


def _emulate(options: Namespace) -> int:
    from sojourn.base.errors import Problem
    from sojourn.cli.console import show_warnings
    from sojourn.scenario.scenario_file import load_scenario

    scenario = load_scenario(options.file, options.settings, is_emulated=True)
    if scenario.compiled.warnings:
        show_warnings(
            [Problem(w["path"], w["message"], w["hint"], file=options.file) for w in scenario.compiled.warnings]
        )
    if options.record is not None:
        from pathlib import Path

        from sojourn.base.output import refuse_used

        refuse_used(Path(options.record), "--record")
        refuse_used(Path(f"{options.record}.partial"), "--record")
    with contextlib.ExitStack() as stack:
        captures = None if options.pcap is None else stack.enter_context(_captures(options.pcap))
        return _emulate_into(options, scenario, captures)


def _emulate_into(options: Namespace, scenario: Scenario, captures: Path | None) -> int:
    """Emulate, with captures into a directory that gets its name in the end."""
    import os

    from sojourn.base.errors import ExitStatus
    from sojourn.cli.console import note, print_json
    from sojourn.emulation.sentences import browser_hint, expectation, matters, rates, trust

    emulation = _begin(options, scenario.compiled, captures)
    service = rates(emulation.view())
    clock = _clock()
    where = f"process {_own_process()}"
    if kernel := clock.get("kernel"):
        where = f"Linux {kernel['version']} in {'slow ' if clock['clock'] == 'slow' else ''}virtual time"
    note(f"emulating {scenario.name}: {service}; {_ends(options, emulation)}; {where}")
    if "SOJOURN_INSIDE" in os.environ:
        note("this runs inside another emulation: round trips add up, and the slower link decides")
    if "kernel" not in clock:
        note(expectation(emulation.priority, emulation.offload))
    if emulation.priority != "real-time" and options.priority == "auto":
        from sojourn.emulation.priority import GRANT

        note(f"hint: real-time priority for this shell: {GRANT}")
    for words in emulation.told:
        note(words)
    if emulation.command and (hint := browser_hint(emulation.command[0])):
        note(hint)
    _run(options, emulation)
    done = emulation.finish()
    summary, ended, status = done["summary"], done["ended"], done["status"]
    rows = done["records"].metrics()
    done["matters"] = matters(summary, rows)
    for words in (trust(summary), *done["matters"]):
        note(words)
    failed = done["failed"]
    if failed is not None:
        note(f"error: the emulation failed: {failed}; what was recorded until then is kept")
    if options.record is not None:
        directory = _write(options, scenario, emulation, done)
        note(f"report: {directory}/report.html")
    if captures is not None:
        cut = done["capture_failed"] or failed
        named = f"{options.pcap}.partial" if cut else options.pcap
        captures.rename(named)
        note(f"captures: {named}" + (f", not whole: {cut}" if cut else ""))
    if status:
        note(f"the command ended with status {status}")
    if failed is not None:
        result = ExitStatus.FAILED
    elif ended == "asked":
        result = ExitStatus.INTERRUPTED
    else:
        result = ExitStatus.FAILED if status and ended == "command" else ExitStatus.DONE
    if options.json:
        columns = ("subject", "metric", "value", "unit")
        print_json(
            {
                "scenario": scenario.name,
                "seed": emulation.seed,
                "kind": "emulation",
                **clock,
                "priority": emulation.priority,
                "offload": emulation.offload,
                "ended": ended,
                "status": status,
                "failed": failed,
                "out": options.record,
                **summary,
                "metrics": [dict(zip(columns, row, strict=True)) for row in rows],
            }
        )
    return result


def _ends(options: Namespace, emulation: _engine.Emulation) -> str:
    """Say what is at the ends of the link."""
    if options.between is not None:
        subscriber, network = options.between
        rtt_s = emulation.far[0][1]
        return f"{subscriber} is the subscriber, {network} the network, {rtt_s * 1e3:g} ms there and back"
    far = ", ".join(f"{address} in {rtt * 1e3:g} ms" for address, rtt in emulation.far)
    return f"{far}, and {'nothing else' if options.isolated else 'the Internet'}"


def _own_process() -> int:
    import os

    return os.getpid()


def _command(options: Namespace, service: str) -> tuple[list[str], list[str]]:
    """Return what runs inside, and its environment."""
    import os

    from sojourn.base.output import OWNER

    environment = dict(os.environ)
    environment["SOJOURN_FAR"] = "100.64.0.1"
    environment["SOJOURN_INSIDE"] = "100.64.0.2"
    for name in (VIRTUAL, OWNER):
        environment.pop(name, None)
    command = list(options.command)
    if options.between is not None:
        return [], []
    if not command:
        command = [os.environ.get("SHELL") or "/bin/sh"]
        sign = f"[sojourn {service}] " if service else "[sojourn] "
        # A shell sets its prompt when it starts; bash then does what stands here before the first one.
        environment["PROMPT_COMMAND"] = f'PS1="{sign}$PS1"; unset PROMPT_COMMAND'
        environment["PS1"] = f"{sign}$ "
    return command, [f"{name}={value}" for name, value in environment.items()]


def _begin(options: Namespace, scenario: _engine.Scenario, captures: Path | None = None) -> _engine.Emulation:
    """Set everything up; the command waits."""
    import shutil

    import sojourn._engine as _engine
    from sojourn.base.errors import EnvironmentFailure, UsageError
    from sojourn.emulation.sentences import rates

    wanted: dict[str, Any] = {
        "seed": scenario.seed if options.seed is None else options.seed,
        "rtt": options.rtt,
        "lasts": options.lasts,
        "isolated": options.isolated,
        "far_commands": options.far,
        "tcp": options.tcp,
        "far_tcp": options.far_tcp,
        "ecn": options.ecn == "on",
        "precise": options.precise,
        "is_virtual": _clock()["clock"] == "virtual",
        "real_time": options.priority == "auto",
        "json": options.json,
        "captures": captures,
        "between": None if options.between is None else tuple(options.between),
        "take": options.take,
    }
    try:
        service = rates(_engine.emulation_rates(scenario))
        command, environment = _command(options, service)
        if command and shutil.which(command[0]) is None:
            raise UsageError(f"there is no command {command[0]}", "the words after -- are the command that runs inside")
        emulation = _engine.Emulation(scenario, wanted, command, environment)
    except _engine.EmulationRefused as error:
        message, hint, is_usage = error.args
        raise (UsageError if is_usage else EnvironmentFailure)(message, hint) from error
    if emulation.priority != "real-time" and options.priority == "auto":
        from sojourn.emulation.priority import ask

        ask(emulation)
    return emulation


@contextlib.contextmanager
def _captures(directory: str) -> Generator[Path]:
    """Yield a directory for captures, which is renamed once it is filled, and removed otherwise."""
    from pathlib import Path

    from sojourn.base.output import refuse_used, unfinished_directory

    refuse_used(Path(directory), "--pcap")
    refuse_used(Path(f"{directory}.partial"), "--pcap")
    with unfinished_directory(Path(directory)) as unfinished:
        yield unfinished


def _run(options: Namespace, emulation: _engine.Emulation) -> None:
    """Start the command and stay until everything is over, with the view and the door for visitors."""
    import sys

    import sojourn._engine as _engine
    from sojourn.base.errors import EnvironmentFailure, UsageError
    from sojourn.emulation.control import Door
    from sojourn.emulation.view import EVERY_S, View

    # A terminal that the command writes on is the command's.
    is_free = sys.stderr.isatty() and not sys.stdout.isatty() and not options.json
    is_drawn = options.view == "auto" and is_free
    view = View(sys.stderr, is_drawn=is_drawn) if is_drawn or options.view == "plain" else None
    door = Door(emulation.namespaces())
    _end_with_terminal()
    try:
        emulation.go()
        while not emulation.wait(EVERY_S):
            seen = emulation.view()
            door.look(seen)
            if view is not None:
                view.show(seen)
    except KeyboardInterrupt:
        emulation.end()
        emulation.wait(10.0)
    except _engine.EmulationRefused as error:
        message, hint, is_usage = error.args
        raise (UsageError if is_usage else EnvironmentFailure)(message, hint) from error
    finally:
        door.close()


def _end_with_terminal() -> None:
    """From now on, a terminal that closes ends the emulation in order: as an interrupt, and without messages."""
    import os
    import signal

    terminals = [number for number in (1, 2) if os.isatty(number)]

    def hang_up(_signal: int, _frame: object) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for number in terminals:
            os.dup2(nowhere, number)
        raise KeyboardInterrupt

    signal.signal(signal.SIGHUP, hang_up)


def _write(options: Namespace, scenario: Scenario, emulation: _engine.Emulation, done: dict[str, Any]) -> str:
    """Write tables, manifest and report, as `sojourn run --out` does, and return where."""
    from pathlib import Path

    import polars as pl

    from sojourn.base.files import write_file
    from sojourn.base.on_disk import list_files
    from sojourn.base.output import new_directory, writing
    from sojourn.emulation.sentences import trust
    from sojourn.report.single import build_run_report
    from sojourn.study.manifest import describe_machine, describe_source, write_json
    from sojourn.study.write import write_table

    records = done["records"]
    manifest: dict[str, Any] = {
        "schema": 1,
        "kind": "emulation",
        "scenario": scenario.name,
        "settings": list(options.settings),
        "seed": emulation.seed,
        "key": "",
        **describe_source(),
        "machine": describe_machine(),
        "statistics": dict(records.statistics),
        "emulation": {
            **_clock(),
            "command": emulation.command,
            "far_commands": options.far,
            "tcp": options.tcp,
            "far_tcp": options.far_tcp,
            "ecn": options.ecn == "on",
            "priority": emulation.priority,
            "offload": emulation.offload,
            "between": options.between,
            "ended": done["ended"],
            "status": done["status"],
            "failed": done["failed"],
            "trust": trust(done["summary"]),
            "lateness_matters": done["matters"],
            **done["summary"],
        },
    }
    # Records of an emulation that could not go on are no whole ones.
    destination = Path(options.record if done["failed"] is None else f"{options.record}.partial")
    hint = "choose another directory with --record"
    with new_directory(destination, is_ours=False) as directory, writing(destination, hint):
        for name in records.table_names():
            write_table(pl.DataFrame(records.table(name)), directory / f"{name}.parquet")
        write_file(directory / "scenario.toml", scenario.text)
        manifest["files"] = list_files(directory, directory.glob("*.parquet"))
        write_json(directory / "manifest.json", manifest)
        build_run_report(directory)
    return str(destination)
