"""Words on stderr, and texts whose signs can all be seen: a terminal does what some of them say."""

import sys
from contextlib import suppress

__all__ = ["note", "visible"]


def visible(text: str) -> str:
    r"""Return a text in which signs that nobody sees are spelt out; it keeps its lines.

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
    """Say something on stderr, behind a mark that may have a colour; if nobody hears it, the exit status has to do."""
    with suppress(OSError):
        print(f"{mark}{visible(text)}", file=sys.stderr)
