"""`sojourn calibrate`: a model of a line from measurements of it, with intervals, and what cannot be known."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.calibration.check import Check
    from sojourn.cli.arguments import Parser

ACCESS = ("ethernet", "pon", "dsl", "docsis30", "docsis31")
MOST_RUNS = 1_000_000


def arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import whole_number

    parser.epilog = (
        "Reads results of Flent and iperf3 that load one direction at a time, several of one kind together. Simulates thousands of "
        "lines in the way the tests were made, keeps those that look like the measurement, and says when none does. "
        "Example: sojourn calibrate tcp_upload-*.flent.gz --access docsis31"
    )
    parser.add_argument("files", metavar="MEASUREMENT", type=Path, nargs="*", help="File, or directory of files.")
    parser.option("--access", "KIND", f"Kind of access line: {', '.join(ACCESS)}.", choices=ACCESS)
    parser.option(
        "--direction",
        "WAY",
        "Direction to fit: up, down or both (both).",
        choices=("up", "down", "both"),
        default="both",
    )
    parser.option(
        "--family",
        "NAMES",
        "Families of queue managers that may be, with commas: drop-tail, codel, pie, fq (auto: all).",
        default="auto",
    )
    parser.option(
        "--fix",
        "KEY=VALUE",
        "What is known already: rate, rtt, buffer, target, burst. May be repeated.",
        action="append",
        default=[],
    )
    parser.option(
        "--prior",
        "KEY=A..B",
        "Bounds of it instead of the usual ones, such as buffer='50 kB..200 kB'. May be repeated.",
        action="append",
        default=[],
    )
    parser.option(
        "--budget", "SPAN|RUNS", "Processor time for runs, such as 120s; or how many runs (120s).", default="120s"
    )
    parser.option(
        "--statistics",
        "WHICH",
        "all trusts the model's dynamics, robust leaves them out, auto does if nothing else fits (auto).",
        choices=("auto", "all", "robust"),
        default="auto",
    )
    parser.option("--seed", "N", "What decides the draws (1).", type=whole_number(0, 2**31), default=1)
    parser.option("--jobs", "N", "Threads (all cores).", type=whole_number(1, 1024))
    parser.option("--out", "DIR", "New directory for the result (default: below results/).", type=Path)
    parser.flag(
        "--strict", "Exit with status 1 if the measurement is unlike anything that the model makes, or a check fails."
    )
    parser.option(
        "--check",
        "KINDS",
        "Instead of files: how often intervals hold the truth on simulated lines of these kinds, with commas, or all.",
    )
    parser.option("--truths", "N", "Lines of --check (300).", type=whole_number(20, 100_000), default=300)
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> None:
    from sojourn.base.errors import UsageError

    if options.check:
        if options.files:
            raise UsageError(
                "--check takes no files: it makes its own measurements", "sojourn calibrate --check ethernet"
            )
        _check(options)
        return
    if not options.files:
        raise UsageError("no measurement was named", "sojourn calibrate tcp_upload-*.flent.gz --access ethernet")
    if not options.access:
        raise UsageError("what kind of line is it?", f"--access, one of {', '.join(ACCESS)}")
    _calibrate(options)


def _calibrate(options: Namespace) -> None:
    from sojourn.base.errors import RunError
    from sojourn.base.output import refuse_used
    from sojourn.calibration.calibrate import calibrated
    from sojourn.calibration.choices import bounds_of, families_of
    from sojourn.calibration.side import Choices
    from sojourn.cli.console import note, print_json
    from sojourn.process.progress import CountProgress
    from sojourn.study.runner import available_cores

    if options.out is not None:
        refuse_used(options.out)
    budget, runs = _budget(options.budget)
    bounds = bounds_of(_pairs(options.fix, "fix"), _pairs(options.prior, "prior"))
    choices = Choices(
        families_of(options.family),
        bounds,
        budget,
        runs,
        options.statistics,
        options.seed,
        options.jobs or available_cores(),
    )
    progress = CountProgress("runs")
    try:
        found = calibrated(options.files, options.access, options.direction, choices, progress)
    finally:
        progress.stop()
    page = found.write(options.out)
    if options.json:
        print_json({**found.as_json(), "out": str(page.parent)})
    else:
        note(found.sentence)
        for line in found.lines():
            print(line)
        note(f"page, scenario and ensemble: {page.parent}")
    if options.strict and found.is_misfit:
        raise RunError("the measurement is unlike anything that the model makes", "without --strict this is no error")


def _check(options: Namespace) -> None:
    from sojourn.base.errors import RunError
    from sojourn.calibration.check import check
    from sojourn.cli.console import print_json, print_table
    from sojourn.process.progress import CountProgress
    from sojourn.study.runner import available_cores

    budget, runs = _budget(options.budget)
    every: list[Check] = []
    for access in _accesses(options.check):
        progress = CountProgress("runs")
        try:
            found = check(
                access,
                truths=options.truths,
                budget_s=budget,
                runs=runs,
                seed=options.seed,
                jobs=options.jobs or available_cores(),
                progress=progress,
            )
        finally:
            progress.stop()
        every.append(found)
        if not options.json:
            print(found.sentence)
            print(found.verdict)
            print_table(found.headings, list(found.rows()))
            print(found.confusion_told(), flush=True)
    if options.json:
        print_json({"checks": [found.as_json() for found in every]})
    failed = [found.access for found in every if found.failures]
    if options.strict and failed:
        raise RunError(f"the check fails for {', '.join(failed)}", "without --strict this is no error")


def _accesses(text: str) -> list[str]:
    """Read kinds of access lines, with commas; `all` for all."""
    from sojourn.base.errors import UsageError, nearest, plain

    words = list(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if words == ["all"]:
        return list(ACCESS)
    for word in words:
        if word not in ACCESS:
            raise UsageError(
                f"--check: no access line is called {plain(word)!r}",
                nearest(word, ACCESS) or f"{', '.join(ACCESS)}, or all",
            )
    if not words:
        raise UsageError("--check names no access line", f"{', '.join(ACCESS)}, or all")
    return words


def _budget(text: str) -> tuple[float, int | None]:
    """Read a budget: a time, or a number of runs."""
    from argparse import ArgumentTypeError

    from sojourn.base.errors import UsageError
    from sojourn.calibration.side import BUDGET_S
    from sojourn.calibration.table import FEWEST_RUNS
    from sojourn.cli.arguments import span

    if text.isascii() and text.isdecimal():
        runs = int(text[:9])
        if not FEWEST_RUNS <= runs <= MOST_RUNS:
            raise UsageError(
                f"--budget {text} is out of range: {FEWEST_RUNS} to {MOST_RUNS} runs, or a time such as 120s"
            )
        return BUDGET_S, runs
    try:
        seconds = span(text)
    except ArgumentTypeError:
        raise UsageError(f"--budget {text!r} is neither a time nor a number of runs", "120s, or 4000") from None
    if not 1 <= seconds <= 86_400:
        raise UsageError(f"--budget {text} is out of range: 1 s to 24 h")
    return seconds, None


def _pairs(texts: list[str], option: str) -> dict[str, str]:
    from sojourn.base.errors import UsageError, plain

    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals:
            raise UsageError(
                f"--{option} {plain(text)}: has no =",
                f"--{option} buffer='96 kB'" if option == "fix" else "--prior buffer='50 kB..200 kB'",
            )
        found[key.strip()] = value.strip().strip("\"'")
    return found
