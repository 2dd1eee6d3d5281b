"""`sojourn linux build`: a kernel for virtual time."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    from sojourn.cli.arguments import whole_number

    parser.option(
        "--source",
        "DIR",
        "A source tree of Linux, or a Debian package of one (default: linux-source-6.12).",
        default="linux-source-6.12",
    )
    parser.option("--name", "NAME", "How to call the kernel (default: its version, such as 6.12).")
    parser.option("--jobs", "N", "Compilers at a time (default: one for each processor).", type=whole_number(1, 1024))
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> None:
    """Build, unless it is there."""
    import os

    from sojourn.cli.console import note, print_json
    from sojourn.linux.build import build

    kernel, is_new = build(options.source, options.name, options.jobs or os.cpu_count() or 1, note)
    if options.json:
        from dataclasses import asdict

        print_json({**asdict(kernel), "program": str(kernel.program), "is_new": is_new})
        return
    took = f"built in {kernel.seconds / 60:.1f} min" if is_new else "was built before"
    print(
        f"Linux {kernel.version} for virtual time {took}: {kernel.name}, {kernel.size / 1e6:.1f} MB, {kernel.program}"
    )
