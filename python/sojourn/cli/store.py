"""`sojourn store`: a store of finished runs is looked after."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def gc_arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import span

    parser.option("--store", "URL", "The store: a path, or s3://BUCKET/PREFIX.")
    parser.option("--keep", "PLAN", "A plan that is wanted. May be repeated.", action="append", default=[])
    parser.option(
        "--older",
        "SPAN",
        "Plans with work on them within it are wanted, too (default: 720h).",
        type=span,
        default=30 * 86400.0,
    )
    parser.flag("--json", "Print one JSON object.")


def gc(options: Namespace) -> None:
    from sojourn.cli.console import print_found
    from sojourn.cluster.garbage import collect
    from sojourn.store import default_directory
    from sojourn.store.shared import open_objects

    objects = open_objects(options.store or default_directory())
    found = collect(objects, options.keep, options.older)
    print_found(
        found,
        f"{len(found.kept)} plans are wanted; {len(found.removed)} are gone, with {found.segments} segments; "
        f"{len(found.marked)} are marked, and go with the first call after a week",
        {"marked": found.marked, "gone": found.removed},
        as_json=options.json,
    )


def compact_arguments(parser: Parser) -> None:
    from pathlib import Path

    parser.option("--store", "DIR", "The store, a path.", type=Path)
    parser.flag("--json", "Print one JSON object.")


def compact(options: Namespace) -> None:
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


def audit_arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import whole_number

    parser.option("--store", "URL", "The store: a path, or s3://BUCKET/PREFIX.")
    parser.option(
        "--per-thousand",
        "N",
        "How many runs of a thousand are made again (default: 1).",
        type=whole_number(1, 1000),
        default=1,
    )
    parser.flag("--json", "Print one JSON object.")


def audit(options: Namespace) -> int:
    from sojourn.base.errors import ExitStatus
    from sojourn.cli.console import print_found
    from sojourn.cluster.audit import audit
    from sojourn.store import default_directory
    from sojourn.store.shared import open_objects

    objects = open_objects(options.store or default_directory())
    *_, found = audit(objects, options.per_thousand / 1000)
    print_found(
        found,
        f"{found.runs} runs of {found.segments} segments made again: {len(found.differ)} differ; "
        f"{len(found.damaged)} segments are damaged",
        {"differs": found.differ, "damaged": found.damaged},
        as_json=options.json,
    )
    return ExitStatus.FAILED if found.differ or found.damaged else ExitStatus.DONE
