"""What moved between two results."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sojourn.study.compare import compare_results, holm
from sojourn.study.definition import StudyDefinition
from sojourn.study.result import METRICS_SCHEMA, StudyResult
from support import STUDY


def result(values: dict[str, list[float]], first_seed: int = 1) -> StudyResult:
    """Return a result with one point and subject; each metric has one value per seed."""
    rows = [
        ("small", "point", first_seed + offset, "call", metric, value, "ms")
        for metric, column in values.items()
        for offset, value in enumerate(column)
    ]
    metrics = pl.DataFrame(rows, schema=METRICS_SCHEMA, orient="row")
    definition = StudyDefinition.model_validate(STUDY)
    return StudyResult(Path(), definition, metrics, pl.DataFrame(), {})


def test_the_interval_of_a_difference_is_the_paired_t_interval() -> None:
    # Differences 1, 2, 3: mean 2, standard deviation 1, standard error 1/sqrt(3) = 0.57735;
    # t(0.975, 2) = 4.30265, so the interval is 2 ± 2.48414.
    (row,) = compare_results(
        result({"delay": [10.0, 20.0, 30.0]}), result({"delay": [11.0, 22.0, 33.0]})
    ).to_dicts()
    assert row["difference"] == pytest.approx(2.0)
    assert row["low"] == pytest.approx(-0.48414, abs=1e-5)
    assert row["high"] == pytest.approx(4.48414, abs=1e-5)
    # t = 3.4641 with 2 degrees of freedom: p = 1 - t / sqrt(t² + 2) = 0.07418
    assert row["p"] == pytest.approx(0.07418, abs=1e-5)
    assert row["verdict"] == "within chance"


def test_equal_values_are_the_same_and_a_constant_shift_has_moved() -> None:
    table = compare_results(
        result({"steady": [1.0, 1.0], "shifted": [1.0, 2.0]}),
        result({"steady": [1.0, 1.0], "shifted": [1.5, 2.5]}),
    )
    assert dict(table.select("metric", "verdict").iter_rows()) == {
        "steady": "same",
        "shifted": "moved",
    }


def test_one_seed_cannot_tell() -> None:
    (row,) = compare_results(result({"delay": [1.0]}), result({"delay": [2.0]})).to_dicts()
    assert (row["verdict"], row["p"], row["low"]) == ("one seed", None, None)


def test_only_seeds_of_both_sides_are_paired() -> None:
    (row,) = compare_results(
        result({"delay": [1.0, 2.0, 3.0]}), result({"delay": [2.0, 3.0, 9.0]}, first_seed=2)
    ).to_dicts()
    assert (row["seeds"], row["verdict"]) == (2, "same")


def test_results_without_common_runs_compare_to_nothing() -> None:
    table = compare_results(result({"delay": [1.0]}), result({"delay": [1.0]}, first_seed=5))
    assert table.is_empty()


def test_values_that_are_not_numbers_are_left_out() -> None:
    table = compare_results(result({"delay": [float("nan"), 1.0]}), result({"delay": [1.0, 1.0]}))
    assert table["seeds"].to_list() == [1]


def test_holm_multiplies_the_smallest_by_the_number_of_tests() -> None:
    # Sorted: 0.01·3 = 0.03, 0.03·2 = 0.06, 0.04·1 = 0.04, which may not fall below 0.06.
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=20))
def test_holm_never_lowers_and_never_reorders(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))
    ordered = [q for _, q in sorted(zip(p_values, adjusted, strict=True))]
    assert ordered == sorted(ordered)
