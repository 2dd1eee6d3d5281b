"""`sojourn check-cc`: congestion controllers judged by what must not happen, and characterised as RFC 9743 asks."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from sojourn.cli.arguments import Parser
    from sojourn.congestion.suite import Controller, Result

SEEDS = 3
"""Seeds of each scenario (RFC 9743 leaves it open). chosen: least for an interval; only starts and random losses differ."""


CARRIER = "linux-reno"
"""The stack of a plugin. chosen: it has no other start than doubling, and paces nothing."""


def arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import whole_number
    from sojourn.cli.fail_on import fail_on

    parser.epilog = (
        "Exit status 1: a row that can fail did, or a condition of --fail-on holds. RFC 9743 has no thresholds: its scenarios say where a controller stands among "
        "known ones, and only collapse, starvation, deafness to marks, a flow that does not come back, and another answer to losses, "
        "timeouts and rests than its document has fail. "
        "Example: sojourn check-cc cubic --set controller.beta=0.9"
    )
    parser.add_argument(
        "controllers",
        metavar="STACK",
        nargs="*",
        help='Stacks, scream, LIBRARY:CONTROLLER such as quinn:bbr, linux:CONTROLLER of a kernel, or "all".',
    )
    parser.option(
        "--plugin",
        "FILE",
        "A congestion controller of your own, in Python or a shared library, or a library of transports. It is run. May be repeated.",
        action="append",
        default=[],
        dest="plugins",
    )
    parser.option("--stack", "STACK", f"The stack that carries plugins ({CARRIER}).")
    parser.option(
        "--as",
        "STACK",
        "The stack whose document plugins follow, such as reno, cubic or bbr3 (default: that of Reno or CUBIC).",
        dest="like",
    )
    parser.option(
        "--set",
        "KEY=V",
        "Change a key of the stack, for example controller.beta=0.9. May be repeated.",
        action="append",
        default=[],
        dest="settings",
    )
    parser.option(
        "--suite",
        "LIST",
        "Which scenarios: general, bbr, l4s, heist, rtp, or all of them (default: general, and those of its kind).",
    )
    parser.option("--only", "LIST", "Only these scenarios, such as G6a,G15c; G6 means all of it.")
    parser.option("--seeds", "N", f"Seeds of each scenario ({SEEDS}).", type=whole_number(1, 1000))
    parser.flag("--quick", "A few scenarios, one seed: a first look.")
    fail_on(parser, "G2-10-40-1.sojourn_mean > 0.8")
    parser.option("--out", "DIR", "New directory for the page (default: below results/).")
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> int:
    from pathlib import Path

    from sojourn.base.errors import UsageError
    from sojourn.base.output import dated, refuse_used
    from sojourn.cli.check_result import hand_in
    from sojourn.cli.console import note
    from sojourn.cli.fail_on import conditions_of
    from sojourn.congestion import rtp
    from sojourn.congestion.general import QUICK
    from sojourn.congestion.page import as_json, numbers_of, write_page
    from sojourn.congestion.suite import characterise, chosen, known_controllers
    from sojourn.judging.conditions import of_numbers, refuse_unknown
    from sojourn.process.progress import RunProgress
    from sojourn.study.runner import available_cores

    conditions = conditions_of(options, with_band=True)
    controllers = _controllers(options)
    quick = (*QUICK, *rtp.QUICK) if options.quick else None
    seeds = options.seeds or (1 if options.quick else SEEDS)
    suites = _suites(options)
    cells = [chosen(one, suites, options.only, quick) for one in controllers]
    pairs = [(one, listed) for one, listed in zip(controllers, cells, strict=True) if listed]
    if not pairs:
        raise UsageError(
            "no scenario of these is for what was named",
            "scream has those of the suite rtp, and stacks have all others",
        )
    measured = [(cell.item, number) for _, listed in pairs for _, cell in listed for number in cell.numbers]
    refuse_unknown(conditions, [(item, number.name, number.unit) for item, number in measured])
    controllers = [one for one, _ in pairs]
    is_ours = options.out is None
    out = dated("check-cc") if is_ours else Path(options.out)
    if not is_ours:
        refuse_used(out)
    band = known_controllers()
    results: list[Result] = []
    for controller, listed in pairs:
        progress = RunProgress(f"{controller.name}, {len(listed) * seeds} runs")
        result = characterise(controller, listed, seeds, available_cores(), band, progress)
        progress.stop()
        results.append(result)
        failed = [row.item for row in result.failed]
        note(f"{controller.title}: {', '.join(failed) + ' fail' if failed else 'no row fails'}")
    outcomes = of_numbers(conditions, numbers_of(results, band))
    facts = [*_facts(controllers, seeds), *(f"--fail-on {outcome.sentence}" for outcome in outcomes)]
    return hand_in(
        out,
        as_json(results, band),
        lambda directory: write_page(directory, results, band, seeds=seeds, facts=facts),
        is_ours=is_ours,
        as_json=options.json,
        has_failed=any(result.failed for result in results),
        outcomes=outcomes,
    )


def _facts(controllers: Sequence[Controller], seeds: int) -> list[str]:
    from sojourn.linux.build import of_digest

    of_media = "Video of 150 kb/s to 1.5 Mb/s, round trip 100 ms, drop-tail buffer of 300 ms unless the scenario says otherwise"
    of_stacks = (
        "Uploads over a line of 10 Mb/s, round trip 40 ms, drop-tail buffer of one bandwidth-delay product (BDP) unless the scenario "
        "says otherwise, the start left out"
    )
    has_media = [one.is_media for one in controllers]
    told = [of_stacks] * (not all(has_media)) + [of_media] * any(has_media)
    facts = [f"{'. '.join(told)}; {seeds} seed{'s' if seeds > 1 else ''}."]
    if seeds < SEEDS and not all(has_media):
        facts.append(f"The band has {SEEDS} seeds: ▲ and ▼ of fewer are a first look.")
    for one in controllers:
        if one.is_kernel:
            kernel = of_digest(str(one.whole["digest"]))
            facts.append(
                f"{one.name}: Linux {kernel.version} in virtual time, configuration {kernel.configuration_digest}."
            )
        elif one.plugin is not None and one.is_real:
            facts.append(f"{one.name}: {one.plugin.file}, real code in simulated time, SHA-256 {one.plugin.sha256}.")
        elif one.plugin is not None:
            facts.append(f"{one.plugin.file} in the stack {one.stack}, SHA-256 {one.plugin.sha256}.")
        if one.settings:
            facts.append(f"{one.name} with {', '.join(one.settings)}.")
    return facts


def _controllers(options: Namespace) -> list[Controller]:
    """Return what is to be characterised.

    Raises `UsageError` if a stack or a key is not known, or nothing is named.
    """
    from sojourn.base.errors import UsageError, nearest
    from sojourn.congestion.rtp import MEDIA
    from sojourn.congestion.suite import SHORT, Controller, stack_kinds
    from sojourn.plugins import read_plugin
    from sojourn.scenario.settings import is_of_kernel

    plugins = [read_plugin(path) for path in options.plugins]
    for plugin in plugins:
        plugin.announce()
    libraries = {plugin.name: plugin for plugin in plugins if plugin.is_stack}
    kinds = [*stack_kinds(), *MEDIA]
    names: list[str] = []
    listed = [*SHORT, *kinds]
    asked: list[str] = options.controllers
    for name in asked:
        library = name.partition(":")[0]
        if is_of_kernel(library):
            names.append(name)
            continue
        if ":" in name and library not in libraries:
            raise UsageError(f'no library "{library}" was given', f"--plugin libsojourn_stack_{library}.so")
        if library in libraries:
            names.append(name)
            continue
        known = SHORT.get(name, name)
        if name != "all" and known not in kinds:
            raise UsageError(f'"{name}" is no stack', nearest(name, listed) or f"one of {', '.join(listed)}")
        names += kinds if name == "all" else [known]
    carrier = options.stack or CARRIER
    if carrier not in stack_kinds():
        raise UsageError(f'--stack: "{carrier}" is no stack', nearest(carrier, kinds) or f"one of {', '.join(kinds)}")
    like = SHORT.get(options.like, options.like) or ""
    if like and like not in stack_kinds():
        raise UsageError(f'--as: "{options.like}" is no stack', nearest(like, listed) or f"one of {', '.join(listed)}")
    settings = tuple(options.settings)
    found = [Controller(name, settings, plugin=libraries.get(name.partition(":")[0])) for name in dict.fromkeys(names)]
    asked_for = {name.partition(":")[0] for name in names}
    for plugin in plugins:
        if plugin.is_stack and plugin.name not in asked_for:
            found.append(Controller(plugin.name, settings, plugin=plugin))
        if plugin.is_stack:
            continue
        found.append(Controller(plugin.name, settings, carrier, plugin, like))
    if not found:
        raise UsageError("nothing to characterise", "a stack, such as cubic or bbr3, or --plugin FILE")
    for one in found:
        _ = one.table  # all that is wrong with keys, before anything runs
    return found


def _suites(options: Namespace) -> list[str] | None:
    """Return what `--suite` names; `None` for what fits each controller.

    Raises `UsageError` if there is none of a name.
    """
    from sojourn.base.errors import UsageError
    from sojourn.congestion.suite import SUITES

    if options.suite is None:
        return None
    words = [word.strip() for word in options.suite.split(",") if word.strip()]
    for word in words:
        if word not in (*SUITES, "all"):
            raise UsageError(f'--suite: "{word}" is no suite', f"some of {', '.join(SUITES)}, or all")
    return list(SUITES) if "all" in words else words
