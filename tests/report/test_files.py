"""Files beside the page: drawings by several processes, and tables that say what a column is."""

import csv
from pathlib import Path

import numpy as np
import pytest

from sojourn.plots.cdf import cdf
from sojourn.plots.spec import PlotSpec
from sojourn.report import drawing_files
from sojourn.report.drawing_files import draw_files, split
from sojourn.report.files import write_plain
from sojourn.report.page import closeness, has_number
from sojourn.studies.estimate import Estimate
from sojourn.studies.parts import PlainCell, PlainTable
from sojourn.studies.table import Cell
from sojourn.studies.tolerance import Rule


def plots(count: int) -> list[PlotSpec]:
    return [
        cdf(f"plot-{n}", {"codel": np.arange(3.0) + n}, quantity="delay", unit="ms")
        for n in range(count)
    ]


def test_other_processes_draw_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, together = tmp_path / "alone", tmp_path / "together"
    alone.mkdir()
    together.mkdir()
    monkeypatch.setattr(drawing_files, "START", 0)
    monkeypatch.setattr(drawing_files.os, "cpu_count", lambda: 1)
    first = draw_files(plots(4), alone)
    monkeypatch.setattr(drawing_files.os, "cpu_count", lambda: 2)
    second = draw_files(plots(4), together)
    assert first == second
    names = sorted(path.name for path in alone.iterdir())
    assert len(names) == 4
    for name in names:
        assert (alone / name).read_bytes() == (together / name).read_bytes()


def test_what_another_process_could_not_draw_is_drawn_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing_files, "START", 0)
    monkeypatch.setattr(drawing_files.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(drawing_files, "_WORKER", "raise SystemExit(1)")
    assert len(draw_files(plots(4), tmp_path)) == 4
    assert len(list(tmp_path.glob("*.svg"))) == 4


def test_shares_are_complete_and_take_as_long_with_their_start() -> None:
    shares = split(plots(16), 2)
    assert [len(share) for share in shares] == [10, 6]  # 30 panels' worth, and 10 + 18
    assert {plot.name for share in shares for plot in share} == {f"plot-{n}" for n in range(16)}


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_few_plots_are_drawn_here(count: int) -> None:
    assert [len(share) for share in split(plots(count), 4)] == [count]


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
    return Cell(
        "t",
        "",
        "",
        "lost",
        "%",
        printed,
        value,
        Estimate(value),
        rule=Rule("R", "A", low=0.0, high=100.0),
    )


def test_words_in_print_have_no_distance() -> None:
    assert has_number(cell("99.18", 99.18))
    assert has_number(cell(">600", 600.0))
    assert not has_number(cell("very good", 0.0))
    assert closeness([cell("very good", 0.0)]) == ""
    assert "Of the 1 judged cells" in closeness([cell("very good", 0.0), cell("5.00", 5.0)])
