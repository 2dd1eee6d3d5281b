"""What White 2013 prints agrees with itself, with the study's points and with the named tests."""

import csv
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomli_w

import sojourn.published.white2013 as package
from sojourn import _engine
from sojourn.study.library import load_study
from studies import cases_2013
from studies.cases_2013 import GROUP_LOADS, LOADS, MANAGER_LABELS, MANAGERS, RF_LEVELS, STUDY
from studies.named_tests import missing_tests

HOME = Path(package.__file__).parent
CLAIMS = STUDY.definition.claim
TESTS = STUDY.definition.tests

SUSTAINED, PEAK = 5e6 / 8e3, 20e6 / 8e3
"""Sustained and peak rate, in bytes per ms (section 3.4)."""

PER_WEB_USER = 24
"""Connections that a web user holds, to four servers with six each (section 4.1.2)."""


def printed(name: str) -> list[dict[str, str]]:
    with (HOME / "printed" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def documents() -> dict[str, dict[str, Any]]:
    return {point.name: point.document for point in load_study("white2013").points()}


def queue_in_force(queue: dict[str, Any]) -> dict[str, Any]:
    """Return all values of a queue manager that a scenario names."""
    up = {"link": {"kind": "docsis30-single", "profile": "white2013"}, "queue": queue}
    down = {
        "link": {"kind": "shaped", "profile": "white2013-downstream"},
        "queue": {"kind": "drop-tail", "limit": "1 s"},
    }
    text = tomli_w.dumps(
        {
            "schema": 1,
            "name": "one",
            "duration": "1 s",
            "access": {"upstream": up, "downstream": down},
            "traffic": [{"name": "game", "app": {"kind": "voice"}}],
        }
    )
    canonical = tomllib.loads(_engine.Scenario.parse(text).canonical())
    return canonical["access"]["upstream"]["queue"]


# ---- claims ---------------------------------------------------------------------------------------


def test_the_claims_are_in_order_and_graded() -> None:
    numbers = [int(claim.identifier.removeprefix("W13-")) for claim in CLAIMS]
    assert numbers == sorted(set(numbers))
    # What is missing was seen on other people's networks, or in other people's games.
    assert set(range(1, 111)) - set(numbers) == {9, 19, 22, 24, 25, 26, 80, 81, 82}
    assert {claim.use for claim in CLAIMS} == {"gate", "unit", "report"}
    assert {claim.trust for claim in CLAIMS} == set("ABCDX")
    assert all(claim.where and claim.statement and claim.criterion for claim in CLAIMS)


def test_every_claim_is_judged_by_a_function_or_held_by_a_test() -> None:
    known = {claim.identifier for claim in CLAIMS}
    assert known == set(cases_2013.CLAIMS) | set(TESTS)
    assert not set(cases_2013.CLAIMS) & set(TESTS)
    assert {c.use for c in CLAIMS if c.identifier in TESTS} == {"unit"}


def test_a_closed_form_claim_is_held_by_a_test_that_exists() -> None:
    assert missing_tests(TESTS) == []


# ---- queue managers (section 3.2) -----------------------------------------------------------------


def test_the_printed_times_of_the_buffers_follow_from_their_sizes() -> None:
    times = {"BufferBloat": (1000.0, 250.0), "Buffer Control": (50.0, 12.5)}
    rows = {row["queue_manager"]: row for row in printed("queue_managers")}
    assert set(rows) == {MANAGER_LABELS[manager] for manager in MANAGERS}
    for row in rows.values():
        size = float(row["buffer_bytes"])
        assert float(row["buffer_ms_at_msr"]) == size / SUSTAINED
        assert float(row["buffer_ms_at_peak"]) == size / PEAK
    for manager, expected in times.items():
        row = rows[manager]
        assert (float(row["buffer_ms_at_msr"]), float(row["buffer_ms_at_peak"])) == expected


def test_buffers_of_modems_of_2013_hold_240_and_480_ms(documents: dict[str, dict[str, Any]]) -> None:
    # Section 3.2, at the sustained rate of 5 Mb/s.
    for ms in (240, 480):
        for load in ("x02", "x05", "x13"):
            for rf in ("none", "light", "moderate"):
                queue = documents[f"buffers/{load}-{rf}-buffer-{ms}ms"]["access"]["upstream"]["queue"]
                assert (queue["kind"], queue["limit"]) == ("drop-tail", f"{round(ms * SUSTAINED)} B")


def test_the_managers_have_the_printed_parameters(documents: dict[str, dict[str, Any]]) -> None:
    rows = {row["queue_manager"]: row for row in printed("queue_managers")}
    keys = {
        "codel_target_ms": ("target", "{} ms"),
        "codel_interval_ms": ("interval", "{} ms"),
        "sub_flows": ("bins", "{}"),
        "quantum_bytes": ("quantum", "{} B"),
        "pie_delay_reference_ms": ("reference", "{} ms"),
        "pie_a": ("alpha", "{}"),
        "pie_b": ("beta", "{}"),
        "pie_update_interval_ms": ("update_interval", "{} ms"),
    }
    checked = 0
    for manager in MANAGERS:
        row = rows[MANAGER_LABELS[manager]]
        queue = queue_in_force(documents[f"x02-none-{manager}"]["access"]["upstream"]["queue"])
        assert queue["limit"] == f"{row['buffer_bytes']} B", manager
        for column, (key, form) in keys.items():
            if row[column]:
                assert str(queue[key]) == form.format(row[column]), (manager, key)
                checked += 1
    # Two of CoDel, four of SFQ-CoDel, four of PIE.
    assert checked == 10
    # PIE reads no time stamps: it divides the backlog by the rate of departures (section 2.3).
    pie = queue_in_force(documents["x02-none-pie"]["access"]["upstream"]["queue"])
    assert pie["delay_source"]["kind"] == "departure-rate"


# ---- congestion (section 3.3) ---------------------------------------------------------------------


def test_the_printed_mean_capacities_follow_from_their_levels() -> None:
    for level in RF_LEVELS[1:]:
        rows = [row for row in printed("rf") if row["rf_level"] == level]
        mean = sum(float(row["capacity_mbps"]) for row in rows) / len(rows)
        assert mean == pytest.approx(float(rows[0]["mean_capacity_printed_mbps"]), abs=1e-12)
        assert int(rows[0]["transitions_per_cycle"]) == len(rows) * (len(rows) - 1)


# ---- households (section 3.7, Table 2) ------------------------------------------------------------


def test_the_rule_of_section_3_7_gives_the_groups() -> None:
    for row in printed("scenarios"):
        uploads, users = int(row["file_upload_flows"]), int(row["web_users"])
        group = "light" if uploads <= 1 else "moderate" if uploads == 5 and users == 1 else "heavy"
        assert row["load_group"] == group, row["test_case"]
        assert LOADS[row["test_case"]].group == group
    assert [len(GROUP_LOADS[group]) for group in ("light", "moderate", "heavy")] == [7, 4, 6]


def test_the_points_carry_the_households_of_table_2(documents: dict[str, dict[str, Any]]) -> None:
    profiles = {"continuous": {"continuous"}, "bursty": {"bursty"}}
    reno = {"kind": "ns2-linux-cubic", "controller": {"kind": "reno"}}
    stacks = {"linux-cubic": "ns2-linux-cubic", "tcp-reno": reno, "ledbat": "ns2-ledbat"}
    for row in printed("scenarios"):
        name = row["test_case"]
        load = LOADS[name]
        assert (load.streams, load.browsers) == (int(row["voip_flows"]), int(row["web_users"]))
        assert load.uploads == int(row["file_upload_flows"])
        assert load.constant_rate == (row["cbr_mbps"] == "1")
        assert load.rtt_ms == (int(row["file_upload_rtt_ms"]) if row["file_upload_rtt_ms"] else None)
        traffic = {e["name"]: e for e in documents[f"{name}-none-pie"]["traffic"]}
        assert traffic["game"]["app"].get("lanes", 1) == load.streams
        assert traffic["page"]["app"].get("users", 1) == load.browsers
        assert ("cbr" in traffic) == load.constant_rate
        assert ("upload" in traffic) == bool(load.uploads)
        if load.uploads:
            upload = traffic["upload"]
            repeating = {"repeating", "small-files", "bittorrent"}
            mode = profiles.get(row["file_upload_mode"], repeating)
            assert upload["app"]["profile"] in mode, name
            assert upload["rtt"] == f"{load.rtt_ms} ms"
            assert upload["stack"] == stacks[row["file_upload_tcp"]]


def heavy_sessions() -> dict[str, tuple[int, int, int]]:
    """Return uploads, connections of browsers, and all sessions of the heavy households."""
    sessions: dict[str, tuple[int, int, int]] = {}
    for name in GROUP_LOADS["heavy"]:
        load = LOADS[name]
        web = PER_WEB_USER * load.browsers
        sessions[name] = (load.uploads, web, load.streams + web + load.uploads)
    return sessions


def test_heavy_households_have_sixty_to_a_hundred_and_ten_sessions() -> None:
    # x12: 4 streams, 4 * 24 web connections, 5 uploads; x14: 4 + 96 + 10; x16: 4 + 24 + 32.
    sessions = heavy_sessions()
    assert sessions["x12"] == sessions["x13"] == (5, 96, 105)
    assert sessions["x14"] == sessions["x15"] == (10, 96, 110)
    assert sessions["x16"] == sessions["x17"] == (32, 24, 60)


def test_bittorrent_is_mostly_bulk_and_the_other_heavy_traffic_mostly_web() -> None:
    sessions = heavy_sessions()
    assert all(bulk > whole / 2 for bulk, _, whole in (sessions["x16"], sessions["x17"]))
    others = [sessions[name] for name in ("x12", "x13", "x14", "x15")]
    assert all(web > whole / 2 for _, web, whole in others)


def test_short_term_points_record_bins_of_100_ms(documents: dict[str, dict[str, Any]]) -> None:
    short = {name: d for name, d in documents.items() if name.startswith("reno-")}
    assert {f"reno-{manager}" for manager in MANAGERS} <= set(short)
    assert {document["record"]["series"] for document in short.values()} == {"100 ms"}


# ---- measurements on other people's networks (section 1.4, Table 1) -------------------------------


def test_downstream_buffers_exceed_upstream_ones_except_for_rogers() -> None:
    latency = {
        (row["printed_row"], row["isp"], row["direction"]): int(row["buffering_latency_ms"])
        for row in printed("netalyzr")
        if row["technology"] == "DOCSIS"
    }
    rows = {(number, isp) for number, isp, _ in latency}
    longer = {(number, isp) for number, isp in rows if latency[number, isp, "down"] > latency[number, isp, "up"]}
    assert len(rows) == 4
    assert {isp for _, isp in rows - longer} == {"Rogers"}
    assert len(longer) == 3


# ---- ratings (Table 3) ----------------------------------------------------------------------------


def test_every_manager_is_rated_for_latency_and_loss() -> None:
    rows = printed("gaming_qualitative")
    assert len(rows) == 12
    for manager in MANAGERS:
        rated = {row["metric"] for row in rows if row["queue_manager"] == MANAGER_LABELS[manager]}
        assert rated == {"latency", "loss"}
