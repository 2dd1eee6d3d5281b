"""Draws a `PlotSpec` with Matplotlib, and writes SVG and PDF with the same bytes every time.

No window system and no global state is touched: figures are made directly, not through `pyplot`.
"""

# Matplotlib's own annotations are incomplete; our calls stay checked, their arguments do not.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

# Before anything else of Matplotlib.
from sojourn.plots.backends.library import DEFAULTS, mpl

# isort: split

import numpy as np
from matplotlib import font_manager
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter, FixedLocator, NullFormatter, NullLocator

from sojourn.base.files import new_file, write_file
from sojourn.plots import spec, styles
from sojourn.plots.backends import labels
from sojourn.plots.backends.sides import Side, add_sides, without_ligatures

_MILLIMETRES_PER_INCH = 25.4
_POINTS_PER_INCH = 72  # the unit of both files
_WEIGHTS = {"thin": 0.8, "normal": 1.3, "bold": 1.8}
_ALPHA = {"thin": 0.6, "normal": 1.0, "bold": 1.0}


@dataclass(frozen=True)
class Font:
    """Font of plots: a family that Matplotlib finds, and its size in points."""

    family: str = "DejaVu Sans"
    size: float = 7.5


HEADROOM = 1.05
"""An axis with an open end goes to this multiple of the largest value. chosen: Matplotlib's margins."""


def _set_up(font: Font) -> dict[str, Any]:
    """Return what Matplotlib is set to."""
    return {
        "font.family": font.family,
        "font.size": font.size,
        # Hinted for a screen of 72 dpi, letters are 6 % narrower than in the files, and long labels lose their beginning.
        "text.hinting": "none",
        "axes.titlesize": font.size + 0.5,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.labelsize": font.size,
        "axes.edgecolor": styles.MUTED,
        "axes.labelcolor": styles.INK,
        "axes.linewidth": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": styles.GRID,
        "grid.linewidth": 0.6,
        "text.color": styles.INK,
        "xtick.color": styles.MUTED,
        "ytick.color": styles.MUTED,
        "xtick.labelcolor": styles.INK,
        "ytick.labelcolor": styles.INK,
        "xtick.labelsize": font.size - 0.5,
        "ytick.labelsize": font.size - 0.5,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "figure.facecolor": styles.PAPER,
        "axes.facecolor": styles.PAPER,
        "legend.frameon": False,
        "legend.fontsize": font.size,
        "svg.fonttype": "none",
        "text.parse_math": False,  # names are not trusted, and no formulas
        "pdf.fonttype": 42,
        "path.simplify": True,
        "hatch.linewidth": 0.5,
    }


