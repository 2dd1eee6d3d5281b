"""`sojourn report`: tables, figures and page of a finished study, from its records alone."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["report"]


def report(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Result of a study.")],
) -> None:
    """Rebuild tables, figures and the page of a result directory."""
    from sojourn import report as report_package
    from sojourn.output import writing
    from sojourn.study.result import StudyResult

    result = StudyResult.load(directory)
    with writing(directory):
        report_package.build(result)
    print(directory / "report.html")
