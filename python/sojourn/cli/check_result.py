"""What the checks of queue managers and of congestion controllers do with what they found."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any


def hand_in(
    out: Path,
    answer: dict[str, Any],
    write_page: Callable[[Path], object],
    *,
    is_ours: bool,
    as_json: bool,
    has_failed: bool,
) -> int:
    """Write the page and the answer for programs, say the first sentence, and return the exit status.

    Parameters
    ----------
    out, is_ours
        The new directory, and whether nobody named it.
    answer
        All of it for programs, with the sentence as `headline`.
    write_page
        Writes the page into a directory.
    as_json
        Whether the answer is printed.
    has_failed
        Whether a row failed.
    """
    import json

    from sojourn.base.errors import ExitStatus
    from sojourn.base.files import write_file
    from sojourn.base.output import new_directory, writing
    from sojourn.cli.console import hand_over, note, print_json

    with new_directory(out, is_ours=is_ours) as directory, writing(out):
        write_page(directory)
        write_file(directory / "result.json", json.dumps(answer, indent=1) + "\n")
    if as_json:
        print_json({**answer, "out": str(out)})
    else:
        note(answer["headline"])
        hand_over(out / "report.html")
    return ExitStatus.FAILED if has_failed else ExitStatus.DONE
