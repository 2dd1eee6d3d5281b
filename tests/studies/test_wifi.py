"""The study of Wi-Fi holds its data, its closed-form claims, and judges nothing by what was only recalled."""

from __future__ import annotations

import csv
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sojourn import _engine
from sojourn.base.quantities import seconds_of
from sojourn.study.library import Study, load_study
from studies.named_tests import missing_tests

PRINTED = Path(__file__).parents[2] / "python/sojourn/published/wifi/printed"


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study("wifi")


def printed(name: str) -> list[dict[str, str]]:
    with (PRINTED / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def numbers(rows: list[dict[str, str]], *columns: str) -> list[float]:
    return [float(row[column]) for row in rows for column in columns if row[column]]


def test_all_measured_and_printed_numbers_are_there() -> None:
    bianchi = printed("bianchi")
    chosen = [row for row in bianchi if row["chosen"]]
    kinds = {
        "access point": numbers(printed("access_point"), "tcp_mbps", "ping_p50_ms", "ping_p99_ms"),
        "ath10k": numbers(printed("ath10k"), "ping_mean_ms", "ping_p99_ms", "tcp_mbps"),
        "Bianchi": numbers(chosen, "throughput_mbps"),
        **{
            name: numbers(printed(name), "value")
            for name in ("bounds", "field", "constants", "anomaly", "airtime_patch")
        },
        "ns-3": numbers(printed("ns3_links"), "throughput_mbps"),
    }
    assert {name: len(values) for name, values in kinds.items()} == {
        "access point": 243,
        "ath10k": 17,
        "Bianchi": 56,
        "bounds": 40,
        "field": 14,
        "constants": 6,
        "anomaly": 9,
        "airtime_patch": 6,
        "ns-3": 10,
    }
    assert len(bianchi) == 1360
    assert all(value > 0 for values in kinds.values() for value in values)


def test_measured_runs_are_those_of_the_list_of_all_runs() -> None:
    runs = {row["run"]: row for row in printed("flent_runs") if row["folder"] == "airtime-c2"}
    assert len(printed("flent_runs")) == 232
    for row in printed("access_point"):
        if row["repetition"] == "1" and row["seconds"] == "30":
            found = runs[row["run"]]
            names = ("tcp_mbps", "ping_p50_ms", "ping_p99_ms")
            assert [found[name] for name in names] == [row[name] for name in names], row["run"]


def test_each_structure_was_measured_once_at_each_rate() -> None:
    counted = Counter((row["queue"], row["seconds"]) for row in printed("access_point") if row["repetition"] == "1")
    assert counted == {(queue, "30"): 16 for queue in ("fq-codel", "stock", "fifo-1000", "fifo-20")} | {
        ("fifo-1000", "300"): 16
    }


def test_what_is_recalled_judges_nothing(study: Study) -> None:
    assert {row["how"] for row in printed("anomaly")} == {"unverified: recalled, not read"}
    unverified = [claim for claim in study.definition.claim if "unverified" in claim.where]
    assert len(unverified) == 2
    assert {claim.use for claim in unverified} == {"report"}
    # And no function reads that file.
    assert "anomaly.csv" not in (PRINTED.parent / "study.py").read_text(encoding="utf-8")


def access_point(profile: str) -> dict[str, Any]:
    text = (PRINTED.parent / "scenarios/base.toml").read_text(encoding="utf-8")
    text = text.replace('profile = "ath9k-2016"', f'profile = "{profile}"')
    (channel,) = tomllib.loads(_engine.Scenario.parse(text).canonical())["wifi"]
    return channel["ap"]


def test_constants_of_the_medium_and_of_the_queues_are_the_printed_ones() -> None:
    limits = {row["identifier"]: float(row["value"]) for row in printed("constants")}
    for profile, names in (("linux-station", ("Q-L", "Q-H", "Q-T")), ("openwrt-2024", ("Q-LO", "Q-HO", "Q-TO"))):
        keys = access_point(profile)
        ours = [seconds_of(keys[key]) * 1e6 for key in ("firmware", "firmware_most", "firmware_all")]
        assert ours == pytest.approx([limits[name] for name in names])


def test_the_claims_that_tests_hold_have_their_tests(study: Study) -> None:
    assert missing_tests(study.definition.tests) == []
