"""Labels of dots cover neither each other nor other dots while there is room."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sojourn.plots.backends import mpl as backend
from sojourn.plots.backends.labels import Box, places
from sojourn.plots.spec import Axis, Dots, Panel, PlotSpec

FRAME = Box(0.0, 0.0, 200.0, 150.0)


def test_a_lone_label_stands_to_the_right() -> None:
    (place,) = places([(50.0, 50.0, "C04")], [], FRAME, 6.5)
    assert place.dy == 0.0
    assert place.box.left == pytest.approx(55.0)
    assert place.is_near


def test_a_label_at_the_edge_turns_inwards() -> None:
    (place,) = places([(198.0, 75.0, "D08-417")], [], FRAME, 6.5)
    assert place.box.right < 198.0
    assert place.box.outside(FRAME) == pytest.approx(0.0)


def test_labels_of_dots_that_touch_do_not_cover_each_other() -> None:
    labelled = [(100.0 + 2 * n, 75.0 + n, f"D0{n}-417") for n in range(6)]
    boxes = [place.box for place in places(labelled, [], FRAME, 6.5)]
    for first, second in itertools.combinations(boxes, 2):
        assert first.overlap(second) == 0.0


def test_a_label_leaves_the_dots_beside_it_free() -> None:
    (place,) = places([(50.0, 50.0, "C04")], [(60.0, 50.0)], FRAME, 6.5)
    assert place.box.overlap(Box(57.0, 47.0, 63.0, 53.0)) == 0.0


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.floats(0, 200), st.floats(0, 150), st.sampled_from(["C04", "D05-417"])),
        max_size=12,
    )
)
def test_every_label_has_a_place_and_always_the_same(
    labelled: list[tuple[float, float, str]],
) -> None:
    found = places(labelled, [], FRAME, 6.5)
    assert len(found) == len(labelled)
    assert found == places(labelled, [], FRAME, 6.5)


def test_drawn_labels_do_not_cover_each_other() -> None:
    x = np.array([1.0, 1.01, 1.02, 1.03])
    texts = ("D04-417", "D05-417", "D06-417", "D07-417")
    panel = Panel(
        Axis("printed", low=0.5, high=2.0),
        Axis("ours", low=0.5, high=2.0),
        (Dots(x, x, "miss", texts=texts),),
    )
    figure = backend.draw(PlotSpec("crowd", "", (panel,), width=80, height=60))
    figure.draw_without_rendering()
    drawn = [text.get_window_extent() for text in figure.axes[0].texts if text.get_text() in texts]
    assert len(drawn) == 4
    for first, second in itertools.combinations(drawn, 2):
        assert not first.overlaps(second)
