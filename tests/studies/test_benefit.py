"""Ratios of underflow, against numbers worked out by hand from the formulas of the slides and of Fieller."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sojourn.stats.benefit import benefit_of

TAIL_DROP = [4.1, 2.8, 6.0, 3.3, 5.2, 1.9, 4.4, 3.8, 7.1, 2.4]
RED = [0.05, 0.0, 0.11, 0.02, 0.0, 0.09, 0.0, 0.04, 0.16, 0.0]


def test_ten_runs_have_the_ratio_of_their_ends() -> None:
    found = benefit_of(TAIL_DROP, RED)
    assert found is not None
    # 4.1 +- 1.1696 over 0.047 +- 0.04005.
    assert found.least_before == pytest.approx(2.9304, abs=5e-5)
    assert found.most_after == pytest.approx(0.08705, abs=5e-6)
    assert found.conservative == pytest.approx(33.66, abs=0.005)
    assert found.plain == pytest.approx(87.23, abs=0.005)
    assert (found.low, found.high) == (pytest.approx(51.17, abs=0.005), pytest.approx(498.8, abs=0.05))


def test_a_seed_that_is_missing_in_either_set_is_left_out_of_both() -> None:
    assert benefit_of([*TAIL_DROP, 4.0, math.nan], [*RED, math.nan, 0.1]) == benefit_of(TAIL_DROP, RED)


def test_a_divisor_that_may_be_zero_has_an_unbounded_interval() -> None:
    found = benefit_of([3.0, 4.0, 5.0], [0.0, 0.0, 0.3])
    assert found is not None
    assert (found.low, found.high) == (None, None)
    assert found.plain == pytest.approx(40.0)


def test_nothing_behind_the_second_is_no_number() -> None:
    found = benefit_of([3.0, 4.0, 5.0], [0.0, 0.0, 0.0])
    assert found is not None
    assert (found.conservative, found.plain, found.most_after) == (None, None, 0.0)
    assert benefit_of([1.0], [1.0]) is None


@given(st.lists(st.tuples(st.floats(0.001, 100.0), st.floats(0.001, 100.0)), min_size=2, max_size=20))
def test_the_conservative_ratio_never_exceeds_the_plain_one(runs: list[tuple[float, float]]) -> None:
    before, after = zip(*runs, strict=True)
    found = benefit_of(before, after)
    assert found is not None
    assert found.conservative is not None
    assert found.plain is not None
    assert 0.0 <= found.conservative <= found.plain * (1 + 1e-9)
    if found.low is not None and found.high is not None:
        assert found.low <= found.plain * (1 + 1e-6)
        assert found.plain <= found.high * (1 + 1e-6)
