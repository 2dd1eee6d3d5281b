"""`sojourn store audit`: makes some runs again and compares."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
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


def execute(options: Namespace) -> int:
    """Make runs again, and tell whether they came out as they are kept."""
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
