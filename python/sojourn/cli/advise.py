"""`sojourn advise`: what to set on a line, one sentence first, and the lines to paste."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import line_rate, span, whole_number
    from sojourn.cli.provision import secret_option

    parser.epilog = (
        "Races settings on the simulated line until the best are known, finds where a rate that is too high stops helping, and "
        "prints lines to paste; nothing is executed. Example: sojourn advise --line docsis31 --up 20M --down 200M --for game"
    )
    parser.add_argument(
        "scenario",
        metavar="SCENARIO",
        nargs="?",
        help="Scenario file of one household, or a modem's configuration file (.cm).",
    )
    parser.option("--line", "KIND", "Instead of a file: docsis31, docsis30, dsl, pon or lte.")
    parser.option("--up", "RATE", "Rate upstream, such as 20M.", type=line_rate)
    parser.option("--down", "RATE", "Rate downstream, such as 200M.", type=line_rate)
    parser.option("--rtt", "SPAN", "Round trip to servers (25 ms, or what was measured).", type=span)
    parser.option(
        "--measured",
        "PATH",
        "Instead of rates: the directory of a calibration, or a measurement, which is fitted first as --line says. May be repeated.",
        action="append",
    )
    parser.option(
        "--for",
        "USES",
        "Who counts, of call, game, web and bulk, each with a weight if need be: game,web:0.5 (game, or all of the file).",
        dest="uses",
    )
    parser.option("--can", "WHO", "Whose knobs are turned: router, modem or operator (router).", default="router")
    parser.option("--household", "LOAD", "Load on a --line: quiet, family or worst (worst).", default="worst")
    parser.option("--tolerance", "SHARE", "What makes no difference, as a share (0.05).", default="0.05")
    parser.option("--budget", "SPAN", "How long it may take on the clock (60 s).", type=span, default=60.0)
    parser.option(
        "--print",
        "WHAT",
        "Lines to paste: tc, uci, docsis, autorate, modem or all (all).",
        choices=("tc", "uci", "docsis", "autorate", "modem", "all"),
        default="all",
        dest="shown",
    )
    parser.option(
        "--check", "STUDY", "Instead of a line: advice on points of a study, each held against a run of every setting."
    )
    parser.option("--points", "PATTERN", "Points of --check. May be repeated.", action="append", default=[])
    parser.option("--seeds", "N", "Runs of each setting of --check (64).", type=whole_number(1, 10_000), default=64)
    secret_option(parser)
    parser.option("--jobs", "N", "Runs at the same time (all cores).", type=whole_number(1, 1024))
    parser.option("--out", "DIR", "New directory for the page (default: below results/).")
    parser.option("--store", "DIR", "Where finished runs are kept.")
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> None:
    import sys
    from pathlib import Path

    from sojourn.advice.answer import advise
    from sojourn.advice.page import write_page
    from sojourn.base.messages import visible
    from sojourn.base.output import dated, new_directory, refuse_used, writing
    from sojourn.cli.console import note, print_json, print_table, say
    from sojourn.provisioning import read_secret
    from sojourn.store import Store

    if options.check:
        _check(options)
        return
    out = options.out and Path(options.out)
    if out is not None:
        refuse_used(out)
    budget_s = _budget_s(options.budget)
    progress = _Progress(budget_s)
    try:
        advice = advise(
            options.scenario,
            line=options.line,
            up=_rate(options.up),
            down=_rate(options.down),
            rtt=None if options.rtt is None else f"{1e3 * options.rtt:.6g} ms",
            measured=options.measured,
            uses=options.uses or (None if options.scenario else "game"),
            can=options.can,
            household=options.household,
            tolerance=_share(options.tolerance),
            budget_s=budget_s,
            store=Store(options.store),
            jobs=options.jobs,
            secret=read_secret(options.secret),
            command=visible(" ".join(["sojourn", *sys.argv[1:]])),
            tell=progress.tell,
        )
    finally:
        progress.stop()
    directory = out if out is not None else dated("advice")
    with new_directory(directory, is_ours=out is None) as unfinished, writing(directory):
        write_page(advice, unfinished)
    blocks = {name: text for name, text in advice.blocks.items() if options.shown in ("all", name)}
    if options.json:
        print_json({**advice.as_json(), "blocks": blocks, "out": str(directory)})
        return
    say(advice.sentence)
    for text in advice.sentences:
        say(text)
    print()
    print_table(advice.headings(), advice.rows())
    _print_blocks(blocks)
    for text in advice.assumed:
        note(text)
    note(f"{advice.runs} runs, {advice.processor_s:.0f} s of processor time; page: {directory}/report.html")


def _check(options: Namespace) -> None:
    """Hold advice on a fleet against exhaustive search."""
    from sojourn.advice.fleet import HEADINGS, check_fleet
    from sojourn.base.errors import UsageError
    from sojourn.cli.console import note, print_json, print_table, say
    from sojourn.store import Store

    if options.scenario or options.line or options.measured or options.out:
        raise UsageError(
            "--check asks about the points of a study, and writes no page",
            "sojourn advise --check methods --points 'fleet/*/qoo-5hz' --for game",
        )
    budget_s = _budget_s(options.budget)
    progress = _Progress(None)
    try:
        fleet = check_fleet(
            options.check,
            options.points or ["*"],
            uses=options.uses or "game",
            seeds=options.seeds,
            tolerance=_share(options.tolerance),
            budget_s=budget_s,
            store=Store(options.store),
            jobs=options.jobs,
            tell=progress.tell,
        )
    finally:
        progress.stop()
    if options.json:
        print_json(fleet.as_json())
        return
    say(fleet.sentence)
    print_table(list(HEADINGS), fleet.rows())
    spent = sum(one.processor_s for one in fleet.judged)
    note(f"{options.seeds} runs of each setting; {spent:.0f} s of processor time")


def _print_blocks(blocks: dict[str, str]) -> None:
    for name, text in blocks.items():
        print(f"\n----- {name} -----\n{text.rstrip()}\n----- end of {name} -----")


class _Progress:
    """Tells on stderr what is looked for, and about how long it will still take."""

    def __init__(self, budget_s: float | None) -> None:
        import time

        self.budget_s = budget_s
        self._began = time.monotonic()
        self._stage = ""
        self._runs = 0
        self._bar: Callable[[float], None] | None = None
        self._next = 0.0

    def tell(self, stage: str, runs: int) -> None:
        """Note a stage, or runs that ended."""
        import sys
        import time

        from sojourn.cli.console import note

        self._runs += runs
        elapsed = time.monotonic() - self._began
        text = f"advise: {stage}, {self._runs} runs, {elapsed:.0f} s"
        if self.budget_s is not None:
            left = self.budget_s - elapsed
            text += f"; at most about {left:.0f} s left" if left >= 1 else "; the budget is used up"
        if sys.stderr.isatty():
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        elif stage != self._stage or elapsed >= self._next:
            note(text)
            self._next = elapsed + 5.0
        self._stage = stage

    def stop(self) -> None:
        """Note the end."""
        import sys

        if sys.stderr.isatty() and self._stage:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _rate(mbps: float | None) -> str | None:
    return None if mbps is None else f"{mbps:.6g} Mb/s"


def _budget_s(seconds: float) -> float:
    from sojourn.base.errors import UsageError

    if not 1 <= seconds <= 86_400:
        raise UsageError(f"--budget: {seconds:g} s is no span from 1 s to 24 h", "60 s")
    return seconds


def _share(text: str) -> float:
    """Read a share: `5%` or `0.05`."""
    from sojourn.base.errors import UsageError, plain

    stripped = text.strip()
    try:
        value = float(stripped.removesuffix("%")) / (100 if stripped.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0.001 <= value <= 1:
        raise UsageError(f'--tolerance: "{plain(text)}" is no share from 0.1% to 100%', "5%")
    return value
