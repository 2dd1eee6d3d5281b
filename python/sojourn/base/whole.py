"""Whole numbers that a program gives: a seed, a count."""

from __future__ import annotations

import operator
from typing import Any

from sojourn.base.errors import UsageError


def whole(what: str, value: Any, least: int, most: int | None = None) -> int:  # noqa: ANN401 - of a user's program
    """Return a whole number within bounds, of any type that counts as one; raises `UsageError` if it is none.

    Examples
    --------
    >>> whole("seed", 7, 0)
    7
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least or (most is not None and number > most):
        raise UsageError(
            f"{what} is {value!r}", f"a whole number from {least} {'on' if most is None else f'to {most}'}"
        )
    return number
