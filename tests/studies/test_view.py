from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sojourn.answers.token_bucket import TokenBucket
from sojourn.answers.view import LinkSeries, NotRecorded
from studies.synthetic import SEEDS, World

BUCKET = TokenBucket(sustained_mbps=5.0, peak_mbps=20.0, burst_bytes=10e6)


def test_values_come_one_per_seed_and_nan_where_a_run_gave_none(tmp_path: Path) -> None:
    world = World()
    world.metrics["C04", "call", "lost"] = [1.0, float("nan"), 3.0]
    view = world.view(tmp_path)
    assert view.seeds("C04") == list(SEEDS)
    values = view.values("C04", "call", "lost")
    assert values[[0, 2]].tolist() == [1.0, 3.0]
    assert np.isnan(values[1])


def test_what_was_not_run_or_not_recorded_is_said(tmp_path: Path) -> None:
    view = World().view(tmp_path)
    with pytest.raises(NotRecorded, match="needs point X99"):
        view.values("X99", "call", "lost")
    with pytest.raises(NotRecorded, match="no metric jitter"):
        view.values("C04", "call", "jitter")
    with pytest.raises(NotRecorded, match="record table objects"):
        view.table("objects", "C04")
    with pytest.raises(NotRecorded, match="no rows of point C15-drop"):
        view.series("C15-drop")
    with pytest.raises(NotRecorded, match="needs runs of 900 s"):
        view.require_duration("C04", 900.0)


def test_a_series_holds_rates_and_delays_in_their_units(tmp_path: Path) -> None:
    series = World().view(tmp_path).series("D03-417")[1]
    assert series.width_s == pytest.approx(0.1)
    assert series.rate_mbps[10] == pytest.approx(20.0, abs=1e-3)
    assert series.sojourn_mean_ms[-1] == pytest.approx(1000.0)
    starts, sent = series.binned(1.0)
    assert starts[:3].tolist() == pytest.approx([0.0, 1.0, 2.0])
    assert sent[2] == pytest.approx(2.5e6, rel=1e-4)


def flat(rate_mbps: list[float]) -> LinkSeries:
    count = len(rate_mbps)
    nothing = np.zeros(count)
    return LinkSeries(
        start_s=0.1 * np.arange(count),
        width_s=0.1,
        forwarded_bytes=np.array(rate_mbps) * 1e6 / 8 * 0.1,
        forwarded_packets=nothing,
        dropped_packets=nothing,
        sojourn_mean_ms=nothing,
        sojourn_max_ms=nothing,
        backlog_packets_mean=nothing,
        backlog_packets_max=nothing,
        staged_packets_mean=nothing,
    )


def test_a_full_burst_at_the_peak_rate_lasts_five_and_a_third_seconds() -> None:
    # 10 MB drain at 20 - 5 Mb/s: 10e6 * 8 / 15e6 = 5.333 s.
    series = flat([20.0] * 53 + [10.0] + [5.0] * 60)
    assert BUCKET.end_s(series) == pytest.approx(5.333, abs=0.05)
    assert BUCKET.ramp_s(series) == pytest.approx(0.1)
    assert BUCKET.utilisation(series) == pytest.approx(1.0)


def test_an_unused_bucket_never_holds_more_than_the_burst() -> None:
    series = flat([0.0] * 100 + [20.0] * 60)
    assert BUCKET.tokens(series)[50] == 10e6
    # Ten seconds of silence save nothing: the burst again lasts 5.333 s.
    assert BUCKET.end_s(series) == pytest.approx(15.333, abs=0.05)


@given(st.lists(st.integers(0, 2_000_000), min_size=1, max_size=60))
def test_a_bucket_is_filled_and_emptied_bin_by_bin(sent: list[int]) -> None:
    series = flat([count * 8e-6 / 0.1 for count in sent])
    level, levels = 10e6, list[float]()
    for count in series.forwarded_bytes.tolist():
        level = min(10e6, level + 62_500.0 - count)
        levels.append(level)
    assert BUCKET.tokens(series) == pytest.approx(levels, rel=1e-12, abs=1e-3)


def test_a_link_that_never_ramps_says_never() -> None:
    series = flat([4.0] * 50)
    assert BUCKET.ramp_s(series) == np.inf
    assert BUCKET.end_s(series) == np.inf
    assert np.isnan(BUCKET.utilisation(series))


def test_the_shaper_allows_the_peak_rate_until_the_bucket_is_empty() -> None:
    series = flat([20.0] * 53 + [10.0] + [5.0] * 10 + [0.0] * 20 + [20.0] * 3)
    allowed = BUCKET.allowed_mbps(series)
    assert allowed[:53].tolist() == pytest.approx([20.0] * 53)
    # Two seconds of silence save 1.25 MB, which excuses nothing afterwards.
    assert allowed[54:].tolist() == pytest.approx([5.0] * 33)


def test_a_burst_that_never_ends_is_allowed_the_peak_rate_throughout() -> None:
    allowed = BUCKET.allowed_mbps(flat([4.0] * 20))
    assert allowed.tolist() == pytest.approx([20.0] * 20)
