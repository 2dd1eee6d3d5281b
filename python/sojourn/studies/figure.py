"""A figure of a report: a plot with its place in the text."""

from __future__ import annotations

from dataclasses import dataclass

from sojourn.plots.spec import PlotSpec


@dataclass(frozen=True)
class Figure:
    """A plot and what to say about it.

    Attributes
    ----------
    item
        What it redraws, such as `figure-2`, or a name of our own.
    plot
        What is drawn.
    caption
        What to look for, in a sentence or two.
    group
        Where it belongs in the report: `overview`, `printed` or `delay`.
    """

    item: str
    plot: PlotSpec
    caption: str
    group: str = "printed"

    @property
    def title(self) -> str:
        """Heading, such as `Figure 2. TCP throughput without Buffer Control`."""
        return self.plot.title
