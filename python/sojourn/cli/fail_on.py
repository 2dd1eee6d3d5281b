"""The option `--fail-on`: limits that end a command with status 1, and the lines that say whether they hold."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from sojourn.cli.arguments import Parser
    from sojourn.judging.conditions import Condition, Outcome


def fail_on(parser: Parser, example: str) -> None:
    """Declare the option."""
    parser.option(
        "--fail-on",
        "CONDITION",
        f"Exit with 1 where this holds, for example '{example}'. May be repeated.",
        action="append",
        default=[],
    )


def conditions_of(options: Namespace, *, with_band: bool = False) -> list[Condition]:
    """Return the conditions.

    Raises
    ------
    UsageError
        If one cannot be read.
    """
    if not options.fail_on:
        return []
    from sojourn.judging.conditions import Condition

    return [Condition.parse(text, with_band=with_band) for text in options.fail_on]


def say_outcomes(outcomes: Sequence[Outcome]) -> None:
    """Print a line for each condition, those that fail first."""
    from sojourn.cli.console import say

    for outcome in sorted(outcomes, key=lambda outcome: not outcome.fails):
        say(outcome.sentence)
