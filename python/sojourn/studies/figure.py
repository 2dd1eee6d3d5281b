"""A figure of a report: a plot with its place in the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sojourn.plots.spec import PlotSpec
from sojourn.studies.view import NotRecorded, StudyView


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


#: Draws a figure, or raises `NotRecorded` if the result does not hold what it shows.
Maker = Callable[[StudyView], Figure]


def draw(view: StudyView, *makers: Maker) -> list[Figure]:
    """Return the figures that the records allow, in order."""
    return list(_available(view, makers))


def _available(view: StudyView, makers: tuple[Maker, ...]) -> Iterator[Figure]:
    for make in makers:
        try:
            yield make(view)
        except NotRecorded:
            continue
