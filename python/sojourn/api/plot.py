"""Plots as notebooks show and save them."""

from __future__ import annotations

import html
from dataclasses import fields
from pathlib import Path
from typing import Any, Self

from sojourn.base.errors import UsageError
from sojourn.base.files import new_file, write_file
from sojourn.plots.backends import mpl
from sojourn.plots.spec import PlotSpec


class Plot(PlotSpec):
    """A plot that shows itself in a notebook, and has `save("delay.svg")`."""

    @classmethod
    def of(cls, plot: PlotSpec) -> Self:
        """Return a plot with what draws it."""
        return cls(**{field.name: getattr(plot, field.name) for field in fields(plot)})

    def _repr_svg_(self) -> str:
        """Draw the plot where a notebook shows it, with words for those who do not see it."""
        words = html.escape(". ".join(part for part in (self.title, self.description) if part))
        return mpl.svg(self).replace("<svg ", f'<svg role="img" aria-label="{words}" ', 1)

    def save(self, path: str | Path) -> Path:
        """Write the plot into a file, as its suffix says: `.svg`, `.pdf` or `.png`.

        Parameters
        ----------
        path
            The file; replaced if it is there.

        Raises
        ------
        UsageError
            If it is another kind of file.
        """
        path = Path(path)
        if path.suffix not in (".svg", ".pdf", ".png"):
            raise UsageError(
                f"{path}: plots are not written as {path.suffix or 'files without suffix'}", "use .svg, .pdf or .png"
            )
        if path.suffix == ".svg":
            write_file(path, mpl.svg(self))
        else:
            figure: Any = mpl.draw(self)  # its own annotations are incomplete
            with new_file(path) as file:
                figure.savefig(file, format=path.suffix[1:], dpi=200)
        return path
