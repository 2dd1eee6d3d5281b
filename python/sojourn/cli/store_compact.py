"""`sojourn store compact`: puts small segments together."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    from pathlib import Path

    parser.option("--store", "DIR", "The store, a path.", type=Path)
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> None:
    """Put together, clear up, and tell."""
    from sojourn.cli.console import print_json, warn
    from sojourn.cluster.garbage import clear_done, segments_of_plans
    from sojourn.store import Store
    from sojourn.store.compact import compact
    from sojourn.store.objects import FolderObjects

    store = Store(options.store, on_damage=warn)
    swept = store.sweep()
    objects = FolderObjects(store.directory)
    claims = clear_done(objects)
    before, after = compact(store, segments_of_plans(objects))
    if options.json:
        print_json({"before": before, "after": after, "claims": claims, "swept": swept})
        return
    print(
        f"{before} small segments are {after} now; {claims} claims of plans that are done and {swept} unfinished "
        "folders are gone"
    )
