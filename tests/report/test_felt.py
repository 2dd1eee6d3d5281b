"""The picture of a run begins with what people feel, leaves out what is empty, and names its settings."""

import polars as pl
import pytest

from sojourn.plots.backends import mpl
from sojourn.plots.spec import Dots
from sojourn.report.drawing import inline
from sojourn.report.felt_section import felt
from support import CommandLine, write_scenario
from support.drawings import drawn_values

METRICS = {
    ("call", "mos"): 4.1,
    ("call", "late"): 0.0,
    ("call", "delay_up_p50"): 5.0,
    ("call", "delay_up_p99"): 80.0,
    ("call", "loss_total"): 1.5,
    ("game", "late"): 3.0,
    ("game", "delay_up_p50"): 12.0,
    ("game", "delay_up_p99"): 249.0,
    ("game", "delay_down_p50"): 0.1,
    ("game", "delay_down_p99"): 0.2,
    ("game", "loss_total_up"): 45.6,
    ("game", "loss_total_down"): 0.0,
    ("page", "page_load_time_median"): 2.0,
    ("page", "page_load_time_p95"): 7.5,
    ("upload", "goodput"): 9.4,
    ("upload", "delay_up_p50"): 200.0,
    ("upload", "delay_up_p99"): 250.0,
}


def metrics(of: dict[tuple[str, str], float]) -> pl.DataFrame:
    rows = [(subject, metric, value) for (subject, metric), value in of.items()]
    return pl.DataFrame(rows, schema=["subject", "metric", "value"], orient="row")


def test_calls_games_and_pages_are_drawn_with_their_numbers_and_uploads_are_not() -> None:
    (figure,) = felt(metrics(METRICS))
    panels = figure.plot.panels
    rows = [text for _, text in panels[0].y.ticks]
    assert rows == ["call, upstream", "game, upstream", "game, downstream"]
    assert len(panels) == 3
    found = drawn_values(inline(mpl.svg(figure.plot), "f", figure.plot))
    tails = {round(y): x for x, y in found[0, "tail"]}
    assert [tails[2], tails[1], tails[0]] == pytest.approx([80.0, 249.0, 0.2], rel=0.02)
    medians = {round(y): x for x, y in found[0, "median"]}
    assert [medians[2], medians[1], medians[0]] == pytest.approx([5.0, 12.0, 0.1], rel=0.02)
    lost = {round(y): x for x, y in found[1, "lost or late"]}
    assert [lost[2], lost[1], lost[0]] == pytest.approx([1.5, 45.6, 0.0], abs=0.1)
    ((median, _),) = found[2, "median"]
    assert median == pytest.approx(2.0, rel=0.01)


def test_nothing_lost_needs_no_panel_and_nobody_there_no_picture() -> None:
    kept = {key: 0.0 if "loss" in key[1] else value for key, value in METRICS.items()}
    (figure,) = felt(metrics(kept))
    assert [panel.x.unit for panel in figure.plot.panels] == ["ms", "s"]
    alone = {key: value for key, value in METRICS.items() if key[0] == "upload"}
    assert list(felt(metrics(alone))) == []


def test_the_page_of_a_run_names_its_settings_and_begins_with_what_is_felt(sojourn: CommandLine) -> None:
    write_scenario(sojourn.directory)
    set_up = ("--set", "duration=3 s", "--set", "access.upstream.queue.limit='20 packets'")
    done = sojourn("run", "household.toml", *set_up, "--report", "--out", "short")
    assert done.status == 0, done.stderr
    page = (sojourn.directory / "short" / "report.html").read_text(encoding="utf-8")
    assert "queue.limit = 20 packets</h1>" in page
    places = [page.index(f'<section id="{name}">') for name in ("felt", "over-time")]
    assert places == sorted(places)
    again = sojourn("report", "short")
    assert again.status == 0
    assert (sojourn.directory / "short" / "report.html").read_text(encoding="utf-8") == page


def test_panels_over_time_in_which_nothing_happens_are_left_out(sojourn: CommandLine) -> None:
    from sojourn.report.figure_files import figures_of

    write_scenario(sojourn.directory)
    calm = ("--set", "duration=3 s", "--set", "access.downstream.link.rate='1 Gb/s'")
    done = sojourn("run", "household.toml", *calm, "--out", "calm")
    assert done.status == 0, done.stderr
    (over_time,) = (f for f in figures_of(sojourn.directory / "calm") if f.item == "over-time")
    titles = [panel.title for panel in over_time.plot.panels]
    assert titles[:2] == ["upstream: rates", "downstream: rates"]
    assert "downstream: waiting" not in titles
    assert "downstream: lost packets" not in titles
    for figure in figures_of(sojourn.directory / "calm"):
        marks = [mark for panel in figure.plot.panels for mark in panel.marks]
        assert any(not isinstance(mark, Dots) or len(mark.x) for mark in marks)
