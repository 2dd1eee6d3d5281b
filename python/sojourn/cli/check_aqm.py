"""`sojourn check-aqm`: queue managers judged by contract and laws, and characterised as RFC 7928 asks."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence
    from pathlib import Path

    from sojourn.aqm.scenarios import Cell
    from sojourn.aqm.suite import Manager, Result
    from sojourn.cli.arguments import Parser

SEEDS = 5
"""Seeds of each scenario (RFC 7928 leaves it open). chosen: least for an interval that tells something."""

QUICK_S = 40.0
"""Length of a run of a first look. chosen: some hundred round trips after the start."""


def arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import whole_number
    from sojourn.cli.fail_on import fail_on

    parser.epilog = (
        "Exit status 1: a row of contract or law failed, the plugin did, or a condition of --fail-on holds. Scenarios of RFC 7928 "
        "pass or fail nothing by themselves: they say where a manager stands among known ones. --fail-on takes their numbers, "
        "'utilisation < 0.9' of each of them or 'T1.sojourn_p95 > band' of one. Example: sojourn check-aqm --plugin libmine.so --as codel"
    )
    parser.add_argument("managers", metavar="MANAGER", nargs="*", help='Kinds of queue managers, or "all".')
    parser.option(
        "--plugin",
        "FILE",
        "A queue manager of your own, Python or a shared library. It is run. May be repeated.",
        action="append",
        default=[],
        dest="plugins",
    )
    parser.option(
        "--set",
        "KEY=V",
        "Change a key of the manager, for example target=10ms. May be repeated.",
        action="append",
        default=[],
        dest="settings",
    )
    parser.option(
        "--as", "KIND", "The kind whose laws hold (default: the manager's own; none for plugins).", dest="like"
    )
    parser.option("--only", "LIST", "Only these scenarios, such as T1,C2; their sections will do, too.")
    parser.option(
        "--trace",
        "golden|none|FILE",
        "Replay these golden traces; golden means those of the kind, which is the default but for changed keys. May be repeated.",
        action="append",
        default=[],
        dest="traces",
    )
    parser.option("--seeds", "N", f"Seeds of each scenario ({SEEDS}).", type=whole_number(1, 1000))
    parser.flag("--laws", "Judge the rows that can fail, and run no scenario.")
    parser.flag("--quick", "A few short scenarios, one seed: a first look.")
    fail_on(parser, "T1.sojourn_p95 > 30 ms")
    parser.option("--out", "DIR", "New directory for the page (default: below results/).")
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> int:
    from pathlib import Path

    from sojourn.aqm.golden import judge_by_trace, room_of
    from sojourn.aqm.page import as_json, numbers_of, write_page
    from sojourn.aqm.scenarios import DURATION_S
    from sojourn.aqm.suite import NO_CRASH, Result, judge, known_managers, measures_of
    from sojourn.base.errors import UsageError
    from sojourn.base.output import dated, refuse_used
    from sojourn.cli.check_result import hand_in
    from sojourn.cli.console import note
    from sojourn.cli.fail_on import conditions_of
    from sojourn.judging.conditions import of_numbers, refuse_unknown
    from sojourn.process.progress import RunProgress

    conditions = conditions_of(options, with_band=True)
    managers = _managers(options)
    traces = [_traces(manager, options.traces) for manager in managers]
    if "golden" in options.traces and not any(traces):
        kinds = ", ".join(dict.fromkeys(manager.like or "a plugin" for manager in managers))
        raise UsageError(f"--trace golden: no golden trace is one of {kinds}", "a file, or another --as")
    cells = _cells(options)
    refuse_unknown(conditions, [(cell.item, name, unit) for cell in cells for name, unit in measures_of(cell)])
    seeds = options.seeds or (1 if options.quick else SEEDS)
    is_ours = options.out is None
    out = dated("check-aqm") if is_ours else Path(options.out)
    if not is_ours:
        refuse_used(out)
    for manager in managers:  # all that is wrong with keys, before anything runs
        for cell in cells:
            manager.scenario(cell)
    results: list[Result] = []
    for manager, paths in zip(managers, traces, strict=True):
        progress = RunProgress(f"{manager.name}, contract and laws")
        result = Result(manager, judge(manager, progress))
        progress.stop()
        if not any(row.expected == NO_CRASH for row in result.judged):
            named = {Path(word) for word in options.traces}  # these are replayed as they are
            room = room_of(manager) if set(paths) - named else None
            result.judged.extend(
                judge_by_trace(manager, path, f"GT{n}", is_own=path not in named, room=room)
                for n, path in enumerate(paths, 1)
            )
        results.append(result)
        failed = len(result.failed)
        note(f"{manager.name}: {len(result.judged) - failed} rows hold or are not judged, {failed} fail")
        if cells and not (manager.plugin is not None and failed):
            _characterise(result, cells, seeds, QUICK_S if options.quick else DURATION_S)
    band = known_managers()
    outcomes = of_numbers(conditions, numbers_of(results, band))
    facts = _facts(results, seeds)
    if options.quick:
        facts.append(
            f"Runs of {QUICK_S:g} s beside a band of runs of {DURATION_S:g} s with {SEEDS} seeds: ▲ and ▼ are a first look."
        )
    facts += [f"--fail-on {outcome.sentence}" for outcome in outcomes]
    return hand_in(
        out,
        as_json(results, band),
        lambda directory: write_page(directory, results, band, seeds=seeds, facts=facts),
        is_ours=is_ours,
        as_json=options.json,
        has_failed=any(result.failed for result in results),
        outcomes=outcomes,
    )


def _facts(results: Sequence[Result], seeds: int) -> list[str]:
    facts = [
        f"Line of 10 Mb/s, round trip 100 ms, buffer of a bandwidth-delay product (84 packets) unless the scenario says "
        f"otherwise; {seeds} seed{'s' if seeds > 1 else ''}, the first sixth of each run left out."
    ]
    for result in results:
        manager = result.manager
        if manager.plugin is not None:
            facts.append(f"{manager.plugin.file}, SHA-256 {manager.plugin.sha256}; its buffer is its own.")
        if manager.settings:
            facts.append(f"{manager.name} with {', '.join(manager.settings)}.")
    return facts


def _managers(options: Namespace) -> list[Manager]:
    """Return what is to be judged.

    Raises `UsageError` if a kind is not known, or nothing is named.
    """
    import sojourn._engine as _engine
    from sojourn.aqm.suite import Manager
    from sojourn.base.errors import UsageError, nearest
    from sojourn.plugins import read_plugin

    kinds = _engine.manager_kinds()
    names: list[str] = []
    for name in options.managers:
        if name != "all" and name not in kinds:
            raise UsageError(f'"{name}" is no queue manager', nearest(name, kinds) or f"one of {', '.join(kinds)}")
        names += kinds if name == "all" else [name]
    if options.like is not None and options.like not in kinds:
        raise UsageError(
            f'--as: "{options.like}" is no queue manager', nearest(options.like, kinds) or f"one of {', '.join(kinds)}"
        )
    settings = tuple(options.settings)
    found = [Manager(name, options.like or name, settings) for name in dict.fromkeys(names)]
    for path in options.plugins:
        plugin = read_plugin(path)
        plugin.announce()
        found.append(Manager(plugin.name, options.like or "", settings, plugin))
    if not found:
        raise UsageError("nothing to judge", "a kind, such as codel, or --plugin FILE")
    return found


def _traces(manager: Manager, words: Sequence[str]) -> list[Path]:
    """Return the golden traces that a manager is judged by."""
    from pathlib import Path

    from sojourn.aqm.golden import own_traces

    if not words:  # a built-in manager with other keys follows no trace of the defaults
        return own_traces(manager) if manager.is_itself or manager.plugin is not None else []
    found = [word for word in words if word != "none"]
    return [path for word in found for path in (own_traces(manager) if word == "golden" else [Path(word)])]


def _cells(options: Namespace) -> list[Cell]:
    from sojourn.aqm.scenarios import CELLS, QUICK
    from sojourn.judging.bands import wanted

    if options.laws:
        return []
    return wanted(options.only, CELLS, QUICK if options.quick else None)


def _characterise(result: Result, cells: Sequence[Cell], seeds: int, duration_s: float) -> None:
    """Run the scenarios, with progress; a plugin that fails in one of them fails a row."""
    from sojourn.aqm.suite import characterise
    from sojourn.plugins import PluginFailed
    from sojourn.process.progress import RunProgress
    from sojourn.report.checks import Judged
    from sojourn.study.runner import available_cores

    progress = RunProgress(f"{result.manager.name}, {len(cells) * seeds} runs of {duration_s:g} s")
    try:
        result.measured = characterise(result.manager, cells, seeds, duration_s, available_cores(), progress)
    except PluginFailed as error:
        what = "Every scenario of RFC 7928 runs to its end."
        result.judged.append(Judged("X9", what, "contract", "fail", "an end", error.message))
    finally:
        progress.stop()
