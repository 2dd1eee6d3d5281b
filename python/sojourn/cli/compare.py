"""`sojourn compare`: what moved between two results of a study."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser

__all__ = ["arguments", "execute"]


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.add_argument("before", metavar="DIR_A", type=Path, help="Result to compare with.")
    parser.add_argument("after", metavar="DIR_B", type=Path, help="Result to compare.")
    parser.flag("--all", "Also print what has not moved.")
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> None:
    """Show what moved from A to B, paired by seed, with significance."""
    import polars as pl

    from sojourn.cli.console import note, print_json, print_table
    from sojourn.errors import UsageError
    from sojourn.study.compare import compare_results
    from sojourn.study.result import StudyResult

    before, after = options.before, options.after
    table = compare_results(StudyResult.load(before), StudyResult.load(after))
    if table.is_empty():
        raise UsageError(
            f"{before} and {after} have no point and seed in common",
            "compare two results of the same study",
        )
    verdicts = ["same", "within chance", "one seed", "moved"]
    counts = {name: table.filter(pl.col("verdict") == name).height for name in verdicts}
    shown = table if options.all else table.filter(pl.col("verdict").is_in(["moved", "one seed"]))
    if options.json:
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
