"""`sojourn trial import`: from measurement files to one table of tests."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser
    from sojourn.field.flent_check import Check


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.add_argument("path", metavar="PATH", type=Path, help="Folder of files, or one file.")
    parser.option("--out", "DIR", "New directory for the tests.", type=Path, required=True)
    parser.option(
        "--labels",
        "FILE",
        "Who measured under what: a schedule of `trial design`, joined by home and time, or CSV with the columns file, "
        "probe, treatment, week, zone.",
        type=Path,
    )
    parser.flag(
        "--check-flent", "Print our numbers of each of Flent's files beside those of its own summary; needs flent."
    )
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> int:
    """Import Flent, iperf3 and irtt files; each is imported, or named with the reason why not."""
    from dataclasses import asdict

    from sojourn.base.errors import ExitStatus
    from sojourn.base.output import refuse_used
    from sojourn.cli.console import note, print_json
    from sojourn.field.importer import import_files, write_imported
    from sojourn.field.labels import read_labels
    from sojourn.process.progress import RunProgress

    refuse_used(options.out)
    checks = _checks(options.path) if options.check_flent else []
    labelling = read_labels(options.labels) if options.labels else None
    progress = RunProgress(str(options.path))
    imported = import_files(options.path, labelling, lambda done, total: progress(done / total))
    progress.stop()
    for file, reason in imported.skipped:
        note(f"skipped: {file}: {reason}")
    write_imported(imported, options.out, options.path)
    tests, homes = imported.tests, imported.tests["probe"].n_unique()
    if options.json:
        print_json(
            {
                "out": str(options.out),
                "files": imported.files,
                "tests": tests.height,
                "probes": tests["probe"].n_unique(),
                "skipped": [{"file": file, "reason": reason} for file, reason in imported.skipped],
                **({"checks": [asdict(one) for one in checks]} if options.check_flent else {}),
            }
        )
    else:
        if options.check_flent:
            _show(checks)
        note(
            f"{tests.height} tests of {homes} home{'s' * (homes != 1)} from {imported.files} files, "
            f"{len(imported.skipped)} skipped"
        )
        print(options.out)
    return ExitStatus.DONE if tests.height else ExitStatus.INVALID


def _checks(path: Path) -> list[Check]:
    from sojourn.field.flent_check import check_file
    from sojourn.field.importer import measurement_files

    return [check for file, name in measurement_files(path) for check in check_file(file, name)]


def _show(checks: list[Check]) -> None:
    from sojourn.cli.console import note, print_table

    def number(value: float | None) -> str:
        return "–" if value is None else f"{value:.2f}"

    def both(ours: float | None, theirs: float | None) -> str:
        return f"{number(ours)} | {number(theirs)}"

    print_table(
        ("file", "series", "mean | Flent", "median | Flent", "P99 | Flent", "grid mean", ""),
        [
            (
                one.file,
                one.series,
                both(one.mean, one.flent_mean),
                both(one.median, one.flent_median),
                both(one.p99, one.flent_p99),
                number(one.grid),
                "" if one.agrees else "differs",
            )
            for one in checks
        ],
    )
    differ = sum(not one.agrees for one in checks)
    note(f"{len(checks)} series, {differ} differ from what Flent prints")
