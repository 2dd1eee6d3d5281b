"""Child processes with the imports of this one, and none from the current directory.

A directory of untrusted results may hold a `numpy.py`; started there, `python -c` would run it.
"""

import os
import sys


def python_command(statements: str, *, is_repeatable: bool = False) -> list[str]:
    """Return the command of a Python process that runs statements, isolated from its directory.

    It finds modules where this process does.

    Parameters
    ----------
    statements
        Python, such as `from module import work; work()`.
    is_repeatable
        Whether `PYTHONHASHSEED` counts, which decides the order of sets. The caller clears the other variables.
    """
    flags = ["-s", "-P"] if is_repeatable else ["-I"]
    paths = [path for path in sys.path if path]
    return [sys.executable, *flags, "-c", f"import sys; sys.path[:] = {paths!r}; {statements}"]


def forget_current_directory() -> None:
    """Import nothing more from the current directory, which `python -m` puts first."""
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - at start-up
    first = sys.path[0]
    if first in ("", os.getcwd()) and first != home:  # noqa: PTH109
        del sys.path[0]
