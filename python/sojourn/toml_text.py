"""TOML as Python reads it, with one kind of error for all that can be wrong with it."""

from __future__ import annotations

import tomllib
from typing import Any

__all__ = ["parse_toml"]


def parse_toml(text: str) -> dict[str, Any]:
    """Return a text as nested tables.

    Raises
    ------
    tomllib.TOMLDecodeError
        If it is not TOML, nested more deeply than Python can follow, or has a number that Python refuses to read.

    Examples
    --------
    >>> parse_toml("a = 1")
    {'a': 1}
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise tomllib.TOMLDecodeError("nested too deeply") from None
    except ValueError as error:
        raise tomllib.TOMLDecodeError(str(error)) from error
