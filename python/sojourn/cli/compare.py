"""`sojourn compare`: what moved between two results of a study."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["compare"]


def compare(
    before: Annotated[Path, typer.Argument(metavar="DIR_A", help="Result to compare with.")],
    after: Annotated[Path, typer.Argument(metavar="DIR_B", help="Result to compare.")],
    *,
    show_all: Annotated[bool, typer.Option("--all", help="Also print what has not moved.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what moved from A to B, paired by seed, with significance."""
    import polars as pl

    from sojourn.cli.console import note, print_json, print_table
    from sojourn.errors import UsageError
    from sojourn.study.compare import compare_results
    from sojourn.study.result import StudyResult

    table = compare_results(StudyResult.load(before), StudyResult.load(after))
    if table.is_empty():
        raise UsageError(
            f"{before} and {after} have no point and seed in common",
            "compare two results of the same study",
        )
    verdicts = ["same", "within chance", "one seed", "moved"]
    counts = {name: table.filter(pl.col("verdict") == name).height for name in verdicts}
    shown = table if show_all else table.filter(pl.col("verdict").is_in(["moved", "one seed"]))
    if as_json:
        print_json({"counts": counts, "changes": shown.to_dicts()})
        return
    note(
        f"{table.height} values: {counts['same']} the same bit for bit, "
        f"{counts['within chance']} within chance, {counts['moved']} moved"
        + (
            f", {counts['one seed']} differ on one seed, which cannot tell"
            if counts["one seed"]
            else ""
        )
    )
    if not shown.is_empty():
        print_table(shown.columns, shown.rows())
