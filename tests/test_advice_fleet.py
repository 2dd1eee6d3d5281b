"""Advice on a fleet beside a run of every setting; and that what looks worse is not taken for want of time."""

import math

import numpy as np
import pytest

from sojourn.advice.arms import Arm
from sojourn.advice.fleet import Fleet, Judged, check_fleet
from sojourn.advice.race import race
from sojourn.advice.search import near_best
from sojourn.base.errors import UsageError
from sojourn.store import Store
from support import CommandLine


def judged(line: str, regret: float) -> Judged:
    arm = Arm("router", "cake", 0.9, 0.9)
    return Judged(line, arm, arm, regret, 3, 66, 64, 1.0)


def test_the_answer_counts_lines_and_says_what_advice_costs() -> None:
    fleet = Fleet([judged("a", 0.0), judged("b", 0.02), judged("c", 0.11)], 0.05)
    assert fleet.sentence == (
        "What is advised is among the best settings, within 5 %, on 2 of 3 lines; it costs 2.0 % more than the best on the median line and "
        "11.0 % more on the worst."
    )
    assert [row[-1] for row in fleet.rows()] == ["yes", "yes", "no"]
    assert [line["among_the_best"] for line in fleet.as_json()["lines"]] == [True, True, False]


def test_what_looks_worse_is_not_taken_because_the_time_was_up() -> None:
    # The second is 8 % worse on the mean and so noisy that four runs cannot tell.
    noise = np.array([0.3, -0.3, 0.2, -0.2])
    table = np.tile(np.array([[0.0], [math.log(1.08)], [math.log(1.02)]]), (1, 64))
    table[1, :4] += noise
    table[2, :4] -= noise
    found = race(3, lambda alive, seeds: table[list(alive)][:, seeds], is_out_of_time=lambda: True)
    arms = [Arm("router", "cake", up, 0.9) for up in (0.8, 0.89, 0.98)]
    assert found.group == (0, 1, 2)
    assert near_best(found, arms, 0.05) == [arms[0], arms[2]]


def test_every_setting_is_run_beside_what_is_advised(tmp_path_factory: pytest.TempPathFactory) -> None:
    store = Store(tmp_path_factory.mktemp("fleet"))
    told: list[str] = []
    fleet = check_fleet(
        "methods",
        ["fleet/docsis30-plain/qoo-5hz"],
        uses="game",
        seeds=2,
        budget_s=1.0,
        screen_s=3.0,
        shares=(0.83, 0.95),
        store=store,
        jobs=2,
        tell=lambda stage, _runs: told.append(stage),
    )
    (one,) = fleet.judged
    assert one.advised.who == "router"
    assert one.settings in (17, 18)  # 4 managers with 2 shares each way, as it is, and what is advised
    assert one.seeds == 2
    assert 0 <= one.regret < 1
    assert 1 <= one.equals <= one.settings
    # Whoever waits for twelve lines sees what each one came to.
    assert told[-2] == "fleet/docsis30-plain/qoo-5hz: all settings"
    assert told[-1].startswith(f"fleet/docsis30-plain/qoo-5hz: {one.advised.name} costs ")


def test_a_fleet_that_is_none_is_refused(sojourn: CommandLine) -> None:
    with pytest.raises(UsageError, match="no point of methods fits"):
        check_fleet("methods", ["flet/*"], uses="game")
    done = sojourn("advise", "--check", "methods", "--line", "dsl")
    assert done.status == 2
    assert "--check asks about the points of a study" in done.stderr
