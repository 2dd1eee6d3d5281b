"""The estimate of what is left weighs runs by their work."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from sojourn.study.plan import RunSpec
from sojourn.study.workload import Pace, Workload


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
