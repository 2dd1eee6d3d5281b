"""`sojourn verify`: an RO-Crate of a result, made again and compared bit for bit."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def arguments(parser: Parser) -> None:
    """Declare what the command takes."""
    from sojourn.cli.arguments import size, whole_number

    parser.epilog = (
        "Exit status 1: a file is not as described, or a run came out otherwise. No code of the crate runs; its scenarios are "
        "simulated, which takes as long as they say."
    )
    parser.add_argument("crate", metavar="CRATE", type=Path, help="Directory that `sojourn export --ro-crate` wrote.")
    parser.option("--jobs", "N", "Runs at the same time (default: all cores).", type=whole_number(1))
    parser.option(
        "--memory", "SIZE", "Memory budget of the runs, such as 8GB (default: 3/4 of what is free).", type=size
    )
    parser.flag("--json", "Print one JSON object.")


def execute(options: Namespace) -> int:
    """Verify a crate and say first whether it holds."""
    from sojourn.archive.verify import verify_crate
    from sojourn.base.errors import ExitStatus
    from sojourn.cli.console import print_found
    from sojourn.study.progress import StudyProgress
    from sojourn.study.runner import available_cores

    jobs = options.jobs or available_cores()
    found = verify_crate(options.crate, jobs=jobs, memory=options.memory, progress=StudyProgress(f"{jobs} threads"))
    print_found(found, found.sentence, {"differs": found.differences[1:]}, as_json=options.json)
    return ExitStatus.FAILED if found.differences else ExitStatus.DONE
