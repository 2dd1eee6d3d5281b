"""`sojourn export` and `sojourn verify`: results as research objects."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser


def export_arguments(parser: Parser) -> None:
    parser.epilog = "`sojourn verify DIR` checks the digests of its files, makes the runs again and compares the bits."
    parser.add_argument("result", metavar="RESULT", type=Path, help="Result of a study, or directory of a run.")
    parser.option("--ro-crate", "DIR", "New directory for an RO-Crate 1.1.", type=Path, required=True)
    parser.option("--license", "URL", "Licence on which others may use it (default: none is stated).", default="")
    parser.option("--author", "NAME", "Name of the author.", default="")


def export(options: Namespace) -> None:
    from sojourn.archive.crate import METADATA
    from sojourn.archive.export import Credit, export_crate
    from sojourn.base.output import new_directory, writing
    from sojourn.cli.console import hand_over, note

    target = options.ro_crate
    with new_directory(target) as directory, writing(target, ""):
        files = export_crate(options.result, directory, Credit(options.license, options.author))
    note(f"{files} files; `sojourn verify {target}` makes the runs again and compares")
    hand_over(target / METADATA)


def verify_arguments(parser: Parser) -> None:
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


def verify(options: Namespace) -> int:
    from sojourn.archive.verify import verify_crate
    from sojourn.base.errors import ExitStatus
    from sojourn.cli.console import print_found
    from sojourn.study.progress import StudyProgress
    from sojourn.study.runner import available_cores

    jobs = options.jobs or available_cores()
    found = verify_crate(options.crate, jobs=jobs, memory=options.memory, progress=StudyProgress(f"{jobs} threads"))
    print_found(found, found.sentence, {"differs": found.differences[1:]}, as_json=options.json)
    return ExitStatus.FAILED if found.differences else ExitStatus.DONE
