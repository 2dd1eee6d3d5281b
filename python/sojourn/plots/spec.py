"""Content of a plot, without its drawing.

Marks refer to looks by name (`codel`, `printed`); `sojourn.plots.styles` says which colour, dash
and marker a name has, the same in every plot.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

Scale = Literal["linear", "log"]
Weight = Literal["thin", "normal", "bold"]

PANEL, MARK, LEGEND = "panel", "mark", "legend"
"""Prefixes of names of drawn parts: of a panel, with its place and the ends of its axes; of a mark, with its panel
and its place there; of an entry of the legend."""


@dataclass(frozen=True)
class Axis:
    """One axis.

    Attributes
    ----------
    quantity
        Its quantity, such as `queuing delay`.
    unit
        Unit symbol; empty for numbers without one.
    scale
        `linear` or `log`.
    low, high
        Limits; `None` leaves them to the data.
    ticks
        Positions with labels; empty leaves them to the backend.
    """

    quantity: str = ""
    unit: str = ""
    scale: Scale = "linear"
    low: float | None = None
    high: float | None = None
    ticks: tuple[tuple[float, str], ...] = ()

    @property
    def label(self) -> str:
        """Quantity and unit as one reads them."""
        return " in ".join(part for part in (self.quantity, self.unit) if part)


@dataclass(frozen=True)
class Line:
    """A curve; NaN breaks it. Without a legend, `label` is written at its end.

    `solid` leaves out the look's dashes, where all curves of a panel share one look.
    """

    x: np.ndarray
    y: np.ndarray
    look: str
    label: str = ""
    step: bool = False
    weight: Weight = "normal"
    solid: bool = False


@dataclass(frozen=True)
class Band:
    """An area between two curves over the same x; `step` holds each value until the next x."""

    x: np.ndarray
    low: np.ndarray
    high: np.ndarray
    look: str
    label: str = ""
    step: bool = True


@dataclass(frozen=True)
class Dots:
    """Single values, with horizontal intervals where `low` and `high` are given."""

    x: np.ndarray
    y: np.ndarray
    look: str
    label: str = ""
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    filled: bool = True
    small: bool = False
    """Hollow and thin, as of single runs beside their mean."""
    texts: tuple[str, ...] = ()
    """One label per dot, empty where none is wanted."""


@dataclass(frozen=True)
class Bars:
    """Horizontal bars at heights `y`, from `left` to `left + width`."""

    y: np.ndarray
    left: np.ndarray
    width: np.ndarray
    look: str
    label: str = ""
    height: float = 0.7


@dataclass(frozen=True)
class Box:
    """Quartiles, median, whiskers and outliers of one group, at position `at` on the y axis."""

    at: float
    lower: float
    quartile_1: float
    median: float
    quartile_3: float
    upper: float
    outliers: np.ndarray
    look: str
    label: str = ""


@dataclass(frozen=True)
class Cell:
    """A square of a heat map, of side 1 around a place: its shade from 0 to 1, its number, and its number in words."""

    x: float
    y: float
    shade: float
    text: str
    told: str


@dataclass(frozen=True)
class Cells:
    """Squares of one colour in shades, with their numbers."""

    cells: tuple[Cell, ...]
    look: str
    label: str
    """Quantity and unit of the numbers."""


@dataclass(frozen=True)
class Rule:
    """A reference line across the panel."""

    at: float
    along: Literal["x", "y"]
    """`x`: a vertical line at an x value; `y`: a horizontal one."""
    label: str = ""
    look: str = "reference"


@dataclass(frozen=True)
class Note:
    """Words at a place in data coordinates."""

    x: float
    y: float
    text: str
    look: str = "reference"
    align: Literal["left", "center", "right"] = "left"


Mark = Line | Band | Dots | Bars | Box | Cells | Rule | Note


@dataclass(frozen=True)
class Panel:
    """One pair of axes with marks on them."""

    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    title: str = ""
    legend: Literal["none", "inside"] = "none"


@dataclass(frozen=True)
class PlotSpec:
    """A plot: panels in a grid, and the words around it.

    Attributes
    ----------
    name
        File name without suffix.
    title
        Its title, in a line.
    panels
        Row by row.
    columns
        Panels per row.
    width, height
        Size in millimetres; page width is 180.
    description
        Text alternative: what a reader who cannot see it should know.
    caption
        Words below it: source, what to look for.
    share_x, share_y
        Whether panels share limits.
    legend
        `below`: every label of lines, dots, bars and heat maps once, below all panels.
    column_widths
        Relative widths of the columns; empty for equal ones.
    """

    name: str
    title: str
    panels: tuple[Panel, ...]
    columns: int = 1
    width: float = 180.0
    height: float = 90.0
    description: str = ""
    caption: str = ""
    share_x: bool = False
    share_y: bool = False
    legend: Literal["none", "below"] = "none"
    column_widths: tuple[float, ...] = ()

    def named_marks(self) -> dict[str, Line | Dots | Bars | Band | Cells]:
        """Return the first mark of each label, as a legend lists them."""
        found: dict[str, Line | Dots | Bars | Band | Cells] = {}
        for panel in self.panels:
            for mark in panel.marks:
                if isinstance(mark, Line | Dots | Bars | Band | Cells) and mark.label:
                    found.setdefault(mark.label, mark)
        return found

    def __repr__(self) -> str:
        """Name the plot and say how much is in it."""
        panels = "1 panel" if len(self.panels) == 1 else f"{len(self.panels)} panels"
        return f"<PlotSpec {self.name}: {panels}>"


def as_array(values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return values as a float array."""
    return np.asarray(values, dtype=float)


def log_ticks(low: float, high: float, most: int = 7) -> tuple[tuple[float, str], ...]:
    """Return labelled positions of a log axis: decades, with 2 and 5 between them where there is room.

    Examples
    --------
    >>> [text for _, text in log_ticks(3.0, 60.0)]
    ['5', '10', '20', '50']
    >>> [text for _, text in log_ticks(0.5, 2e6)]
    ['1', '10', '100', '1,000', '10,000', '100,000', '1,000,000']
    """
    if not 0 < low < high:
        return ()
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 5), (1, 3), (1,)):
        found = [step * 10.0**n for n in exponents for step in steps]
        found = [value for value in found if low <= value <= high]
        if len(found) <= most:
            return tuple((value, f"{value:,.10g}") for value in found)
    return tuple((value, f"{value:,.10g}") for value in found[:: -(-len(found) // most)])
