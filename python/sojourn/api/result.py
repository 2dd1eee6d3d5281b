"""Results of studies as notebooks show them, and what reads any result."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.base.notebook import pandas_frame, table_html
from sojourn.simulation.run_directory import is_run
from sojourn.study import result

if TYPE_CHECKING:
    import numpy as np

    from sojourn.answers.view import StudyView
    from sojourn.api.plot import Plot
    from sojourn.api.run import Run


class StudyResult(result.StudyResult):
    """A result directory, loaded; it shows itself in a notebook, and draws what its report draws."""

    def _repr_html_(self) -> str:
        """Show the points and where the result lies."""
        title = f"{self.overview}, in {self.directory}"
        return table_html(title, self.points.columns, self.points.rows())

    def plots(self) -> dict[str, Plot]:
        """Return what the report draws, by name. Each shows itself in a notebook, and has `save("delay.svg")`."""
        from sojourn.api.plot import Plot
        from sojourn.report.builder import study_parts

        figures = study_parts(self, self.view).figures
        return {figure.plot.name: Plot.of(figure.plot) for figure in figures if not figure.failure}

    @cached_property
    def view(self) -> StudyView:
        """Questions to the result, as the functions of a study's module get it: `values`, `delays`, `series` of a point."""
        from sojourn.answers.view import StudyView

        return StudyView(self)

    def values(self, point: str, subject: str, metric: str) -> np.ndarray:
        """Return one value per seed of a point, as `view.values` does in a study's module.

        Raises
        ------
        NotRecorded
            If the point was not run or has no such metric.
        """
        return self.view.values(point, subject, metric)

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas may be absent
        """Return `summary` as a frame of pandas."""
        return pandas_frame(self.summary)


def load_result(directory: str | Path) -> StudyResult | Run:
    """Read what `sojourn study run` or `sojourn run --out` wrote.

    Parameters
    ----------
    directory
        Result of a study, or of a single run.

    Raises
    ------
    RecordError
        If it is neither, or not complete.
    """
    directory = Path(directory)
    if is_run(directory):
        from sojourn.api.run import Run

        return Run.load(directory)
    return StudyResult.load(directory)
