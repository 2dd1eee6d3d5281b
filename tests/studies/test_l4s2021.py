"""The study of L4S tests runs what the document describes, and its closed-form claims hold."""

from __future__ import annotations

import csv
import math
import tomllib
from pathlib import Path
from typing import Any

import pytest

from sojourn import _engine
from sojourn.api.run import run
from sojourn.scenario.scenario_file import Scenario
from sojourn.study.library import Study, load_study
from studies.named_tests import missing_tests

FOLDER = Path(__file__).parents[2] / "python/sojourn/published/l4s2021"


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study("l4s2021")


@pytest.fixture(scope="module")
def points(study: Study) -> dict[str, dict[str, Any]]:
    return {point.name: tomllib.loads(_engine.Scenario.parse(point.text).canonical()) for point in study.points()}


def printed(name: str) -> list[dict[str, str]]:
    with (FOLDER / "printed" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_jains_index_follows_from_both_printed_rates() -> None:
    rows = printed("scenario1")
    assert len(rows) == 192
    for row in rows:
        first, second = float(row["delivered_1_mbps"]), float(row["delivered_2_mbps"])
        jain = (first + second) ** 2 / (2 * (first**2 + second**2))
        # Both rates are rounded to 0.01 Mb/s, and at 10 Mb/s one may be 0.2.
        assert float(row["jain"]) == pytest.approx(jain, abs=0.006), row


def test_the_printed_ratios_of_single_queues_are_those_of_the_rates() -> None:
    for row in printed("scenario6"):
        ratio = float(row["delivered_1_mbps"]) / float(row["delivered_2_mbps"])
        assert abs(ratio - float(row["ratio"])) < 0.75, row


def test_a_replay_window_is_rate_times_delay() -> None:
    # H21-34: 100 ms of the classic queue at 20 Mb/s are 166 packets of 1500 B.
    assert math.floor(20e6 * 0.1 / (8 * 1500)) == 166


def test_the_claims_that_tests_hold_have_their_tests() -> None:
    assert missing_tests(load_study("l4s2021").definition.tests) == []


@pytest.mark.whole
def test_the_rate_is_that_of_ethernet_frames(points: dict[str, dict[str, Any]]) -> None:
    # 50 Mb/s count 1514 B for 1500; 1448 of them are data: 47.82 Mb/s.
    link = points["s1/50-dualpi2-20-20-prague-cubic"]["access"]["upstream"]["link"]
    assert link["rate"] == "49.538 Mb/s"
    data = 49.538 * 1448 / 1500
    assert data == pytest.approx(47.82, abs=0.005)


def test_both_directions_have_the_same_queue_and_the_same_step(points: dict[str, dict[str, Any]]) -> None:
    for name, point in points.items():
        access = point["access"]
        assert access["upstream"] == access["downstream"], name
    step = points["s2/flow-prague-fq-near-80-to-1"]["access"]["upstream"]["conditions"]
    assert step == [{"at": "30 s", "rate": "990.75 kb/s"}]


def test_the_stacks_are_those_of_the_kernel_and_of_today(points: dict[str, dict[str, Any]]) -> None:
    def controller(point: str, entry: str) -> dict[str, Any]:
        (found,) = (t for t in points[point]["traffic"] if t["name"] == entry)
        return found["stack"]["controller"]

    old = controller("s1/50-dualpi2-20-20-prague-cubic", "first")
    assert (old["reference_round_trip"], old["initial_alpha"]) == ("0 s", 1.0)
    new = controller("s1/50-dualpi2-today-20-20-today-cubic", "first")
    assert (new["reference_round_trip"], new["initial_alpha"]) == ("25 ms", 0.0)
    assert controller("s1/50-dualpi2-20-20-prague-cubic", "second")["kind"] == "cubic"


TWO_FLOWS = """
schema = 1
name = "two flows"
duration = "10 s"
[access.upstream]
link = { kind = "serial", rate = "20 Mb/s" }
queue = { kind = "fq-codel" }
[access.downstream]
link = { kind = "serial", rate = "20 Mb/s" }
queue = { kind = "fq-codel" }
[[traffic]]
name = "first"
app = { kind = "bulk", lanes = 3 }
stack = "linux-cubic"
rtt = "20 ms"
[[traffic]]
name = "second"
app = { kind = "bulk" }
stack = "linux-cubic"
rtt = "20 ms"
"""


def test_one_tunnel_is_one_flow_to_a_flow_queue() -> None:
    # Beside three others a flow gets a quarter; beside a tunnel with three in it, a half.
    def second(text: str) -> float:
        goodput = {s: v for s, m, v, _ in run(Scenario.parse(text)).metrics.rows() if m == "goodput"}
        return goodput["second"] / (goodput["first"] + goodput["second"])

    assert second(TWO_FLOWS) == pytest.approx(0.25, abs=0.03)
    in_tunnel = TWO_FLOWS.replace("lanes = 3 }", 'lanes = 3 }\ntunnel = "wg0"')
    assert second(in_tunnel) == pytest.approx(0.5, abs=0.03)
