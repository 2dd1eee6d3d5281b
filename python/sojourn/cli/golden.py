"""`sojourn golden`: golden traces of queue managers."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.aqm.golden import Replayed
    from sojourn.cli.arguments import Parser


AROUND = 5
"""Lines before and after one that differs. chosen: a screen of context."""


def replay_arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import span

    parser.add_argument(
        "files", metavar="FILE", type=Path, nargs="*", help="Golden trace: .sjt, also packed by xz or gzip."
    )
    parser.option("--golden", "KIND", "The traces of a kind that come with Sojourn, such as codel; all means all.")
    parser.option("--manager", "LINE", 'Another manager, such as "codel target=10ms".')
    parser.option("--plugin", "FILE", "A queue manager of your own, Python or a shared library; it is run.")
    parser.flag("--law", "For other random numbers: drops and marks differ by no more than chance allows.")
    parser.option(
        "--slack",
        "SPAN",
        "For a coarser clock: drops and marks come at most so much and one service time away.",
        type=span,
    )
    parser.flag("--json", "Print one JSON object.")


def replay(options: Namespace) -> int:
    from sojourn.aqm.golden import golden_traces, read_golden, replay
    from sojourn.base.errors import ExitStatus, UsageError, plain
    from sojourn.cli.console import print_json, say
    from sojourn.plugins import read_plugin

    if options.manager is not None and options.plugin is not None:
        raise UsageError("--manager and --plugin: a trace is replayed into one manager")
    if options.law and options.slack is not None:
        raise UsageError("--law and --slack: traces are compared in one way")
    paths = [*options.files, *(golden_traces(options.golden) if options.golden else [])]
    if not paths:
        raise UsageError("no trace is named", "a file, or --golden codel")
    plugin = None if options.plugin is None else read_plugin(options.plugin)
    how = "law" if options.law else "exact" if options.slack is None else "slack"
    found: list[tuple[Path, Replayed]] = []
    for path in paths:
        text = read_golden(path)
        try:
            replayed = replay(
                text, line=options.manager, plugin=plugin, how=how, slack_ns=round((options.slack or 0) * 1e9)
            )
        except UsageError as error:
            raise UsageError(f"{plain(path)}: {error.message}", error.hint) from error
        found.append((path, replayed))
        if not options.json:
            for line in _told(plain(path), replayed, text):
                say(line)
    if options.json:
        print_json(
            {
                "traces": [
                    {
                        "file": str(path),
                        "manager": one.manager,
                        "calls": one.calls,
                        "same": not one.difference,
                        "line": one.line,
                        "difference": one.difference,
                    }
                    for path, one in found
                ]
            }
        )
    return ExitStatus.FAILED if any(one.difference for _, one in found) else ExitStatus.DONE


def _told(path: str, replayed: Replayed, text: str) -> list[str]:
    """Return what is said of a replay: a line, and the lines around one that differs."""
    if not replayed.difference:
        return [f"{path}: the same over {replayed.calls} calls"]
    if not replayed.line:
        return [f"{path}: {replayed.difference}"]
    from sojourn.base.errors import plain

    lines = text.split("\n")
    first = max(replayed.line - AROUND, 1)
    shown = enumerate(lines[first - 1 : replayed.line + AROUND], first)
    return [
        f"{path}:{replayed.line}: {replayed.difference}",
        *(f"{'->' if at == replayed.line else '  '}{at:>8}  {plain(line)}" for at, line in shown),
    ]


LARGEST_SEED = 2**64 - 1


def record_arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import whole_number

    parser.add_argument("file", metavar="FILE", nargs="?", help="Scenario file.")
    parser.option(
        "--from",
        "linux:NAME",
        "In place of a scenario: random packets, offered in virtual time to a queue discipline of Linux (codel, fq_codel, cake,"
        " cake-shaped, pie, fq_pie, red, sfq); --seed is the number of the input.",
        dest="origin",
    )
    parser.option("--kernel", "NAME", "With --from: a kernel of `sojourn linux list` (default: the newest).")
    parser.option(
        "--set",
        "A.B.C=V",
        "Change the scenario, for example access.upstream.queue.target=10ms. May be repeated.",
        action="append",
        default=[],
        dest="settings",
    )
    parser.option("--seed", "N", "Seed of the run (1).", type=whole_number(0, LARGEST_SEED), default=1)
    parser.option(
        "--direction",
        "WORD",
        "upstream (default) or downstream.",
        choices=("upstream", "downstream"),
        default="upstream",
    )
    parser.option("--out", "FILE", "New file: .sjt, or .sjt.xz or .sjt.gz, which is packed.", type=Path, required=True)


def record(options: Namespace) -> None:
    from sojourn.aqm.golden import pack, record
    from sojourn.base.errors import UsageError
    from sojourn.base.files import write_file
    from sojourn.base.messages import note
    from sojourn.base.output import refuse_used, writing
    from sojourn.scenario.scenario_file import load_scenario

    refuse_used(options.out)
    if options.origin is not None:
        text = _of_kernel(options)
    elif options.file is None or options.kernel is not None:
        raise UsageError("a trace is of a scenario, or of a kernel's discipline", "a file, or --from linux:codel")
    else:
        scenario = load_scenario(options.file, options.settings)
        text = record(scenario, options.seed, options.direction)
    with writing(options.out):
        write_file(options.out, pack(text, options.out))
    lines = text.count("\n> a ")
    note(f"{lines} packets, {len(text) / 1e3:.0f} kB of text")


def _of_kernel(options: Namespace) -> str:
    """Return the trace of a discipline that packets were offered to."""
    from sojourn.aqm.kernel import record_kernel
    from sojourn.base.errors import UsageError, plain
    from sojourn.linux.build import find

    system, _, name = options.origin.partition(":")
    if system != "linux" or not name:
        raise UsageError(f"--from {plain(options.origin)}: a system and its discipline", "--from linux:codel")
    if options.file is not None or options.settings:
        raise UsageError("--from has inputs of its own", "sojourn golden record --from linux:codel --out mine.sjt")
    (recorded,) = record_kernel(find(options.kernel), name, [options.seed])
    return recorded.trace
