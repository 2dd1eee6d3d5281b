"""The figure of a sweep, for studies with a label that is a number."""

from pathlib import Path

import polars as pl
import pytest

from sojourn.plots.spec import Band, Line
from sojourn.report.sweeps import sweep_figures
from sojourn.study.definition import StudyDefinition
from sojourn.study.result import METRICS_SCHEMA, StudyResult
from support import STUDY

SEEDS = (1, 2, 3)


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
        by_predicate=(pl.col("point") == "2-codel") & (pl.col("metric") == "delay_up_p99"),
        named=True,
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
