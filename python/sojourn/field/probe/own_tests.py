"""Tests that Flent does not have: `rrul_up`, and those of `.conf` files, which are read before they are run.

Source: Flent's tests are files of Python that set `DATA_SETS` and may include each other; a test whose name is a path
without its suffix is read from there. Klatsky 2016 ran downloads with UDP pings beside them; Flent has such a test for
uploads (`rrul_up`) and none for downloads.
Deviations: reading a file does not run it, so computed names (in loops) are not known.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from pathlib import Path

from sojourn.base.errors import Problem
from sojourn.base.files import read_named
from sojourn.field.flent import is_series

OWN = {
    "rrul_down": """\
include("rrul.conf")
DESCRIPTION = "Four downloads of rrul with its pings"
for series in [name for name in DATA_SETS if "upload" in name or name == "TCP totals"]:
    del DATA_SETS[series]
DEFAULTS["PLOT"] = "ping"
"""
}
"""Texts of tests by name."""

LARGEST = 2**18
"""Bytes of a file; chosen: Flent's largest has some ten thousand."""


def file_of(test: str, folder: Path) -> str:
    """Return the argument with which Flent runs a test; a test that Flent lacks is put into a folder first.

    Flent writes its results beside such a file, and takes a relative path for the name of a host.
    """
    text = OWN.get(test)
    if test.endswith(".conf"):
        text = read_named(Path(test), most=LARGEST).decode()
    if text is None:
        return test
    file = folder.resolve() / f"{Path(test).stem}.conf"
    file.write_text(text, encoding="utf-8")
    return str(file.with_suffix(""))


def problems_of(path: Path) -> Iterator[Problem]:
    """Yield what speaks against running a file, without running it."""
    try:
        content = read_named(path, most=LARGEST)
    except OSError as error:
        yield Problem("tests", f"cannot read {path}: {error.strerror}", "a .conf file of Flent")
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its own, about the file
            tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        yield Problem("", "is no Python, as Flent's tests are", "", line, 1, str(path))
        return
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    if "DATA_SETS" not in names and "include" not in names:
        yield Problem("", "sets no DATA_SETS", "what Flent measures", 1, 1, str(path))
    elif "include" not in names and not any(is_series(text) for text in texts):
        hint = "TCP upload BE, TCP download avg, Ping (ms) ICMP, Ping (ms) UDP BE and the like"
        yield Problem("", "measures no series that is read here", hint, 1, 1, str(path))
