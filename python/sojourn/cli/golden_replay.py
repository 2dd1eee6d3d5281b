"""`sojourn golden replay`: golden traces of queue managers, replayed and compared."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.aqm.golden import Replayed
    from sojourn.cli.arguments import Parser

AROUND = 5
"""Lines before and after one that differs. chosen: a screen of context."""


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
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


def execute(options: Namespace) -> int:
    """Replay traces, and show the first line of each that differs."""
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
