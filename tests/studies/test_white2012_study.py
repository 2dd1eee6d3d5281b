"""The study runs what the document describes."""

import itertools
from typing import Any

import polars as pl
import pytest

from sojourn import Scenario, _engine, run
from sojourn.study.library import Study, load_study
from studies.synthetic import CASES, HOME, MANAGERS, alone_point_of, point_of, printed


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study("white2012")


@pytest.fixture(scope="module")
def documents(study: Study) -> dict[str, dict[str, Any]]:
    return {point.name: point.document for point in study.points()}


def stack_of(entry: dict[str, Any]) -> str:
    """Return the name of a stack, written as a name or as a table with changes."""
    stack = entry["stack"]
    return stack if isinstance(stack, str) else stack["kind"]


def traffic(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {entry["name"]: entry for entry in document["traffic"]}


def test_every_point_is_a_valid_scenario(study: Study) -> None:
    problems = {point.name: _engine.check(point.text) for point in study.points()}
    assert {name: found for name, found in problems.items() if found} == {}


def test_every_printed_case_is_a_point(documents: dict[str, dict[str, Any]]) -> None:
    for manager in (*MANAGERS, "droptail-31250B"):
        for case in CASES:
            assert point_of(case, manager) in documents


def test_the_figures_show_uploads_alone(documents: dict[str, dict[str, Any]]) -> None:
    for manager in MANAGERS:
        for case in ("02", "03", "04", "05"):
            document = documents[alone_point_of(case, manager)]
            whole = documents[point_of(case, manager)]
            assert list(traffic(document)) == ["bulk"]
            assert traffic(document)["bulk"] == traffic(whole)["bulk"]
            assert document["access"] == whole["access"]


def test_every_unpublished_case_is_a_point_in_each_coupling(documents: dict[str, dict[str, Any]]) -> None:
    for manager in MANAGERS:
        for load in range(1, 10):
            for coupling in ("drop", "back", *(("both",) if manager == "codel" else ())):
                name = f"{point_of(f'1{load}', manager)}-{coupling}"
                congestion = documents[name]["access"]["upstream"]["link"]["congestion"]
                assert congestion == {"kind": "grant-size", "mean": "1250 B", "variation": 0.2}


def test_targets_are_points_with_either_coupling(documents: dict[str, dict[str, Any]]) -> None:
    # Section 2.2.3: "different target latencies (i.e., other than 5 ms)", with sojourn over both queues or back-pressure.
    for load, coupling, target in itertools.product((2, 5), ("both", "back"), ("2.5", "5", "10", "20", "40")):
        access = documents[f"T1{load}-{coupling}-target-{target}"]["access"]["upstream"]
        assert access["queue"] == {"kind": "codel", "profile": "white2012", "target": f"{target} ms"}
        assert access["link"]["variant"] == {"both": "sojourn-over-both", "back": "back-pressure"}[coupling]
        assert access["link"]["congestion"]["mean"] == "1250 B"


def test_cubic_stays_on_the_plateau_that_its_reductions_have_left(study: Study) -> None:
    # Section 4.1.3: "stuck at 75% link utilization". 173 segments fill 20 Mb/s at 104 ms.
    (point,) = (point for point in study.points() if point.name == "F03-codel")
    changes = {"duration": "8 s", "record": {"connections": "100 ms"}}
    rows = run(Scenario.parse(point.with_values(changes).text)).tables["connection_series"].sort("at_ns")
    windows = dict(zip(rows["at_ns"].to_list(), rows["window_segments"].to_list(), strict=True))
    thresholds = rows.filter(rows["at_ns"] > 1_000_000_000)["threshold_segments"].unique(maintain_order=True).to_list()
    ratios = [after / before for before, after in itertools.pairwise(thresholds)]
    assert len(ratios) >= 4
    assert ratios == pytest.approx([0.8] * len(ratios), abs=0.01)
    assert 100 < windows[4_000_000_000] < 0.8 * 173
    assert windows[7_000_000_000] < 1.05 * windows[4_000_000_000]


def test_the_points_carry_the_uploads_of_table_2(documents: dict[str, dict[str, Any]]) -> None:
    profiles = {"Single TCP": "continuous", "Multiple TCP": "repeating", "Bursty TCP": "bursty"}
    for row in printed("cases"):
        case, kind = row["test_case"][1:], row["bulk_traffic"]
        if row["queue_manager"] != "CoDel" or row["rf_congestion"] != "none":
            continue
        entries = traffic(documents[point_of(case, "codel")])
        assert ("cbr" in entries) == (row["cbr_mbps"] == "1")
        if kind == "None":
            assert "bulk" not in entries
            continue
        bulk = entries["bulk"]
        assert bulk["rtt"] == f"{row['bulk_traffic_rtt_ms']} ms"
        assert bulk["app"]["profile"] == profiles[kind.removeprefix("UDP + ")]


def test_every_traffic_runs_the_stack_of_table_1(documents: dict[str, dict[str, Any]]) -> None:
    expected = {"cubic": "ns2-linux-cubic", "reno": "ns2-reno", "": "ns2-bsd-sack"}
    stacks = {row["traffic"]: expected[row["congestion_control"]] for row in printed("tcp_stacks")}
    for document in documents.values():
        entries = traffic(document)
        assert {"bulk", "page"} & set(entries)
        if "page" in entries:
            assert stack_of(entries["page"]) == stacks["web"]
        if "bulk" in entries:
            bursty = entries["bulk"]["app"]["profile"] == "bursty"
            wanted = stacks["bursty_tcp"] if bursty else stacks["bulk_ftp"]
            assert stack_of(entries["bulk"]) == wanted
        assert all("stack" not in entries[name] for name in ("call", "cbr") if name in entries)


def test_the_quick_study_leaves_out_what_was_not_published(study: Study) -> None:
    quick = study.definition.quick
    assert quick.points == ["C0*", "D0*", "F0*"]
    assert (HOME / study.definition.scenario).exists()


IDLE = """
schema = 1
name = "handshake"
duration = "3 s"
[access.upstream]
link = {{ kind = "serial", rate = "1 Tb/s", delay = "1 ms" }}
queue = {{ kind = "drop-tail", limit = "1000 packets" }}
[access.downstream]
link = {{ kind = "serial", rate = "1 Tb/s", delay = "1 ms" }}
queue = {{ kind = "drop-tail", limit = "1000 packets" }}
[[traffic]]
name = "page"
app = {{ kind = "web", page = "white2012", start = "0 s" }}
stack = "ns2-bsd-sack"
rtt = "{rtt} ms"
line_rate = "1 Tb/s"
[record]
objects = true
"""


@pytest.mark.parametrize("rtt", [20, 100])
def test_a_handshake_over_an_idle_network_takes_the_printed_round_trip(rtt: int) -> None:
    records = _engine.run(_engine.Scenario.parse(IDLE.format(rtt=rtt)), 1)
    first = pl.DataFrame(records.table("objects")).row(0, named=True)
    # One round trip for SYN and SYN-ACK, one for the request and the first byte; no medium access,
    # and less than a microsecond of serialisation. 1 ms of cable each way is part of the round trip.
    waited_ms = (first["first_byte_ns"] - first["started_ns"]) / 1e6
    assert waited_ms / 2 == pytest.approx(rtt, abs=0.001)
