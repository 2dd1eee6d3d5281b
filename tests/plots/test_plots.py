"""Plots as data: what is drawn, with which labels and units."""

from pathlib import Path

import numpy as np
import pytest

from sojourn.plots import draw, styles
from sojourn.plots.backends import mpl
from sojourn.plots.box import box_of, box_panel
from sojourn.plots.ccdf import TAIL, ccdf_panel
from sojourn.plots.cdf import cdf, cdf_panel, steps
from sojourn.plots.dots import DotRow, dot_panel
from sojourn.plots.scatter import Pair, scatter_panel
from sojourn.plots.spec import Axis, Bars, Box, Dots, Line, Note, PlotSpec, Scale
from sojourn.plots.stack import stack_panel
from sojourn.plots.timeseries import Trace, timeseries_panel
from sojourn.stats.estimate import Estimate


def test_an_axis_reads_as_quantity_and_unit() -> None:
    assert Axis("queuing delay", "ms").label == "queuing delay in ms"
    assert Axis("share").label == "share"


def test_a_cdf_ends_at_one_and_weighs_its_values() -> None:
    x, share = steps(np.array([21.0, 10.0, 18.0]), np.array([2.0, 1.0, 1.0]))
    assert x.tolist() == [10.0, 10.0, 18.0, 21.0]
    assert share.tolist() == [0.0, 0.25, 0.5, 1.0]


def test_a_cdf_plot_says_what_it_shows() -> None:
    plot = cdf("d", {"codel": np.array([2.0, 1.0])}, quantity="delay", unit="ms", scale="log")
    panel = draw(plot, "none")["panels"][0]
    assert panel["x"]["label"] == "delay in ms"
    assert panel["x"]["scale"] == "log"
    assert (panel["y"]["low"], panel["y"]["high"]) == (0.0, 1.0)
    assert [mark["kind"] for mark in panel["marks"]] == ["line"]
    assert panel["marks"][0]["y"] == [0.0, 0.5, 1.0]


def test_only_several_curves_need_a_legend() -> None:
    one, two = np.array([1.0]), np.array([1.0, 2.0])
    alone = cdf_panel({"codel": one}, quantity="d", unit="ms")
    pair = cdf_panel({"codel": one, "droptail-21": two}, quantity="d", unit="ms")
    assert (alone.legend, pair.legend) == ("none", "inside")


def test_a_tail_is_drawn_down_to_ten_exceedances() -> None:
    values = np.arange(1000.0)
    panel = ccdf_panel({"codel": values}, quantity="delay", unit="ms")
    line = panel.marks[0]
    assert isinstance(line, Line)
    assert line.y.min() >= TAIL / 1000
    assert [text for _, text in panel.y.ticks] == ["P0", "P90", "P99"]


def test_a_sample_too_small_for_a_tail_is_left_out() -> None:
    assert ccdf_panel({"codel": np.arange(8.0)}, quantity="delay", unit="ms").marks == ()


def test_whiskers_end_at_the_last_datum_within_one_and_a_half_ranges() -> None:
    # Quartiles 2, 3, 4 by interpolation: the reach is 3 beyond them, so 7 is inside and 7.1 is not.
    box = box_of(np.array([1.0, 2.0, 3.0, 4.0, 7.1]), 0.0, "codel")
    assert (box.quartile_1, box.median, box.quartile_3) == (2.0, 3.0, 4.0)
    assert (box.lower, box.upper, box.outliers.tolist()) == (1.0, 4.0, [7.1])


def test_box_rows_stand_from_top_to_bottom_with_their_sample_size() -> None:
    groups = [("a", "cycle-0", np.array([1.0, 2.0])), ("b", "cycle-1", np.array([3.0]))]
    panel = box_panel(groups, quantity="score", unit="MOS")
    assert panel.y.ticks == ((1.0, "a (n=2)"), (0.0, "b (n=1)"))


def test_stacked_parts_begin_where_the_last_one_ends() -> None:
    panel = stack_panel(
        ["01", "02"],
        {"queue": np.array([10.0, 20.0]), "wire": np.array([1.0, 1.0])},
        quantity="mean delay",
        unit="ms",
        decimals=1,
        labels={"queue": "rate-shaping queue"},
    )
    queue, wire = [mark for mark in panel.marks if isinstance(mark, Bars)]
    assert queue.label == "rate-shaping queue"
    assert wire.left.tolist() == [10.0, 20.0]
    assert [mark.text for mark in panel.marks if isinstance(mark, Note)] == ["11.0", "21.0"]
    assert panel.y.ticks == ((1.0, "01"), (0.0, "02"))


