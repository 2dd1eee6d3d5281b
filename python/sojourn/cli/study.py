"""`sojourn study`: studies are listed, shown, begun, counted and watched."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def list_studies_arguments(parser: Parser) -> None:
    del parser


def list_studies(options: Namespace) -> None:
    del options
    from sojourn.cli.console import print_table
    from sojourn.study.library import builtin_names, builtin_title

    rows = [(name, builtin_title(name)) for name in builtin_names()]
    print_table(["study", "title"], rows)


def show_arguments(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME|FILE", help="Study by name, or its file.")


def show(options: Namespace) -> None:
    from functools import partial

    from sojourn.answers.checks import unanswerable
    from sojourn.cli.console import print_table, say
    from sojourn.study.library import load_study
    from sojourn.study.plan import RunOptions, make_plan

    study = load_study(options.name)
    plan = make_plan(study, RunOptions(), partial(unanswerable, is_run=False))
    definition = study.definition
    say(definition.title or definition.name)
    for text in (definition.source, definition.summary.strip()):
        if text:
            say(f"\n{text}")
    first, last = plan.seeds[0], plan.seeds[-1]
    seeds = f"seed {first}" if first == last else f"seeds {first} to {last}"
    print(f"\n{len(plan.points)} points, {seeds}: {len(plan.runs)} runs, {plan.simulated_s:,.0f} simulated seconds\n")
    labels = list(dict.fromkeys(label for item in plan.points for label in item.point.labels))
    rows = [
        [
            item.point.name,
            *(str(item.point.labels.get(label, "")) for label in labels),
            f"{item.scenario.duration_s:g} s",
            " + ".join(item.point.overlays),
        ]
        for item in plan.points
    ]
    print_table(["point", *labels, "duration", "overlays"], rows)


def new_arguments(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="Of the study, and of its new directory.")


def new(options: Namespace) -> None:
    from pathlib import Path

    from sojourn.base.errors import UsageError
    from sojourn.base.output import new_directory, writing
    from sojourn.cli.console import note
    from sojourn.study.schema import write_with_schemas
    from sojourn.study.skeleton import SCENARIO, STUDY, check_name

    directory = Path(options.name)
    check_name(directory.name)
    if directory.exists():
        raise UsageError(f"{directory} is there already", "name a new directory")
    with new_directory(directory) as unfinished, writing(directory):
        study = STUDY.replace("NAME", directory.name)
        write_with_schemas(unfinished, {"study.toml": study, "scenario.toml": SCENARIO})
    note(f"change {directory}/scenario.toml and {directory}/study.toml to your question, then:")
    note(f"  sojourn study run {directory} --quick")
    print(directory / "study.toml")


def plan_arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import amount, whole_number

    parser.add_argument("name", metavar="NAME|FILE", help="Study by name, or its file.")
    parser.flag("--count", "Count points and runs only: nothing is expanded or simulated.")
    parser.option(
        "--check", "all", "Check all points, on --workers processes, instead of some that tell most.", choices=["all"]
    )
    parser.option("--seeds", "N", "Seeds per point.", type=whole_number(1, 1_000_000))
    parser.option("--duration", "T", 'Duration of each run, such as "60 s".')
    parser.flag("--quick", "As `study run --quick`.")
    parser.option("--workers", "N", "Cores that share the runs (default: all cores).", type=whole_number(1, 1_000_000))
    parser.option("--core-hour", "PRICE", "Price of a core hour.", type=amount)
    parser.option("--gigabyte-month", "PRICE", "Price of keeping a gigabyte for a month.", type=amount)
    parser.flag("--json", "Print one JSON object.")


def plan(options: Namespace) -> None:
    from sojourn.cli.console import note, print_json
    from sojourn.cluster.price import check_some, count_of_study, price_of, spans_of_study
    from sojourn.cluster.shared_plan import plan_of
    from sojourn.study.expand import NumberedPoints
    from sojourn.study.library import load_study
    from sojourn.study.plan import RunLength, RunOptions

    study = load_study(options.name)
    definition = study.definition
    quick = definition.quick
    precise = None if options.seeds or options.quick else definition.precision
    if precise is not None:
        seeds = precise.least
    else:
        seeds = options.seeds or (quick.seeds if options.quick else definition.seeds.count)
    count = count_of_study(definition, seeds)
    said: dict[str, object] = {
        "study": definition.name,
        "points": count.points,
        "runs": count.runs,
        "is_exact": count.is_exact,
    }
    at_most = "" if count.is_exact else "at most "
    least = f", for the first look of at most {precise.seeds.most}" if precise is not None else ""
    lines = [f"{at_most}{count.points:,} points, {at_most}{count.runs:,} runs{least}"]
    if not options.count:
        from sojourn.study.runner import available_cores

        note(f"{lines[0]}; making some of them")
        points = NumberedPoints(definition, study.base, str(study.path))
        checked = check_some(definition, points)
        wishes = RunOptions((), options.seeds, options.duration, options.quick)
        length = RunLength.asked_for(wishes, quick.duration, len(points))
        if options.check:
            from sojourn.cluster.check import check_all

            processes = min(options.workers or available_cores(), available_cores())
            spans = spans_of_study(definition, seeds)
            runs = check_all(plan_of(study, length), spans, processes)
            checked = count.points
            note(f"all of them are valid; {runs:,} runs have their keys")
        price = price_of(definition, points, length, seeds)
        hours, low, high = price.core_hours(count.runs)
        workers = options.workers or available_cores()
        size = price.run_bytes * count.runs
        lines += [
            f"{checked:,} points checked, {price.pilots} runs made: {1000 * price.run_s[0]:.3g} ms of one core and "
            f"{price.run_bytes:,.0f} bytes a run",
            f"{_hours(hours)} of one core, 90 % interval {_hours(low)} to {_hours(high)}; {_hours(hours / workers)} on {workers} cores",
            f"{_bytes(size)} in the store",
        ]
        said |= {
            "checked": checked,
            "pilots": price.pilots,
            "run_ms": [round(1000 * one, 4) for one in price.run_s],
            "packet_hops": round(price.packet_hops),
            "run_bytes": round(price.run_bytes),
            "core_hours": [hours, low, high],
            "workers": workers,
            "hours": hours / workers,
            "bytes": round(size),
        }
        costs = [(options.core_hour, hours, "computing"), (options.gigabyte_month, size / 1e9, "keeping it a month")]
        for unit, amount, what in costs:
            if unit is not None:
                lines.append(f"{unit * amount:,.2f} for {what}")
                said[what.split()[0]] = unit * amount
    if options.json:
        print_json(said)
    else:
        print("\n".join(lines))


def _hours(hours: float) -> str:
    if hours < 1 / 60:
        return f"{3600 * hours:.2g} s"
    return f"{60 * hours:.2g} min" if hours < 1 else f"{hours:,.3g} h"


def _bytes(size: float) -> str:
    for unit, scale in (("GB", 1e9), ("MB", 1e6)):
        if size >= scale:
            return f"{size / scale:,.3g} {unit}"
    return f"{size / 1000:,.3g} kB"


LOOKS_EVERY_S = 5.0
"""chosen: two list calls a look are what a store of many workers should not notice."""


def watch_arguments(parser: Parser) -> None:
    parser.add_argument("plan", metavar="PLAN", help="Name of the plan, as `study run` tells it.")
    parser.option("--store", "URL", "The store that has it: a path, or s3://BUCKET/PREFIX.")
    parser.flag("--once", "Look once.")
    parser.flag("--json", "Look once and print one JSON object.")


def watch(options: Namespace) -> None:
    import time

    from sojourn.cli.console import print_json
    from sojourn.cluster.shared_plan import read_plan
    from sojourn.cluster.watch import Watch
    from sojourn.store import default_directory
    from sojourn.store.shared import open_objects

    objects = open_objects(options.store or default_directory())
    shared = read_plan(objects, options.plan)
    watch = Watch(objects, shared)
    while True:
        look = watch.look()
        if options.json:
            print_json({"plan": shared.name, "study": shared.study, **look.as_json()})
            return
        print(look.line(), flush=True)
        if options.once or look.is_done:
            return
        time.sleep(LOOKS_EVERY_S)
