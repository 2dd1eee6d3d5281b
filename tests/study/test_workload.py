"""The estimate of what is left weighs runs by their work."""

import time
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest

from sojourn.study.plan import RunSpec
from sojourn.study.workload import Pace, Workload
from support.cluster_model import simulate_workers


def spec(point: str, packets: float) -> RunSpec:
    scenario: Any = SimpleNamespace(compiled=SimpleNamespace(full_packets=packets))
    return cast("RunSpec", SimpleNamespace(point=point, scenario=scenario))


def test_nothing_is_done_before_a_run_has_ended() -> None:
    assert Workload([spec("a", 5.0)]).share == 0.0


def test_a_point_of_which_runs_have_ended_goes_by_these() -> None:
    work = Workload([spec("idle", 100.0)] * 2 + [spec("busy", 100.0)] * 2)
    work.finished("idle", 1.0)
    work.finished("busy", 9.0)
    assert work.left_s == pytest.approx(10.0)
    assert work.share == pytest.approx(0.5)
    work.finished("busy", 9.0)
    assert work.share == pytest.approx(19 / 20)


def test_other_points_go_by_the_packets_that_their_links_can_carry() -> None:
    work = Workload([spec("slow", 10.0), spec("fast", 1000.0)])
    work.finished("slow", 0.5)
    assert work.left_s == pytest.approx(50.0)


def test_all_is_done_at_the_end_and_failed_runs_take_no_time() -> None:
    work = Workload([spec("a", 1.0), spec("b", 1.0)])
    work.finished("a", 2.0)
    work.finished("b", 0.0)
    assert work.share == 1.0


def test_the_rest_is_told_by_the_pace_of_late_and_not_by_a_slow_start() -> None:
    # 20 s until the first run ends (workers start), then two runs of a second each second: 100 runs of a second.
    work = Workload([spec("a", 1.0)] * 100)
    pace = Pace(work, 0.0)
    worst = 0.0
    for number in range(100):
        now = 20.0 + number // 2
        work.finished("a", 1.0)
        told = pace.left_s(now)
        assert told is not None
        if now >= 32:
            worst = max(worst, abs(told - (99 - number) / 2))
    assert worst < 2.0
    assert pace.left_s(80.0) == 0.0


def test_after_kills_the_rest_is_told_within_a_factor_of_two() -> None:
    """Units of a hundred runs of a second by four workers, which are all killed four times and are back ten minutes later."""
    for seed in range(5):
        dice = Random(seed)
        kills = sorted(dice.uniform(300, 4500) for _ in range(4))
        found = simulate_workers(
            [100.0] * 200,
            4,
            patience_s=300.0,
            deaths=lambda _worker, begun, kills=kills: next((at for at in kills if at > begun), None),
            back_s=600.0,
        )
        work = Workload([spec("a", 1.0)] * 20_000)
        pace = Pace(work, 0.0, in_groups=True)
        ratios: list[float] = []
        for at in found.done:
            for run in range(100):
                work.finished("a", 1.0)
                now = at + run / 10_000
                left = pace.left_s(now)
                if 0.1 * found.end_s < now < 0.9 * found.end_s:
                    assert left is not None
                    ratios.append(left / (found.end_s - now))
        assert min(ratios) > 0.5
        assert max(ratios) < 2.0  # 5,000 by the first run of the first unit that is done again


@pytest.mark.whole
def test_a_hundred_thousand_points_are_weighed_while_they_end() -> None:
    work = Workload([spec(str(number), 1.0) for number in range(100_000)])
    began = time.process_time()
    for number in range(100_000):
        work.finished(str(number), 1.0)
        assert 0 <= work.share <= 1
    assert work.left_s == pytest.approx(0.0, abs=1e-6)
    assert time.process_time() - began < 5  # a look at each point for each run takes hours
