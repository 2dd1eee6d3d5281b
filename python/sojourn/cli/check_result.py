"""Results of the checks of queue managers and of congestion controllers: files, page, exit status."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import Any

    from sojourn.judging.conditions import Outcome


def hand_in(
    out: Path,
    answer: dict[str, Any],
    write_page: Callable[[Path], object],
    *,
    is_ours: bool,
    as_json: bool,
    has_failed: bool,
    outcomes: Sequence[Outcome] = (),
) -> int:
    """Write the page and the answer for programs, say the first sentence, and return the exit status.

    Parameters
    ----------
    out, is_ours
        The new directory, and whether its name is ours.
    answer
        All of it for programs, with the sentence as `headline`.
    write_page
        Writes the page into a directory.
    as_json
        Whether the answer is printed.
    has_failed
        Whether a row failed.
    outcomes
        Of the conditions that `--fail-on` names.
    """
    import json

    from sojourn.base.errors import ExitStatus
    from sojourn.base.files import write_file
    from sojourn.base.output import new_directory, writing
    from sojourn.cli.console import hand_over, note, print_json

    if outcomes:
        answer["conditions"] = [outcome.as_json() for outcome in outcomes]
    has_exceeded = any(outcome.fails for outcome in outcomes)
    with new_directory(out, is_ours=is_ours) as directory, writing(out):
        write_page(directory)
        write_file(directory / "result.json", json.dumps(answer, indent=1) + "\n")
    if as_json:
        print_json({**answer, "out": str(out)})
    else:
        for outcome in outcomes:
            note(outcome.sentence)
        note(answer["headline"])
        hand_over(out / "report.html")
    return ExitStatus.FAILED if has_failed or has_exceeded else ExitStatus.DONE
