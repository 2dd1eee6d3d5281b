"""Figures inside a page: SVG that follows the page's theme, is as short as its lines allow, and has a description.

What a reader may ask about carries what the page's script needs for an answer: a panel the ends and the names of its
axes, a mark its name in the legend. The numbers themselves are where the marks stand.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from xml.etree import ElementTree as ET

from sojourn.plots import styles
from sojourn.plots.spec import LEGEND, MARK, PANEL, Axis, Cells, Panel, PlotSpec

THEMED = {
    styles.INK: "ink",
    styles.MUTED: "muted",
    styles.GRID: "grid",
    styles.PAPER: "paper",
    **{colour: f"c-{name}" for name, colour in (styles.OKABE_ITO | styles.TOL).items()},
}
"""Colours of a drawing that the page's style sheet replaces in a dark theme."""


STYLE = "*{stroke-linejoin: round; stroke-linecap: butt}"
"""The style sheet that matplotlib puts into each drawing; pages allow it, and drawings with another lose it."""

_FONT = "font-family: 'DejaVu Sans'; "
"""Default of every text."""

_INK = "; fill: var(--ink)"
"""The colour of texts, which the style sheet of the page says."""

_BY_COLOUR = {colour.lower(): name for colour, name in THEMED.items()}
_COLOURS = re.compile("|".join(map(re.escape, _BY_COLOUR)), re.IGNORECASE)
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_FINE = re.compile(r"(\.\d\d)\d+")
"""Places beyond a hundredth of a point, a thirtieth of the thinnest line."""
_UNTURNED = re.compile(r"^rotate\(-?0 [-0-9. ]+\)$")
_PATH = re.compile(r"\s*([A-Zz])\s*")
_CORNER = re.compile(r"([ML])(-?[\d.]+) (-?[\d.]+)(?=[MLz]|$)")
LONG = 16
"""Corners from which a path is written by its steps. chosen: bars and frames stay readable in the source."""
_PLACES = frozenset({"d", "x", "y", "width", "height", "transform", "viewBox"})
_TEXTS = frozenset({"text", "tspan"})


def inline(svg: str, name: str, plot: PlotSpec) -> str:
    """Make a drawing part of a page.

    Parameters
    ----------
    svg
        A whole SVG file.
    name
        Unique within the page; every id begins with its digest.
    plot
        What was drawn; its description is what a reader who cannot see the drawing should know.
    """
    root = ET.fromstring(svg)
    used = dict.fromkeys([*_REFERENCE.findall(svg), *re.findall(r'href="#([^"]+)"', svg)])
    prefix = f"d{hashlib.blake2b(name.encode(), digest_size=3).hexdigest()}-"
    names = {known: f"{prefix}{number}" for number, known in enumerate(used)}
    for parent in root.iter():
        for child in list(parent):
            if _local(child.tag) in ("metadata", "title"):
                parent.remove(child)
    for element in root.iter():
        element.tag = _local(element.tag)
        given = {_local(key): value for key, value in element.attrib.items()}
        known = given.pop("id", "")
        element.attrib = {key: _value(key, value, names) for key, value in given.items()}
        if element.tag in _TEXTS and "style" in given:
            element.attrib["style"] = element.attrib["style"].removesuffix(_INK)
        if _UNTURNED.match(given.get("transform", "")):
            del element.attrib["transform"]
        if known in names:
            element.attrib["id"] = names[known]
        element.attrib |= _told(known, plot)
        if element.tag not in _TEXTS:
            element.text = (element.text or "").strip()
        element.tail = (element.tail or "").strip()
    _unwrap(root)
    _share_styles(root)
    for size in ("width", "height", "version"):
        root.attrib.pop(size, None)
    root.attrib |= {"role": "img", "aria-label": plot.description}
    return ET.tostring(root, encoding="unicode")


def _local(name: str) -> str:
    """Return a name without its namespace: within a page, SVG needs none."""
    return name.rpartition("}")[2]


def _value(key: str, value: str, names: Mapping[str, str]) -> str:
    """Return an attribute's value with ids that are unique in the page and colours that follow its theme."""
    if key in _PLACES:
        value = _FINE.sub(r"\1", value)
        return _short(_PATH.sub(r"\1", value).strip()) if key == "d" else value
    if key == "href" and value.startswith("#"):
        return f"#{names[value[1:]]}"
    value = _REFERENCE.sub(lambda found: f"url(#{names[found[1]]})", value)
    value = _COLOURS.sub(lambda found: f"var(--{_BY_COLOUR[found[0].lower()]})", value)
    return value.replace(_FONT, "") if key == "style" else value


