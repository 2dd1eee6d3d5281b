"""`sojourn linux show`: one kernel for virtual time, with its configuration."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.add_argument("name", metavar="NAME", help="Name or digest of a kernel.")
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> None:
    """Print the sources and digests of a kernel, and its configuration."""
    from dataclasses import asdict

    from sojourn.cli.console import print_json
    from sojourn.linux.build import find

    kernel = find(options.name)
    if options.json:
        print_json({**asdict(kernel), "program": str(kernel.program)})
        return
    for key, value in asdict(kernel).items():
        print(f"{key.replace('_', ' '):20} {value}")
    print(f"{'program':20} {kernel.program}")
    print()
    for line in (kernel.directory / "config").read_text(encoding="utf-8").splitlines():
        if line.startswith("CONFIG_"):
            print(line)
