"""Numbers for people: significant digits, and an exponent only where zeros would have to be counted."""

from __future__ import annotations


def significant(
    value: float | None, digits: int = 4, *, sign: bool = False, unknown: str = "–", endless: str = "∞"
) -> str:
    """Write a number with N significant digits; whole numbers are written out.

    Parameters
    ----------
    value
        The number; `None` and NaN are unknown.
    digits
        How many count; of larger numbers all digits before the point are written.
    sign
        Whether a plus is written, as of differences.
    unknown, endless
        Text for an unknown number, and for an infinite one.

    Examples
    --------
    >>> significant(375614.2), significant(0.012345), significant(0.0), significant(1.8e-5)
    ('375614', '0.01235', '0', '1.8e-05')
    >>> significant(0.5, sign=True), significant(None), significant(float("inf"), endless="never")
    ('+0.5', '–', 'never')
    """
    if value is None or value != value:
        return unknown
    if value in (float("inf"), float("-inf")):
        return f"-{endless}" if value < 0 else endless
    plus = "+" if sign else ""
    text = f"{value:{plus}.{digits}g}"
    return f"{value:{plus}.0f}" if "e" in text and abs(value) >= 1 else text
