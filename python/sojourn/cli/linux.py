"""`sojourn linux`: kernels for virtual time are built, listed and shown."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def build_arguments(parser: Parser) -> None:
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


def build(options: Namespace) -> None:
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


def list_kernels_arguments(parser: Parser) -> None:
    parser.flag("--json", "Print one JSON object.")


def list_kernels(options: Namespace) -> None:
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


def show_arguments(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="Name or digest of a kernel.")
    parser.flag("--json", "Print one JSON object.")


def show(options: Namespace) -> None:
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
