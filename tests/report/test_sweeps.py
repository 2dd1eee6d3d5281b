"""The figure of a sweep, for studies with a label that is a number."""

from itertools import product
from pathlib import Path

import polars as pl
import pytest

from sojourn.plots.spec import Band, Line
from sojourn.report.sweeps import sweep_figures
from sojourn.study.definition import StudyDefinition
from sojourn.study.result import METRICS_SCHEMA, StudyResult
from support import STUDY

SEEDS = (1, 2, 3)


def faceted(rates: list[int], losses: list[int], steep: float = 0.0) -> StudyResult:
    """Return a result over four targets, two queues, rates and losses; delays grow with all of them."""
    runs: list[dict[str, object]] = []
    rows: list[tuple[object, ...]] = []
    for target, queue, rate, loss in product([2, 5, 10, 20, 30, 40, 50, 60, 70, 80], ["codel", "pie"], rates, losses):
        point = f"{target}-{queue}-{rate}-{loss}"
        for seed in SEEDS:
            labels = {"target": target, "queue": queue, "rate": rate, "loss": loss}
            runs.append({"point": point, "seed": seed, **labels})
            value = target + 10.0 * rate + loss + steep * rate * target + seed
            rows.append(("small", point, seed, "game", "delay_up_p99", value, "ms"))
    return StudyResult(
        Path(),
        StudyDefinition.model_validate(STUDY),
        pl.DataFrame(rows, schema=METRICS_SCHEMA, orient="row"),
        pl.DataFrame(runs),
        {"label_units": {"target": "ms", "rate": "Mb/s", "loss": "%"}},
    )


def test_every_further_label_makes_panels_however_many_its_values() -> None:
    (figure,) = sweep_figures(faceted([1, 2, 3], [0, 1, 2]))
    titles = [panel.title for panel in figure.plot.panels]
    assert len(titles) == len(set(titles)) == 9
    assert titles[0] == "game\nrate 1 Mb/s, loss 0 %"
    assert figure.plot.columns == 3
    assert "combinations" not in figure.caption


def test_each_measure_has_a_row_of_its_own_where_its_panels_fit_beside_each_other() -> None:
    result = faceted([1, 2], [0])
    more = result.metrics.with_columns(pl.lit("call").alias("subject"))
    two = StudyResult(Path(), result.definition, pl.concat([result.metrics, more]), result.runs, result.manifest)
    (figure,) = sweep_figures(two)
    subjects = [panel.title.split("\n")[0] for panel in figure.plot.panels]
    assert (figure.plot.columns, len(set(subjects[:2])), len(set(subjects[2:]))) == (2, 1, 1)


def test_of_very_many_combinations_the_first_are_drawn_and_the_caption_says_so() -> None:
    (figure,) = sweep_figures(faceted([1, 2, 3, 4], [0, 1, 2, 3]))
    assert len(figure.plot.panels) == 12
    assert "The first 12 of 16 combinations of rate and loss" in figure.caption


def test_panels_of_a_measure_have_the_scale_of_the_largest_value_in_any() -> None:
    result = faceted([1, 2, 3, 4], [0])
    (figure,) = sweep_figures(result)
    assert len(figure.plot.panels) == 4
    bands = [mark for panel in figure.plot.panels for mark in panel.marks if isinstance(mark, Band)]
    largest = max(float(band.high.max()) for band in bands)
    (high,) = {panel.y.high for panel in figure.plot.panels}
    assert high == pytest.approx(1.05 * largest)
    assert {panel.y.low for panel in figure.plot.panels} == {0.0}
    # The mean itself is reckoned anew: target 80, rate 4, seeds 1 to 3.
    lines = [mark for mark in figure.plot.panels[-1].marks if isinstance(mark, Line)]
    assert lines[0].y[-1] == pytest.approx(80 + 40 + 2)


def test_where_one_scale_makes_curves_flat_a_folded_figure_gives_each_panel_its_own() -> None:
    shared, free = sweep_figures(faceted([1, 2, 3, 40], [0], steep=1.0))
    assert (shared.is_folded, free.is_folded) == (False, True)
    assert len({panel.y.high for panel in shared.plot.panels}) == 1
    assert {panel.y.high for panel in free.plot.panels} == {None}
    assert [panel.marks for panel in free.plot.panels] == [panel.marks for panel in shared.plot.panels]
    assert free.title.endswith("each panel on its own scale")


def swept(targets: list[object], queues: list[str], metric: str = "delay_up_p99") -> StudyResult:
    """Return a result over targets and queues; delays rise by 10 ms from target to target."""
    runs: list[dict[str, object]] = []
    rows: list[tuple[object, ...]] = []
    for place, target in enumerate(targets):
        for queue in queues:
            for seed in SEEDS:
                point = f"{target}-{queue}"
                runs.append({"point": point, "seed": seed, "target": target, "queue": queue})
                value = 10.0 * (place + 1) + seed
                rows.append(("small", point, seed, "game", metric, value, "ms"))
                rows.append(("small", point, seed, "game", "sent", 5.0, ""))
    return StudyResult(
        Path(),
        StudyDefinition.model_validate(STUDY),
        pl.DataFrame(rows, schema=METRICS_SCHEMA, orient="row"),
        pl.DataFrame(runs),
        {"label_units": {"target": "ms"}},
    )


def test_a_sweep_is_a_curve_with_a_band_per_value_of_the_other_label() -> None:
    result = swept([2, 5, 50], ["codel", "pie"])
    (figure,) = sweep_figures(result)
    (panel,) = figure.plot.panels
    assert (panel.x.label, panel.x.scale) == ("target in ms", "log")
    assert (panel.title, panel.y.label) == ("game", "99th percentile of delay upstream in ms")
    lines = [mark for mark in panel.marks if isinstance(mark, Line)]
    bands = [mark for mark in panel.marks if isinstance(mark, Band)]
    assert [line.label for line in lines] == ["queue codel", "queue pie"]
    assert lines[0].x.tolist() == [2, 5, 50]
    assert lines[0].y.tolist() == [12, 22, 32]
    row = result.summary.row(
        by_predicate=(pl.col("point") == "2-codel") & (pl.col("metric") == "delay_up_p99"), named=True
    )
    assert (bands[0].low[0], bands[0].high[0]) == pytest.approx((row["low"], row["high"]))
    assert bands[0].low[0] > 0


def test_values_close_to_each_other_stand_on_a_linear_axis() -> None:
    (figure,) = sweep_figures(swept([10, 20, 30], ["codel"]))
    assert figure.plot.panels[0].x.scale == "linear"
    assert figure.plot.legend == "none"


@pytest.mark.parametrize(
    ("targets", "metric"),
    [([2, 5], "delay_up_p99"), (["a", "b", "c"], "delay_up_p99"), ([2, 5, 50], "connections")],
    ids=["two values", "words", "nothing that is better or worse"],
)
def test_what_is_no_sweep_has_no_figure_of_one(targets: list[object], metric: str) -> None:
    assert list(sweep_figures(swept(targets, ["codel"], metric))) == []


def test_a_curve_that_a_figure_of_the_study_shows_is_not_drawn_again() -> None:
    result = swept([2, 5, 50], ["codel", "pie"])
    own = list(sweep_figures(result))
    assert list(sweep_figures(result, own)) == []
    assert list(sweep_figures(result, list(sweep_figures(swept([2, 5, 40], ["codel"])))))
