"""Each claim holds on a result made of what the document says, and fails when its number is spoilt."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sojourn.answers.claims import NEEDS_WHOLE, Holds
from sojourn.answers.view import StudyView
from sojourn.published.white2013 import study
from sojourn.published.white2013.study import KNEE_MS
from studies.cases_2013 import CLAIMS, LOADS, judge_all, outcome
from studies.shapes_2013 import losses, steps, upload
from studies.synthetic_2013 import World

Spoil = Callable[[World], None]

WITHOUT_RUNS = {"W13-07", "W13-08"}
"""Not decided by runs, or recomputed from the print."""


def delays(*ends: str, **changes: float) -> Spoil:
    """Spoil the game delays of the points with these names, or ends of names."""
    return lambda world: world.change_delays(lambda point: point.endswith(ends), **changes)


def metric(subject: str, name: str, value: float, *ends: str) -> Spoil:
    """Spoil a metric of the points with these names, or ends of names."""
    return lambda world: world.change(subject, name, value, lambda point: point.endswith(ends))


def game(name: str, value: float, *ends: str) -> Spoil:
    return metric("game", name, value, *ends)


def scores(value: float, *ends: str) -> Spoil:
    return both(game("mos", value, *ends), game("mos_loss_only", value, *ends))


def pages(factor: float, *ends: str) -> Spoil:
    """Spoil page load times of the published conditions."""

    def spoil(world: World) -> None:
        world.times = {point: time * (factor if point.endswith(ends) else 1.0) for point, time in world.times.items()}

    return spoil


def page(point: str, seconds: float) -> Spoil:
    return lambda world: world.set_page(point, seconds)


def both(*spoils: Spoil) -> Spoil:
    def spoil(world: World) -> None:
        for each in spoils:
            each(world)

    return spoil


def rates(point: str, change: Callable[[np.ndarray], np.ndarray]) -> Spoil:
    """Spoil the rates of a series."""

    def spoil(world: World) -> None:
        shape = world.shapes[point]
        world.shapes[point] = replace(shape, rate=change(shape.rate))

    return spoil


def at_rate(mbps: float, point: str) -> Spoil:
    return lambda world: world.shapes.update({point: upload(lambda time: time * 0 + mbps)})


def group(name: str, manager: str) -> tuple[str, ...]:
    """Name the conditions of a group."""
    loads = [load for load, one in LOADS.items() if one.group == name]
    return tuple(f"{load}-{rf}-{manager}" for load in loads for rf in ("none", "light", "moderate"))


BIN = np.arange(600)
"""Bins of the first seconds."""

SPOILS: dict[str, Spoil] = {
    "W13-01": delays("x03-none-bufferbloat", middle=300.0),
    "W13-02": delays("-bufferbloat", middle=200.0),
    "W13-03": pages(2.5, "-sfq-codel"),
    "W13-04": scores(3.0, "x04-light-sfq-codel"),
    "W13-05": metric("upload", "forwarded_volume", 3.0e6, "x11-light-sfq-codel"),
    "W13-06": pages(2.5, "-pie"),
    "W13-10": page("page-2013-add-200", 9.0),
    "W13-11": page("page-2013-add-100", 4.5),
    "W13-12": page("page-2013-add-50", 4.0),
    "W13-13": page("page-2013-add-100-later-upstream", 2.95),
    "W13-14": page("page-2013-down-20", 1.0),
    "W13-16": game("delay_mean", 800.0, "sessions/x03-bufferbloat"),
    "W13-17": game("delay_mean", 460.0, "x02-buffer-1000ms", "x02-buffer-500ms"),
    "W13-18": metric("download", "goodput_downstream", 17.0, "download-with-upload-acknowledgements-first"),
    "W13-20": page("x02-buffer-2000ms", 12.0),
    "W13-21": delays("x02-none-bufferbloat", middle=300.0),
    "W13-27": metric("ledbat", "goodput", 2.0, "ledbat-against-cubic"),
    "W13-31": lambda world: world.shapes.update({"losses-at-the-head": losses(0.5)}),
    "W13-37": delays("x02-none-sfq-codel", high=15.0),
    "W13-41": game("delay_p95", 20.0, "x04-light-codel-two-queues"),
    "W13-47": both(*(game("lost", 6.0, *group("light", m)) for m in ("codel", "bufferbloat"))),
    "W13-50": delays("x05-none-buffer-control", largest=70.0),
    "W13-51": delays("x05-light-bufferbloat", largest=1500.0),
    "W13-52": delays("x07-moderate-buffer-control", largest=120.0),
    "W13-53": delays("moderate-pie", high=200.0, top=210.0),
    "W13-54": lambda world: world.shapes.update({"steps-pie": steps(peak_ms=20.0)}),
    "W13-55": delays("x04-none-bufferbloat", middle=500.0),
    "W13-56": delays("x16-none-bufferbloat", middle=500.0),
    "W13-57": delays("x03-none-codel", first=2.0),
    "W13-58": delays("x02-none-sfq-codel", first=4.0),
    "W13-59": delays("none-sfq-codel", middle=6.0),
    "W13-60": delays("x02-none-sfq-codel", middle=6.0, first=5.5),
    "W13-61": delays("-pie", middle=2.0),
    "W13-62": both(
        *(
            delays(f"{load}-none-sfq-codel", high=10.0, top=12.0, largest=13.0)
            for load, one in LOADS.items()
            if one.group == "heavy"
        )
    ),
    "W13-63": delays("x14-none-sfq-codel", high=200.0, top=300.0),
    "W13-64": game("lost", 3.0, "x16-bins-64"),
    "W13-67": game("lost", 6.0, "x05-moderate-pie"),
    "W13-68": game("lost", 0.1, "-codel"),
    "W13-70": game("lost", 12.0, *(f"lottery/x15-{rf}" for rf in ("none", "light", "moderate"))),
    "W13-71": game("lost", 50.0, "x17-moderate-sfq-codel"),
    "W13-72": lambda world: world.losses_beside.update({0: 45.0}),
    "W13-73": game("lost", 0.05, "lottery/x07-light"),
    "W13-74": delays("-buffer-control", middle=12.0),
    "W13-75": game("lost", 0.5, *group("light", "sfq-codel")),
    "W13-76": game("lost", 21.0, "x16-light-codel"),
    "W13-77": game("lost", 19.0, "x17-light-sfq-codel"),
    "W13-78": game("lost", 51.0, "x16-light-pie"),
    "W13-79": both(*(delays(end, high=12.0, top=13.0) for end in group("light", "pie"))),
    "W13-83": pages(2.5, "-buffer-control"),
    "W13-84": pages(0.4, "-codel"),
    "W13-85": pages(0.5, "-buffer-control"),
    "W13-86": delays("none-buffer-control", middle=30.0),
    "W13-87": metric("page", "pages_completed", 100.0, *group("heavy", "pie")),
    "W13-88": metric("page", "page_load_time_mean", 6.0, "x02-names-buffer-control"),
    "W13-89": scores(2.5, "x08-none-bufferbloat"),
    "W13-90": scores(4.2, *group("light", "buffer-control")),
    "W13-91": scores(2.9, "x16-moderate-codel"),
    "W13-92": scores(4.3, *group("heavy", "sfq-codel")),
    "W13-93": scores(3.9, "x07-moderate-pie"),
    "W13-94": rates("reno-bufferbloat", lambda rate: np.where(BIN == 20, 12.0, rate)),
    "W13-95": at_rate(20.0, "reno-buffer-control"),
    "W13-96": at_rate(10.0, "reno-buffer-control-peak-10"),
    "W13-97": at_rate(5.0, "reno-sfq-codel"),
    "W13-98": rates("reno-codel", lambda rate: np.where(BIN == 24, 3.0, rate)),
    "W13-99": rates("reno-codel", lambda rate: np.where(BIN > 300, 4.6, rate)),
    "W13-100": rates("reno-pie", lambda rate: np.maximum(rate, 5.0)),
    "W13-101": rates("reno-pie", lambda rate: np.where(BIN > 280, 5.0, rate)),
    "W13-102": metric("upload", "forwarded_volume", 3.0e6, "x06-light-pie"),
    "W13-104": at_rate(5.0, "reno-codel"),
    "W13-105": game("lost", 9.0, "x16-none-sfq-pie"),
    "W13-106": delays("x14-none-sfq", "x15-none-sfq", "x16-none-sfq", high=900.0, top=950.0),
    "W13-107": lambda world: world.delays.update(
        {("downstream-with-download", "downstream"): world.delays["x01-none-pie", "upstream"]}
    ),
    "W13-110": both(*(page(f"page-2013-add-{ms}", 1.45 + ms / 100) for ms in (0, 50, 100, 200))),
}


@pytest.fixture(scope="module")
def good() -> StudyView:
    return World().view()


@pytest.mark.parametrize("claim", sorted(set(CLAIMS) - WITHOUT_RUNS))
def test_the_claim_holds_where_the_document_is_ours(claim: str, good: StudyView) -> None:
    found = outcome(claim, good)
    assert found.verdict is Holds.HOLDS, found
    assert found.ours


@pytest.mark.whole
@pytest.mark.parametrize("claim", sorted(set(CLAIMS) - WITHOUT_RUNS))
def test_the_claim_fails_where_its_number_is_spoilt(claim: str) -> None:
    world = World()
    SPOILS[claim](world)
    found = outcome(claim, world.view())
    assert found.verdict is Holds.FAILS, found


def test_slopes_of_the_score_are_those_of_the_formula(good: StudyView) -> None:
    # 2012, section 3.2.2: R falls by 0.024 per ms, above 177.3 ms by 0.134 per ms.
    outcomes = [outcome(claim, good) for claim in ("W13-07", "W13-08")]
    assert [one.verdict for one in outcomes] == [Holds.HOLDS] * 2
    rating = 94.2 - 0.024 * KNEE_MS
    slope = 0.035 + 7e-6 * (-3 * rating**2 + 320 * rating - 6000)
    assert f"{slope * 0.134 * 20:.3f} at the knee" in outcomes[1].ours


def test_every_claim_is_judged_once(good: StudyView) -> None:
    judged = judge_all(good)
    assert len(judged) == len({j.claim.identifier for j in judged}) == 101
    open_claims = [j for j in judged if j.outcome.verdict is Holds.NOT_RUN]
    assert open_claims == []


def test_losses_are_correlated_only_over_games_that_share_with_different_numbers() -> None:
    world = World()
    world.losses_beside = {1: 20.0}
    found = outcome("W13-72", world.view())
    assert found.verdict is Holds.NOT_RUN
    assert found.note.endswith("all share with 1")


def test_claims_without_their_points_are_not_run_and_say_what_they_need() -> None:
    world = World()
    world.drop("x16-bins-64")
    judged = {j.claim.identifier: j.outcome for j in judge_all(world.view())}
    assert judged["W13-64"].verdict is Holds.NOT_RUN
    assert judged["W13-64"].note == "needs point x16-bins-64"
    assert judged["W13-63"].verdict is Holds.HOLDS


def test_claims_without_their_metric_are_not_run() -> None:
    world = World()
    world.metrics = {key: v for key, v in world.metrics.items() if key[2] != "lost"}
    judged = {j.claim.identifier: j.outcome for j in judge_all(world.view())}
    assert judged["W13-71"].note == "point x16-none-sfq-codel has no metric lost of game"
    assert judged["W13-74"].verdict is Holds.HOLDS


def test_verdicts_of_a_quick_run_say_so_and_long_claims_wait() -> None:
    world = World()
    world.quick, world.duration_s = True, 30.0
    judged = {j.claim.identifier: j.outcome for j in judge_all(world.view())}
    assert judged["W13-58"].note.startswith("quick")
    assert judged["W13-01"].note == NEEDS_WHOLE
    assert judged["W13-54"].note == "needs runs of 240 s; those of steps-codel last 30 s"
    assert judged["W13-99"].verdict is Holds.NOT_RUN


def test_a_score_says_where_the_delay_turns_the_verdict() -> None:
    world = World()
    world.change("game", "mos_loss_only", 4.3, lambda point: point.endswith("-bufferbloat"))
    found = outcome("W13-89", world.view())
    assert found.verdict is Holds.HOLDS
    assert "without the delay it fails" in found.ours


def test_the_course_after_a_fall_of_capacity_is_measured_as_it_was_drawn() -> None:
    world = World()
    world.shapes = {"steps-pie": steps(settled_ms=10.0, peak_ms=110.0, fade_s=1.0)}
    series = world.view().series("steps-pie")[1]
    assert study.step_peak(series) == pytest.approx(110.0)
    # From 7 s on there is 100 exp(-7) = 0.1 ms left, a third of it on average.
    assert study.step_settled(series) == pytest.approx(10.03, abs=0.01)
    # 100 exp(-t) = 5 ms at t = 3.0 s; bins of 0.1 s.
    assert study.step_back(series) == pytest.approx(3.0, abs=0.1)
