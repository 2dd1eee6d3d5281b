"""What changes on a link is drawn as bands with words."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sojourn.api.run import run
from sojourn.plots.spec import Band, Note, Panel
from sojourn.report.conditions import conditions_of, seconds
from sojourn.report.single import run_figures
from sojourn.scenario.scenario_file import Scenario

EXAMPLE = Path(__file__).parents[2] / "scenarios/line-that-changes.toml"


def changed(conditions: str) -> str:
    text = EXAMPLE.read_text("utf-8")
    before, rest = text.split("conditions = [", 1)
    _, after = rest.split("]\n\n[access.downstream]", 1)
    scenario = Scenario.parse(f"{before}conditions = [{conditions}]\n\n[access.downstream]{after}")
    return scenario.canonical()


def times(conditions: str) -> list[tuple[float, float, str]]:
    found = conditions_of(changed(conditions), "upstream", 60.0)
    return [(one.from_s, one.until_s, one.words) for one in found]


def test_what_stays_ends_with_the_next_of_its_kind_and_what_comes_again_is_there_each_time() -> None:
    assert times('{ at = "10 s", rate = "5 Mb/s" }, { at = "30 s", rate = "1 Mb/s" }') == [
        (10.0, 30.0, "5 Mb/s"),
        (30.0, 60.0, "1 Mb/s"),
    ]
    assert times('{ at = "10 s", rate = "5 Mb/s" }, { at = "30 s", loss = 0.01 }') == [
        (10.0, 60.0, "5 Mb/s"),
        (30.0, 60.0, "1 % lost"),
    ]
    assert times('{ from = "5 s", for = "10 s", every = "25 s", hold = ["0.8 ms", "5 ms"] }') == [
        (5.0, 15.0, "slots of 800 us to 5 ms"),
        (30.0, 40.0, "slots of 800 us to 5 ms"),
        (55.0, 60.0, "slots of 800 us to 5 ms"),
    ]


@pytest.mark.parametrize("text", ["", "access = 3", "[access.upstream]\nconditions = [{ at = 3 }]"])
def test_a_damaged_scenario_has_no_bands(text: str) -> None:
    assert conditions_of(text, "upstream", 60.0) == []


def test_units_of_a_canonical_scenario_are_known() -> None:
    assert [seconds(f"2 {unit}") for unit in ("h", "min", "ms", "us", "ns")] == pytest.approx(
        [7200, 120, 2e-3, 2e-6, 2e-9]
    )


def over_time(tables: dict[str, pl.DataFrame], scenario: str) -> tuple[Panel, Panel]:
    (figure,) = (f for f in run_figures(tables, None, scenario) if f.item == "over-time")
    upstream, downstream, *_ = figure.plot.panels
    return upstream, downstream


def test_the_picture_of_a_run_has_a_band_and_words_for_each_condition() -> None:
    scenario = Scenario.parse(EXAMPLE.read_text("utf-8"))
    tables = dict(run(scenario).tables)
    upstream, downstream = over_time(tables, scenario.canonical())
    bands = [mark for mark in upstream.marks if isinstance(mark, Band)]
    assert [tuple(band.x) for band in bands] == [(15.0, 30.0), (36.0, 38.0), (45.0, 60.0)]
    assert all(np.all(band.high > band.low) for band in bands)
    words = [mark.text for mark in upstream.marks if isinstance(mark, Note)]
    assert words == ["5 Mb/s", "5 % lost", "slots of 20 ms"]
    assert not [mark for mark in downstream.marks if isinstance(mark, Band)]
    # Without a scenario the same figure has none.
    plain, _ = over_time(tables, "")
    assert not [mark for mark in plain.marks if isinstance(mark, Band)]
