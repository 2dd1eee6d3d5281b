"""Figures inside a page: SVG that follows the page's theme and never clashes with its neighbour."""

from __future__ import annotations

import re

from sojourn.plots import styles

#: Colours of a drawing that the page's style sheet replaces in a dark theme.
THEMED = {
    styles.INK: "ink",
    styles.MUTED: "muted",
    styles.GRID: "grid",
    styles.PAPER: "paper",
    **{colour: f"c-{name}" for name, colour in (styles.OKABE_ITO | styles.TOL).items()},
}


def inline(svg: str, name: str, description: str) -> str:
    """Make a drawing part of a page.

    Parameters
    ----------
    svg
        A whole SVG file.
    name
        Unique within the page; prefixes every id.
    description
        What a reader who cannot see the drawing should know.
    """
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"<title>.*?</title>", "", body, count=1, flags=re.DOTALL)
    body = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', body)
    body = re.sub(r'(xlink:href|href)="#([^"]+)"', rf'\1="#{name}-\2"', body)
    body = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", body)
    for colour, variable in THEMED.items():
        body = re.sub(re.escape(colour), f"var(--{variable})", body, flags=re.IGNORECASE)
    head_end = body.index(">")
    head = re.sub(r'\s(?:width|height)="[^"]*"', "", body[:head_end])
    label = _escape(description)
    return f'{head} role="img" aria-label="{label}"{body[head_end:]}'.strip()


def _escape(text: str) -> str:
    return (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    )
