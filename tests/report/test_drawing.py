"""Drawings of a page are short, follow its theme, and hold their numbers."""

import re

import numpy as np
import pytest

from sojourn.plots.backends import mpl
from sojourn.plots.spec import Axis, Band, Bars, Dots, Line, Panel, PlotSpec
from sojourn.report.drawing import inline
from support.drawings import corners, drawn_values

X = np.array([2.0, 20.0, 150.0])
Y = np.array([0.123, 1.5, 4.75])


def plot() -> PlotSpec:
    lines = Panel(
        Axis("delay", "ms", scale="log"),
        Axis("rate", "Mb/s"),
        (Band(X, Y - 0.1, Y + 0.1, "codel"), Line(X, Y, "codel"), Dots(X, Y, "codel", "CoDel & co")),
        "first",
    )
    rows = Panel(
        Axis("share", "%", low=0.0),
        Axis(low=-0.5, high=2.5, ticks=((0.0, "a"), (1.0, "b"), (2.0, "c"))),
        (Bars(np.arange(3.0), Y, X, "queue", "in the queue"),),
    )
    return PlotSpec("p", "Both", (lines, rows), columns=2, legend="below", description="Two <panels>.")


def test_the_numbers_of_a_drawing_can_be_read_back() -> None:
    found = drawn_values(inline(mpl.svg(plot()), "drawn", plot()))
    assert set(found) == {(0, "CoDel & co"), (1, "in the queue")}
    dots = np.array(found[0, "CoDel & co"])
    assert dots[:, 0] == pytest.approx(X, rel=2e-3)
    assert dots[:, 1] == pytest.approx(Y, abs=2e-3)
    bars = np.array(found[1, "in the queue"]).reshape(-1, 2, 2)
    assert bars[:, 0, 0] == pytest.approx(Y, abs=0.02)
    assert bars[:, 1, 0] == pytest.approx(Y + X, abs=0.02)
    assert bars[:, 0, 1] == pytest.approx(np.arange(3.0), abs=0.01)


def test_panels_and_the_legend_say_what_they_are() -> None:
    text = inline(mpl.svg(plot()), "drawn", plot())
    assert 'data-x="log|ms|delay" data-y="linear|Mb/s|rate" data-title="first"' in text
    assert 'data-x="linear|%|share" data-y="words||"' in text
    assert text.count('data-lane="CoDel &amp; co"') == 2  # the sign and the words
    assert 'aria-label="Two &lt;panels&gt;."' in text


def test_a_drawing_on_a_page_is_two_thirds_of_its_file_or_less() -> None:
    svg = mpl.svg(plot())
    assert len(inline(svg, "drawn", plot())) < 0.67 * len(svg)


def test_groups_that_say_nothing_and_the_colour_of_texts_are_left_out() -> None:
    text = inline(mpl.svg(plot()), "drawn", plot())
    assert "<g><text" not in text
    assert re.search(r'<text style="[^"]*var\(--ink\)', text) is None
    assert re.search(r'<path[^>]*style="[^"]*fill: ', text) is not None


def test_a_long_path_is_written_by_its_steps_and_ends_where_it_ended() -> None:
    turns = np.linspace(0.0, 9.0, 400)
    curve = Line(turns, np.sin(turns) * turns, "codel", step=True)
    spec = PlotSpec("p", "One", (Panel(Axis("x"), Axis("y"), (curve,)),))
    svg = mpl.svg(spec)
    whole = [re.findall(r"-?[\d.]+ -?[\d.]+", d) for d in re.findall(r' d="([^"]+)"', svg)]
    longest = np.array([one.split() for one in max(whole, key=len)], dtype=float)
    made = max(re.findall(r' d="([^"]+)"', inline(svg, "drawn", spec)), key=len)
    found = np.array(corners(made))
    assert len(found) > 300
    # No error adds up: each corner stays within a hundredth of a point.
    assert found == pytest.approx(longest[: len(found)], abs=0.0101)
    assert len(made) < 0.5 * len("".join(f"L {x:.6f} {y:.6f} " for x, y in longest))
