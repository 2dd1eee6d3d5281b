"""`sojourn schema`: the JSON Schema of a kind of file, for editors and other programs."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.add_argument("file", choices=["scenario", "study"], help="Which kind of file.")


def execute(options: Namespace) -> None:
    """Print a JSON Schema."""
    if options.file == "scenario":
        import sojourn._engine as _engine

        print(_engine.scenario_schema().rstrip())
        return
    from sojourn.study.schema import study_schema

    print(study_schema().rstrip())
