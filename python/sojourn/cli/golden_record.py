"""`sojourn golden record`: a golden trace of a scenario's queue manager."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser

LARGEST_SEED = 2**64 - 1


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    from sojourn.cli.arguments import whole_number

    parser.add_argument("file", metavar="FILE", help="Scenario file.")
    parser.option(
        "--set",
        "A.B.C=V",
        "Change the scenario, for example access.upstream.queue.target=10ms. May be repeated.",
        action="append",
        default=[],
        dest="settings",
    )
    parser.option("--seed", "N", "Seed of the run (1).", type=whole_number(0, LARGEST_SEED), default=1)
    parser.option(
        "--direction",
        "WORD",
        "upstream (default) or downstream.",
        choices=("upstream", "downstream"),
        default="upstream",
    )
    parser.option("--out", "FILE", "New file: .sjt, or .sjt.xz or .sjt.gz, which is packed.", type=Path, required=True)


def execute(options: Namespace) -> None:
    """Run the scenario and write what its queue manager was offered and did."""
    from sojourn.aqm.golden import pack, record
    from sojourn.base.files import write_file
    from sojourn.base.messages import note
    from sojourn.base.output import refuse_used, writing
    from sojourn.scenario.scenario_file import load_scenario

    refuse_used(options.out)
    scenario = load_scenario(options.file, options.settings)
    text = record(scenario, options.seed, options.direction)
    with writing(options.out):
        write_file(options.out, pack(text, options.out))
    lines = text.count("\n> a ")
    note(f"{lines} packets, {len(text) / 1e3:.0f} kB of text")
