"""The Matplotlib backend draws every mark, and equal plots give equal bytes."""

import warnings
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from sojourn.plots.backends import mpl as backend
from sojourn.plots.box import box_of
from sojourn.plots.spec import Axis, Band, Bars, Dots, Line, Note, Panel, PlotSpec, Rule

X = np.array([1.0, 2.0, 3.0])


def everything(legend: str = "below") -> PlotSpec:
    marks = (
        Band(X, X - 0.5, X + 0.5, "codel", "range"),
        Line(X, X, "codel", "mean"),
        Line(X, X + 1, "blue dashed triangle", "other", step=True, weight="thin"),
        Dots(X, X, "printed", "printed", filled=False, texts=("a", "", "b")),
        Dots(X, X + 0.1, "codel", "ours", low=X - 0.1, high=X + 0.1),
        Bars(X, X * 0, X, "queue", "queue"),
        box_of(np.array([1.0, 1.1, 1.2, 1.3, 3.0]), 2.0, "codel"),
        Rule(2.0, "x", "here"),
        Rule(2.5, "y", "limit", "limit"),
        Note(1.5, 2.5, "words"),
    )
    panel = Panel(Axis("x", "s"), Axis("y", "ms"), marks, "all marks")
    return PlotSpec(
        "everything", "Everything", (panel, panel), columns=2, legend="below" if legend == "below" else "none"
    )


@pytest.mark.whole
def test_equal_plots_give_equal_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    for folder in (first, second):
        folder.mkdir()
        backend.save(everything(), folder, pdf=True)
    for name in ("everything.svg", "everything.pdf"):
        assert (first / name).read_bytes() == (second / name).read_bytes()


@pytest.mark.parametrize("legend", ["below", "none"])
def test_a_drawing_is_valid_xml_with_words_as_words(legend: str) -> None:
    text = backend.svg(everything(legend))
    root = ET.fromstring(text)
    words = " ".join(element.text or "" for element in root.iter() if element.tag.endswith("text"))
    for expected in ("Everything", "x in s", "y in ms", "here", "limit", "words", "mean", "other"):
        assert expected in words
    assert "dc:date" not in text


def test_a_legend_names_each_thing_once() -> None:
    text = backend.svg(everything())
    root = ET.fromstring(text)
    words = [element.text for element in root.iter() if element.tag.endswith("text")]
    for label in ("mean", "other", "printed", "ours", "queue", "range"):
        assert words.count(label) == 1


def test_a_long_label_of_a_row_begins_inside_the_figure() -> None:
    label = "x05: 5 x 5 MB, 100 ms, and as much again"
    rows = Axis("", ticks=((1.0, label), (2.0, "short")))
    plot = PlotSpec("rows", "Rows", (Panel(Axis("x", "s"), rows, (Dots(X, X, "codel", "ours"),)),))
    root = ET.fromstring(backend.svg(plot))
    text = next(element for element in root.iter() if element.text == label)
    assert "text-anchor: end" in text.attrib["style"]
    assert "font-size: 7px" in text.attrib["style"]
    outline: Any = TextPath((0, 0), label, size=7, prop=FontProperties(family="DejaVu Sans"))
    assert float(text.attrib["x"]) > outline.get_extents().width


def test_drawing_leaves_matplotlib_as_it_was() -> None:
    before = dict(mpl.rcParams)
    backend.svg(everything())
    assert dict(mpl.rcParams) == before


def test_a_reference_line_beyond_the_data_does_not_squeeze_the_plot() -> None:
    panel = Panel(Axis("t", "s"), Axis("delay", "ms", low=0.0), (Line(X, X, "codel"), Rule(370.0, "y", "370")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        backend.svg(PlotSpec("rule", "", (panel,)))


def test_a_pdf_is_written_on_request_with_real_fonts(tmp_path: Path) -> None:
    backend.save(everything(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["everything.svg"]
    backend.save(everything(), tmp_path, pdf=True)
    assert b"/Type0" in (tmp_path / "everything.pdf").read_bytes()
