"""Distributions: gathered as NumPy gathers them, in less time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sojourn.stats.distribution import Distribution, mixture, pooled

counted = st.lists(st.tuples(st.integers(0, 30).map(lambda n: n / 8), st.integers(1, 1_000)), min_size=1, max_size=60)


def distribution(samples: list[tuple[float, int]]) -> Distribution:
    values, counts = np.array(samples, dtype=float).T
    return Distribution.of(values, counts)


@given(counted)
def test_values_are_distinct_and_each_has_the_samples_that_were_seen_of_it(samples: list[tuple[float, int]]) -> None:
    seen: dict[float, int] = {}
    for value, count in samples:
        seen[value] = seen.get(value, 0) + count
    gathered = distribution(samples)
    assert gathered.values.tolist() == sorted(seen)
    assert gathered.count == sum(seen.values())
    expected = [seen[value] / gathered.count for value in sorted(seen)]
    assert gathered.shares.tolist() == pytest.approx(expected)


@given(counted, st.floats(0.001, 1.0))
def test_a_quantile_is_that_of_numpy_with_weights(samples: list[tuple[float, int]], p: float) -> None:
    gathered = distribution(samples)
    expected = np.quantile(gathered.values, p, weights=gathered.shares, method="inverted_cdf")
    assert gathered.quantile(p) == expected


@given(st.lists(counted, min_size=1, max_size=4))
def test_a_mixture_sums_the_shares_of_equal_values_in_the_order_of_its_parts(
    parts: list[list[tuple[float, int]]],
) -> None:
    each = [distribution(part) for part in parts]
    mixed = mixture(each)
    distinct, where = np.unique(np.concatenate([p.values for p in each]), return_inverse=True)
    summed = np.bincount(where, weights=np.concatenate([p.shares for p in each]))
    assert mixed.values.tolist() == distinct.tolist()
    assert mixed.shares.tolist() == (summed / summed.sum()).tolist()


def test_nothing_put_together_is_empty_and_has_no_samples() -> None:
    for nothing in (pooled([]), mixture([]), pooled([Distribution.of(np.empty(0))])):
        assert nothing.is_empty
        assert nothing.count == 0
