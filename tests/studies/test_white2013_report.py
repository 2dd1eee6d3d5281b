"""The report of White 2013 shows what a result holds, and leaves out what it does not."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sojourn.published.white2013 as package
from sojourn import _engine
from sojourn.answers.asking import Ask
from sojourn.answers.figure import Figure
from sojourn.answers.figures import figures
from sojourn.answers.figures.common import look_of
from sojourn.answers.figures.distribution import LEVELS, curve
from sojourn.answers.number_tables import cell, numbers_table
from sojourn.answers.rated_tables import bounds_of, rated_table, word_for
from sojourn.answers.report_content import PlainTable, StudyParts
from sojourn.answers.reporting import headlines
from sojourn.answers.selection import LabelledPoint
from sojourn.answers.table import Table
from sojourn.answers.tolerance import Verdict
from sojourn.answers.view import NotRecorded, StudyView
from sojourn.answers.winners import (
    _contest,  # pyright: ignore[reportPrivateUsage]
    _Entry,  # pyright: ignore[reportPrivateUsage]
    winners,
)
from sojourn.declarations.answers import NumbersTable
from sojourn.plots import draw
from sojourn.plots.spec import Line
from sojourn.published.white2013.study import CYCLES, DWELL_S, after_falls, falls
from sojourn.report import build
from sojourn.stats.distribution import Distribution
from sojourn.stats.estimate import Estimate
from sojourn.stats.pairs import who_wins
from sojourn.study.definition import load_definition
from sojourn.study.library import load_study
from sojourn.study.result import StudyResult
from studies.cases_2013 import (
    BUFFER_CONTROL,
    BUFFERBLOAT,
    CODEL,
    GROUP_LOADS,
    LOADS,
    MANAGER_LABELS,
    MANAGERS,
    PIE,
    RF_LEVELS,
    SFQ_CODEL,
    STUDY,
    point_of,
)
from studies.synthetic_2013 import SEEDS, Result, World

HOME = Path(package.__file__).parent
LOOKS = [STUDY.definition.labels["queue_manager"][name].look or name for name in MANAGERS]

ALL_FIGURES = (
    "overview",
    *(f"figure-{n}" for n in (9, 10, 12, 13, 14, 15, 16, 17, 18)),
    *(f"figure-{n}" for n in (22, 23, 24, 25, 26, 27, 28, 29, 30, 31)),
    "short-term-delay",
    "peak-rates",
    "capacity-steps",
    "sub-flows",
    "flow-queueing",
)
"""All that a complete result draws, in its order."""


@cache
def whole() -> StudyView:
    return World().view()


def all_figures(view: StudyView) -> list[Figure]:
    return [figure for _, figure in sorted(figures(STUDY, STUDY.ask(view), lambda: ()), key=place)]


def place(numbered: tuple[int, Figure]) -> int:
    return numbered[0]


def points(*names: str) -> list[LabelledPoint]:
    return [STUDY.points.point(name) for name in names]


def ask_of(view: StudyView) -> Ask:
    return STUDY.ask(view)


@cache
def drawn() -> dict[str, Figure]:
    return {figure.item: figure for figure in all_figures(whole())}


def marks(figure: Figure, kind: str) -> list[dict[str, Any]]:
    """Return the marks of one kind, over all panels."""
    data = draw(figure.plot, "none")
    return [mark for panel in data["panels"] for mark in panel["marks"] if mark["kind"] == kind]


def only(*chosen: str) -> StudyView:
    """Return a view of some points."""
    world = World()
    for point in world.points():
        if point not in chosen:
            world.drop(point)
    return world.view()


# ---- figures --------------------------------------------------------------------------------------


def test_a_complete_result_draws_every_figure_of_the_document() -> None:
    found = tuple(drawn())
    assert [item for item in found if item in ALL_FIGURES] == list(ALL_FIGURES)


def test_the_cycles_are_those_of_the_engine() -> None:
    known = {point.name: point for point in load_study("white2013").points()}
    for level, rates in CYCLES.items():
        text = _engine.Scenario.parse(known[point_of("x01", level, PIE)].text).canonical()
        lines = dict(line.split(" = ", 1) for line in text.splitlines() if " = " in line)
        levels = [float(rate.strip(' "').removesuffix(" Mb/s")) for rate in lists(lines["levels"])]
        assert tuple(levels[int(place)] for place in lists(lines["order"])) == rates
        assert lines["dwell"] == f'"{DWELL_S:g} s"'
        assert len({(a, b) for a, b in zip(rates, (*rates[1:], rates[0]), strict=True)}) == 12


def lists(text: str) -> list[str]:
    return text.strip("[]").split(", ")


def test_latency_is_drawn_rounded_up_in_nine_cells() -> None:
    data = draw(drawn()["figure-12"].plot, "none")
    assert len(data["panels"]) == 9
    assert data["panels"][-1]["x"]["label"] == "delay of the game in ms"
    for panel in data["panels"]:
        lines = [mark for mark in panel["marks"] if mark["kind"] == "line"]
        assert [line["look"] for line in lines] == LOOKS
        for line in lines:
            assert all(x == int(x) for x in line["x"])
            assert (line["y"][0], line["y"][-1]) == (0.0, pytest.approx(1.0))


def test_a_cell_shows_its_own_households() -> None:
    world = World()
    world.change_delays(
        lambda point: point in {point_of(x, "light", CODEL) for x in GROUP_LOADS["moderate"]},
        first=500.0,
        middle=500.0,
        high=500.0,
        top=500.0,
        largest=500.0,
    )
    plot = next(f for f in all_figures(world.view()) if f.item == "figure-12").plot
    slow = [
        panel.title
        for panel in plot.panels
        for mark in draw_lines(panel.marks)
        if mark.look == CODEL and float(mark.x[0]) == 500.0
    ]
    assert slow == ["moderate load, light RF"]


def draw_lines(found: tuple[Any, ...]) -> Iterator[Any]:
    return (mark for mark in found if hasattr(mark, "step") and hasattr(mark, "y"))


def test_pages_are_counted_in_each_panel() -> None:
    data = draw(drawn()["figure-22"].plot, "none")
    notes = [mark["text"] for mark in data["panels"][0]["marks"] if mark["kind"] == "note"]
    # Seven households of light load, two seeds, six pages each.
    assert notes == ["84"] * len(MANAGERS)


def test_losses_of_nothing_stand_at_the_floor_of_the_axis() -> None:
    found = marks(drawn()["figure-15"], "dots")
    sfq = [mark for mark in found if mark["look"] == SFQ_CODEL]
    assert sfq
    assert min(x for mark in sfq for x in mark["x"]) >= 0.001
    assert drawn()["figure-15"].plot.panels[0].x.ticks[0] == (0.001, "0")


def test_households_of_a_group_are_rows_and_levels_of_congestion_panels() -> None:
    for number, group in ((15, "light"), (16, "moderate"), (17, "heavy")):
        plot = drawn()[f"figure-{number}"].plot
        assert [panel.title.split()[0] for panel in plot.panels] == ["no", "light", "moderate"]
        rows = [text for _, text in plot.panels[0].y.ticks]
        assert [row[:3] for row in rows] == list(GROUP_LOADS[group])


def test_spread_over_seeds_is_shown_and_said() -> None:
    assert marks(drawn()["figure-14"], "band")
    assert f"over {len(SEEDS)} seeds" in drawn()["figure-14"].caption


def test_a_single_seed_has_no_bands_and_says_so() -> None:
    view = whole()
    one = curve({1: view.delays(point_of("x02", "none", CODEL), "game")[1]}, CODEL, "CoDel")
    assert [type(mark).__name__ for mark in one] == ["Line"]


def test_each_manager_of_the_short_term_has_its_panel() -> None:
    assert [panel.title for panel in drawn()["figure-29"].plot.panels] == [
        MANAGER_LABELS[m] for m in (BUFFERBLOAT, BUFFER_CONTROL, CODEL, SFQ_CODEL)
    ]
    (line,) = marks(drawn()["figure-30"], "line")
    assert line["x"][-1] <= 30.0
    assert max(line["y"]) == pytest.approx(20.0, rel=0.01)


def test_delay_after_a_fall_begins_at_the_fall() -> None:
    times = [at for at, _ in falls()]
    rates = CYCLES["moderate"]
    assert [rates[int(at / DWELL_S)] < rates[int(at / DWELL_S) - 1] for at in times] == [True] * 6
    series = whole().series("steps-codel")[1]
    course = after_falls(series)
    assert len(course) == round(DWELL_S / series.width_s)
    # The shape is the same in each cycle and after each fall.
    first = round((120.0 + times[0]) / series.width_s)
    expected = series.sojourn_mean_ms[first : first + len(course)]
    assert course.tolist() == pytest.approx(expected.tolist(), rel=1e-6)


def test_every_figure_has_words_for_those_who_cannot_see_it() -> None:
    for figure in drawn().values():
        assert len(figure.plot.description) > 30
        assert figure.caption.endswith(".")


# ---- what is missing ------------------------------------------------------------------------------


def test_without_the_document_s_conditions_only_the_cycles_are_drawn() -> None:
    view = only("ledbat-against-cubic")
    assert [figure.item for figure in all_figures(view)] == ["figure-9", "figure-10"]
    assert found_summary(view) is None
    assert headlines(STUDY, ask_of(view), []) == ()
    found = table_3(view)
    assert {cell.verdict for cell in found.ordered_cells()} == {Verdict.UNJUDGED}


def test_households_are_compared_only_where_all_managers_were_run() -> None:
    chosen = [point_of("x02", "none", m) for m in MANAGERS] + [point_of("x05", "none", PIE)]
    view = only(*chosen)
    complete = ask_of(view).complete({"part": "published"}, "queue_manager")
    assert {point.name for point in complete} == set(chosen[:-1])
    assert "x05-none-bufferbloat" not in summary_of(view).caption
    assert "Not run with all that are compared" in summary_of(view).caption
    assert "Not run" not in summary_of(whole()).caption


def test_one_manager_alone_is_shown() -> None:
    view = only(*(point_of(load, rf, PIE) for load in LOADS for rf in RF_LEVELS))
    found = {figure.item for figure in all_figures(view)}
    assert {"overview", "figure-12", "figure-18", "figure-24", "figure-31"} <= found
    assert "figure-29" not in found


def test_a_household_without_any_page_is_no_reason_to_leave_out_its_cell() -> None:
    world = World()
    del world.times[point_of("x16", "none", PIE)]
    view = world.view()
    assert "figure-22" in {figure.item for figure in all_figures(view)}
    measure = STUDY.definition.measures["mixed_load_time_p50"]
    with pytest.raises(NotRecorded, match="no samples"):
        ask_of(view).distributions(measure, points(point_of("x16", "none", PIE)))


def test_without_losses_the_figures_of_losses_are_left_out() -> None:
    world = World()
    world.metrics = {key: v for key, v in world.metrics.items() if key[2] not in ("lost", "mos")}
    view = world.view()
    found = {figure.item for figure in all_figures(view)}
    assert {"figure-12", "overview", "flow-queueing", "sub-flows"} <= found
    assert not {"figure-15", "figure-18", "figure-25", "figure-28"} & found
    titles = {row[1].text for row in summary_of(view).rows}
    assert titles == {
        "median game delay, ms",
        "P95 of game delay, ms",
        "median page load time, s",
        "upload goodput, Mb/s",
    }


# ---- numbers --------------------------------------------------------------------------------------


def found_summary(view: StudyView) -> PlainTable | None:
    assert STUDY.definition.winners is not None
    won = winners(STUDY, ask_of(view), STUDY.definition.winners)
    return won.table if won else None


def table_3(view: StudyView) -> Table:
    (definition,) = STUDY.definition.rated
    return rated_table(STUDY, ask_of(view), definition)


def number_tables(view: StudyView) -> dict[str, PlainTable]:
    """Return the tables that a report of the result has: those of points that were not run are left out."""

    def made(definition: NumbersTable) -> PlainTable | None:
        try:
            return numbers_table(STUDY, ask_of(view), definition)
        except NotRecorded:
            return None

    found = {definition.name: made(definition) for definition in STUDY.definition.numbers}
    return {name: table for name, table in found.items() if table is not None}


def summary_of(view: StudyView) -> PlainTable:
    found = found_summary(view)
    assert found is not None
    return found


def test_the_summary_marks_the_best_of_each_level() -> None:
    table = summary_of(whole())
    assert len(table.headings) == 2 + 3 * len(MANAGERS)
    row = next(r for r in table.rows if (r[0].text, r[1].text[:3]) == ("light", "P95"))
    best = [cell.emphasis == "best" for cell in row[2:]]
    assert best == [manager == SFQ_CODEL for manager in MANAGERS] * 3


def test_differences_too_small_to_matter_do_not_decide() -> None:
    def best(measure: str, *values: float) -> frozenset[str]:
        own = STUDY.definition.measures[measure]
        entries = [_Entry(Estimate(value), {1: value}) for value in values]
        (standing,) = who_wins([_contest(own, entries, 600.0)])
        return standing.best

    assert best("mos", 4.4, 4.31, 4.2) == {"0", "1"}
    assert best("goodput", 4.8, 4.76, 4.7) == {"0", "1"}


def test_a_mean_over_households_counts_each_once() -> None:
    world = World()
    for load, lost in (("x16", 10.0), ("x17", 30.0)):
        world.metrics[point_of(load, "none", CODEL), "game", "lost"] = lost
    chosen = points(*(point_of(load, "none", CODEL) for load in ("x16", "x17")))
    found = ask_of(world.view()).estimate(STUDY.definition.measures["lost"], chosen, "mean")
    assert (found.value, found.count) == (20.0, 2)


def test_cells_weigh_the_same_in_a_mixture() -> None:
    ask = ask_of(whole())
    measure = STUDY.definition.measures["mixed_below_loop"]
    names = [point_of(load, "none", SFQ_CODEL) for load in ("x02", "x03", "x16")]
    light = ask.distributions(measure, points(*names[:2]))[1]
    heavy = ask.distributions(measure, points(names[2]))[1]
    both = ask.distributions(measure, points(*names))[1]
    assert light.count == 2 * heavy.count
    expected = 0.5 * (light.share_below(5.0) + heavy.share_below(5.0))
    assert both.share_below(5.0) == pytest.approx(expected)


def test_headlines_carry_numbers_of_every_manager() -> None:
    sentences = headlines(STUDY, ask_of(whole()), [])
    assert len(sentences) == 6
    for sentence in (sentences[0], sentences[2], sentences[3], sentences[4]):
        assert all(label in sentence for label in MANAGER_LABELS.values() if label[:3] != "SFQ")
    assert "nan" not in " ".join(sentences)


def test_every_condition_has_a_row_with_its_numbers() -> None:
    found = number_tables(whole())
    rows = [row for name in found if name.startswith("conditions-") for row in found[name].rows]
    assert len(rows) == len(LOADS) * len(RF_LEVELS) * len(MANAGERS)
    table = found["conditions-heavy"]
    row = next(r for r in table.rows if [c.text for c in r[1:3]] == ["light", "CoDel"] and "x16" in r[0].text)
    values = dict(zip(table.headings, (cell.text for cell in row), strict=True))
    assert (values["P50"], values["lost, %"], values["MOS"]) == ("14.0", "5.00", "3.80")


@pytest.mark.whole
def test_buffers_of_240_and_480_ms_have_a_table_where_they_were_run() -> None:
    declared = {definition.name for definition in STUDY.definition.numbers}
    assert declared - set(number_tables(whole())) == {"buffers"}
    world = World()
    world.metrics["buffers/x05-light-buffer-480ms", "game", "delay_p50"] = 890.0
    (row,) = number_tables(world.view())["buffers"].rows
    assert [cell.text for cell in row[1:4]] == ["light", "480 ms", "890.0"]


def test_points_beside_the_document_s_keep_the_looks_of_its_own() -> None:
    assert [look_of(STUDY, "queue_manager", manager) for manager in MANAGERS] == LOOKS
    beside = [look_of(STUDY, "queue_manager", f"buffer-{size}ms") for size in (240, 480)]
    assert len({*beside, *LOOKS}) == len(MANAGERS) + 2


def test_a_curve_of_many_values_ends_at_one() -> None:
    # The shares of so many values sum to 3e-12 less than 1.
    many = Distribution.of(np.arange(300_001.0))
    assert np.cumsum(many.shares)[-1] < 1 - 1e-12
    line = next(mark for mark in curve({1: many}, CODEL, "CoDel") if isinstance(mark, Line))
    assert (line.x[-1], line.y[-1]) == (300_000.0, 1.0)
    assert len(line.x) <= LEVELS + 3


def test_the_grids_have_a_row_for_each_of_their_curves() -> None:
    found = number_tables(whole())
    table = found["game-latency"]
    assert len(table.rows) == (1 + 3 + 3 + 9) * len(MANAGERS)
    assert "below 20 ms, %" in table.headings


def test_an_interval_is_written_below_its_value() -> None:
    assert cell(Estimate(2.0, -10.7, 14.7, 2), 1).detail == "±12.7"
    assert cell(Estimate(1.0, count=1), 1).detail == ""


# ---- Table 3 --------------------------------------------------------------------------------------


def test_twelve_ratings_are_compared() -> None:
    table = table_3(whole())
    cells = table.ordered_cells()
    assert len(cells) == 12
    assert {cell.printed for cell in cells} == set(STUDY.definition.rated[0].columns[0].words)
    by_name = {(c.queue_manager, c.case, c.metric): c for c in cells}
    one = by_name[BUFFERBLOAT, "all", "delay_p95"]
    assert one.verdict is Verdict.MATCH
    assert one.ours_text.startswith("extremely poor: ")
    assert "at least 200" in one.tolerance


def test_a_rating_that_is_not_deserved_is_a_miss() -> None:
    world = World()
    world.change("game", "lost", 8.0, lambda point: point.endswith("-codel"))
    cells = table_3(world.view()).ordered_cells()
    codel = next(c for c in cells if (c.queue_manager, c.metric) == (CODEL, "lost"))
    assert (codel.printed, codel.ours_text) == ("good", "poor: 8.00 %")
    assert codel.verdict is Verdict.MISS


def test_words_and_limits_fit_together() -> None:
    for scale in STUDY.definition.rated[0].columns:
        for word in scale.words:
            low, high = bounds_of(scale, word)
            middle = 0.5 * ((low or 0.0) + (high if high is not None else 10 * (low or 1.0)))
            assert word_for(scale, middle) == word


def test_bittorrent_is_rated_apart() -> None:
    world = World()
    for load in ("x16", "x17"):
        for rf in RF_LEVELS:
            world.metrics[point_of(load, rf, SFQ_CODEL), "game", "lost"] = 12.0
    cells = table_3(world.view()).ordered_cells()
    loss = {c.case: c.ours.value for c in cells if (c.queue_manager, c.metric) == (SFQ_CODEL, "lost")}
    assert loss["bittorrent"] == pytest.approx(12.0)
    assert loss["most"] is not None
    assert loss["most"] < 2.0


# ---- the whole report -----------------------------------------------------------------------------


def written(world: World, directory: Path) -> StudyResult:
    """Write a made-up result so that a report can be built from it."""
    made = Result(world)
    records = directory / "records"
    records.mkdir(parents=True)
    for name in ("delay_histogram", "pages", "series"):
        made.records(name).collect().write_parquet(records / f"{name}.parquet")
    definition = load_definition(HOME / "study.toml")
    count = len(made.runs)
    runs = made.runs.with_columns(
        pl.Series("key", ["0" * 64] * count),
        pl.Series("packet_hops", [1] * count),
        pl.Series("events", [1] * count),
        pl.Series("wall_s", [0.1] * count),
        pl.Series("part", ["published" if p in PUBLISHED else "other" for p in made.runs["point"]]),
    )
    manifest: dict[str, Any] = {
        "study": "white2013",
        "builtin": True,
        "quick": False,
        "version": "0.0.0",
        "engine_version": "synthetic",
        "commit": None,
        "dirty": None,
        "started_at": "2026-01-01T00:00:00+00:00",
        "machine": {"system": "Linux", "processor": "none", "cores": 2, "python": "3.11"},
        "seeds": list(SEEDS),
        "points": {},
    }
    return StudyResult(directory, definition, made.metrics, runs, manifest)


PUBLISHED = {point_of(load, rf, m) for load in LOADS for rf in RF_LEVELS for m in MANAGERS}


@pytest.mark.whole
def test_the_study_s_own_parts_make_the_report(tmp_path: Path) -> None:
    world = World()
    kept = {point_of(load, "none", m) for load in ("x01", "x02", "x05", "x16") for m in MANAGERS}
    for point in world.points():
        if point not in kept | {"reno-pie"}:
            world.drop(point)
    build(written(world, tmp_path))
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    for heading in ("Who wins where", "Table 3.", "Figure 12.", "Figure 30.", "Claims"):
        assert heading in html
    assert html.count("<details") == html.count("<summary>") == 7  # with what was run
    assert (tmp_path / "tables" / "conditions-light.csv").exists()
    assert "Not run with all that are compared" in html


def test_long_tables_are_folded_and_follow_the_figures(tmp_path: Path) -> None:
    from sojourn.report import page

    view = whole()
    table = number_tables(view)["conditions-light"]
    result = written(World(), tmp_path)
    shown = StudyParts(plain_tables=(table,), figures=(drawn()["figure-9"],))
    html = page.render(result, shown, {"figure-9": "<svg></svg>"})
    assert html.index('id="picture-figure-9"') < html.index("<details>")
    assert f"{table.title} (105 rows)" in html
    assert 'id="metrics"' not in html


def test_assumptions_say_where_they_come_from() -> None:
    found = STUDY.definition.assumption
    assert len(found) > 20
    assert {item.origin for item in found} == {"documented", "chosen", "fitted"}
    assert len({item.what for item in found}) == len(found)


def test_unpublished_points_have_a_table() -> None:
    names = {row[0].text for row in number_tables(whole())["unpublished"].rows}
    assert "x14-bins-8" in names
    assert not names & PUBLISHED
