"""Untrusted JSON: one reader for every file and body, whose memory is bounded before it is parsed.

Source: RFC 8259 (section 4: names within an object should be unique; section 8.1: UTF-8, and UTF-16 and UTF-32 where one tool
hands over to another).
Deviations: `NaN`, `Infinity` and what C prints in their place (`nan`, `-nan`, `inf`) are `null`: no number was known.
"""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False  # as type checkers read it; the module typing would take its time
if TYPE_CHECKING:
    from typing import Any

MOST_MEMORY = 768 * 2**20
"""Bytes that what is parsed may take. chosen: a result of Flent counts for 21 times its text, so 37 MB of one fit, twelve times
the largest."""

WEIGHTS = {"[": 72, "{": 232, ",": 48, ":": 200, '"': 28}
"""Bytes in memory for each sign of a text, at most: a list, an object of five names, a value with its place, a name with all
that holds it meanwhile, half a string. Source: `sys.getsizeof` of CPython 3.11 to 3.14 with what a list and a dictionary keep ahead."""


class NotJson(ValueError):
    """A text that is no JSON; the words say why."""


class TooMuch(NotJson):
    """More JSON than there is memory for."""


def parse_json(content: bytes) -> Any:  # noqa: ANN401 - any JSON
    """Return what a text says.

    Raises `NotJson` if it is no text, no JSON, nested too deeply, says a name twice, or needs too much memory.

    Parameters
    ----------
    content
        The text, in UTF-8, -16 or -32.

    Examples
    --------
    >>> parse_json(b'{"rtt": [20.5, -nan]}')
    {'rtt': [20.5, None]}
    """
    return parse_with_pairs(content, frozenset())[0]


def parse_with_pairs(content: bytes, pairs: frozenset[str]) -> tuple[Any, frozenset[str]]:
    """Return what a text says, where some names may stand twice in an object: their value is then a tuple of both.

    Parameters
    ----------
    content
        The text.
    pairs
        The names.

    Returns
    -------
    tuple
        The value, and the names that stood twice.

    Raises
    ------
    NotJson
        As `parse_json`.
    """
    text = _text(content)
    needed = sum(weight * text.count(sign) for sign, weight in WEIGHTS.items())
    if needed > MOST_MEMORY:
        raise TooMuch(f"would take {needed / 2**20:,.0f} MiB in memory, more than {MOST_MEMORY // 2**20}")
    if any(_is_half(*found.groups()) for found in _SURROGATES.finditer(text)):
        raise NotJson(HALVES)
    objects = _Objects(pairs)
    try:
        try:
            found = objects.parse(text)
        except json.JSONDecodeError as error:
            if not _C_NUMBER.match(text, error.pos):
                raise
            found = objects.parse(_STRINGS_AND_C_NUMBERS.sub(lambda one: "null" if one[1] else one[0], text))
    except RecursionError:
        raise NotJson("is nested too deeply") from None
    except json.JSONDecodeError as error:
        whole = not text[error.pos :].strip()
        place = "" if whole else f": line {error.lineno}, column {error.colno}"
        raise NotJson(f"is not JSON, or cut off{place}") from error
    except NotJson:
        raise
    except ValueError as error:  # a whole number of more digits than Python reads
        raise NotJson("has a number of more digits than anything has") from error
    return found, frozenset(objects.repeated)


HALVES = "has half a character, which is no text: a surrogate without its other half"

_SURROGATES = re.compile(r"(?<!\\)(\\++)u([dD][89a-fA-F][0-9a-fA-F]{2})(?:\\u([dD][c-fC-F][0-9a-fA-F]{2}))?")
"""Escapes of half a character, with the signs that may escape them, and the other half behind."""


def _is_half(signs: str, first: str, second: str | None) -> bool:
    """Return whether an escape stands for half a character: behind an even number of signs the first is text."""
    is_escape = len(signs) % 2 == 1
    is_high = first[1] in "89abAB"
    return (second is None) == (is_escape and is_high) or (is_escape and not is_high)


_C_NUMBER = re.compile(r"-?(?:nan|inf)\b", re.IGNORECASE)
_STRINGS_AND_C_NUMBERS = re.compile(r'"(?:[^"\\]|\\.)*+"|(-?\b(?:nan|inf)\b)', re.IGNORECASE | re.DOTALL)


class _Objects:
    """Makes objects of names and values, and sees which names stand twice."""

    def __init__(self, pairs: frozenset[str]) -> None:
        self._pairs = pairs
        self.repeated: set[str] = set()

    def parse(self, text: str) -> Any:  # noqa: ANN401 - any JSON
        return json.loads(text, parse_constant=_unknown, object_pairs_hook=self._object)

    def _object(self, members: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(members)
        if len(found) == len(members):
            return found
        values: dict[str, list[Any]] = {}
        for name, value in members:
            values.setdefault(name, []).append(value)
        for name, many in values.items():
            if len(many) == 1:
                continue
            if name not in self._pairs or len(many) > 2:
                raise NotJson(
                    f"says {json.dumps(name[:40])} {len(many)} times in one object: which counts is not known"
                )
            self.repeated.add(name)
            found[name] = tuple(many)
        return found


def _unknown(_text: str) -> None:
    return None


def _text(content: bytes) -> str:
    encoding = json.detect_encoding(content)
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        # Surrogates are ED A0 80 to ED BF BF in what would be UTF-8.
        found = content[error.start : error.start + 2]
        is_half = "surrogate" in error.reason or (encoding.startswith("utf-8") and b"\xed\xa0" <= found <= b"\xed\xbf")
        raise NotJson(HALVES if is_half else "is no text in UTF-8") from None
