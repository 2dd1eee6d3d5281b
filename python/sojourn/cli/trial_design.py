"""`sojourn trial design`: who gets which treatment when."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from datetime import date

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    from sojourn.cli.arguments import whole_number

    parser.add_argument("treatments", metavar="TREATMENT", nargs="+", help="Names, such as 8KB 48KB 96KB.")
    parser.option("--homes", "N", "Number of homes (50).", type=whole_number(1, 100_000), default=50)
    parser.option("--first-day", "DATE", "First day, preferably a Monday.", type=_day, required=True)
    parser.option("--weeks", "N", "Weeks per treatment (1).", type=whole_number(1, 52), default=1)
    parser.option(
        "--order",
        "ORDER",
        "crossover: orders balanced over homes; talk: the same order in all homes.",
        choices=("crossover", "talk"),
        default="crossover",
    )
    parser.option("--seed", "N", "Which home gets which order (1).", type=whole_number(0), default=1)


def execute(options: Namespace) -> None:
    """Print a schedule as CSV: one row per test, three slots a day, both directions."""
    from sojourn.base.formulas import without_formulas
    from sojourn.cli.console import hand_over, note
    from sojourn.field.design import schedule

    width = len(str(options.homes))
    table = schedule(
        [f"home-{number:0{width}d}" for number in range(1, options.homes + 1)],
        options.treatments,
        options.first_day,
        order=options.order,
        weeks_each=options.weeks,
        seed=options.seed,
    )
    if options.order == "talk":
        note("week and treatment change together: this design cannot tell them apart")
    hand_over(without_formulas(table).write_csv().removesuffix("\n"))


def _day(text: str) -> date:
    from argparse import ArgumentTypeError
    from datetime import date

    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no date; such as 2026-11-23") from None
