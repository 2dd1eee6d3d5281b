"""`sojourn query`: SQL over finished runs."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    parser.epilog = (
        "Over a store: `runs`, and one view per record table with the column `key`. Over a result "
        "directory: `metrics`, `runs`, and the tables that the study kept."
    )
    parser.add_argument("sql", metavar="SQL", help='For example: "select * from runs"')
    parser.option("--store", "DIR", "A store, or the result directory of a study.", type=Path)
    parser.flag("--csv", "Print CSV instead of columns.")
    parser.flag("--allow-files", "Let the statement read and write other files, and load extensions.")


def execute(options: Namespace) -> None:
    from sojourn.cli.console import for_reader, print_rows, warn
    from sojourn.store.sql import asked

    options.sql.encode()  # DuckDB speaks of types otherwise
    with asked(options.sql, options.store, allow_files=options.allow_files) as answer:
        for sentence in answer.left_out:
            warn(sentence)
        if not options.csv:
            print_rows(answer.columns, answer.rows)
            return
        import csv
        import sys

        from sojourn.base.formulas import no_formula

        def cells(row: Sequence[object]) -> list[object]:
            return [no_formula(cell) if isinstance(cell, str) else cell for cell in row]

        writer = csv.writer(for_reader(sys.stdout), lineterminator="\n")
        writer.writerow(cells(answer.columns))
        writer.writerows(map(cells, answer.rows))
