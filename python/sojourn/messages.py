"""Words on stderr."""

import sys
from contextlib import suppress

__all__ = ["note"]


def note(text: str) -> None:
    """Say something on stderr; if nobody can hear it, the exit status has to do."""
    with suppress(OSError):
        print(text, file=sys.stderr)
