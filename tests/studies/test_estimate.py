import math

import numpy as np
import pytest

from sojourn.stats.estimate import (
    Estimate,
    interval_within,
    log_mean_of,
    mean_of,
    median_of,
    paired_difference,
    paired_ratio,
    quantile_of,
    t_quantile,
    wilson,
)
from sojourn.stats.level import CONFIDENCE, at_level
from sojourn.stats.quantity import Quantity

DROP_TAIL = np.array([23.1, 24.0, 22.7, 25.2, 23.9, 24.4, 23.3, 24.8, 22.9, 24.1])
CODEL = np.array([3.0, 3.2, 2.9, 3.4, 3.0, 3.3, 2.9, 3.3, 2.8, 3.2])


def ends(estimate: Estimate) -> tuple[float, float]:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low, estimate.high


def test_intervals_of_a_few_runs_are_those_of_their_formulas() -> None:
    assert wilson(5, 10) == pytest.approx((0.2366, 0.7634), abs=5e-5)
    assert log_mean_of([0.25, 1.0]).value == pytest.approx(0.5)
    assert quantile_of(range(1, 9), 0.5) == Estimate(4.5, 1.0, 8.0, 8)
    # On the logarithmic scale the ends are a factor from the centre: 2 of three runs, 2 above the bound 1.
    assert math.prod(ends(median_of([1.0, 2.0, 4.0]))) == pytest.approx(2.0**2)
    low, high = interval_within(np.array([3.0]), np.array([1.0]), np.array([5]), Quantity(1.0))
    assert (low - 1) * (high - 1) == pytest.approx(2.0**2)
    with at_level(CONFIDENCE, anytime=True):
        low, high = ends(mean_of(np.arange(12.0)))
    assert (high - low) / 2 == pytest.approx(6.459 * math.sqrt(13.0) / math.sqrt(12.0), rel=1e-3)


def test_a_score_has_the_interval_of_its_share_of_the_scale() -> None:
    # 1.7 of 1 to 4.5 is a share of 0.2.
    with at_level(0.97):
        share = interval_within(np.array([0.2]), np.array([0.1]), np.array([20]), Quantity(0.0, 1.0))
        score = interval_within(np.array([1.7]), np.array([0.35]), np.array([20]), Quantity(1.0, 4.5))
    assert [float(end[0] - 1) / 3.5 for end in score] == pytest.approx([float(end[0]) for end in share])


@pytest.mark.parametrize(("degrees", "quantile"), [(2, 4.303), (4, 2.776), (9, 2.262), (29, 2.045)])
def test_the_t_quantile_is_that_of_printed_tables(degrees: int, quantile: float) -> None:
    assert t_quantile(degrees) == pytest.approx(quantile, abs=5e-4)


def test_the_interval_of_ten_values_agrees_with_one_worked_out_by_hand() -> None:
    estimate = mean_of([2.31, 2.44, 2.28, 2.52, 2.39, 2.47, 2.35, 2.41, 2.30, 2.49])
    assert estimate.value == pytest.approx(2.396)
    low, high = ends(estimate)
    assert (high - low) / 2 == pytest.approx(0.0603, abs=5e-5)
    assert estimate.count == 10


def test_paired_differences_and_ratios_agree_with_ones_worked_out_by_hand() -> None:
    difference = paired_difference(DROP_TAIL, CODEL)
    assert difference.value == pytest.approx(20.74)
    low, high = ends(difference)
    assert (high - low) / 2 == pytest.approx(0.459, abs=5e-4)
    ratio = paired_ratio(CODEL, DROP_TAIL)
    assert ratio.value == pytest.approx(0.1298, abs=5e-5)
    assert ends(ratio) == pytest.approx((0.1265, 0.1332), abs=5e-5)


def test_one_run_has_a_value_and_no_interval() -> None:
    assert mean_of([7.0]) == Estimate(7.0, count=1)


def test_runs_without_a_value_are_left_out_of_a_mean() -> None:
    assert mean_of([1.0, math.nan, 3.0]).value == 2.0
    assert mean_of([math.nan, math.nan]).value is None


def test_the_geometric_mean_of_values_that_are_not_positive_is_unknown() -> None:
    assert log_mean_of([1.0, 0.0, 2.0]).value is None


def test_the_interval_of_a_median_holds_the_median() -> None:
    estimate = median_of([1.0, 1.0, 1.0, 1.0, 50.0])
    low, high = ends(estimate)
    assert estimate.value == 1.0
    assert low <= 1.0 <= high


def test_a_median_is_censored_when_half_of_the_runs_gave_nothing() -> None:
    nan = math.nan
    assert median_of([nan, nan, 9.0, 8.0], censored_above=600.0).above == 600.0
    assert median_of([nan, nan, nan], censored_above=600.0).above == 600.0


def test_a_run_that_gave_nothing_counts_as_the_longest() -> None:
    # Sorted: 7, 8, 9, never, never: the middle one is 9.
    estimate = median_of([9.0, math.nan, 7.0, math.nan, 8.0], censored_above=600.0)
    assert estimate.value == 9.0
    assert estimate.above is None


def test_a_decreasing_function_turns_the_interval_round() -> None:
    assert Estimate(2.0, 1.0, 4.0, 5).map(lambda x: -x) == Estimate(-2.0, -4.0, -1.0, 5)
