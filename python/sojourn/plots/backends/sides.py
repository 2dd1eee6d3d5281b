"""A side of a panel with its ticks, numbers, grid and name, drawn as a handful of artists.

Matplotlib makes each tick of five artists and measures each of them several times; three quarters of the time of a
figure went there. Places and words of ticks are those that its locators and formatters give.
"""

# Matplotlib's own annotations are incomplete; our calls stay checked, their arguments do not.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeVar, cast

import numpy as np
from matplotlib import font_manager, rcParams
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backend_bases import RendererBase
from matplotlib.ft2font import LoadFlags
from matplotlib.lines import Line2D
from matplotlib.markers import TICKDOWN, TICKLEFT
from matplotlib.text import Text
from matplotlib.transforms import Bbox, IdentityTransform

_POINTS_PER_INCH = 72

_SIZE, _FIXED = 100.0, 65536
"""Size at which letters are measured, and what FreeType counts in."""

_LINE = 0.968
"""Height of a line over the size of its font, as Matplotlib has it: from the top of an l to the bottom of a p."""

_APART = 2.0
"""Least distance of the labels of an axis, in points."""

_COMMON_PAD = 3.0
"""Distance of what holds for all labels of a side, such as 1e6, in points; as Matplotlib has it."""

_Label = tuple[float, str, float]
"""Place of a tick along its side, what stands there, and how wide that is; in pixels."""

_Placed = TypeVar("_Placed", Line2D, Text)


def add_sides(axes: Axes, *, y_ticks: bool = True) -> tuple[Side, Side]:
    """Give axes a lower and a left side in place of Matplotlib's own.

    Parameters
    ----------
    axes
        Where to; scales, locators, formatters and names of its axes stay what they are.
    y_ticks
        Whether the left side has a grid and marks beside its labels.
    """
    sides = Side(axes, "x"), Side(axes, "y", marked=y_ticks)
    for side, axis in zip(sides, (axes.xaxis, axes.yaxis), strict=True):
        axis.set_visible(False)
        axes.add_artist(side)
        side.set_clip_on(False)
    return sides