@contextmanager
def _settings(name: str, font: Font) -> Generator[None]:
    with (
        mpl.rc_context(cast("Any", {**DEFAULTS, **_set_up(font), "svg.hashsalt": name})),
        np.errstate(all="ignore"),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # of values that no axis can hold, and of signs that no font has
        yield


def draw(plot: spec.PlotSpec) -> Figure:
    """Return the figure, ready to be saved or shown."""
    with _settings(plot.name, Font()):
        return _figure(plot)


def svg(plot: spec.PlotSpec) -> str:
    """Return the plot as SVG text; equal plots give equal bytes."""
    with _settings(plot.name, Font()):
        return _svg(_laid_out(plot), plot)


def font_names() -> list[str]:
    """Return the names of all fonts that Matplotlib finds."""
    return sorted(set(font_manager.get_font_names()))


def save(
    plot: spec.PlotSpec, directory: Path, *, root: Path | None = None, pdf: bool = False, font: Font | None = None
) -> str:
    """Write `<name>.svg` into a directory; return its text.

    Parameters
    ----------
    plot
        What to draw.
    directory
        Where to.
    root
        The result around it, if it is one; no link below that is followed.
    pdf
        Also write `<name>.pdf`, with real fonts, as journals want it; takes as long again.
    font
        Its font, if not that of reports.
    """
    with _settings(plot.name, font or Font()):
        figure = _laid_out(plot)
        text = _svg(figure, plot)
        write_file(directory / f"{plot.name}.svg", text, root=root)
        if not pdf:
            return text
        from matplotlib.backends.backend_pdf import FigureCanvasPdf  # a quarter of all that is loaded

        epoch = datetime(1970, 1, 1, tzinfo=UTC)  # equal plots give equal bytes
        figure.set_dpi(_POINTS_PER_INCH)
        with new_file(directory / f"{plot.name}.pdf", root=root) as file:
            FigureCanvasPdf(figure).print_pdf(
                file, metadata={"Title": plot.title, "CreationDate": epoch, "ModDate": epoch}
            )
        return text


def _laid_out(plot: spec.PlotSpec) -> Figure:
    """Return a figure whose parts have their places, so that each file only has to be drawn."""
    figure = _figure(plot)
    for text in _texts(figure):
        without_ligatures(text)
    figure.set_layout_engine("none")
    return figure


def _texts(figure: Figure) -> Iterator[Text]:
    """Yield texts beside the sides of panels; asked for all, Matplotlib would make invisible ticks."""
    yield from figure.texts
    legends = [*figure.legends]
    for axes in figure.axes:
        yield from axes.texts
        if (legend := axes.get_legend()) is not None:
            legends.append(legend)
    for legend in legends:
        yield from legend.get_texts()


def _svg(figure: Figure, plot: spec.PlotSpec) -> str:
    buffer = io.StringIO()
    FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None, "Title": plot.title})
    return _NO_XML.sub("\ufffd", buffer.getvalue())


_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Signs that no XML holds, and those that steer terminals: names are not trusted."""


def _figure(plot: spec.PlotSpec) -> Figure:
    rows = -(-len(plot.panels) // plot.columns)
    figure = Figure(
        figsize=(plot.width / _MILLIMETRES_PER_INCH, plot.height / _MILLIMETRES_PER_INCH),
        dpi=_POINTS_PER_INCH,
        layout="constrained",
    )
    grid = figure.add_gridspec(rows, plot.columns, width_ratios=plot.column_widths or None)
    axes: list[Axes] = []
    for place, panel in enumerate(plot.panels):
        shared = {
            name: axes[0]
            for name, is_shared in (("sharex", plot.share_x), ("sharey", plot.share_y))
            if is_shared and axes
        }
        axes.append(figure.add_subplot(grid[divmod(place, plot.columns)], **shared))
        lower, left = _panel(panel, axes[-1], place, label_lines=plot.legend == "none")
        if plot.share_x and place + plot.columns < len(plot.panels):
            lower.numbered = False  # the lowest panel of each column has numbers and name
            axes[-1].set_xlabel("")
        left.numbered = not plot.share_y or place % plot.columns == 0
    if plot.title:
        figure.suptitle(plot.title, x=0.005, ha="left", fontsize=mpl.rcParams["font.size"] + 1.5, fontweight="bold")
    handles = _handles(plot) if plot.legend == "below" else []
    if handles:
        legend = figure.legend(
            handles=handles,
            loc="outside lower center",
            ncols=_legend_columns(list(plot.named_marks()), plot.width),
            handlelength=2.4,
            columnspacing=1.6,
        )
        _name(legend.legend_handles, spec.LEGEND)
        for number, text in enumerate(legend.get_texts()):
            text.set_gid(f"{spec.LEGEND}-{number}-words")
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)  # labels need to know how large the panels are
    for place, (panel, axis) in enumerate(zip(plot.panels, axes, strict=True)):
        ends = "_".join(f"{end:.9g}" for end in (*axis.get_xlim(), *axis.get_ylim()))
        axis.set_gid(f"{spec.PANEL}-{place}_{ends}".replace("+", ""))
        labels.write(panel, axis, mpl.rcParams["font.size"] - 1)
        labels.write_rules(panel, axis, mpl.rcParams["font.size"] - 1)
    return figure


def _legend_columns(labels: list[str], width: float) -> int:
    """Return how many entries of a legend stand beside each other: six at most, and what the width has room for."""
    size = mpl.rcParams["font.size"]
    room = width / _MILLIMETRES_PER_INCH * _POINTS_PER_INCH
    rows = -(-len(labels) // 6)
    while rows < len(labels):
        columns = -(-len(labels) // rows)
        # Entries go down the columns; each has its sign, and air, beside its letters.
        parts = [labels[start : start + rows] for start in range(0, len(labels), rows)]
        if sum((0.58 * max(map(len, part)) + 4.8) * size for part in parts) <= room:
            return columns
        rows += 1
    return 1


def _name(artists: Iterable[Artist | None], prefix: str) -> None:
    """Give each artist a name of its own, by which a page finds it."""
    start = prefix if prefix == spec.LEGEND else f"{spec.MARK}-{prefix}"
    for number, artist in enumerate(artists):
        if artist is not None:
            artist.set_gid(f"{start}-{number}")


def _show_marks_at_the_edge(axes: Axes) -> None:
    """Draw marks whole that stand on the edge of a panel; what lies beyond it is cut off."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    for line in axes.lines:
        if line.get_linestyle() != "None":
            continue
        x, y = (np.asarray(side, dtype=float) for side in line.get_data())
        outside = (x < left) | (x > right) | (y < low) | (y > high)
        line.set_clip_on(bool(outside.any()))
        line.set_in_layout(False)


