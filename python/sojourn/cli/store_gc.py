"""`sojourn store gc`: removes unwanted plans, in two steps."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
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


def execute(options: Namespace) -> None:
    """Mark, remove, and tell."""
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
