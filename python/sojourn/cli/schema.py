"""`sojourn schema`: the JSON Schema of a kind of file, for editors and other programs."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    parser.add_argument("file", choices=["scenario", "study"], help="Which kind of file.")


def execute(options: Namespace) -> None:
    from sojourn.study.schema import scenario_schema, study_schema

    print((scenario_schema if options.file == "scenario" else study_schema)().rstrip())
