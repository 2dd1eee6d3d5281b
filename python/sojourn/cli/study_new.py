"""`sojourn study new`: a study to start from, with its scenario, that runs as it is."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.add_argument("name", metavar="NAME", help="Of the study, and of its new directory.")


def execute(options: Namespace) -> None:
    """Write a commented study and its scenario into a new directory."""
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