def _short(path: str) -> str:
    """Write a long path of straight lines by its steps, which have fewer digits than its places.

    Steps lead from one rounded place to the next, so that no error adds up.
    """
    corners = _CORNER.findall(path)
    if len(corners) < LONG or _CORNER.sub("", path).strip("z"):
        return path
    x = y = 0
    parts: list[str] = []
    for letter, *texts in corners:
        across, down = (round(100 * float(text)) for text in texts)
        if letter == "M":
            parts.append(f"M{_hundredths(across)} {_hundredths(down)}")
        elif down == y:
            parts.append(f"h{_hundredths(across - x)}" if across != x else "")
        elif across == x:
            parts.append(f"v{_hundredths(down - y)}")
        else:
            step = _hundredths(down - y)
            parts.append(f"l{_hundredths(across - x)}{step if step[0] == '-' else f' {step}'}")
        x, y = across, down
    return "".join(parts) + ("z" if path.endswith("z") else "")


def _hundredths(value: int) -> str:
    """Write a number of hundredths as short as SVG allows.

    Examples
    --------
    >>> [_hundredths(value) for value in (0, 5, -40, 1230, 100)]
    ['0', '.05', '-.4', '12.3', '1']
    """
    sign = "-" if value < 0 else ""
    whole, rest = divmod(abs(value), 100)
    digits = f".{rest:02d}".rstrip("0").rstrip(".")
    return f"{sign}{whole or ''}{digits}" if whole or digits else "0"


def _unwrap(root: ET.Element) -> None:
    """Put in place of a group that says nothing the only part that it has."""
    for parent in root.iter():
        for place, child in enumerate(list(parent)):
            inner = child
            while inner.tag == "g" and not inner.attrib and len(inner) == 1:
                inner = inner[0]
            parent[place] = inner


def _share_styles(root: ET.Element) -> None:
    """Say what all parts of a group look like once."""
    for group in root.iter("g"):
        styles_of = {child.get("style", "") for child in group}
        if len(group) > 1 and len(styles_of) == 1 and "" not in styles_of and "style" not in group.attrib:
            group.attrib["style"] = styles_of.pop()
            for child in group:
                del child.attrib["style"]


def _told(name: str, plot: PlotSpec) -> dict[str, str]:
    """Return what a part of a drawing says of itself, by the name that the backend gave it."""
    kind, _, rest = name.partition("-")
    if name in ("x-side", "y-side") or name.startswith(("x-side_", "y-side_")):
        return {"data-side": name[0]}
    if kind == PANEL and "_" in rest:
        place, *ends = rest.split("_")
        return _panel(plot.panels[int(place)], " ".join(ends))
    if kind == MARK:
        place, number, part = (int(part) for part in rest.split("-"))
        panel = plot.panels[place]
        mark = panel.marks[number]
        if isinstance(mark, Cells):
            return {"data-mark": "", "data-value": mark.cells[part].told}
        label = getattr(mark, "label", "") or _label_of(getattr(mark, "look", ""), plot)
        return {"data-mark": label}
    if kind == LEGEND and rest:
        number = int(rest.split("-")[0])
        label, named = list(plot.named_marks().items())[number]
        return {} if isinstance(named, Cells) else {"data-lane": label}  # a heat map is no lane among others
    return {}


def _label_of(look: str, plot: PlotSpec) -> str:
    """Return what the legend calls a look: a curve may have its name at its marks alone."""
    return next((label for label, mark in plot.named_marks().items() if mark.look == look), "")


def _panel(panel: Panel, ends: str) -> dict[str, str]:
    """Return the ends of a panel's axes, and their quantities."""
    found = {"data-ends": ends, "data-x": _axis(panel.x), "data-y": _axis(panel.y)}
    if panel.title:
        found["data-title"] = panel.title
    return found


def _axis(axis: Axis) -> str:
    """Return scale, unit and quantity of an axis; of one with words in place of numbers, that it has words."""
    words = any(text != f"{at:g}" and text for at, text in axis.ticks) and axis.scale == "linear"
    scale = "words" if words or not (axis.quantity or axis.unit or axis.low is None) else axis.scale
    return f"{scale}|{axis.unit}|{axis.quantity}"
