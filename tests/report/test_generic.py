"""Studies without modules of their own get tables of all metrics, box plots and distributions."""

import csv
from pathlib import Path

import numpy as np
import polars as pl

from sojourn.report import build
from sojourn.report.generic import BOXED, looks_of, parts, significant, spread, words
from sojourn.studies.view import StudyView
from studies.synthetic import World


def own_study() -> World:
    world = World()
    world.builtin = False
    for point in {point for point, _, _ in world.metrics} - {"C04", "D04-417", "D04-21"}:
        world.drop(point)
    return world


def test_every_metric_stands_in_a_table_with_its_interval(tmp_path: Path) -> None:
    found = parts(own_study().view(tmp_path))
    assert {table.title for table in found.plain_tables} >= {"call", "page", "bulk", "upstream"}
    call = next(table for table in found.plain_tables if table.title == "call")
    assert [row[0].text for row in call.rows] == ["C04", "D04-21", "D04-417"]
    column = call.headings.index("lost, %")
    cell = call.rows[0][column]
    assert cell.text == "8.77"
    low, high = (float(text) for text in cell.detail.split(" to "))
    assert low < 8.77 < high


def test_a_metric_that_a_point_lacks_is_a_dash(tmp_path: Path) -> None:
    found = parts(own_study().view(tmp_path))
    page = next(table for table in found.plain_tables if table.title == "page")
    column = page.headings.index("median page load time")
    texts = {row[0].text: row[column].text for row in page.rows}
    assert texts["D04-21"] == "–"
    assert texts["C04"] == "3.352"


def has(view: StudyView, point: str, subject: str, metric: str) -> bool:
    return bool(np.isfinite(view.values_or_nan(point, subject, metric)).all())


def test_boxes_are_coloured_by_label_and_what_differs_most_stands_first(tmp_path: Path) -> None:
    points = pl.DataFrame(
        {"point": ["a/1", "a/2", "b/1", "b/2"], "site": ["x"] * 4, "queue": ["a", "a", "b", "b"]}
    )
    looks = looks_of(points, ["site", "queue"])
    assert list(looks.values()) == ["cycle-0", "cycle-0", "cycle-1", "cycle-1"]
    assert len(set(looks_of(points, ["site"]).values())) == 4
    view = own_study().view(tmp_path)
    figure = next(figure for figure in parts(view).figures if figure.item == "metrics")
    metrics = {words(metric): metric for metric in BOXED}
    spreads = [
        spread(
            [
                view.values_or_nan(point, panel.title, metrics[panel.x.quantity])
                for point in ("C04", "D04-417", "D04-21")
                if has(view, point, panel.title, metrics[panel.x.quantity])
            ]
        )
        for panel in figure.plot.panels
    ]
    assert spreads == sorted(spreads, reverse=True)
    assert spreads[0] > spreads[-1]


def test_the_report_is_written_without_verdicts(tmp_path: Path) -> None:
    summary = build(own_study().build(tmp_path))
    assert summary.comparison == {"match": 0, "miss": 0, "unjudged": 0}
    assert (tmp_path / "tables" / "metrics-call.csv").exists()
    with (tmp_path / "comparison.csv").open(encoding="utf-8") as file:
        assert len(list(csv.reader(file))) == 1
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Metrics by point" in html
    assert 'href="#claims"' not in html


def test_kept_delays_are_drawn_as_distributions(tmp_path: Path) -> None:
    result = own_study().build(tmp_path)
    points = ["C04", "D04-21", "D04-417"]
    pl.DataFrame(
        {
            "point": [point for point in points for _ in range(3)],
            "seed": pl.Series([1] * 9, dtype=pl.UInt64),
            "traffic": ["call"] * 9,
            "direction": ["upstream"] * 9,
            "delay_ns": [5_000_000, 10_000_000, 90_000_000] * 3,
            "packets": [900, 90, 10] * 3,
        }
    ).write_parquet(tmp_path / "records" / "delay_histogram.parquet")
    found = parts(StudyView(result))
    figure = next(f for f in found.figures if f.item == "delay-call-upstream")
    cumulative, tail = figure.plot.panels
    line = cumulative.marks[0]
    assert getattr(line, "label", "") == "C04"
    assert getattr(line, "y").tolist() == [0.0, 0.9, 0.99, 1.0]  # noqa: B009
    assert tail.y.scale == "log"


def test_numbers_read_without_exponents() -> None:
    assert [significant(v) for v in (375614.2, 12.3456, 0.00123456, 0.0)] == [
        "375614",
        "12.35",
        "0.001235",
        "0",
    ]
