import math

import numpy as np
import pytest

from sojourn.stats.estimate import (
    Estimate,
    log_mean_of,
    mean_of,
    median_of,
    paired_difference,
    paired_ratio,
    t_quantile,
)

DROP_TAIL = np.array([23.1, 24.0, 22.7, 25.2, 23.9, 24.4, 23.3, 24.8, 22.9, 24.1])
CODEL = np.array([3.0, 3.2, 2.9, 3.4, 3.0, 3.3, 2.9, 3.3, 2.8, 3.2])


def ends(estimate: Estimate) -> tuple[float, float]:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low, estimate.high


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
