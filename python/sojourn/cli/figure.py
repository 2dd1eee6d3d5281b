"""`sojourn figure`: one figure of a result for a paper, as wide as its column and in its font."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from sojourn.cli.arguments import Parser
    from sojourn.plots.backends.mpl import Font

_UNITS = {"mm": 1.0, "cm": 10.0, "in": 25.4, "pt": 25.4 / 72}
"""Millimetres of a unit."""

_LEAST, _MOST = 20.0, 2000.0
"""Ends of what is drawn, mm. chosen: a thumbnail, and a poster."""


def arguments(parser: Parser) -> None:
    from sojourn.cli.arguments import whole_number

    parser.add_argument("directory", metavar="DIR", type=Path, help="Result of a study or run.")
    parser.add_argument("name", metavar="NAME", nargs="?", help="Which figure; names all if left out.")
    parser.option("--width", "LENGTH", "Such as 88mm, 18cm or 3.5in.", type=length)
    parser.option("--height", "LENGTH", "If left out, what the panels need.", type=length)
    parser.option("--columns", "N", "Panels beside each other.", type=whole_number(1, 12))
    parser.option("--font", "NAME", "Such as 'DejaVu Serif' or STIXGeneral.", default="DejaVu Sans")
    parser.option("--font-size", "LENGTH", "Such as 8pt (default: 7.5pt).", type=length)
    parser.flag("--title", "Write its title above; captions of papers say it.")
    parser.option("--out", "DIR", "Where to (default: here).", type=Path, default=Path())


def length(text: str) -> float:
    """Read a length in mm.

    Examples
    --------
    >>> length("88mm"), round(length("3.5 in"), 3), round(length("8pt"), 3)
    (88.0, 88.9, 2.822)
    """
    import argparse

    number, unit = text.strip()[:-2].strip(), text.strip()[-2:]
    try:
        found = float(number) * _UNITS[unit]
    except (ValueError, KeyError):
        raise argparse.ArgumentTypeError(f"{text!r} is not a length such as 88mm") from None
    if not 1.0 <= found <= _MOST:
        raise argparse.ArgumentTypeError(f"{text} is out of range: 1 mm to 2 m")
    return found


def execute(options: Namespace) -> None:
    from sojourn.base.errors import UsageError
    from sojourn.base.output import writing
    from sojourn.cli.console import hand_over
    from sojourn.report.figure_files import figure_named, figures_of, write_figure

    figures = figures_of(options.directory)
    if options.name is None:
        for figure in figures:
            hand_over(f"{figure.item}\t{figure.title}")
        return
    figure = figure_named(figures, options.name, str(options.directory))
    if (options.width or _LEAST) < _LEAST or (options.height or _LEAST) < _LEAST:
        raise UsageError("a figure has 20 mm in each direction at least")
    font = _font(options.font, options.font_size)
    with writing(options.out):
        paths = write_figure(
            figure,
            options.out,
            width=options.width,
            height=options.height,
            columns=options.columns,
            font=font,
            titled=options.title,
        )
    for path in paths:
        hand_over(path)


def _font(family: str, size: float | None) -> Font:
    """Return what the figure is written in."""
    from difflib import get_close_matches

    from sojourn.base.errors import UsageError
    from sojourn.plots.backends.mpl import Font, font_names

    known = font_names()
    if family not in known:
        close = get_close_matches(family, known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"such as {', '.join(known[:8])}"
        raise UsageError(f'no font is called "{family}"', hint)
    return Font(family, size / _UNITS["pt"]) if size else Font(family)
