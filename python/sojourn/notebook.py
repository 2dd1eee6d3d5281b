"""What notebooks show of scenarios, runs and results, and frames for pandas."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sojourn.errors import UsageError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["pandas_frame", "table_html"]


def table_html(title: str, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a small table under a title.

    Examples
    --------
    >>> table_html("a < b", ["n"], [[1.5]])
    '<p>a &lt; b</p><table><tr><th>n</th></tr><tr><td>1.5</td></tr></table>'
    """
    head = "".join(f"<th>{html.escape(name)}</th>" for name in headings)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_text(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<p>{html.escape(title)}</p><table><tr>{head}</tr>{body}</table>"


def _text(cell: object) -> str:
    if cell is None:
        return "–"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def pandas_frame(frame: pl.DataFrame) -> Any:  # noqa: ANN401 - pandas may be absent
    """Return a frame as one of pandas.

    Raises
    ------
    UsageError
        If pandas is not installed.
    """
    try:
        import pandas as pd  # pyright: ignore[reportMissingImports, reportMissingTypeStubs]
    except ImportError as error:
        raise UsageError(
            "pandas is not installed", "install it with: pip install pandas"
        ) from error
    library: Any = pd
    return library.DataFrame(frame.to_dict(as_series=False))
