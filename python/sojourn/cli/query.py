"""`sojourn query`: SQL over finished runs."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser

__all__ = ["arguments", "execute"]


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.epilog = (
        "Over a store: `runs`, and one view per record table with the column `key`. Over a result "
        "directory: `metrics`, `runs`, and the tables that the study kept."
    )
    parser.add_argument("sql", metavar="SQL", help='For example: "select * from runs"')
    parser.option("--store", "DIR", "A store, or the result directory of a study.", type=Path)
    parser.flag("--csv", "Print CSV instead of columns.")
    parser.flag(
        "--allow-files", "Let the statement read and write other files, and load extensions."
    )


def execute(options: Namespace) -> None:
    """Ask the store, or one result, in SQL (DuckDB)."""
    from sojourn.cli.console import print_table
    from sojourn.query import run_query

    columns, rows = run_query(options.sql, options.store, allow_files=options.allow_files)
    if options.csv:
        import csv
        import sys

        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
    else:
        print_table(columns, rows)
