"""Labels of dots cover neither each other nor other dots while there is room."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from sojourn.plots import spec
from sojourn.plots.backends import mpl as backend
from sojourn.plots.backends.labels import Box, places
from sojourn.plots.backends.sides import Side
from sojourn.plots.dots import DotRow, dot_panel
from sojourn.plots.spec import Axis, Band, Dots, Line, Panel, PlotSpec, Rule
from sojourn.stats.estimate import Estimate

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


def test_a_label_does_not_stand_on_the_bars_of_its_dot() -> None:
    bars = np.array([(x, 50.0) for x in range(20, 81, 3)] + [(50.0, y) for y in range(20, 81, 3)])
    (place,) = places([(50.0, 50.0, "C04")], [], FRAME, 6.5, bars)
    box = place.box
    inside = (bars > (box.left, box.bottom)) & (bars < (box.right, box.top))
    assert not inside.all(axis=1).any()
    assert place.is_near


@pytest.mark.whole
@settings(max_examples=30)
@given(st.lists(st.tuples(st.floats(0, 200), st.floats(0, 150), st.sampled_from(["C04", "D05-417"])), max_size=12))
def test_every_label_has_a_place_and_always_the_same(labelled: list[tuple[float, float, str]]) -> None:
    found = places(labelled, [], FRAME, 6.5)
    assert len(found) == len(labelled)
    assert found == places(labelled, [], FRAME, 6.5)


def test_drawn_labels_do_not_cover_each_other() -> None:
    x = np.array([1.0, 1.01, 1.02, 1.03])
    texts = ("D04-417", "D05-417", "D06-417", "D07-417")
    panel = Panel(
        Axis("printed", low=0.5, high=2.0), Axis("ours", low=0.5, high=2.0), (Dots(x, x, "miss", texts=texts),)
    )
    figure = backend.draw(PlotSpec("crowd", "", (panel,), width=80, height=60))
    figure.draw_without_rendering()
    drawn = [text.get_window_extent() for text in figure.axes[0].texts if text.get_text() in texts]
    assert len(drawn) == 4
    for first, second in itertools.combinations(drawn, 2):
        assert not first.overlaps(second)


def side_of(axes: Axes, which: str) -> Side:
    """Return the lower (x) or left (y) side of a panel."""
    lower, left = (artist for artist in axes.artists if isinstance(artist, Side))
    return lower if which == "x" else left


def numbers_of(axes: Axes, which: str) -> list[Text]:
    """Return the labels of a side's ticks."""
    side = side_of(axes, which)
    return [text for text in side.texts() if text.get_text() in side.words()]


def text_of(figure: Figure, words: str) -> Bbox:
    """Return where words stand, in data coordinates."""
    (axes,) = figure.axes
    (text,) = (text for text in axes.texts if text.get_text() == words)
    return text.get_window_extent().transformed(axes.transData.inverted())


def test_the_label_of_a_reference_line_leaves_curves_free() -> None:
    x = np.linspace(0.0, 20.0, 400)
    busy = Line(x, np.where(x > 8, 5.0 + 4 * np.sin(9 * x), 0.5), "codel")
    panel = Panel(
        Axis("time", "s", low=0.0, high=20.0),
        Axis("delay", "ms", low=0.0, high=20.0),
        (busy, Rule(5.0, "y", "target 5 ms")),
    )
    figure = backend.draw(PlotSpec("target", "", (panel,), width=90, height=70))
    place = text_of(figure, "target 5 ms")
    assert place.x1 < 8.0
    assert 5.0 < place.y0 < place.y1 < 8.0


def test_a_label_that_covers_a_curve_stands_on_paper() -> None:
    x = np.linspace(0.0, 20.0, 4000)
    everywhere = Line(x, 10 + 10 * np.sin(99 * x), "codel")
    panel = Panel(
        Axis("time", "s", low=0.0, high=20.0),
        Axis("delay", "ms", low=0.0, high=20.0),
        (everywhere, Rule(5.0, "x", "falls at 5 s")),
    )
    figure = backend.draw(PlotSpec("falls", "", (panel,), width=90, height=70))
    (text,) = (text for text in figure.axes[0].texts if text.get_text() == "falls at 5 s")
    assert text.get_bbox_patch() is not None


def test_labels_of_an_axis_that_would_touch_are_left_out_and_powers_of_ten_stay() -> None:
    at = (1, 2, 5, 10, 20, 50, 100, 300, 1000, 3000)
    ticks = tuple((float(tick), f"{tick}") for tick in at)
    x = Axis("delay", "ms", scale="log", low=1.0, high=4000.0, ticks=ticks)
    panel = Panel(x, Axis("share"), (Line(np.array([1.0, 3000.0]), np.array([0.0, 1.0]), "codel"),))
    figure = backend.draw(PlotSpec("ticks", "", (panel,) * 3, columns=3, width=180, height=60))
    for axes in figure.axes:
        shown = numbers_of(axes, "x")
        assert {"1", "10", "100", "1000"} <= {label.get_text() for label in shown} < set(map(str, at))
        extents = [label.get_window_extent() for label in shown]
        for left, right in itertools.pairwise(extents):
            assert left.x1 < right.x0
    wide = backend.draw(PlotSpec("ticks", "", (panel,), width=180, height=60))
    shown = [label.get_text() for label in numbers_of(wide.axes[0], "x")]
    assert shown == [text for _, text in ticks]


