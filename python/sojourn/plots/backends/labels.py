"""Places for labels, so that they cover neither each other nor what they stand beside.

Everything is in points, with y upwards. Greedy: the label of a dot takes the first free place around it, near
ones first, and the label of a reference line the first along it; if none is free, the one that covers least.

Packages that place labels (adjustText 1.3, textalloc 1.2) move the labels of dots by trial and error for
seconds, and know of no reference lines.
"""

# Matplotlib's own annotations are incomplete; our calls stay checked, their arguments do not.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
from matplotlib.axes import Axes

from sojourn.plots import spec, styles

_POINTS_PER_INCH = 72

_LETTER, _LINE = 0.62, 1.1
"""Width of a letter and height of a line over the size of the font; chosen: DejaVu Sans, digits mostly."""

_DISTANCES = (5.0, 10.0, 16.0, 23.0, 31.0, 40.0)
"""Distances from a dot, in points, at which places are tried; chosen: beside the marker, then away from it."""

_DIRECTIONS = (0, 180, 90, 270, 45, 315, 135, 225, 20, 340, 160, 200, 70, 290, 110, 250)
"""Directions in degrees, the best to read first."""

BACKGROUND = {"facecolor": styles.PAPER, "edgecolor": "none", "alpha": 0.8, "pad": 0.6}
"""Paper behind words that have to stand on something."""

_ALONG = {"y": (1.0, 0.0, 0.5, 0.75, 0.25), "x": (0.48, 0.75, 0.25, 0.9, 0.1)}
"""Positions of a label along a reference line, as shares of its length, the best to read first."""

_BESIDE = 2.0
"""Air between a reference line and its label."""

_STRIDE = 3.0
"""Distance of the points by which a curve stands, when it is asked what a label would cover."""

_MARKER = 3.0
"""Half the width of a marker, with some air."""


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
    """Offset of a label's middle from its dot, and the area that it covers there."""

    dx: float
    dy: float
    box: Box

    @property
    def is_near(self) -> bool:
        """True if it is clear without a line which dot is meant."""
        beside = max(0.0, abs(self.dx) - 0.5 * (self.box.right - self.box.left))
        above = max(0.0, abs(self.dy) - 0.5 * (self.box.top - self.box.bottom))
        return math.hypot(beside, above) <= _DISTANCES[0] + 0.5


