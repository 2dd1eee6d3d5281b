"""Places for the labels of dots, so that they cover neither each other nor other dots.

Everything is in points, with y upwards. Greedy: each label takes the first free place around its dot, near
ones first; if none is free, the one that covers least.
"""

# Matplotlib's own annotations are incomplete; what we call stays checked, what it takes is not.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from matplotlib.axes import Axes

from sojourn.plots import spec, styles

_POINTS_PER_INCH = 72

#: Width of a letter and height of a line over the size of the font; chosen: DejaVu Sans, digits mostly.
_LETTER, _LINE = 0.62, 1.1

#: Distances from a dot, in points, at which places are tried; chosen: beside the marker, then away from it.
_DISTANCES = (5.0, 10.0, 16.0, 23.0, 31.0, 40.0)

#: Directions in degrees, the best to read first.
_DIRECTIONS = (0, 180, 90, 270, 45, 315, 135, 225, 20, 340, 160, 200, 70, 290, 110, 250)

#: Half the width of a marker, with some air.
_MARKER = 3.0


@dataclass(frozen=True)
class Box:
    """A rectangle."""

    left: float
    bottom: float
    right: float
    top: float

    def overlap(self, other: Box) -> float:
        """Return the area that both cover.

        Examples
        --------
        >>> Box(0, 0, 2, 2).overlap(Box(1, 1, 3, 3)), Box(0, 0, 1, 1).overlap(Box(1, 0, 2, 1))
        (1, 0.0)
        """
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return width * height if width > 0 and height > 0 else 0.0

    def outside(self, frame: Box) -> float:
        """Return the area that lies outside of a frame."""
        return (self.right - self.left) * (self.top - self.bottom) - self.overlap(frame)


@dataclass(frozen=True)
class Place:
    """Where the middle of a label goes, from its dot, and what it covers there."""

    dx: float
    dy: float
    box: Box

    @property
    def is_near(self) -> bool:
        """Whether it is clear without a line which dot is meant."""
        beside = max(0.0, abs(self.dx) - 0.5 * (self.box.right - self.box.left))
        above = max(0.0, abs(self.dy) - 0.5 * (self.box.top - self.box.bottom))
        return math.hypot(beside, above) <= _DISTANCES[0] + 0.5


def places(
    labelled: Sequence[tuple[float, float, str]],
    others: Sequence[tuple[float, float]],
    frame: Box,
    size: float,
) -> list[Place]:
    """Find a place for each label.

    Parameters
    ----------
    labelled
        Position of each dot with a label, and its text.
    others
        Positions of all other dots.
    frame
        What labels should stay inside of.
    size
        Size of the font.
    """
    dots = [
        Box(x - _MARKER, y - _MARKER, x + _MARKER, y + _MARKER)
        for x, y in (*((x, y) for x, y, _ in labelled), *others)
    ]
    taken: list[Box] = []
    found: list[Place] = []
    for x, y, text in labelled:
        best = min(
            enumerate(_candidates(x, y, text, size)),
            key=lambda item: (
                round(_covered(item[1].box, dots, taken) + item[1].box.outside(frame), 3),
                item[0],
            ),
        )[1]
        taken.append(best.box)
        found.append(best)
    return found


def _covered(box: Box, dots: Sequence[Box], taken: Sequence[Box]) -> float:
    return sum(box.overlap(other) for other in dots) + 2 * sum(
        box.overlap(other) for other in taken
    )


def _candidates(x: float, y: float, text: str, size: float) -> Iterator[Place]:
    half_width, half_height = 0.5 * _LETTER * size * len(text), 0.5 * _LINE * size
    for distance in _DISTANCES:
        for degrees in _DIRECTIONS:
            across, up = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
            dx = across * distance + (
                half_width if across > 0.1 else -half_width if across < -0.1 else 0
            )
            dy = up * (distance + half_height)
            middle = x + dx, y + dy
            yield Place(
                dx,
                dy,
                Box(
                    middle[0] - half_width,
                    middle[1] - half_height,
                    middle[0] + half_width,
                    middle[1] + half_height,
                ),
            )


def write(panel: spec.Panel, axes: Axes, size: float) -> None:
    """Write the labels of a panel's dots; the panel has its limits and its size by now."""
    dots = [
        (float(x), float(y), text)
        for mark in panel.marks
        if isinstance(mark, spec.Dots)
        for x, y, text in zip_longest(mark.x, mark.y, mark.texts, fillvalue="")
    ]
    scale = _POINTS_PER_INCH / axes.figure.dpi
    at = scale * axes.transData.transform([(x, y) for x, y, _ in dots])
    frame = scale * axes.get_window_extent().get_points()
    wanted = [number for number, (_, _, text) in enumerate(dots) if text]
    chosen = places(
        [(float(at[n][0]), float(at[n][1]), dots[n][2]) for n in wanted],
        [(float(x), float(y)) for n, (x, y) in enumerate(at) if not dots[n][2]],
        Box(*(float(edge) for edge in frame.ravel())),
        size,
    )
    for number, place in zip(wanted, chosen, strict=True):
        x, y, text = dots[number]
        label = axes.annotate(
            text,
            (x, y),
            xytext=(place.dx, place.dy),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=size,
            color=styles.INK,
            arrowprops=None
            if place.is_near
            else {"arrowstyle": "-", "linewidth": 0.4, "color": styles.MUTED, "shrinkA": 0.5},
        )
        label.set_in_layout(False)