def _panel(panel: spec.Panel, axes: Axes, place: int, *, label_lines: bool) -> tuple[Side, Side]:
    """Draw a panel with its place in the plot; return its lower and its left side."""
    _axis(panel.x, axes, "x")
    _axis(panel.y, axes, "y")
    if panel.title:
        # At a height of its own: Matplotlib would look for ticks above.
        without_ligatures(axes.set_title(panel.title, y=1.0))
    for number, mark in enumerate(panel.marks):
        _name(_DRAW[type(mark)](mark, axes), f"{place}-{number}")
    # Limits come last: an open end is left to what was drawn.
    axes.set_xlim(panel.x.low, panel.x.high)
    axes.set_ylim(panel.y.low, panel.y.high)
    if panel.y.high is None and panel.y.low is not None and panel.y.scale == "linear":
        low, high = axes.get_ylim()
        # Margins are those of the data, which may be far from the lower end.
        axes.set_ylim(low, max(high, low + HEADROOM * (axes.dataLim.y1 - low)))
    _show_marks_at_the_edge(axes)
    for axis, side, (low, high) in ((panel.x, axes.xaxis, axes.get_xlim()), (panel.y, axes.yaxis, axes.get_ylim())):
        if axis.scale == "log" and not axis.ticks:
            ticks = spec.log_ticks(low, high)
            side.set_major_locator(FixedLocator([position for position, _ in ticks]))
            side.set_major_formatter(FixedFormatter([text for _, text in ticks]))
            side.set_minor_formatter(NullFormatter())
    rows = panel.y.ticks and any(isinstance(mark, spec.Bars | spec.Dots | spec.Cells) for mark in panel.marks)
    sides = add_sides(axes, y_ticks=not rows)
    if panel.legend != "none":
        axes.legend(loc="best", handlelength=2.4)
    elif label_lines:
        _label_lines(panel, axes)
    return sides


def _axis(axis: spec.Axis, axes: Axes, which: str) -> None:
    side = axes.xaxis if which == "x" else axes.yaxis
    if which == "x":
        axes.set_xlabel(axis.label)
        axes.set_xscale(axis.scale)
        axes.margins(x=0.02)
    else:
        axes.set_ylabel(axis.label)
        axes.set_yscale(axis.scale)
    if axis.ticks:
        side.set_major_locator(FixedLocator([position for position, _ in axis.ticks]))
        side.set_minor_locator(NullLocator())
        # Not `set_ticklabels`, which makes all ticks before they are drawn, and again for each shared axis.
        side.set_major_formatter(FixedFormatter([text for _, text in axis.ticks]))


