"""The tidy summary of a result, and that its intervals respect what they measure."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sojourn.stats.estimate import bounded_mean_of, interval_within, wilson
from sojourn.stats.quantity import Quantity, quantity_of
from sojourn.study.definition import RUN_COLUMNS, SUMMARY_COLUMNS
from sojourn.study.result import METRICS_SCHEMA, StudyResult
from sojourn.study.summary import COLUMNS, summarise
from support import CommandLine, write_study

SHARE = Quantity(0.0, 100.0)
DELAY = Quantity(0.0)
RUN_VALUES = [2.31, 2.44, 2.28, 2.52, 2.39, 2.47, 2.35, 2.41, 2.30, 2.49]


def summary_of(unit: str, values: Sequence[float | None], metric: str = "x") -> dict[str, object]:
    """Return the one row of a point with one run per value; `None` is a run without one."""
    rows = [
        ("study", "point", seed, "call", metric, value, unit)
        for seed, value in enumerate(values, 1)
        if value is not None
    ]
    runs = pl.DataFrame({"point": ["point"] * len(values), "seed": range(len(values)), "queue": ["pie"] * len(values)})
    table = summarise(pl.DataFrame(rows, METRICS_SCHEMA, orient="row"), runs, ["queue"])
    (row,) = table.to_dicts()
    return row


def test_without_bounds_the_interval_is_the_printed_t_interval() -> None:
    estimate = bounded_mean_of(RUN_VALUES, Quantity())
    assert estimate.value == pytest.approx(2.396)
    assert estimate.high == pytest.approx(2.396 + 0.0603, abs=5e-5)


def test_the_interval_of_a_positive_mean_is_a_factor_up_and_down() -> None:
    # s = 0.08435, n = 10: t SE / mean = 0.0603 / 2.396 = 0.02518, so the factor is 1.0255.
    row = summary_of("ms", RUN_VALUES)
    assert row["interval"] == "log-t"
    assert row["low"] == pytest.approx(2.396 / 1.0255, rel=1e-4)
    assert row["high"] == pytest.approx(2.396 * 1.0255, rel=1e-4)
    assert row["median"] == pytest.approx(2.40)


def test_the_interval_of_a_share_is_wilsons_with_as_many_trials_as_the_spread_implies() -> None:
    # Mean 0.001, SE 0.001: 0.001 * 0.999 / 0.001^2 = 999 trials; t(0.975, 4) = 2.77645.
    row = summary_of("%", [0.0, 0.0, 0.0, 0.0, 0.5])
    trials, t = 999.0, 2.77645
    centre = (0.001 + t * t / (2 * trials)) / (1 + t * t / trials)
    half = t * math.sqrt(0.001 * 0.999 / trials + (t / (2 * trials)) ** 2) / (1 + t * t / trials)
    assert row["interval"] == "wilson"
    assert row["low"] == pytest.approx(100 * (centre - half), rel=1e-4)
    assert row["high"] == pytest.approx(100 * (centre + half), rel=1e-4)


@pytest.mark.parametrize(("successes", "trials"), [(0, 5), (1, 5), (5, 5), (3, 40), (0, 1)])
def test_wilson_is_scipys(successes: int, trials: int) -> None:
    library: Any = stats
    expected = library.binomtest(successes, trials).proportion_ci(method="wilson")
    ends = (float(expected.low), float(expected.high))
    assert wilson(successes, trials) == pytest.approx(ends, abs=1e-12)


@given(st.lists(st.floats(0, 100, allow_subnormal=False), min_size=2, max_size=8), st.sampled_from([SHARE, DELAY]))
def test_no_interval_leaves_the_bounds_and_each_holds_its_mean(values: list[float], quantity: Quantity) -> None:
    estimate = bounded_mean_of(values, quantity)
    assert estimate.value is not None
    if estimate.low is not None:
        assert quantity.low <= estimate.low <= estimate.value * (1 + 1e-9) + 1e-300
    if estimate.high is not None:
        assert estimate.value * (1 - 1e-9) <= estimate.high <= quantity.high


@pytest.mark.parametrize("quantity", [SHARE, DELAY], ids=["share", "delay"])
def test_of_a_thousand_intervals_about_nineteen_in_twenty_hold_the_truth(quantity: Quantity) -> None:
    random = np.random.default_rng(1)
    if quantity == SHARE:
        truth, values = 100 * 4 / 64, 100 * random.beta(4, 60, (1000, 10))
    else:
        truth, values = 10.0, random.gamma(20, 0.5, (1000, 10))
    low, high = interval_within(values.mean(axis=1), values.std(axis=1, ddof=1), np.full(1000, 10), quantity)
    covered = np.mean((low <= truth) & (truth <= high))
    # Standard deviation of the share that is counted: 0.7 %.
    assert 0.925 < covered < 0.975


def test_far_from_its_bounds_a_share_has_the_t_interval() -> None:
    values = [50.1, 49.9, 50.3, 49.7, 50.0]
    share, plain = bounded_mean_of(values, SHARE), bounded_mean_of(values, Quantity())
    assert share.low == pytest.approx(plain.low, abs=1e-3)
    assert share.high == pytest.approx(plain.high, abs=1e-3)


def test_no_loss_in_any_run_does_not_claim_that_there_is_never_any() -> None:
    row = summary_of("%", [0.0] * 5)
    assert (row["mean"], row["low"], row["high"], row["interval"]) == (0.0, 0.0, None, "")
    assert row["note"] == "the same in all 5 runs; at most 43 % of runs differ (Wilson)"


def test_few_runs_and_runs_without_a_value_are_told() -> None:
    assert summary_of("ms", [4.0])["note"] == "one run: no interval"
    assert summary_of("ms", [4.0])["low"] is None
    assert summary_of("ms", [4.0, 5.0])["note"] == "only 2 runs"
    row = summary_of("s", [4.0, None, 5.0, 6.0, 5.0, 4.0, math.nan])
    assert (row["n"], row["note"]) == (5, "5 of 7 runs gave a value")
    assert summary_of("ms", [4.0] * 5)["note"] == "the same in all runs"
    assert summary_of("ms", RUN_VALUES[:5])["note"] == ""


def test_a_value_beyond_the_bounds_of_its_name_takes_the_bounds_away() -> None:
    row = summary_of("ms", [-1.0, 1.0, 2.0, 3.0, 4.0])
    assert row["interval"] == "t"


def test_scores_lie_on_their_scale_and_delays_are_better_low() -> None:
    assert quantity_of("mos", "") == Quantity(1.0, 4.5, "higher")
    assert quantity_of("delay_p99", "ms") == Quantity(0.0, math.inf, "lower", by_ratio=True)
    assert quantity_of("goodput", "Mb/s") == Quantity(0.0, math.inf, "higher")
    assert quantity_of("delay_share_under_5ms", "%").better == "higher"
    assert quantity_of("late", "%").better == "lower"
    assert quantity_of("latest", "%").better == ""


def test_a_study_writes_its_summary_with_labels_as_columns(sojourn: CommandLine) -> None:
    write_study(sojourn.directory)
    done = sojourn("study", "run", "study.toml", "--out", "out")
    assert done.status == 0, done.stderr
    result = StudyResult.load(sojourn.directory / "out")
    written = pl.read_parquet(sojourn.directory / "out" / "summary.parquet")
    assert written.equals(result.summary)
    assert written.columns == ["point", "rtt", "buffer", *COLUMNS[1:]]
    as_text = (sojourn.directory / "out" / "summary.csv").read_text()
    assert as_text.splitlines()[0] == ",".join(written.columns)
    assert as_text.count("\n") == written.height + 1
    row = written.row(
        by_predicate=(pl.col("point") == "far-long") & (pl.col("subject") == "bulk") & (pl.col("metric") == "goodput"),
        named=True,
    )
    assert (row["rtt"], row["buffer"], row["n"], row["unit"]) == ("far", "long", 2, "Mb/s")
    assert row["low"] <= row["mean"] <= row["high"]
    values = result.metrics.filter(
        (pl.col("point") == "far-long") & (pl.col("subject") == "bulk") & (pl.col("metric") == "goodput")
    )
    assert row["mean"] == pytest.approx(values["value"].mean())


def test_labels_cannot_have_the_names_of_the_summarys_columns() -> None:
    assert set(COLUMNS) - {"point"} == SUMMARY_COLUMNS
    assert "point" in RUN_COLUMNS


def test_an_empty_result_has_an_empty_summary() -> None:
    runs = pl.DataFrame({"point": ["a"], "seed": [1]})
    assert summarise(pl.DataFrame(schema=METRICS_SCHEMA), runs, []).is_empty()


def test_rebuilding_a_report_writes_a_summary_that_is_missing(sojourn: CommandLine) -> None:
    write_study(sojourn.directory)
    assert sojourn("study", "run", "study.toml", "--out", "out").status == 0
    path = Path(sojourn.directory / "out" / "summary.csv")
    before = path.read_text()
    path.unlink()
    assert sojourn("report", "out").status == 0
    assert path.read_text() == before


def rate_summary(rates: Sequence[float], capacity: Sequence[float]) -> dict[str, Any]:
    """Return the row of a download whose access link can carry a rate in each run of 10 s, and carries half of it."""
    rows = [
        row
        for seed, (rate, most) in enumerate(zip(rates, capacity, strict=True), 1)
        for row in (
            ("study", "point", seed, "download", "goodput_downstream", rate, "Mb/s"),
            ("study", "point", seed, "download", "goodput", 0.0, "Mb/s"),
            ("study", "point", seed, "downstream", "utilisation", 0.5, ""),
            ("study", "point", seed, "downstream", "forwarded_volume", 0.5 * most * 1250, "kB"),
        )
    ]
    runs = pl.DataFrame({"point": "point", "seed": range(1, len(rates) + 1), "simulated_s": 10.0}).cast(
        {"seed": METRICS_SCHEMA["seed"]}
    )
    table = summarise(pl.DataFrame(rows, METRICS_SCHEMA, orient="row"), runs, [])
    assert table.filter(metric="goodput")["high"].to_list() == [None]  # no rate is no interval, and stays none
    return table.filter(metric="goodput_downstream").to_dicts()[0]


def test_the_interval_of_a_rate_ends_where_its_link_ends() -> None:
    wide = (110.0, 158.0, 160.0)
    free = summary_of("Mb/s", wide, "goodput_downstream")
    assert isinstance(free["high"], float)
    assert free["high"] > 200.0
    found = rate_summary(wide, (200.0, 200.0, 200.0))
    assert found["high"] == pytest.approx(200.0)
    assert (found["low"], found["mean"]) == (free["low"], free["mean"])
    assert rate_summary((150.0, 151.0, 152.0), (200.0, 200.0, 200.0))["high"] < 160.0
    # A link whose rate varies, and one that a run passed, end nothing.
    assert rate_summary(wide, (200.0, 180.0, 220.0))["high"] == pytest.approx(free["high"])
    assert rate_summary(wide, (150.0, 150.0, 150.0))["high"] == pytest.approx(free["high"])
