"""Backends: what turns a `PlotSpec` into something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sojourn.plots.spec import PlotSpec


@overload
def draw(plot: PlotSpec, backend: Literal["none"]) -> dict[str, Any]: ...
@overload
def draw(plot: PlotSpec, backend: Literal["matplotlib"] = "matplotlib") -> Figure: ...
def draw(plot: PlotSpec, backend: Literal["none", "matplotlib"] = "matplotlib") -> dict[str, Any] | Figure:
    """Draw a plot.

    Parameters
    ----------
    plot
        What to draw.
    backend
        `matplotlib` returns a figure, to be saved or shown; `none` returns the plot as data.
    """
    if backend == "none":
        from sojourn.plots.backends import none

        return none.draw(plot)
    from sojourn.plots.backends import mpl

    return mpl.draw(plot)
