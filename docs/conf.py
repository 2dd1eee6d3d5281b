"""Sphinx configuration: Markdown pages, and the Python reference from docstrings."""

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
