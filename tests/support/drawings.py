"""Numbers read back from drawings of a page: from the ends of the axes, and from where marks stand between them."""

import re
from collections import defaultdict
from xml.etree import ElementTree as ET

Places = list[tuple[float, float]]


def drawn_values(svg: str) -> dict[tuple[int, str], Places]:
    """Return the values of dots, and of bars their ends, by place of the panel and name in the legend.

    Values are as exact as the page: a hundredth of a point.
    """
    found: dict[tuple[int, str], Places] = defaultdict(list)
    panels = [one for one in ET.fromstring(svg).iter("g") if "data-ends" in one.attrib]
    for place, panel in enumerate(panels):
        frame = corners(next(panel.iter("path")).attrib["d"])
        for mark in panel.iter("g"):
            if "data-mark" not in mark.attrib:
                continue
            signs = [(float(one.get("x", "0")), float(one.get("y", "0"))) for one in mark.iter("use")]
            paths = [one.get("d", "") for one in mark if one.tag == "path"]
            if len(signs) == 1 and signs[0][0] == 0.0:  # an area
                continue
            bars = [corner for path in paths if path.endswith("z") for corner in _ends(path)]
            found[place, mark.attrib["data-mark"]] += [_value(panel, frame, one) for one in (signs or bars)]
    return {key: values for key, values in found.items() if values}


def corners(path: str) -> Places:
    """Return the corners of a path of straight lines, also of one that is written by its steps."""
    found: Places = []
    x = y = 0.0
    for letter, rest in re.findall(r"([MLlhv])([^A-Za-z]+)", path):
        numbers = [float(text) for text in re.findall(r"-?[\d.]+", rest)]
        if letter in "ML":
            x, y = numbers
        else:
            x += 0.0 if letter == "v" else numbers[0]
            y += 0.0 if letter == "h" else numbers[-1]
        found.append((x, y))
    return found


def _ends(path: str) -> Places:
    """Return the middles of the left and the right side of a bar."""
    xs, ys = zip(*corners(path), strict=True)
    middle = (min(ys) + max(ys)) / 2
    return [(min(xs), middle), (max(xs), middle)]


def _value(panel: ET.Element, frame: Places, place: tuple[float, float]) -> tuple[float, float]:
    ends = [float(text) for text in panel.attrib["data-ends"].split()]
    xs, ys = zip(*frame, strict=True)
    x = _between(panel, "data-x", ends[:2], (place[0] - min(xs)) / (max(xs) - min(xs)))
    y = _between(panel, "data-y", ends[2:], (max(ys) - place[1]) / (max(ys) - min(ys)))
    return x, y


def _between(panel: ET.Element, side: str, ends: list[float], share: float) -> float:
    low, high = ends
    if panel.attrib[side].startswith("log"):
        return float(low * (high / low) ** share)
    return low + share * (high - low)