def _line(mark: spec.Line, axes: Axes) -> Sequence[Artist]:
    look = styles.look_of(mark.look)
    return axes.plot(
        mark.x,
        mark.y,
        color=look.colour,
        linestyle=_dashes(mark),
        linewidth=_WEIGHTS[mark.weight],
        alpha=_ALPHA[mark.weight],
        drawstyle="steps-post" if mark.step else "default",
        label=mark.label or "_nolegend_",
        solid_joinstyle="round",
    )


def _dashes(mark: spec.Line) -> Any:  # noqa: ANN401 - Matplotlib takes a word or a pattern
    dash = styles.look_of(mark.look).dash
    return (0, dash) if dash and not mark.solid else "-"


def _band(mark: spec.Band, axes: Axes) -> Sequence[Artist]:
    look = styles.look_of(mark.look)
    low = np.asarray(mark.low, dtype=float)
    if axes.get_yscale() == "log":  # what no logarithm shows is no reason to fall to the floor
        low = np.where(low > 0, low, np.nan)
    band = axes.fill_between(
        mark.x,
        low,
        mark.high,
        color=look.colour,
        alpha=0.22,
        linewidth=0,
        step="post" if mark.step else None,
        label=mark.label or "_nolegend_",
    )
    return [band]


def _dots(mark: spec.Dots, axes: Axes) -> Sequence[Artist]:
    look = styles.look_of(mark.look)
    drawn: list[Artist] = []
    if mark.low is not None and mark.high is not None:
        lines = axes.hlines(mark.y, mark.low, mark.high, color=look.colour, linewidth=1.4, zorder=2.4)
        drawn.append(lines)
    drawn += axes.plot(
        mark.x,
        mark.y,
        linestyle="",
        marker=look.marker or "o",
        markersize=4.2 if mark.filled else 2.4 if mark.small else 6.0,
        markerfacecolor=look.colour if mark.filled else "none",
        markeredgecolor=look.colour,
        markeredgewidth=0.0 if mark.filled else 0.4 if mark.small else 0.8,
        label=mark.label or "_nolegend_",
        zorder=2.5 if mark.filled else 2.3,  # what is filled stands inside of what is hollow
    )
    return drawn


def _bars(mark: spec.Bars, axes: Axes) -> Sequence[Artist]:
    look = styles.look_of(mark.look)
    bars = axes.barh(
        mark.y,
        mark.width,
        left=mark.left,
        height=mark.height,
        color=look.colour,
        edgecolor=styles.PAPER,
        linewidth=0.5,
        hatch=look.hatch or None,
    )
    return bars.patches


def _box(mark: spec.Box, axes: Axes) -> Sequence[Artist]:
    look = styles.look_of(mark.look)
    colour = look.colour
    half = 0.28
    axes.barh(
        mark.at,
        mark.quartile_3 - mark.quartile_1,
        left=mark.quartile_1,
        height=2 * half,
        facecolor=colour,
        alpha=0.3,
        edgecolor=colour,
    )
    axes.hlines(
        [mark.at, mark.at], [mark.lower, mark.quartile_3], [mark.quartile_1, mark.upper], color=colour, linewidth=1.0
    )
    axes.vlines(mark.median, mark.at - half, mark.at + half, color=colour, linewidth=2.0)
    axes.plot(
        mark.outliers,
        np.full(len(mark.outliers), mark.at),
        linestyle="",
        marker="o",
        markersize=2.2,
        markerfacecolor="none",
        markeredgecolor=colour,
        markeredgewidth=0.7,
    )
    return ()


_SHADES = (0.05, 0.65)
"""Opacity of the lightest and of the darkest cell of a heat map. chosen: ink can be read on both, on light and dark paper."""


def _cells(mark: spec.Cells, axes: Axes) -> Sequence[Artist]:
    colour = styles.look_of(mark.look).colour
    low, high = _SHADES
    axes.grid(visible=False)
    drawn: list[Artist] = []
    for cell in mark.cells:
        alpha = low + (high - low) * cell.shade
        corner = (cell.x - 0.5, cell.y - 0.5)
        drawn.append(axes.add_patch(Rectangle(corner, 1.0, 1.0, facecolor=colour, alpha=alpha, linewidth=0)))
        axes.text(cell.x, cell.y, cell.text, ha="center", va="center", fontsize=mpl.rcParams["font.size"])
    return drawn


