"""`sojourn recipe list`: the recipes of the package, and the questions that they answer."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes: nothing."""
    del parser


def execute(options: Namespace) -> None:
    """Print names and titles."""
    del options
    from sojourn.cli.console import print_table
    from sojourn.study.library import recipe_names, recipe_title

    print_table(["recipe", "question"], [(name, recipe_title(name)) for name in recipe_names()])
