"""Studies that declare nothing: who wins where, figures by label, tables of all metrics."""

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from sojourn.answers.view import StudyView
from sojourn.plots.spec import Dots, Line
from sojourn.report import build
from sojourn.report.first import headline_of_result
from sojourn.report.generic import parts
from sojourn.report.roles import Roles
from sojourn.study.definition import StudyDefinition
from sojourn.study.result import METRICS_SCHEMA, StudyResult
from studies.synthetic import World
from support import STUDY


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
    column = call.headings.index("packets lost, %")
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


def small(queues: Sequence[str], loads: Sequence[int], seeds: Sequence[int] = (1, 2, 3, 4, 5)) -> StudyResult:
    """Return a result in which the first queue is the quickest, at any load, and loses as much as the others."""
    runs: list[dict[str, object]] = []
    rows: list[tuple[object, ...]] = []
    for place, queue in enumerate(queues):
        for load in loads:
            for seed in seeds:
                point = f"{queue}-{load}"
                runs.append({"point": point, "seed": seed, "queue": queue, "load": load})
                values = {
                    ("game", "delay_up_p99", "ms"): 10.0 * (place + 1) * load + 0.01 * seed * (place + 1),
                    ("game", "loss_total", "%"): 3.0 + 0.01 * seed,
                    ("game", "goodput", "Mb/s"): 0.1 + 0.01 * place,
                    ("upload", "goodput", "Mb/s"): 9.0 - 0.2 * place + 0.001 * seed,
                    ("upload", "retransmissions", ""): 9.0 * (place + 1),
                    ("upstream", "queue_delay_p99", "ms"): 90.0 * (place + 1),
                    ("game", "marks_received", ""): 0.0,
                }
                rows += [("s", point, seed, *key, value) for key, value in values.items()]
    return StudyResult(
        Path(),
        StudyDefinition.model_validate(STUDY),
        pl.DataFrame([(*row[:5], row[6], row[5]) for row in rows], schema=METRICS_SCHEMA, orient="row"),
        pl.DataFrame(runs),
        {"label_units": {"load": "%"}},
    )


def test_the_first_label_competes_and_the_others_are_conditions() -> None:
    roles = Roles.of(small(["a", "b"], [1, 2]))
    assert (roles.compete, roles.conditions) == ("queue", ("load",))
    assert roles.cells == {("1",): {"a": "a-1", "b": "b-1"}, ("2",): {"a": "a-2", "b": "b-2"}}
    assert [roles.title(cell) for cell in roles.cells] == ["load 1 %", "load 2 %"]
    assert roles.looks == {"a": "cycle-0", "b": "cycle-1"}
    assert Roles.of(small(["pie", "codel"], [1])).looks == {"pie": "pie", "codel": "codel"}


def test_names_compete_before_amounts_whichever_stands_first() -> None:
    result = small(["a", "b"], [1, 2])
    turned = replace(result, runs=result.runs.select("point", "seed", "load", "queue"))
    roles = Roles.of(turned)
    assert (roles.compete, roles.conditions) == ("queue", ("load",))
    amounts = replace(turned, runs=turned.runs.with_columns(queue=pl.col("point").rank("dense")))
    assert Roles.of(amounts).compete == "load"


def test_points_that_labels_do_not_tell_apart_compete_themselves() -> None:
    result = small(["a", "b"], [1, 2])
    roles = Roles.of(replace(result, runs=result.runs.drop("load")))
    assert (roles.compete, roles.competitors) == ("point", ["a-1", "a-2", "b-1", "b-2"])


def test_what_is_felt_stands_first_then_what_it_costs_and_nothing_else() -> None:
    found = Roles.of(small(["a", "b"], [1, 2])).measures(6)
    # Losses are the same, and a link, which feels nothing, has no row though its queue differs as much.
    assert [(one.subject, one.metric) for one in found] == [("game", "delay_up_p99"), ("upload", "goodput")]


def test_who_does_not_count_has_no_row() -> None:
    result = small(["a", "b"], [1, 2])
    calls = result.metrics.filter(pl.col("metric") == "delay_up_p99").with_columns(
        subject=pl.lit("call"), metric=pl.lit("mos"), unit=pl.lit("")
    )
    both = replace(result, metrics=pl.concat([result.metrics, calls]))
    assert {one.subject for one in Roles.of(both).measures(6)} == {"call", "game", "upload"}
    asked = replace(both, definition=StudyDefinition.model_validate({**STUDY, "feels": ["call"]}))
    assert [one.subject for one in Roles.of(asked).measures(6)] == ["call", "upload"]


