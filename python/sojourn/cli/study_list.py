"""`sojourn study list`: the studies that come with Sojourn."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    del parser


def execute(options: Namespace) -> None:
    """List the studies that come with Sojourn."""
    del options
    from sojourn.cli.console import print_table
    from sojourn.study.library import builtin_names, builtin_title

    rows = [(name, builtin_title(name)) for name in builtin_names()]
    print_table(["study", "title"], rows)
