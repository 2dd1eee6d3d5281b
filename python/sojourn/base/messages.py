"""Words on stderr, and texts whose signs can all be seen: a terminal does what some of them say."""

import re
import sys
from contextlib import suppress

_LONG = re.compile(r"\S{600,}")
"""Words of a file that are no words. chosen: longer than any typed path."""


def shortened(text: str) -> str:
    """Return a text in which a word of very many signs is its beginning, and how many there are.

    Examples
    --------
    >>> shortened("no key " + "a" * 900)[-58:]
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa… (900 characters)'
    """
    return _LONG.sub(lambda word: f"{word[0][:100]}… ({len(word[0]):,} characters)", text)


def visible(text: str) -> str:
    r"""Return a text in which invisible characters are spelt out; it keeps its lines.

    Examples
    --------
    >>> print(visible("a\x1b[31mred\nb\u202e"))
    a\x1b[31mred
    b\u202e
    """
    if text.isprintable():
        return text
    return "".join(
        sign if sign == "\n" or sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in text
    )


def note(text: str, mark: str = "") -> None:
    """Say something on stderr, behind a mark that may have a colour; if stderr is closed, the exit status has to do."""
    with suppress(OSError):
        print(f"{mark}{shortened(visible(text))}", file=sys.stderr)
