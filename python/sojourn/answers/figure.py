"""A figure of a report: a plot with its place in the text."""

from __future__ import annotations

from dataclasses import dataclass

from sojourn.plots.spec import Axis, Note, Panel, PlotSpec


@dataclass(frozen=True)
class Figure:
    """A plot and what to say about it.

    Attributes
    ----------
    item
        Item of the document that it redraws, such as `figure-2`, or a name of the study.
    plot
        What is drawn.
    caption
        What to look for, in a sentence or two.
    group
        Where it belongs in the report: `overview`, `printed` or `delay`.
    failure
        Why it could not be drawn, if it could not; no file is written for it.
    is_folded
        Whether the page shows it only to those who ask: it says the same as another in another way.
    """

    item: str
    plot: PlotSpec
    caption: str
    group: str = "printed"
    is_folded: bool = False
    failure: str = ""

    @property
    def title(self) -> str:
        """Heading, such as `Figure 2. TCP throughput without Buffer Control`."""
        return self.plot.title


def of_one_panel(item: str, title: str, panel: Panel, *, caption: str, description: str) -> Figure:
    """Return a figure of one panel, with its legend below it; `item` names the plot, too."""
    plot = PlotSpec(item, title, (panel,), height=80, legend="below", description=description)
    return Figure(item, plot, caption)


def failed(item: str, title: str, reason: str, group: str = "printed") -> Figure:
    """Return what stands in the place of a figure that could not be drawn."""
    words = f"could not be drawn: {reason}"
    panel = Panel(
        x=Axis(low=0.0, high=1.0, ticks=((0.0, ""),)),
        y=Axis(low=0.0, high=1.0, ticks=((0.0, ""),)),
        marks=(Note(0.5, 0.5, words, align="center"),),
    )
    sentence = f"C{words[1:]}"
    plot = PlotSpec(item, title, (panel,), height=30, description=sentence)
    return Figure(item, plot, sentence, group, failure=reason)
