"""`sojourn linux list`: the kernels for virtual time."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> None:
    """Print names, versions and sources."""
    from dataclasses import asdict

    from sojourn.cli.console import note, print_json, print_table
    from sojourn.linux.build import kernels

    found = kernels()
    if options.json:
        print_json({"kernels": [asdict(kernel) for kernel in found]})
        return
    if not found:
        note("no kernel was built yet: sojourn linux build")
        return
    rows = [
        (kernel.name, kernel.version, kernel.digest[:16], f"{kernel.size / 1e6:.1f} MB", kernel.built, kernel.source)
        for kernel in found
    ]
    print_table(("name", "version", "digest", "size", "built", "source"), rows)
