"""How things look, in every plot the same: a queue manager keeps its colour, dash and marker.

Colours are those of Okabe and Ito (2008) and three of Tol (2021), chosen so that readers with any common colour vision
deficiency tell them apart; dash and marker say the same again, for grey print. Colours named `ink`,
`muted`, `grid` and `paper` change with the theme of a page.
"""

from __future__ import annotations

from dataclasses import dataclass

OKABE_ITO = {
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "green": "#009E73",
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "purple": "#CC79A7",
}
"""Okabe and Ito (2008), "Color Universal Design", without its yellow, which is not legible on white paper."""

TOL = {"indigo": "#332288", "wine": "#882255", "olive": "#999933"}
"""Tol (2021), "Colour schemes", muted: two dark colours that Okabe and Ito lack, and one in place of their yellow."""

TOL_MORE = {"rose": "#CC6677", "teal": "#44AA99"}
"""The same scheme: two for causes of delay, which are more than a list of curves has."""

INK = "#1c2430"
"""Colours that a page may replace for a dark theme; chosen for contrast of 7:1 and 4.5:1 on white."""

MUTED = "#5b6675"
GRID = "#dde2e9"
PAPER = "#ffffff"

Dash = tuple[float, ...]


@dataclass(frozen=True)
class Look:
    """Colour, dash pattern (in line widths, empty for solid), marker, and hatch of a name."""

    colour: str
    dash: Dash = ()
    marker: str = "o"
    hatch: str = ""


_LOOKS: dict[str, Look] = {
    # Queue managers.
    "codel": Look(OKABE_ITO["green"], (), "o"),
    "sfq-codel": Look(OKABE_ITO["orange"], (2.6, 0.9), "D"),
    "pie": Look(OKABE_ITO["purple"], (1.2, 1.2), "v"),
    "sfq": Look(OKABE_ITO["sky"], (5, 1.2, 1.2, 1.2, 1.2, 1.2), "P"),
    "sfq-pie": Look(TOL["indigo"], (9, 2), "X"),
    # Printed values and aids.
    "printed": Look(INK, (), "D"),
    "reference": Look(MUTED, (3, 2), ""),
    "limit": Look(INK, (1, 1.5), ""),
    "grid": Look(GRID, (), ""),
    "match": Look(OKABE_ITO["green"], (), "o"),
    "miss": Look(OKABE_ITO["vermillion"], (), "X"),
    "unjudged": Look(MUTED, (), "o"),
    # Two quantiles of one thing.
    "median": Look(TOL["indigo"], (5, 1.6), "o"),
    "tail": Look(TOL["wine"], (), "s"),
    # Causes of delay, from the sender to the wire: each has a colour of its own.
    "sender": Look(TOL_MORE["rose"], (), "", "////"),
    "recovery": Look(TOL["wine"], (), "", ""),
    "queue": Look(TOL["indigo"], (), "", ""),
    "request_wait": Look(OKABE_ITO["orange"], (), "", ""),
    "grant_wait": Look(TOL["olive"], (), "", ""),
    "framing": Look(OKABE_ITO["purple"], (), "", ""),
    "pipeline": Look("#5b6675", (), "", ""),
    "serialisation": Look(TOL_MORE["teal"], (), "", ""),
    "wire": Look("#c0c8d1", (), "", ""),
    "hold": Look("#661100", (), "", ""),
    "switching": Look("#6699CC", (), "", ""),
}

MANAGERS = frozenset({"codel", "sfq-codel", "pie", "sfq", "sfq-pie"})
"""Queue managers with a look of their own."""

_CYCLE: tuple[Look, ...] = (
    Look(OKABE_ITO["blue"], (), "o"),
    Look(OKABE_ITO["vermillion"], (5, 1.6), "s"),
    Look(OKABE_ITO["green"], (1.2, 1.2), "^"),
    Look(OKABE_ITO["purple"], (6, 1.5, 1.2, 1.5), "v"),
    Look(OKABE_ITO["orange"], (), "D"),
    Look(OKABE_ITO["sky"], (5, 1.6), "P"),
    Look(INK, (1.2, 1.2), "X"),
)
"""For names without a look of their own: distinct in colour, dash and marker."""

PALETTE = len(_CYCLE)


COLOURS = {**OKABE_ITO, **TOL, "yellow": TOL["olive"], "ink": INK, "muted": MUTED}
"""Words for looks of a study's own: colours, dashes, markers."""

DASHES: dict[str, Dash] = {
    "solid": (),
    "dashed": (5, 1.6),
    "dotted": (1.2, 1.2),
    "dash-dotted": (7, 1.2, 1.2, 1.2),
    "long-dashed": (9, 2),
    "short-dashed": (2.6, 0.9),
}
MARKERS = {"circle": "o", "square": "s", "triangle": "^", "down": "v", "diamond": "D", "plus": "P", "cross": "X"}


def look_of(name: str) -> Look:
    """Return the look of a name.

    `cycle-0`, `cycle-1` and so on walk through the palette; words such as `blue dashed triangle` name a colour, a
    dash and a marker.

    Examples
    --------
    >>> look_of("codel").colour
    '#009E73'
    >>> look_of("blue dashed triangle") == Look("#0072B2", (5, 1.6), "^")
    True
    """
    found = _found(name)
    if found is None:
        message = f"no look is called {name}"
        raise KeyError(message)
    return found


def _found(name: str) -> Look | None:
    if name in _LOOKS:
        return _LOOKS[name]
    prefix, _, number = name.rpartition("-")
    if prefix == "cycle" and number.isdigit():
        return _CYCLE[int(number) % len(_CYCLE)]
    colour, *words = name.split(" ")
    if colour not in COLOURS or not all(word in DASHES or word in MARKERS for word in words):
        return None
    dash = next((DASHES[word] for word in words if word in DASHES), ())
    return Look(COLOURS[colour], dash, next((MARKERS[w] for w in words if w in MARKERS), "o"))


def is_known(name: str) -> bool:
    """Return whether a name has a look.

    Examples
    --------
    >>> is_known("codel"), is_known("cycle-3"), is_known("sky circle"), is_known("turquoise")
    (True, True, True, False)
    """
    return _found(name) is not None
