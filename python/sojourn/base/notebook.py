"""Scenarios, runs and results in notebooks, progress, and frames for pandas."""

from __future__ import annotations

import html
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sojourn.base.errors import UsageError

if TYPE_CHECKING:
    import polars as pl


def in_notebook() -> bool:
    """Return whether this runs in a notebook: IPython with a kernel.

    Examples
    --------
    >>> in_notebook()
    False
    """
    library: Any = sys.modules.get("IPython")
    shell = None if library is None else library.get_ipython()
    return getattr(shell, "kernel", None) is not None


class NotebookBar:
    """A bar below a cell, drawn by what every notebook has: no widget has to be installed."""

    def __init__(self) -> None:
        self._library: Any = __import__("IPython.display").display
        self._handle: Any = None

    def show(self, share: float, text: str) -> None:
        """Draw the bar, or draw it again."""
        page = f'<progress value="{share:.4f}" max="1"></progress> {html.escape(text)}'
        if self._handle is None:
            self._handle = self._library.display(self._library.HTML(page), display_id=True)
        else:
            self._handle.update(self._library.HTML(page))

    def stop(self, text: str) -> None:
        """Leave a line in the place of a bar, if there is one."""
        if self._handle is not None:
            self._handle.update(self._library.HTML(html.escape(text)))


def table_html(title: str, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a small table under a title.

    Examples
    --------
    >>> table_html("a < b", ["n"], [[1.5]])
    '<p>a &lt; b</p><table><tr><th>n</th></tr><tr><td>1.5</td></tr></table>'
    """
    head = "".join(f"<th>{html.escape(name)}</th>" for name in headings)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(_text(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<p>{html.escape(title)}</p><table><tr>{head}</tr>{body}</table>"


def _text(cell: object) -> str:
    if cell is None:
        return "–"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def pandas_frame(frame: pl.DataFrame) -> Any:  # noqa: ANN401 - pandas may be absent
    """Return a frame as one of pandas.

    Raises `UsageError` if pandas is not installed.
    """
    try:
        import pandas as pd  # pyright: ignore[reportMissingImports, reportMissingTypeStubs]
    except ImportError as error:
        raise UsageError("pandas is not installed", "install it with: pip install pandas") from error
    library: Any = pd
    return library.DataFrame(frame.to_dict(as_series=False))
