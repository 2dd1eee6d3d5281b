"""All commands: their words, their modules, and a sentence about each."""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers read it; the module typing would take its time
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterable
    from typing import Any

    from sojourn.cli.arguments import Parser

CHAPTERS = {
    "Ask": ("home", "advise", "group", "run", "emulate", "linux", "study", "worker", "recipe", "provision"),
    "Measure and set": ("calibrate", "trial", "trace", "capture"),
    "Judge": (
        "score",
        "histogram",
        "check-aqm",
        "check-cc",
        "golden",
        "trace-replay",
        "check-nqb",
        "compare",
        "report",
        "figure",
        "query",
        "bench",
    ),
    "See": ("serve",),
    "Keep": ("store", "export", "verify", "data"),
    "Look up": ("check", "keys", "schema", "completion"),
}
"""Tasks, and the commands for them by their first words."""

COMMANDS = {
    "home": ("home", "Ask what to set in a household: one sentence, one page, the lines."),
    "advise": ("advise", "Ask what to set on a line: settings raced, one sentence, the lines to paste."),
    "group": ("group", "Ask how many homes fit on a cable channel: one sentence, one page."),
    "calibrate": (
        "calibrate",
        "Fit a model of a line to measurements of it: intervals, a scenario, what cannot be known.",
    ),
    "check": ("check", "Validate scenarios and studies; all problems at once."),
    "check-aqm": ("check_aqm", "Judge queue managers, also your own, by contract, laws and the scenarios of RFC 7928."),
    "check-cc": ("check_cc", "Judge congestion controllers by what must not happen, and by the scenarios of RFC 9743."),
    "golden replay": (
        "golden.replay",
        "Replay golden traces of queue managers into a manager, also your own, and compare.",
    ),
    "golden record": (
        "golden.record",
        "Write a golden trace of the queue manager of a scenario, for others to replay.",
    ),
    "trace-replay": ("golden.replay", "The same as `golden replay`."),
    "check-nqb": (
        "check_nqb",
        "Judge a capture: may it be marked as building no queue, and would a modem throw it out?",
    ),
    "run": ("run", "Simulate one scenario and print its answer."),
    "emulate": ("emulate", "Run programs behind the simulated access link: real packets through its queue."),
    "linux build": (
        "linux.build",
        "Build Linux for `emulate --virtual`, once: its own clock, equal bits in every run.",
    ),
    "linux list": ("linux.list_kernels", "List the kernels that were built for virtual time."),
    "linux show": ("linux.show", "Show a kernel for virtual time: sources, digests, configuration."),
    "keys": ("keys", "Find keys of scenario and study files, by path or by everyday words."),
    "schema": ("schema", "Print the JSON Schema of scenario or study files."),
    "study list": ("study.list_studies", "List the studies that come with Sojourn."),
    "study show": ("study.show", "Show what a study runs."),
    "study new": ("study.new", "Write a commented study to start from, which runs as it is."),
    "study plan": ("study.plan", "Count a study and estimate its cost, before it starts."),
    "study run": ("study_run", "Run what is missing of a study and write its report."),
    "study watch": ("study.watch", "Tell how far a study is that workers of a shared store make."),
    "store gc": ("store.gc", "Remove unwanted plans, in two steps."),
    "store compact": ("store.compact", "Put small segments of a store together."),
    "store audit": ("store.audit", "Make some runs of a store again, and compare."),
    "export": ("archive.export", "Write a result as a research object: an RO-Crate with digests and provenance."),
    "verify": ("archive.verify", "Make the runs of a research object again, and compare the bits."),
    "data list": ("data.list_sets", "List the data sets of the project with sizes and licences."),
    "data fetch": ("data.fetch", "Bring a data set from a folder or an address, checked by digest."),
    "worker": ("worker", "Work on a study that many machines share."),
    "score": ("score", "Score runs and measurements for a game, a call, a page: QoO, Apdex, RPM, R of G.107."),
    "histogram": ("histogram", "Estimate quantiles of delay from the bins that a modem or CMTS has counted."),
    "report": ("report", "Rebuild tables, figures and page of a result from its records."),
    "figure": ("figure", "Write one figure of a result for a paper: SVG and PDF, with its width and font."),
    "compare": ("compare", "Show what moved between two results, or between the points of one."),
    "query": ("query", "Ask the store, or one result, in SQL (DuckDB)."),
    "trial design": ("trial.design", "Schedule a field trial: who gets which treatment when."),
    "trial simulate": ("trial.simulate", "Simulate a field trial, and write what its probes would."),
    "trial probe": ("trial.probe", "Measure in a home on a schedule, and send it to the collector."),
    "trial collector": ("trial.collector", "Collect what the probes of a field trial measure."),
    "trial import": ("trial.import_results", "Read Flent, iperf3 and irtt files of a field trial."),
    "trial analyse": ("trial.analyse", "Say what a treatment did in a field trial."),
    "trace show": ("trace.show", "Show what traces of links are like: rates, spread, gaps."),
    "trace cut": ("trace.cut", "Write a part of a trace."),
    "trace join": ("trace.join", "Write one trace after another."),
    "trace convert": ("trace.convert", "Turn a schedule of rates into opportunities, and back."),
    "trace record": ("trace.record", "Write the trace of a line that was measured under a backlog."),
    "trace make": ("trace.make", "Write a trace like one of LTE, of a satellite or of Wi-Fi."),
    "capture show": ("capture.show", "List the flows of a packet capture."),
    "capture delay": ("capture.delay", "Tell from the round trips in a capture how long packets waited in buffers."),
    "capture extract": ("capture.extract", "Write the packets of a flow as a list, which scenarios take."),
    "provision show": ("provision.show", "Show a CM configuration file and what is wrong with it."),
    "provision decode": ("provision.decode", "Write a binary CM configuration file as text."),
    "provision encode": ("provision.encode", "Make a binary CM configuration file from its text."),
    "provision expand": ("provision.expand", "Show the service that a modem gets from a file."),
    "provision diff": ("provision.diff", "Show what differs between two CM configuration files."),
    "provision simulate": (
        "provision.simulate",
        "Simulate what customers get from a file before and after a migration.",
    ),
    "recipe list": ("recipe.list_recipes", "List the questions that a recipe answers."),
    "recipe copy": ("recipe.copy", "Copy the study and the scenario of a recipe, to make them yours."),
    "serve": ("serve", "Open the page with live runs, lessons and results, on this machine."),
    "serve export": ("serve_export", "Write the page with the engine and lessons as files for any web server."),
    "completion": ("completion", "Print what a shell needs to complete commands and options."),
    "bench": ("bench", "Measure the engine on fixed worlds."),
}
"""Words of each command, where it stands in this package, and its sentence.

`trace.join` is the function `join` of the module `trace`, and `join_arguments` declares its options; a module with one
command has `execute` and `arguments`.
"""

