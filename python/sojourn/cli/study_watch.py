"""`sojourn study watch`: how far a study is that workers make."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser

LOOKS_EVERY_S = 5.0
"""chosen: two list calls a look are what a store of many workers should not notice."""


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.add_argument("plan", metavar="PLAN", help="Name of the plan, as `study run` tells it.")
    parser.option("--store", "URL", "The store that has it: a path, or s3://BUCKET/PREFIX.")
    parser.flag("--once", "Look once.")
    parser.flag("--json", "Look once and print one JSON object.")


def execute(options: Namespace) -> None:
    """Print a line for each look, until all units are done."""
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