def test_numbers_are_those_of_the_condition_that_the_study_names() -> None:
    both = small(["a", "b"], [1, 2])
    found = headline_of_result(replace(both, definition=StudyDefinition.model_validate({**STUDY, "at": {"load": 2}})))
    assert found is not None
    assert found.sentence.endswith("The numbers are those at 2 %.")
    assert {cell.condition for cell in found.cells} == {"2 %"}
    every = headline_of_result(both)
    assert every is not None
    assert {cell.condition for cell in every.cells} == {"1 %", "2 %"}


def test_without_anybody_who_feels_or_pays_links_speak() -> None:
    result = small(["a", "b"], [1, 2])
    only = replace(result, metrics=result.metrics.filter(pl.col("subject") == "upstream"))
    assert [one.metric for one in Roles.of(only).measures(6)] == ["queue_delay_p99"]


def test_any_study_says_who_wins_where() -> None:
    found = parts(StudyView(small(["a", "b", "c"], [1, 2])))
    assert found.summary is not None
    assert found.summary.headings == ("measure", "load", "a", "b", "c", "winner")
    rows = [[cell.text for cell in row] for row in found.summary.rows]
    assert rows[0] == ["game: 99th percentile of delay upstream, ms", "1 %", "10", "20.1", "30.1", "a"]
    assert [cell.emphasis for cell in found.summary.rows[0]][2:5] == ["best", "", ""]
    assert found.headlines[0].endswith("of 4 comparisons in the table below: a 4, b 0, c 0.")
    assert found.headlines[1].startswith("b instead of a (queue; means over load): ")


def test_one_seed_names_no_winner() -> None:
    found = parts(StudyView(small(["a", "b"], [1], seeds=[1])))
    assert found.summary is not None
    assert [row[-1].text for row in found.summary.rows] == ["one run", "one run"]
    assert "One run each cannot tell chance." in found.headlines[0]


def test_many_conditions_are_averaged() -> None:
    found = parts(StudyView(small(["a", "b"], range(1, 60))))
    assert found.summary is not None
    assert [row[0].text[:8] for row in found.summary.rows] == ["game: 99", "upload: "]
    assert found.summary.rows[0][1].text == "300"
    assert "Mean over all other labels." in found.summary.caption


def test_dots_are_coloured_by_what_competes_with_a_row_per_condition() -> None:
    found = parts(StudyView(small(["a", "b"], [1, 2])))
    (figure,) = [figure for figure in found.figures if figure.item == "metrics"]
    panel = figure.plot.panels[0]
    assert (panel.title, panel.x.label) == ("game", "99th percentile of delay upstream in ms")
    assert [text for _, text in panel.y.ticks] == ["load 1 %", "load 2 %"]
    assert [mark.label for mark in panel.marks if isinstance(mark, Dots)] == ["a", "b"]
    assert len(figure.plot.panels) == 2


def test_a_sweep_takes_the_place_of_dots_and_further_labels_make_panels() -> None:
    result = small(["a", "b"], [1, 2, 4])
    (figure,) = parts(StudyView(result)).figures
    assert figure.item == "sweep-load"
    runs = pl.concat(
        [result.runs.with_columns(pl.lit(site).alias("site"), pl.col("point") + site) for site in ("x", "y")]
    )
    metrics = pl.concat([result.metrics.with_columns(pl.col("point") + s) for s in ("x", "y")])
    (figure,) = parts(StudyView(replace(result, runs=runs, metrics=metrics))).figures
    titles = [panel.title.splitlines()[1] for panel in figure.plot.panels]
    assert titles == ["site x", "site y"] * 2


def test_wide_tables_are_folded_and_zeros_are_named_in_the_caption() -> None:
    found = parts(StudyView(small(["a", "b"], [1, 2])))
    table = next(table for table in found.plain_tables if table.name == "metrics-game")
    assert table.folded
    assert "marks received" in table.caption
    assert "marks received" not in table.headings
    assert [t.folded for t in found.plain_tables if t.name.startswith("compare-")] == [False, True]


def test_the_report_is_written_without_verdicts(tmp_path: Path) -> None:
    summary = build(own_study().build(tmp_path))
    assert summary.comparison == {"match": 0, "miss": 0, "unjudged": 0}
    assert (tmp_path / "tables" / "metrics-call.csv").exists()
    with (tmp_path / "comparison.csv").open(encoding="utf-8") as file:
        assert len(list(csv.reader(file))) == 1
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "What differs most" in html
    assert "Who wins where" in html
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
    line = next(mark for mark in cumulative.marks if isinstance(mark, Line))
    assert (line.label, line.x[0]) == ("C04", 5.0)
    assert line.y[-1] == 1.0
    assert tail.y.scale == "log"
