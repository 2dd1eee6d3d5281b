"""Files beside the page: drawings by several processes, and tables that say what a column is."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sojourn.answers.figure import Figure
from sojourn.answers.report_content import PlainCell, PlainTable
from sojourn.answers.table import Cell
from sojourn.answers.tolerance import Rule
from sojourn.plots.cdf import cdf
from sojourn.report import drawing_files
from sojourn.report.drawing_files import Drawers, draw_files
from sojourn.report.files import write_plain
from sojourn.report.page import closeness, has_number
from sojourn.stats.estimate import Estimate


def figures(count: int) -> list[Figure]:
    plots = [cdf(f"plot-{n}", {"codel": np.arange(3.0) + n}, quantity="delay", unit="ms") for n in range(count)]
    return [Figure(f"item-{n}", plot, "") for n, plot in enumerate(plots)]


@pytest.mark.whole
def test_other_processes_draw_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone, together = tmp_path / "alone", tmp_path / "together"
    alone.mkdir()
    together.mkdir()
    monkeypatch.setattr(drawing_files, "START", 0)
    monkeypatch.setattr(drawing_files.os, "cpu_count", lambda: 1)
    first = draw_files(figures(4), alone)
    monkeypatch.setattr(drawing_files.os, "cpu_count", lambda: 2)
    second = draw_files(figures(4), together)
    assert first == second
    names = sorted(path.name for path in alone.iterdir())
    assert len(names) == 4
    for name in names:
        assert (alone / name).read_bytes() == (together / name).read_bytes()


def test_what_another_process_could_not_draw_is_drawn_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing_files, "START", 0)
    monkeypatch.setattr(drawing_files.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(drawing_files, "_WORKER", "raise SystemExit(1)")
    assert len(draw_files(figures(4), tmp_path)) == 4
    assert len(list(tmp_path.glob("*.svg"))) == 4


@pytest.mark.whole
def test_a_figure_that_cannot_be_drawn_says_so_in_its_place_and_costs_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing_files, "START", 0)
    monkeypatch.setattr(drawing_files.os, "cpu_count", lambda: 2)
    good = figures(4)
    bad = replace(good[1], plot=replace(good[1].plot, columns=0))
    with Drawers() as drawers:
        drawers.folder = tmp_path
        for figure in (good[0], bad, *good[2:]):
            drawers.draw(figure)
        drawn = drawers.finish()
    failed = {item for item, text in drawn.items() if "could not be drawn: ZeroDivisionError" in text}
    assert failed == {bad.item} == set(drawers.failed)
    # No file is written of an error.
    assert {path.name for path in tmp_path.glob("*.svg")} == {f"plot-{number}.svg" for number in (0, 2, 3)}


def test_processes_start_at_once_for_many_figures_and_not_for_a_few_or_on_one_core(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[Drawers] = []

    def start(drawers: Drawers) -> None:
        started.append(drawers)

    monkeypatch.setattr(drawing_files.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(Drawers, "_start", start)
    Drawers(expected=4)
    assert not started
    Drawers(expected=5)
    assert len(started) == 1
    monkeypatch.setattr(drawing_files.os, "cpu_count", lambda: 1)
    Drawers(expected=50)
    assert len(started) == 1


def test_a_heading_above_columns_is_part_of_their_names(tmp_path: Path) -> None:
    table = PlainTable(
        "t",
        "",
        "",
        ("load", "P50", "P95", "P50"),
        (tuple(PlainCell(text) for text in ("light", "1", "2", "3")),),
        (("", 1), ("delay, ms", 2)),
    )
    write_plain(tmp_path / "t.csv", table)
    with (tmp_path / "t.csv").open(newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert row == {"load": "light", "delay, ms: P50": "1", "delay, ms: P95": "2", "P50": "3"}


def cell(printed: str, value: float) -> Cell:
    return Cell("t", "", "", "lost", "%", printed, value, Estimate(value), rule=Rule("R", "A", low=0.0, high=100.0))


def test_words_in_print_have_no_distance() -> None:
    assert has_number(cell("99.18", 99.18))
    assert has_number(cell(">600", 600.0))
    assert not has_number(cell("very good", 0.0))
    assert closeness([cell("very good", 0.0)]) == ""
    assert "Of the 1 judged cells" in closeness([cell("very good", 0.0), cell("5.00", 5.0)])