def places(
    labelled: Sequence[tuple[float, float, str]],
    others: Sequence[tuple[float, float]],
    frame: Box,
    size: float,
    lines: np.ndarray | None = None,
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
    lines
        Points on lines that labels should not cross, one below the other.
    """
    crossed = np.zeros((0, 2)) if lines is None else lines
    dots = [
        Box(x - _MARKER, y - _MARKER, x + _MARKER, y + _MARKER) for x, y in (*((x, y) for x, y, _ in labelled), *others)
    ]
    taken: list[Box] = []
    found: list[Place] = []
    for x, y, text in labelled:
        best = min(
            enumerate(_candidates(x, y, text, size)),
            key=lambda item: (
                round(
                    _covered(item[1].box, dots, taken)
                    + item[1].box.outside(frame)
                    + _STRIDE * _points_in(item[1].box, crossed),
                    3,
                ),
                item[0],
            ),
        )[1]
        taken.append(best.box)
        found.append(best)
    return found


def _covered(box: Box, dots: Sequence[Box], taken: Sequence[Box]) -> float:
    return sum(box.overlap(other) for other in dots) + 2 * sum(box.overlap(other) for other in taken)


def _candidates(x: float, y: float, text: str, size: float) -> Iterator[Place]:
    half_width, half_height = 0.5 * _LETTER * size * len(text), 0.5 * _LINE * size
    for distance in _DISTANCES:
        for degrees in _DIRECTIONS:
            across, up = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
            dx = across * distance + (half_width if across > 0.1 else -half_width if across < -0.1 else 0)
            dy = up * (distance + half_height)
            middle = x + dx, y + dy
            yield Place(
                dx,
                dy,
                Box(middle[0] - half_width, middle[1] - half_height, middle[0] + half_width, middle[1] + half_height),
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
        _drawn([mark for mark in panel.marks if isinstance(mark, spec.Line | spec.Dots)], axes),
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


def write_rules(panel: spec.Panel, axes: Axes, size: float) -> None:
    """Write the labels of a panel's reference lines, where they cover least of its curves."""
    rules = [mark for mark in panel.marks if isinstance(mark, spec.Rule) and mark.label]
    if not rules:
        return
    covered = _drawn(panel.marks, axes)
    scale = _POINTS_PER_INCH / axes.figure.dpi
    frame = Box(*(float(edge) for edge in (scale * axes.get_window_extent().get_points()).ravel()))
    for rule in rules:
        at = scale * axes.transData.transform(_on(rule, axes))
        best = min(
            enumerate(_beside(rule, float(at[0]), float(at[1]), frame, size)),
            key=lambda item: (_points_in(item[1], covered) + item[1].outside(frame), item[0]),
        )[1]
        middle = 0.5 * (best.left + best.right), 0.5 * (best.bottom + best.top)
        label = axes.annotate(
            rule.label,
            (middle[0] - frame.left, middle[1] - frame.bottom),
            xycoords="axes points",
            ha="center",
            va="center",
            rotation=90 if rule.along == "x" else 0,
            fontsize=size,
            color=styles.look_of(rule.look).colour,
            bbox=BACKGROUND if _points_in(best, covered) else None,
            zorder=3.0,
        )
        label.set_in_layout(False)
        inner = _grid(best)
        covered = np.concatenate((covered, inner))


def _on(rule: spec.Rule, axes: Axes) -> tuple[float, float]:
    """Return a place of a reference line that the axes show."""
    return (rule.at, axes.get_ylim()[0]) if rule.along == "x" else (axes.get_xlim()[0], rule.at)


def _beside(rule: spec.Rule, x: float, y: float, frame: Box, size: float) -> Iterator[Box]:
    long, high = _LETTER * size * len(rule.label), _LINE * size
    for share in _ALONG[rule.along]:
        for side in (1, -1):
            if rule.along == "y":
                left = frame.left + _BESIDE + share * (frame.right - frame.left - long - 2 * _BESIDE)
                bottom = y + _BESIDE if side > 0 else y - _BESIDE - high
                yield Box(left, bottom, left + long, bottom + high)
            else:
                left = x + _BESIDE if side > 0 else x - _BESIDE - high
                bottom = frame.bottom + share * (frame.top - frame.bottom - long)
                yield Box(left, bottom, left + high, bottom + long)


def _drawn(marks: Sequence[spec.Mark], axes: Axes) -> np.ndarray:
    """Return points on everything that a label should not cover, one below the other."""
    scale = _POINTS_PER_INCH / axes.figure.dpi
    found = [np.zeros((0, 2))]
    for mark in marks:
        if isinstance(mark, spec.Line) and len(mark.x):
            x, y = np.asarray(mark.x, dtype=float), np.asarray(mark.y, dtype=float)
            if mark.step:
                x, y = np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]
            found.append(_along(scale * axes.transData.transform(np.column_stack((x, y)))))
        elif isinstance(mark, spec.Dots) and len(mark.x):
            found.append(scale * axes.transData.transform(np.column_stack((mark.x, mark.y))))
            if mark.low is not None and mark.high is not None:
                for low, high, y in zip(mark.low, mark.high, mark.y, strict=True):
                    found.append(_along(scale * axes.transData.transform([(low, y), (high, y)])))
        elif isinstance(mark, spec.Rule):
            (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
            ends = [(mark.at, low), (mark.at, high)] if mark.along == "x" else [(left, mark.at), (right, mark.at)]
            found.append(_along(scale * axes.transData.transform(ends)))
    points = np.concatenate(found)
    return points[np.isfinite(points).all(axis=1)]


def _along(corners: np.ndarray) -> np.ndarray:
    """Return points on a polyline, close to each other."""
    steps = np.hypot(*np.diff(corners, axis=0).T)
    steps = np.where(np.isfinite(steps), np.minimum(steps, 1e4), 0.0)
    length = np.concatenate(([0.0], np.cumsum(steps)))
    wanted = np.arange(0.0, length[-1] + _STRIDE, _STRIDE)
    return np.column_stack([np.interp(wanted, length, corners[:, side]) for side in (0, 1)])


def _points_in(box: Box, points: np.ndarray) -> int:
    inside = (
        (points[:, 0] > box.left) & (points[:, 0] < box.right) & (points[:, 1] > box.bottom) & (points[:, 1] < box.top)
    )
    return int(inside.sum())


def _grid(box: Box) -> np.ndarray:
    across = np.arange(box.left, box.right, _STRIDE)
    up = np.arange(box.bottom, box.top, _STRIDE)
    return np.array([(x, y) for x in across for y in up])
