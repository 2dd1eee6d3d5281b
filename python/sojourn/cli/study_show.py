"""`sojourn study show`: what a study runs."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.add_argument("name", metavar="NAME|FILE", help="Study by name, or its file.")


def execute(options: Namespace) -> None:
    """Show what a study runs."""
    from functools import partial

    from sojourn.answers.checks import unanswerable
    from sojourn.cli.console import print_table, say
    from sojourn.study.library import load_study
    from sojourn.study.plan import RunOptions, make_plan

    study = load_study(options.name)
    plan = make_plan(study, RunOptions(), partial(unanswerable, is_run=False))
    definition = study.definition
    say(definition.title or definition.name)
    for text in (definition.source, definition.summary.strip()):
        if text:
            say(f"\n{text}")
    first, last = plan.seeds[0], plan.seeds[-1]
    seeds = f"seed {first}" if first == last else f"seeds {first} to {last}"
    print(f"\n{len(plan.points)} points, {seeds}: {len(plan.runs)} runs, {plan.simulated_s:,.0f} simulated seconds\n")
    labels = list(dict.fromkeys(label for item in plan.points for label in item.point.labels))
    rows = [
        [
            item.point.name,
            *(str(item.point.labels.get(label, "")) for label in labels),
            f"{item.scenario.duration_s:g} s",
            " + ".join(item.point.overlays),
        ]
        for item in plan.points
    ]
    print_table(["point", *labels, "duration", "overlays"], rows)
