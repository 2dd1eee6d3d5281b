"""`sojourn trial simulate`: a field trial before it begins."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping
    from typing import Any

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
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
            type=_percent,
            default=0.0,
        )
    parser.flag(
        "--quick", "Twelve homes at most, and of each treatment the first day: to try what follows in a minute."
    )
    parser.option("--seed", "N", "Which homes (1).", type=whole_number(0), default=1)
    parser.option("--jobs", "N", "Threads (one per core).", type=whole_number(1, 1024))


def execute(options: Namespace) -> None:
    """Simulate each test of a schedule and write the file that Flent would have written."""
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
    from sojourn.cli.provision_show import tell
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
    return value / 100.0


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
