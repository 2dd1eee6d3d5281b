"""How outcomes read: short lists of numbers by case."""

from __future__ import annotations

from collections.abc import Mapping


def by_case(values: Mapping[str, float], digits: int = 3, unit: str = "") -> str:
    """List values by case.

    Examples
    --------
    >>> by_case({"02": 0.12531, "03": 0.1197}, 2)
    '02: 0.13, 03: 0.12'
    """
    tail = f" {unit}" if unit else ""
    return ", ".join(f"{case}: {number(value, digits)}{tail}" for case, value in values.items())


def number(value: float, digits: int = 3) -> str:
    """Write a number with so many significant digits, without exponent; `never` if infinite.

    Examples
    --------
    >>> number(375614.0), number(0.0312), number(float("inf"))
    ('375614', '0.0312', 'never')
    """
    if value != value:
        return "–"
    if value in (float("inf"), float("-inf")):
        return "never"
    text = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e" in text and abs(value) >= 1 else text
