"""Figures inside a page: SVG that follows the page's theme and never clashes with its neighbour."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from sojourn.plots import styles

#: Colours of a drawing that the page's style sheet replaces in a dark theme.
THEMED = {
    styles.INK: "ink",
    styles.MUTED: "muted",
    styles.GRID: "grid",
    styles.PAPER: "paper",
    **{colour: f"c-{name}" for name, colour in (styles.OKABE_ITO | styles.TOL).items()},
}


#: The style sheet that matplotlib puts into each drawing; pages allow it, and drawings with another lose it.
STYLE = "*{stroke-linejoin: round; stroke-linecap: butt}"

_BY_COLOUR = {colour.lower(): name for colour, name in THEMED.items()}
_COLOURS = re.compile("|".join(map(re.escape, _BY_COLOUR)), re.IGNORECASE)
_REFERENCE = re.compile(r"url\(#([^)]+)\)")


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
    root = ET.fromstring(svg)
    for parent in root.iter():
        for child in list(parent):
            if _local(child.tag) in ("metadata", "title"):
                parent.remove(child)
    for element in root.iter():
        element.tag = _local(element.tag)
        element.attrib = {
            _local(key): _value(_local(key), value, name) for key, value in element.attrib.items()
        }
    for size in ("width", "height"):
        root.attrib.pop(size, None)
    root.attrib |= {"role": "img", "aria-label": description}
    return ET.tostring(root, encoding="unicode")


def _local(name: str) -> str:
    """Return a name without its namespace: within a page, SVG needs none."""
    return name.rpartition("}")[2]


def _value(key: str, value: str, name: str) -> str:
    """Return an attribute's value with ids that are unique in the page and colours that follow its theme."""
    if key == "id":
        return f"{name}-{value}"
    if key == "href" and value.startswith("#"):
        return f"#{name}-{value[1:]}"
    if key == "d":  # the shape of a path, which is long
        return value
    value = _REFERENCE.sub(rf"url(#{name}-\1)", value)
    return _COLOURS.sub(lambda found: f"var(--{_BY_COLOUR[found[0].lower()]})", value)
