"""`sojourn recipe`: studies that answer usual questions."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def list_recipes_arguments(parser: Parser) -> None:
    del parser


def list_recipes(options: Namespace) -> None:
    del options
    from sojourn.cli.console import print_table
    from sojourn.study.library import recipe_names, recipe_title

    print_table(["recipe", "question"], [(name, recipe_title(name)) for name in recipe_names()])


def copy_arguments(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="Of the recipe.")
    parser.add_argument("directory", metavar="DIR", nargs="?", help="New directory (default: NAME).")


def copy(options: Namespace) -> None:
    from pathlib import Path

    from sojourn.base.errors import UsageError, nearest
    from sojourn.base.output import new_directory, writing
    from sojourn.cli.console import note
    from sojourn.study.library import recipe_files, recipe_names
    from sojourn.study.schema import write_with_schemas

    if options.name not in recipe_names():
        hint = nearest(options.name, recipe_names()) or "`sojourn recipe list` names all"
        raise UsageError(f'no recipe "{options.name}"', hint)
    directory = Path(options.directory or options.name)
    if directory.exists():
        raise UsageError(f"{directory} is there already", "name a new directory")
    with new_directory(directory) as unfinished, writing(directory):
        write_with_schemas(unfinished, recipe_files(options.name))
    note(f"change {directory}/scenario.toml and {directory}/study.toml to your question, then:")
    note(f"  sojourn study run {directory} --quick")
    print(directory / "study.toml")