@pytest.mark.parametrize("lanes", [2, 3, 5, 6])
def test_outer_lanes_of_a_dot_plot_leave_the_lines_between_rows_free(lanes: int) -> None:
    entries = [DotRow(row, lane, "codel", Estimate(1.0)) for row in (0, 1) for lane in range(lanes)]
    panel = dot_panel(("a", "b"), entries, lanes=lanes, quantity="delay", unit="ms")
    (separator,) = (mark.at for mark in panel.marks if isinstance(mark, Rule))
    (dots,) = (mark for mark in panel.marks if isinstance(mark, Dots))
    heights = np.sort(dots.y)
    between = heights[1] - heights[0]
    assert np.abs(heights - separator).min() > 0.75 * between
    figure = backend.draw(PlotSpec("lanes", "", (panel,), height=27 + 2 * (1.6 * max(lanes, 3) + 1.2)))
    points = figure.axes[0].transData.transform([(1.0, y) for y in (*heights, separator)])[:, 1]
    assert np.abs(points[:-1] - points[-1]).min() > 3.0  # half of a hollow diamond


def test_what_is_filled_is_drawn_over_what_is_hollow() -> None:
    x = np.array([1.0])
    marks = (Dots(x, x, "codel", "ours"), Dots(x, x, "printed", "printed", filled=False))
    figure = backend.draw(PlotSpec("both", "", (Panel(Axis("x"), Axis("y"), marks),)))
    filled, hollow = figure.axes[0].lines
    assert filled.get_zorder() > hollow.get_zorder()
    assert filled.get_markersize() < hollow.get_markersize()


def test_a_band_on_a_log_axis_does_not_fall_to_its_floor() -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0])
    band = Band(x, np.array([2.0, 0.0, 3.0, 4.0]), np.full(4, 9.0), "codel", step=False)
    panel = Panel(Axis("x"), Axis("y", scale="log", low=1e-3, high=10.0), (band,))
    figure = backend.draw(PlotSpec("band", "", (panel,)))
    (drawn,) = figure.axes[0].collections
    lowest = min(float(np.asarray(path.vertices)[:, 1].min()) for path in drawn.get_paths())
    assert lowest >= 2.0


def test_the_lowest_panel_of_each_column_names_a_shared_axis() -> None:
    line = Line(np.array([0.0, 9.0]), np.array([0.0, 1.0]), "codel")
    panel = Panel(Axis("time", "s"), Axis("rate"), (line,))
    plot = PlotSpec("shared", "", (panel,) * 5, columns=3, share_x=True)
    axes = backend.draw(plot).axes
    assert [one.get_xlabel() for one in axes[:5]] == ["", "", *["time in s"] * 3]
    assert [bool(side_of(one, "x").words()) for one in axes] == [False, False, True, True, True]


def test_a_log_axis_of_less_than_two_decades_has_more_than_one_number() -> None:
    line = Line(np.array([0.0, 1.0]), np.array([3.0, 80.0]), "codel")
    figure = backend.draw(PlotSpec("log", "", (Panel(Axis("x"), Axis("y", scale="log"), (line,)),)))
    assert side_of(figure.axes[0], "y").words() == ["5", "10", "20", "50"]


def drawn(x: spec.Axis, y: spec.Axis) -> Axes:
    line = Line(np.array([1.0, 2000.0]), np.array([0.3, 80.0]), "codel")
    return backend.draw(PlotSpec("side", "", (Panel(x, y, (line,)),))).axes[0]


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("which", ["x", "y"])
def test_a_side_has_the_ticks_and_words_of_matplotlib(which: str, scale: spec.Scale) -> None:
    axes = drawn(Axis("delay", "ms", scale=scale), Axis("share", scale=scale))
    axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = axis.get_view_interval()
    inside = [
        label.get_text()
        for value, label in zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True)
        if low <= value <= high
    ]
    assert side_of(axes, which).words() == inside != []
    assert {text.get_text() for text in side_of(axes, which).texts()} >= {axis.get_label_text()}


@pytest.mark.parametrize("which", ["x", "y"])
def test_a_side_knows_how_much_room_its_words_take(which: str) -> None:
    axes = drawn(Axis("delay", "ms"), Axis("throughput of it all", "Mb/s", scale="log"))
    side = side_of(axes, which)
    taken = side.get_window_extent()
    words = [text.get_window_extent() for text in side.texts()]
    if which == "x":
        assert taken.y0 == pytest.approx(min(box.y0 for box in words), abs=2.0)
        assert taken.x1 == pytest.approx(max(axes.bbox.x1, *(box.x1 for box in words)), abs=2.0)
    else:
        assert taken.x0 == pytest.approx(min(box.x0 for box in words), abs=2.0)
        assert taken.y1 == pytest.approx(axes.bbox.y1, abs=4.0)


def test_what_holds_for_all_numbers_of_a_side_is_written_once() -> None:
    line = Line(np.array([0.0, 1.0]), np.array([0.0, 4e9]), "codel")
    axes = backend.draw(PlotSpec("big", "", (Panel(Axis("x"), Axis("y"), (line,)),))).axes[0]
    left = side_of(axes, "y")
    assert [text.get_text() for text in left.texts()].count("1e9") == 1
    assert left.get_window_extent().y1 > axes.bbox.y1 + 5.0


def test_a_side_that_changes_its_limits_changes_its_words() -> None:
    axes = drawn(Axis("delay", "ms"), Axis("share"))
    axes.set_xlim(0.0, 10.0)
    assert side_of(axes, "x").words()[-1] == "10"