GROUPS = {
    "study": "List, show, begin, price, run and watch studies: many runs and what to make of them.",
    "provision": "Read, write, expand and simulate CM configuration files of DOCSIS.",
    "store": "Look after a store of finished runs: what is wanted, what is small, what is right.",
    "recipe": "Studies that answer usual questions: list them, copy them. `sojourn study run NAME` runs one.",
    "capture": "List the flows of packet captures, and take packets out of them for scenarios.",
    "data": "List the data sets of the project, and bring one from a place that you name.",
    "linux": "Build, list and show kernels for emulations in virtual time.",
    "golden": "Replay and record golden traces: packets offered to a queue manager and its decisions.",
    "trace": "Show, cut, join, convert, record and make traces of links, for LTE, satellites and Wi-Fi.",
    "trial": "Design, simulate and run field trials, and analyse what their probes measured.",
}
"""Sentence about the commands with the same first word."""

ABOUT = "Simulate access networks under load, and set the results beside published ones."
STATUS = "Exit status: 0 done, 1 failed, 2 wrong usage or invalid input, 3 interrupted."


def execute(arguments: list[str]) -> int:
    """Do what the arguments say and return the exit status."""
    words = _words(arguments)
    rest = arguments[len(words.split()) :]
    if words in COMMANDS:
        return _command(words, rest)
    if rest and rest[0] == "--version" and not words:
        from sojourn.version import VERSION

        print(f"sojourn {VERSION}")
        return 0
    if not rest or rest[0] in ("-h", "--help"):
        print(_overview(words))
        return 0
    return _refuse(words, rest[0])


def _words(arguments: list[str]) -> str:
    """Return what of the arguments names a command or a group of commands."""
    first = arguments[0] if arguments else ""
    both = " ".join(arguments[:2])
    if both in COMMANDS:
        return both
    return first if first in COMMANDS or first in GROUPS else ""


def _command(words: str, arguments: list[str]) -> int:
    from sojourn.cli.arguments import HelpWanted

    try:
        options = parser_of(words).parse_args(arguments)
    except HelpWanted as help_text:
        print(help_text, end="")
        return 0
    execute: Callable[[Namespace], int | None] = _function(words, "execute", "")
    return execute(options) or 0


def _function(words: str, alone: str, suffix: str) -> Any:  # noqa: ANN401 - commands and declarations of their options
    """Return a function of a command: in a module with one command it is called `alone`."""
    from importlib import import_module

    module, _, name = COMMANDS[words][0].partition(".")
    return getattr(import_module(f"sojourn.cli.{module}"), f"{name}{suffix}" if name else alone)


def parser_of(words: str) -> Parser:
    """Return the parser of a command."""
    from sojourn.cli.arguments import Parser

    parser = Parser(words, COMMANDS[words][1])
    _function(words, "arguments", "_arguments")(parser)
    return parser


def _overview(group: str) -> str:
    """Return the help of the whole program, or of commands with the same first word."""
    if group:
        lines: Iterable[tuple[str, str]] = [
            (words.partition(" ")[2], about) for words, (_, about) in COMMANDS.items() if words.startswith(f"{group} ")
        ]
        usage, about = f"sojourn {group} COMMAND ...", GROUPS[group]
    else:
        first = dict.fromkeys(words.partition(" ")[0] for words in COMMANDS)
        lines = [(word, GROUPS[word] if word in GROUPS else COMMANDS[word][1]) for word in first]
        usage, about = "sojourn [--version] COMMAND ...", ABOUT
    told = dict(lines)
    width = max(len(word) for word in told)
    chapters = {"Commands": tuple(told)} if group else CHAPTERS
    listing = "\n\n".join(
        f"{title}:\n" + "\n".join(f"  {word:{width}}  {told[word]}" for word in words)
        for title, words in chapters.items()
    )
    again = f"sojourn {group} COMMAND".replace("  ", " ")
    return f"Usage: {usage}\n\n{about}\n\n{listing}\n\n`{again} --help` tells what a command takes.\n{STATUS}"


def _refuse(group: str, word: str) -> int:
    from difflib import get_close_matches

    from sojourn.base.errors import UsageError

    prefix = f"{group} " if group else ""
    start = len(prefix)
    known = [words[start:].partition(" ")[0] for words in COMMANDS if words.startswith(prefix)]
    close = get_close_matches(word, known, n=1)
    meant = f"did you mean {close[0]}? See " if close else ""
    kind = "option" if word.startswith("-") else "command"
    raise UsageError(f"no such {kind} '{word}'", f"{meant}sojourn {prefix}--help")
