"""`sojourn query`: SQL over finished runs."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["query"]


def query(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="For example: select * from runs")],
    *,
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="DIR", help="A store, or the result directory of a study."),
    ] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of columns.")] = False,
) -> None:
    """Ask the store, or one result, in SQL (DuckDB).

    Over a store: `runs`, and one view per record table with the column `key`. Over a result directory:
    `metrics`, `runs`, and the tables that the study kept.
    """
    from sojourn.cli.console import print_table
    from sojourn.query import run_query

    columns, rows = run_query(sql, store)
    if as_csv:
        import csv
        import sys

        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
    else:
        print_table(columns, rows)