class Side(Artist):
    """The lower or left side of a panel.

    Parameters
    ----------
    axes
        The panel.
    which
        `x` for the lower side, `y` for the left one.
    marked
        Whether it has a grid and marks.

    Attributes
    ----------
    numbered
        Whether its ticks have labels.
    """

    def __init__(self, axes: Axes, which: Literal["x", "y"], *, marked: bool = True) -> None:
        super().__init__()
        self._panel = axes
        self._which = which
        self._along = 0 if which == "x" else 1
        self._marked = marked
        self.numbered = True
        self._style = _Style.of(f"{which}tick")
        self.set_zorder(0.5)  # below all marks, as Matplotlib's own axes with `axes.axisbelow`

    @property
    def _axis(self) -> Axis:
        return self._panel.xaxis if self._which == "x" else self._panel.yaxis

    @property
    def _scale(self) -> float:
        """Pixels per point."""
        return self._panel.figure.dpi / _POINTS_PER_INCH

    def _places(self, values: np.ndarray) -> np.ndarray:
        """Return where values lie along the side in pixels, without those outside of it as NaN."""
        ends = np.asarray(self._axis.get_view_interval())
        corners = np.zeros((len(values) + 2, 2))
        corners[:, 1 - self._along] = self._panel.viewLim.get_points()[0, 1 - self._along]
        corners[:, self._along] = np.concatenate((values, ends))
        places = self._panel.transData.transform(corners)[:, self._along]
        low, high = sorted(places[-2:])
        slack = 1e-10 * (high - low)
        return np.where((places[:-2] >= low - slack) & (places[:-2] <= high + slack), places[:-2], np.nan)

    def _labels(self) -> list[_Label]:
        """Return place, words and width of each label in pixels, without those that would touch another."""
        if not self.numbered:
            return []
        values = self._axis.get_majorticklocs()
        words = self._axis.get_major_formatter().format_ticks(values.tolist())
        found = [
            (float(place), text, _width(text, self._style.size) * self._scale)
            for place, text in zip(self._places(values), words, strict=True)
            if text and np.isfinite(place)
        ]
        return _apart(found, _APART * self._scale) if self._which == "x" else found

    def words(self) -> list[str]:
        """Return the labels of its ticks that are drawn."""
        return [text for _, text, _ in self._labels()]

    def _edges(self, labels: Sequence[_Label]) -> tuple[float, float]:
        """Return where labels begin, and where the name does: lower ends count down, left ones to the left."""
        style, scale = self._style, self._scale
        marks = style.marks[0].length if self._marked else 0.0
        start = (self._panel.bbox.y0 if self._which == "x" else self._panel.bbox.x0) - marks * scale
        if not labels:
            return start, start - style.name_pad * scale
        start -= style.pad * scale
        end = start - _height(style.size) * scale if self._which == "x" else start - max(width for *_, width in labels)
        return start, end - style.name_pad * scale

    def texts(self) -> list[Text]:
        """Return everything written on the side."""
        box, style, lower = self._panel.bbox, self._style, self._which == "x"
        labels = self._labels()
        edge, name_edge = self._edges(labels)
        size = {"fontsize": style.size}
        if lower:
            size |= {"ha": "center", "va": "top"}
            texts = [self._text(place, edge, words, **size) for place, words, _ in labels]
        else:
            size |= {"ha": "right", "va": "center_baseline"}
            texts = [self._text(edge, place, words, **size) for place, words, _ in labels]
        if common := self._common(labels):
            if lower:
                below = name_edge + (style.name_pad - _COMMON_PAD) * self._scale
                size |= {"ha": "right"}
                texts.append(self._text(box.x1, below, common, **size))
            else:
                size |= {"ha": "left", "va": "baseline"}
                above = box.y1 + _COMMON_PAD * self._scale
                texts.append(self._text(box.x0, above, common, **size))
        if name := self._axis.get_label_text():
            size = {"fontsize": style.name_size, "ha": "center"}
            if lower:
                size |= {"va": "top"}
                texts.append(self._text(0.5 * (box.x0 + box.x1), name_edge, name, **size))
            else:
                size |= {"va": "bottom", "rotation": "vertical", "rotation_mode": "anchor"}
                texts.append(self._text(name_edge, 0.5 * (box.y0 + box.y1), name, **size))
        return texts

    def _common(self, labels: Sequence[_Label]) -> str:
        """Return what holds for all labels, such as 1e6."""
        return self._axis.get_major_formatter().get_offset() if labels else ""

    def _text(self, x: float, y: float, words: str, **style: Any) -> Text:  # noqa: ANN401 - as Matplotlib takes it
        text = Text(x, y, words, color=self._style.ink, parse_math=False, **style)
        text.set_fontfamily(self._style.family)
        return self._placed(without_ligatures(text))

    def _placed(self, artist: _Placed) -> _Placed:
        """Return an artist of this figure whose places are pixels."""
        artist.set_figure(self._panel.figure)
        artist.set_transform(IdentityTransform())
        return artist

    def get_window_extent(self, renderer: RendererBase | None = None) -> Bbox:
        """Return what the side takes for the layout; its name, which may be longer than it, counts by its height."""
        del renderer  # the metrics of the font are the same for all files
        box, style = self._panel.bbox, self._style
        labels = self._labels()
        edge, name_edge = self._edges(labels)
        high = _height(style.size) * self._scale
        name = _height(style.name_size) * self._scale if self._axis.get_label_text() else 0.0
        common = _COMMON_PAD * self._scale + high if self._common(labels) else 0.0
        if self._which == "x":
            left = min((place - width / 2 for place, _, width in labels), default=box.x0)
            right = max((place + width / 2 for place, _, width in labels), default=box.x1)
            below = edge - high - common if labels else edge
            below = min(below, name_edge - name) if name else below
            return Bbox.from_extents(min(box.x0, left), below, max(box.x1, right), box.y1)
        low = min((place - high / 2 for place, *_ in labels), default=box.y0)
        top = max((place + high / 2 for place, *_ in labels), default=box.y1)
        left = min((edge - width for *_, width in labels), default=edge)
        left = min(left, name_edge - name) if name else left
        return Bbox.from_extents(left, min(box.y0, low), box.x1, max(box.y1 + common, top))

    def get_tightbbox(self, renderer: RendererBase | None = None) -> Bbox:
        """Return the same: nothing of it is cut off."""
        return self.get_window_extent(renderer)

    def draw(self, renderer: RendererBase) -> None:
        """Draw grid, marks, labels and name."""
        group = f"{self._which}-side"
        renderer.open_group(group)
        if self._marked:
            for line in self._lines():
                line.draw(renderer)
        for text in self.texts():
            text.draw(renderer)
        renderer.close_group(group)
        self.stale = False

    def _lines(self) -> list[Line2D]:
        """Return the grid, and the marks of larger and smaller ticks."""
        box, style, lower = self._panel.bbox, self._style, self._which == "x"
        near, far = (box.y0, box.y1) if lower else (box.x0, box.x1)
        large, small = (
            places[np.isfinite(places)]
            for places in (self._places(self._axis.get_majorticklocs()), self._places(self._axis.get_minorticklocs()))
        )
        grid = self._line(
            np.repeat(large, 3), np.tile((near, far, np.nan), len(large)), color=style.grid, linewidth=style.grid_width
        )
        grid.set_clip_path(self._panel.patch)
        marks = [
            self._line(
                places,
                np.full(len(places), near),
                color=style.colour,
                linestyle="none",
                marker=TICKDOWN if lower else TICKLEFT,
                markersize=mark.length,
                markeredgewidth=mark.width,
            )
            for places, mark in zip((large, small), style.marks, strict=True)
            if len(places)
        ]
        return [grid, *marks]

    def _line(self, along: np.ndarray, across: np.ndarray, **style: Any) -> Line2D:  # noqa: ANN401 - as Matplotlib takes it
        x, y = (along, across) if self._which == "x" else (across, along)
        return self._placed(Line2D(x, y, **style))


