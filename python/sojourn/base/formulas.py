"""Texts for CSV files: a spreadsheet takes a cell that begins like a formula for one, and computes it.

Labels, names and titles come from untrusted studies and measurements. A text that begins like a formula, and is
no number with a unit, gets an apostrophe in front, as spreadsheets themselves mark a text.

Source: OWASP, "CSV Injection".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

FORMULA = r"^\s*([=@+\-|\t\r]|%.)"
"""How a formula begins in a spreadsheet; blanks in front are skipped there."""

NUMBER = r"^[+\-]?(\d[\d., ]*|\d*\.\d+)([eE][+\-]?\d+)?( ?[A-Za-zµ%°/·²³]+)*( [+\-]?\d[\d.]*)?( \([A-Z]\d+-\d+\))?$"
"""A number, perhaps with a unit: it has a sign and is no formula."""


def no_formula(text: str) -> str:
    """Return a text as a cell that no spreadsheet computes.

    Examples
    --------
    >>> no_formula("=1+cmd|' /C calc'!A0"), no_formula("-3.5 dB"), no_formula("pie")
    ("'=1+cmd|' /C calc'!A0", '-3.5 dB', 'pie')
    """
    import re

    is_formula = re.search(FORMULA, text) and not re.search(NUMBER, text)
    return f"'{text}" if is_formula else text


def without_formulas(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table whose words, and names of columns, are cells that no spreadsheet computes."""
    import polars as pl

    words = [name for name, kind in table.schema.items() if isinstance(kind, pl.String)]
    return table.with_columns(
        pl.when(pl.col(name).str.contains(FORMULA) & ~pl.col(name).str.contains(NUMBER))
        .then(pl.concat_str(pl.lit("'"), pl.col(name)))
        .otherwise(pl.col(name))
        .alias(name)
        for name in words
    ).rename(no_formula)