def _rule(mark: spec.Rule, axes: Axes) -> Sequence[Artist]:
    look = styles.look_of(mark.look)
    draw_rule = cast("Callable[..., Any]", axes.axvline if mark.along == "x" else axes.axhline)
    draw_rule(mark.at, color=look.colour, linewidth=0.8, linestyle=(0, look.dash) if look.dash else "-", zorder=1.5)
    return ()


def _note(mark: spec.Note, axes: Axes) -> Sequence[Artist]:
    axes.text(
        mark.x,
        mark.y,
        mark.text,
        ha=mark.align,
        va="center",
        fontsize=mpl.rcParams["font.size"] - 1,
        color=styles.look_of(mark.look).colour,
        bbox=labels.BACKGROUND,
    )
    return ()


_DRAW: dict[type, Callable[[Any, Axes], Sequence[Artist]]] = {
    spec.Line: _line,
    spec.Band: _band,
    spec.Dots: _dots,
    spec.Bars: _bars,
    spec.Box: _box,
    spec.Cells: _cells,
    spec.Rule: _rule,
    spec.Note: _note,
}


def _label_lines(panel: spec.Panel, axes: Axes) -> None:
    """Write each curve's name at its end, moved apart where the ends are close."""
    low, high = axes.get_ylim()
    logarithmic = panel.y.scale == "log"

    def place(value: float) -> float:
        if logarithmic:
            return float(np.log(value / low) / np.log(high / low))
        return (value - low) / (high - low)

    ends: list[tuple[float, spec.Line]] = []
    for mark in panel.marks:
        if isinstance(mark, spec.Line) and mark.label:
            known = np.flatnonzero(np.isfinite(mark.y))
            if len(known):
                ends.append((min(max(place(float(mark.y[known[-1]])), 0.0), 1.0), mark))
    ends.sort(key=lambda end: end[0])
    least = 0.075
    heights: list[float] = []
    for height, _ in ends:
        heights.append(max(height, heights[-1] + least) if heights else height)
    overshoot = (heights[-1] - 1.0) if heights else 0.0
    for number in range(len(heights)):
        shift = max(0.0, overshoot)
        heights[number] = max(heights[number] - shift, number * least)
    for height, (_, mark) in zip(heights, ends, strict=True):
        axes.annotate(
            mark.label,
            (1.0, height),
            xycoords="axes fraction",
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=mpl.rcParams["font.size"] - 0.5,
            color=styles.look_of(mark.look).colour,
            annotation_clip=False,
        )


def _handles(plot: spec.PlotSpec) -> list[Line2D | Patch]:
    """Return one legend entry per label, in the order of first appearance."""
    return [_handle(mark) for mark in plot.named_marks().values()]


def _handle(mark: spec.Line | spec.Dots | spec.Bars | spec.Band | spec.Cells) -> Line2D | Patch:
    look = styles.look_of(mark.look)
    if isinstance(mark, spec.Cells):
        return Patch(
            facecolor=look.colour, edgecolor="none", label=f"{mark.label}: the darker, the more", alpha=_SHADES[1]
        )
    if isinstance(mark, spec.Bars | spec.Band):
        alpha = 0.22 if isinstance(mark, spec.Band) else 1.0
        return Patch(facecolor=look.colour, edgecolor="none", label=mark.label, alpha=alpha)
    if isinstance(mark, spec.Line):
        return Line2D(
            [],
            [],
            color=look.colour,
            linestyle=_dashes(mark),
            linewidth=_WEIGHTS[mark.weight],
            alpha=_ALPHA[mark.weight],
            label=mark.label,
        )
    return Line2D(
        [],
        [],
        color=look.colour,
        linestyle="",
        marker=look.marker or "o",
        markersize=5,
        markerfacecolor=look.colour if mark.filled else "none",
        markeredgewidth=0.0 if mark.filled else 0.9,
        label=mark.label,
    )
