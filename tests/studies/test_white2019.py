"""The study of Low Latency DOCSIS runs what the document describes, and its closed-form claims hold."""

import csv
import io
import json
import math
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sojourn import _engine
from sojourn.scenario.scenario_file import Scenario
from sojourn.simulation.engine import simulate
from sojourn.store import pack
from sojourn.study.library import Study, load_study
from studies.named_tests import missing_tests

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "python/sojourn/published/white2019"
WEIGHTS = {"mix-1": 10, "mix-2": 10, "mix-8": 10}


def printed(name: str) -> list[dict[str, str]]:
    with (FOLDER / "printed" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study("white2019")


@pytest.fixture(scope="module")
def scenarios(study: Study) -> dict[str, dict[str, Any]]:
    """Every value in force at each point of Table 3."""
    return {
        point.name: tomllib.loads(_engine.Scenario.parse(point.text).canonical())
        for point in study.points()
        if point.name.startswith("table-3/")
    }


def traffic(scenario: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {entry["name"]: entry for entry in scenario["traffic"]}


def test_all_claims_are_there_and_held_judged_or_said_not_to_be(study: Study) -> None:
    claims = study.definition.claim
    assert [c.identifier for c in claims] == [f"W19-{n:02}" for n in range(1, 60)]
    assert all(c.where and c.statement and c.criterion for c in claims)
    tests = study.definition.tests
    assert missing_tests(tests) == []
    for claim in claims:
        judged = bool(claim.holds or claim.function)
        assert judged + bool(claim.not_run) + (claim.identifier in tests) == 1, claim.identifier
        assert (claim.use == "unit") == (claim.identifier in tests or claim.identifier == "W19-44")


def test_mixes_and_weights_are_those_of_table_2(study: Study, scenarios: dict[str, dict[str, Any]]) -> None:
    rows = printed("mixes")
    assert sum(int(row["weight"]) for row in rows) == 37
    for row in rows:
        mix = f"mix-{row['traffic_mix']}"
        assert WEIGHTS.get(mix, 1) == int(row["weight"])
        entries = traffic(scenarios[f"table-3/{mix}-lld"])
        users = entries["page"]["app"]["users"] if "page" in entries else 0
        assert users == int(row["web_users"])
        for prefix, column in (("video", "video_users"), ("upload-", "ftp_upstream"), ("download-", "ftp_downstream")):
            found = sum(name.startswith(prefix) for name in entries)
            assert found == int(row[column]), (mix, prefix)
        lanes = [e["app"]["lanes"] for name, e in entries.items() if name == "speed-test"]
        columns = ("speedtest_tcp_downstream", "speedtest_tcp_upstream")
        assert sum(lanes) == sum(int(row[column]) for column in columns)
        assert entries["game"]["dscp"] == 0x2A
        assert entries["unmarked"]["dscp"] == 0
    weighed = [m for m in study.definition.measures.values() if m.weights]
    assert weighed
    assert all(measure.weights == WEIGHTS for measure in weighed)


def test_the_line_is_that_of_appendix_b(scenarios: dict[str, dict[str, Any]]) -> None:
    for name, scenario in scenarios.items():
        up, down = (scenario["access"][way]["link"] for way in ("upstream", "downstream"))
        assert (up["rate"], down["rate"]) == ("50 Mb/s", "200 Mb/s"), name
        assert up["plant_km"] == down["plant_km"] == 8
        legacy = name.endswith(("no-aqm", "-aqm"))
        assert up["map_interval"] == ("2 ms" if legacy else "1 ms")
        assert up["service"] == ("single" if legacy else "low-latency")
        assert ("5 Mb/s" in str(up["proactive"])) == name.endswith("pgs")


def test_a_video_is_six_megabits_a_second(scenarios: dict[str, dict[str, Any]]) -> None:
    app = traffic(scenarios["table-3/mix-2-lld"])["video"]["app"]
    bits = 8 * {"3.75 MB": 3.75e6, "3750000 B": 3.75e6}[app["file"]]
    assert app["period"] == "5 s"
    assert bits / 5 == 6e6


def test_files_have_a_median_of_2_7_megabytes(scenarios: dict[str, dict[str, Any]]) -> None:
    app = traffic(scenarios["table-3/mix-6-lld"])["upload-3"]["app"]
    size = app["file"]
    assert (size["mu"], size["sigma"], app["gap"]) == (14.8, 2.0, "100 ms")
    assert math.exp(size["mu"]) == pytest.approx(2.676e6, rel=1e-3)
    assert math.exp(size["mu"] + size["sigma"] ** 2 / 2) == pytest.approx(19.8e6, rel=2e-3)


def test_only_the_dual_queue_upstream_needs_a_new_modem() -> None:
    rows = printed("device_upgrades")
    modem = {(r["feature"], r["direction"]) for r in rows if (r["device"], r["upgrade"]) == ("cm", "required")}
    assert modem == {("dual_queue", "upstream")}
    # Whoever has no new modem still gets the downstream's: provisioning expands it so.
    cmts = [r for r in rows if r["device"] == "cmts" and r["upgrade"] != "not_applicable"]
    assert {r["upgrade"] for r in cmts} == {"required"}


@pytest.mark.slow
def test_a_quick_run_judges_and_draws_what_it_can(tmp_path: Path) -> None:
    from sojourn.cli.app import execute

    out = tmp_path / "out"
    command = ["study", "run", "white2019", "--quick", "--no-figures"]
    assert execute([*command, "--out", str(out), "--store", str(tmp_path / "store")]) == 0
    assert pl.read_csv(out / "comparison.csv").height == 48
    claims = pl.read_csv(out / "claims.csv").filter(pl.col("use") != "unit")
    judged = {row["id"]: row["verdict"] for row in claims.iter_rows(named=True) if row["verdict"] != "not-run"}
    assert len(judged) >= 8
    # The whole study turns none of them.
    counts = json.loads((ROOT / "docs" / "results" / "counts.json").read_text(encoding="utf-8"))["white2019"]["claims"]
    whole = {name: verdict for use in counts.values() for verdict, names in use.items() for name in names}
    assert judged == {name: whole[name] for name in judged}


def shares(study: Study, **changed: str) -> tuple[float, float]:
    """Return goodputs of one flow of Prague and one of CUBIC upstream, in Mb/s, with changed keys of link and queue."""
    (point,) = (point for point in study.points() if point.name == "long/upstream-each-1-weight-230")
    settings = [f"{key.replace('__', '.')}={value}" for key, value in changed.items()]
    scenario = Scenario.parse(point.text).with_settings("duration=30 s", *settings)
    packed = pack(simulate(scenario.compiled, 1), scenario.key(1), 1, scenario.canonical())
    rows = pl.read_parquet(io.BytesIO(packed["metrics.parquet"])).rows()
    found = {(row[0], row[1]): row[2] for row in rows}
    return found["scalable", "goodput"], found["classic", "goodput"]


def test_the_ramp_of_2019_balances_both_queues_once_it_begins_above_the_loop_of_grants(study: Study) -> None:
    # Upstream each packet waits 2 to 4 ms for its grant. The ramp of 0.475 to 1 ms (section 2.3, "configurable values") takes that
    # for a queue and marks all of Prague; a maximum threshold behind the loop, or shorter loops with grants unasked, leave the balance.
    threshold = "access__upstream__queue__maximum_threshold"
    scalable, classic = shares(study)
    assert scalable < 0.4 * classic
    for changed in (
        {threshold: "4 ms"},
        {threshold: "2 ms", "access__upstream__link": '{ kind = "docsis31-upstream", profile = "white2019-pgs" }'},
    ):
        scalable, classic = shares(study, **changed)
        assert 0.8 < scalable / classic < 1.25, changed
        assert scalable + classic > 46
