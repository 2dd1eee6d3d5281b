"""`sojourn worker`: works on a plan of a shared store."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import span, whole_number

    parser.add_argument("plan", metavar="PLAN", help="Name of the plan, as `study run` tells it.")
    parser.option("--store", "URL", "The store that has it: a path, or s3://BUCKET/PREFIX.")
    parser.option("--unit", "N", "Make this unit and end.", type=whole_number(0, 10_000_000))
    parser.flag("--claim", "Take units until none is left (the default without --unit).")
    parser.option("--for", "SPAN", "Begin no unit after this time, such as 230min.", type=span, dest="seconds")
    parser.option("--jobs", "N", "Units at a time (default: 1).", type=whole_number(1, 1024))
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> int:
    from sojourn.base.errors import ExitStatus, UsageError
    from sojourn.cli.console import note, print_json, warn
    from sojourn.cluster.shared_plan import read_plan
    from sojourn.cluster.worker import Worker
    from sojourn.store import default_directory
    from sojourn.store.shared import open_objects

    if options.unit is not None and options.claim:
        raise UsageError("--unit and --claim exclude each other", "--unit makes one unit and ends")
    objects = open_objects(options.store or default_directory())
    shared = read_plan(objects, options.plan)
    worker = Worker(objects, shared, jobs=options.jobs or 1, seconds=options.seconds, tell=warn)
    tally = worker.run() if options.unit is None else worker.run_unit(options.unit)
    note(f"{worker.name}: {tally.units} units, {tally.runs} runs")
    if options.json:
        print_json(
            {
                "worker": worker.name,
                "plan": shared.name,
                "units": tally.units,
                "runs": tally.runs,
                "failed": tally.failed,
                "quarantined": tally.quarantined,
            }
        )
    return ExitStatus.FAILED if tally.quarantined else ExitStatus.DONE
