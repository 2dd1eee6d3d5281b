"""TOML as Python reads it, with one kind of error for all that can be wrong with it, and values written as TOML."""

from __future__ import annotations

import tomllib
from typing import Any, cast

__all__ = ["parse_toml", "toml_value"]


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


def toml_value(value: object) -> str:
    """Return a value as it would stand in a file, in one line.

    Examples
    --------
    >>> toml_value({"rate": "5 Mb/s", "on": True})
    '{ rate = "5 Mb/s", on = true }'
    """
    import tomli_w

    if isinstance(value, dict):
        entries = cast("dict[str, object]", value).items()
        return "{ " + ", ".join(f"{_key(key)} = {toml_value(item)}" for key, item in entries) + " }"
    if isinstance(value, list):
        return f"[{', '.join(toml_value(item) for item in cast('list[object]', value))}]"
    return tomli_w.dumps({"v": value}).removeprefix("v = ").strip()


def _key(key: str) -> str:
    import tomli_w

    return tomli_w.dumps({key: 0}).removesuffix(" = 0\n")
