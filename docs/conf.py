"""Sphinx configuration: Markdown pages, the Python reference from docstrings, and links that run a file in the reader's tab."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from docutils import nodes

if TYPE_CHECKING:
    from docutils.parsers.rst.states import Inliner
    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[1]

project = "Sojourn"
author = "The Sojourn developers"
copyright = "The Sojourn developers"  # the name is Sphinx's
release = "0.2.0"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "models/parameters"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_typehints = "description"
autodoc_member_order = "bysource"
napoleon_google_docstring = False

html_theme = "furo"
html_title = "Sojourn"
html_static_path = ["static"]
html_css_files = ["doors.css"]
html_math_renderer = "mathjax"
suppress_warnings = ["myst.header"]

if (ROOT / "python/sojourn/serve/page/engine.wasm").is_file():
    tags.add("live")  # type: ignore[name-defined]  # noqa: F821 - Sphinx's; `make docs` puts the page beside the documentation


def address(file: str, depth: int) -> str:
    """Return the address of Explore with a scenario file, from a page `depth` folders down."""
    packing = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packing.compress((ROOT / file).read_bytes()) + packing.flush()
    state = {"s": base64.urlsafe_b64encode(packed).decode().rstrip("="), "a": "", "seed": "1", "v": release}
    return f"{'../' * depth}live/explore.html#{urlencode(state)}"


def run(
    _name: str, _raw: str, file: str, _line: int, inliner: Inliner, *_: object
) -> tuple[list[nodes.Node], list[Any]]:
    """Make of ``{run}`scenarios/lesson-buffer.toml` `` a link that opens the file in Explore."""
    docname = inliner.document.settings.env.docname
    return [nodes.reference("", "Run it", refuri=address(file, docname.count("/")))], []


def live_line(app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    """Fill in the address of the line that the first page shows."""
    if "LIVE_LINE" in context.get("body", "") and app.tags.has("live"):
        context["body"] = context["body"].replace("LIVE_LINE", address("scenarios/lesson-buffer.toml", 0))


def setup(app: Sphinx) -> None:
    """Add the role and the line."""
    app.add_role("run", run)
    app.connect("html-page-context", live_line)
