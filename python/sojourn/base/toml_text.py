"""TOML as Python reads it, with one kind of error for all that can be wrong with it, and values written as TOML."""

from __future__ import annotations

import re
import tomllib
from typing import Any, cast


def parse_toml(text: str) -> dict[str, Any]:
    """Return a text as nested tables.

    Raises `tomllib.TOMLDecodeError` if it is not TOML, too long, nested too deeply, or has a number that Python refuses
    to read.

    Examples
    --------
    >>> parse_toml("a = 1")
    {'a': 1}
    """
    if len(text) > LONGEST:
        raise tomllib.TOMLDecodeError(f"longer than {LONGEST} characters")
    shallow = _SHALLOW.match(text)
    place = shallow.end() if shallow else 0
    if _PARTS.match(text, place):
        line = text.count("\n", 0, place) + 1
        column = place - text.rfind("\n", 0, place)
        message = f"a key of more than {DEEPEST} parts (at line {line}, column {column})"
        raise tomllib.TOMLDecodeError(message)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise tomllib.TOMLDecodeError("nested too deeply") from None
    except ValueError as error:
        raise tomllib.TOMLDecodeError(str(error)) from error


DEEPEST = 24
"""Parts of a key. chosen: three times what any file here needs. Python's reader keeps every beginning of a key, so that
50 kB of one key took 2.4 GiB; with this bound a text takes at most a few hundred times its length."""

LONGEST = 2**20
"""Characters of a text. chosen: thirty times the longest study here; the slowest text of this length takes seconds."""

_PART = r"(?:[A-Za-z0-9_-]++|\"(?!\"\")(?:[^\"\\\n]|\\.)*+\"|'(?!'')[^'\n]*+')"
_DOT = r"[ \t]*+\.[ \t]*+"
_PARTS = re.compile(rf"{_PART}{_DOT}")
_SHALLOW = re.compile(
    r"(?:"
    r"[^#\"'A-Za-z0-9_-]++"
    r"|#[^\n]*+"
    r'|"""(?:[^"\\]|\\.|"{1,2}+(?!"))*+"{3,5}+'
    r"|'''(?:[^']|'{1,2}+(?!'))*+'{3,5}+"
    rf"|{_PART}(?:{_DOT}{_PART}){{0,{DEEPEST - 1}}}+(?!{_DOT}{_PART})"
    r")*+",
    re.DOTALL,
)
"""Takes a text in TOML's own words, each sign once, up to the first key of too many parts or the first string without
an end; comments and strings are no keys."""


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