def test_ours_is_filled_the_print_is_hollow_and_a_bound_is_words() -> None:
    rows = [
        DotRow(0, 0, "codel", Estimate(3.0, 2.9, 3.1, 5), 3.2),
        DotRow(0, 1, "droptail-21", Estimate(None, above=600.0), None, ">600 s"),
    ]
    panel = dot_panel(["04"], rows, lanes=2, quantity="page load time", unit="s", labels={"codel": "CoDel"})
    dots = [mark for mark in panel.marks if isinstance(mark, Dots) and len(mark.x)]
    assert [(mark.look, mark.filled, mark.label) for mark in dots] == [
        ("printed", False, "printed"),
        ("codel", True, "CoDel"),
    ]
    assert dots[1].low is not None
    assert dots[1].low.tolist() == [2.9]
    notes = [mark.text for mark in panel.marks if isinstance(mark, Note)]
    assert notes == ["ours >600, printed >600 s →"]


def test_misses_are_labelled_once_and_matches_are_not() -> None:
    pairs = [Pair(1.0, 1.0, "match", "C01"), Pair(2.0, 4.0, "miss", "C04"), Pair(2.1, 4.1, "miss", "C04")]
    panel = scatter_panel(pairs, quantity="page load time", unit="s", scale="log")
    texts = {m.look: m.texts for m in panel.marks if isinstance(m, Dots)}
    assert texts == {"match": (), "miss": ("C04", "")}
    assert (panel.x.low, panel.x.high) == (panel.y.low, panel.y.high)


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_a_scatter_plot_without_values_can_be_drawn(scale: Scale, tmp_path: Path) -> None:
    panel = scatter_panel([], quantity="loss", unit="%", scale=scale)
    mpl.save(PlotSpec("empty", "Nothing to compare", (panel,)), tmp_path)
    assert (tmp_path / "empty.svg").is_file()


def test_values_below_the_floor_of_a_log_axis_are_drawn_on_it() -> None:
    panel = scatter_panel([Pair(0.0, 0.5, "match", "D01")], quantity="loss", unit="%", scale="log", floor=0.01)
    dots = next(mark for mark in panel.marks if isinstance(mark, Dots))
    assert dots.x.tolist() == [0.01]


def test_a_time_axis_is_cut_where_it_ends_and_labelled_in_whole_seconds() -> None:
    time = np.arange(0.0, 30.0, 0.1)
    panel = timeseries_panel([Trace(time, time, "codel")], quantity="rate", unit="Mb/s", until_s=20.0, ticks=(0, 5, 10))
    line = panel.marks[0]
    assert isinstance(line, Line)
    assert line.x.max() <= 20.0
    assert [text for _, text in panel.x.ticks] == ["0", "5", "10", "15", "20"]
    assert [text for _, text in panel.y.ticks] == ["0", "5", "10"]


def test_the_data_of_a_plot_hold_nothing_but_plain_values() -> None:
    plot = PlotSpec("p", "Title", (box_panel([("a", "codel", np.arange(5.0))], quantity="q", unit="s"),))

    def plain(value: object) -> bool:
        if isinstance(value, dict):
            return all(plain(item) for item in value.values())  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        if isinstance(value, list):
            return all(plain(item) for item in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        return value is None or isinstance(value, str | int | float | bool)

    assert plain(draw(plot, "none"))


@pytest.mark.parametrize("length", [3.0, 90.0, 600.0, 5000.0])
def test_a_time_axis_of_any_length_has_at_most_nine_labels(length: float) -> None:
    time = np.array([0.0, length])
    panel = timeseries_panel([Trace(time, time, "codel")], quantity="q", unit="s", until_s=length)
    assert 2 <= len(panel.x.ticks) <= 9


def test_rows_of_dots_show_nothing_as_the_end_of_a_log_axis() -> None:
    rows = [DotRow(0, 0, "codel", Estimate(0.0, 0.0, 0.1, 3)), DotRow(1, 0, "codel", Estimate(5.0))]
    panel = dot_panel(
        ["x01", "x02"],
        rows,
        lanes=1,
        quantity="lost",
        unit="%",
        scale="log",
        floor=0.001,
        ticks=((0.001, "0"), (1.0, "1")),
    )
    (dots,) = [mark for mark in panel.marks if isinstance(mark, Dots)]
    assert dots.x.tolist() == [0.001, 5.0]
    assert dots.low is not None
    assert dots.low[0] == 0.001
    assert panel.x.ticks == ((0.001, "0"), (1.0, "1"))


def test_few_values_are_dots_and_no_box() -> None:
    few, many = np.array([1.0, 2.0, 9.0]), np.arange(8.0)
    panel = box_panel([("few", "codel", few), ("many", "pie", many)], quantity="delta", unit="%")
    dots, box = panel.marks
    assert isinstance(dots, Dots)
    assert dots.x.tolist() == [1.0, 2.0, 9.0]
    assert isinstance(box, Box)


def test_nothing_drawn_is_too_light_to_be_seen_on_white() -> None:
    """Of all colours that figures use, none is as light as the yellow of Okabe and Ito (1.3:1)."""
    for name in ("grant_wait", "yellow"):
        channels = [int(styles.look_of(name).colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
        luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        assert 1.05 / (luminance + 0.05) > 2.9, name
