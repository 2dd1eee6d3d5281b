"""One figure of a result for a paper: SVG and PDF with a width, a font and no title of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.answers.figure import Figure
from sojourn.base.errors import RunError, UsageError, nearest
from sojourn.plots.reshape import reshaped

if TYPE_CHECKING:
    from sojourn.plots.backends.mpl import Font


def figures_of(directory: Path) -> list[Figure]:
    """Return the figures of a result of a study or run, as its report has them.

    Raises `SojournError` if the directory holds no result.
    """
    from sojourn.report.single import run_figures
    from sojourn.simulation.run_directory import is_run, read_run

    if is_run(directory):
        _, tables, _ = read_run(directory)
        return run_figures(tables, [])
    from sojourn.answers.view import StudyView
    from sojourn.report.builder import study_parts
    from sojourn.study.result import StudyResult

    result = StudyResult.load(directory)
    return list(study_parts(result, StudyView(result)).figures)


def figure_named(figures: list[Figure], name: str, place: str) -> Figure:
    """Return a figure by its name.

    Raises `UsageError` if there is none; names all.
    """
    by_name = {figure.plot.name: figure for figure in figures} | {one.item: one for one in figures}
    if name in by_name:
        return by_name[name]
    known = ", ".join(figure.item for figure in figures) or "none"
    raise UsageError(f'{place} has no figure "{name}"', nearest(name, by_name) or f"it has: {known}")


def write_figure(
    figure: Figure,
    folder: Path,
    *,
    width: float | None = None,
    height: float | None = None,
    columns: int | None = None,
    font: Font | None = None,
    titled: bool = False,
) -> list[Path]:
    """Write SVG and PDF of a figure; return their paths.

    Raises `RunError` if it could not be drawn.

    Parameters
    ----------
    figure
        What to draw.
    folder
        Where to; made if it is not there.
    width, height
        mm; those of the figure if left out.
    columns
        Panels beside each other.
    font
        Font of its text.
    titled
        Whether its title stands above; captions of papers say it.
    """
    from sojourn.plots.backends import mpl

    if figure.failure:
        raise RunError(f"{figure.item} could not be drawn: {figure.failure}")
    plot = figure.plot if titled else replace(figure.plot, title="")
    if width or height or columns:
        plot = reshaped(plot, width or plot.width, height, columns)
    folder.mkdir(parents=True, exist_ok=True)
    mpl.save(plot, folder, pdf=True, font=font)
    return [folder / f"{plot.name}.{kind}" for kind in ("svg", "pdf")]