@dataclass(frozen=True)
class _Mark:
    """Length and width of a tick's mark, in points."""

    length: float
    width: float


@dataclass(frozen=True)
class _Style:
    """Look of a side; sizes in points. Read when it is made, since it may be drawn with other settings."""

    family: list[str]
    size: float
    ink: str
    colour: str
    pad: float
    marks: tuple[_Mark, _Mark]
    grid: str
    grid_width: float
    name_size: float
    name_pad: float

    @classmethod
    def of(cls, kind: str) -> _Style:
        """Return what Matplotlib is set to, for `xtick` or `ytick`."""
        rc: Any = rcParams
        return cls(
            family=rc["font.family"],
            size=rc[f"{kind}.labelsize"],
            ink=rc[f"{kind}.labelcolor"],
            colour=rc[f"{kind}.color"],
            pad=rc[f"{kind}.major.pad"],
            marks=(
                _Mark(rc[f"{kind}.major.size"], rc[f"{kind}.major.width"]),
                _Mark(rc[f"{kind}.minor.size"], rc[f"{kind}.minor.width"]),
            ),
            grid=rc["grid.color"],
            grid_width=rc["grid.linewidth"],
            name_size=rc["axes.labelsize"],
            name_pad=rc["axes.labelpad"],
        )


def without_ligatures(text: Text) -> Text:
    """Let ff, fi and ti be written letter by letter: in a PDF each ligature takes a copy of the font."""
    if hasattr(text, "set_fontfeatures"):  # since Matplotlib 3.11, which has ligatures
        cast("Any", text).set_fontfeatures(("-liga",))
    return text


def _apart(labels: Sequence[_Label], apart: float) -> list[_Label]:
    """Leave out labels that would touch another; round ones stay."""
    kept: list[int] = []
    for one in sorted(range(len(labels)), key=lambda n: (_roundness(labels[n][1]), n)):
        place, _, width = labels[one]
        if all(abs(place - labels[other][0]) > 0.5 * (width + labels[other][2]) + apart for other in kept):
            kept.append(one)
    return [labels[one] for one in sorted(kept)]


def _roundness(words: str) -> int:
    """Return 0 for powers of ten, 1 for other labels."""
    return 0 if set(words.strip("0.,")) <= {"1"} else 1


@cache
def _advance(character: str, family: str) -> float:
    """Return how far a character moves the pen, over the size of the font."""
    found = font_manager.findfont(font_manager.FontProperties(family=[family]))
    font = font_manager.get_font(found)
    font.set_size(_SIZE, _POINTS_PER_INCH)
    glyph = font.load_char(ord(character), flags=LoadFlags.NO_HINTING)
    return glyph.linearHoriAdvance / _FIXED / _SIZE


def _width(text: str, size: float) -> float:
    """Return the width of words in points; a whole line is measured by Matplotlib in the time of a hundred letters."""
    family = rcParams["font.family"][0]
    return size * max(sum(_advance(one, family) for one in line) for line in text.split("\n"))


def _height(size: float) -> float:
    """Return the height of a line in points."""
    return _LINE * size
