"""`sojourn provision`: files are shown, written, compared and expanded, and what is wrong is told."""

import doctest
from html import unescape
from pathlib import Path

import pytest
import tomli_w

from sojourn.base.digits import significant
from sojourn.base.errors import UsageError
from sojourn.provisioning import Modem, decode, encode, expand
from sojourn.provisioning.scenarios import access, left_out, traffic
from sojourn.scenario.scenario_file import check_scenario, scenario_warnings
from support import CommandLine

CRATE = Path(__file__).parents[2] / "crates/sojourn-provisioning/tests"
CORPUS = CRATE / "corpus"
TABLES = str(CRATE / "tables.toml")
GAME_DIRECTIONS = ("upstream", "downstream")
NAMES = str(CORPUS / "own/names-100-20.cm")


@pytest.fixture
def key(tmp_path: Path) -> str:
    """Return the path of a file with the secret of the corpus."""
    path = tmp_path / "key"
    path.write_text("SOJOURN\n")
    return str(path)


def test_a_file_is_shown_with_places_and_meanings(sojourn: CommandLine, key: str) -> None:
    done = sojourn("provision", "show", str(CORPUS / "own/v1-white2013.cm"), "--secret", key)
    assert done.status == 0, done.stderr
    assert "max_sustained_rate" in done.stdout
    assert "5 Mb/s" in done.stdout
    assert "CM MIC good, CMTS MIC good" in done.stderr
    assert "SOJOURN" not in done.stdout + done.stderr


def test_what_is_wrong_is_told_with_octet_and_path(sojourn: CommandLine, key: str) -> None:
    cut = str(CORPUS / "damaged/E-TRUNCATED.cm")
    done = sojourn("provision", "show", cut, "--secret", key, "--json")
    assert done.status == 2
    first = done.json()["issues"][0]
    assert (first["code"], first["offset"], first["path"]) == ("E-TRUNCATED", 41, "25")
    said = sojourn("provision", "show", cut)
    assert "error: " in said.stderr
    assert "TLV 25: E-TRUNCATED: says 25 octets, and 17 are left (octet 41)" in said.stderr


def test_text_and_octets_lead_to_each_other(sojourn: CommandLine, key: str, tmp_path: Path) -> None:
    source = CORPUS / "own/explicit-100-20.cm"
    text, again = tmp_path / "modem.toml", tmp_path / "modem.cm"
    assert sojourn("provision", "decode", str(source), "--out", str(text)).status == 0
    done = sojourn("provision", "encode", str(text), "--out", str(again))
    assert done.status == 0, done.stderr
    assert again.read_bytes() == source.read_bytes()
    text.write_text(text.read_text().replace("rate = 20000000 ", 'rate = "25 Mb/s" '))
    assert sojourn("provision", "encode", str(text), "--out", str(again), "--secret", key).status == 0
    rows = sojourn("provision", "diff", str(source), str(again), "--json").json()["differences"]
    changed = [row for row in rows if row["path"] == "70[1].8"]
    assert [(row["before"], row["after"]) for row in changed] == [("20 Mb/s", "25 Mb/s")]


def test_a_wrong_text_is_told_with_line_and_column(sojourn: CommandLine, tmp_path: Path) -> None:
    text = tmp_path / "modem.toml"
    text.write_text("schema = 1\n[[tlv]]\nnetwork_acess = 1\nmax_cpe = 300\n")
    done = sojourn("provision", "encode", str(text), "--out", str(tmp_path / "modem.cm"))
    assert done.status == 2
    assert f"{text}:3:1: network_acess: E-TEXT: no such TLV" in done.stderr
    assert "did you mean network_access?" in done.stderr
    assert f"{text}:4:11" in done.stderr


def test_the_same_names_mean_more_after_a_migration(sojourn: CommandLine, key: str) -> None:
    arguments = ("provision", "expand", NAMES, "--aqp", TABLES, "--secret", key)
    after = sojourn(*arguments, "--json").json()
    assert after["summary"]["upstream"].startswith("ASF of classic (docsis-pie)")
    rate = after["service"]["upstream"]["parameters"]["max_sustained_rate"]
    assert rate["value"] == 20_000_000
    assert rate["origin"]["table"] == "aqp"
    before = sojourn(*arguments, "--without-profiles", "--json").json()
    assert before["summary"]["upstream"] == "1 SF, docsis-pie, 20 Mb/s"
    old = sojourn(*arguments, "--modem", "3.0", "--json").json()
    assert old["summary"]["upstream"] == "1 SF, none, 20 Mb/s"
    said = sojourn(*arguments)
    assert "aqp tier-20-us: max_sustained_rate" in said.stdout
    assert "downstream: ASF of classic (docsis-pie) and low-latency (immediate) SF" in said.stderr


def test_names_without_a_table_are_refused(sojourn: CommandLine) -> None:
    done = sojourn("provision", "expand", NAMES)
    assert done.status == 2
    assert "E-SCN-UNKNOWN: no service class tier-20-us" in done.stderr


def test_the_python_of_the_guide_works() -> None:
    guide = Path(__file__).parents[2] / "docs/guides/provision-a-modem.md"
    result = doctest.testfile(str(guide), module_relative=False)
    assert result.attempted >= 4
    assert result.failed == 0


def test_a_migration_cuts_the_tail_of_a_marked_game_at_least_fivefold(
    sojourn: CommandLine, key: str, tmp_path: Path
) -> None:
    done = sojourn(
        *("provision", "simulate", NAMES, "--aqp", TABLES, "--secret", key, "--mix", "3"),
        *("--duration", "30 s", "--out", str(tmp_path / "out"), "--store", str(tmp_path / "store")),
        *("--seeds", "2", "--no-figures", "--json"),
    )
    assert done.status == 0, done.stderr
    content = done.json()
    assert content["before"]["upstream"] == "1 SF, docsis-pie, 20 Mb/s"
    assert content["after"]["upstream"].startswith("ASF of classic")
    tails = {row["traffic"]: row for row in content["rows"] if row["metric"] == "delay_p99"}
    assert set(tails) == {f"{m}-{d}" for m in ("marked", "unmarked") for d in GAME_DIRECTIONS}
    assert tails["marked-upstream"]["ratio"] >= 5.0
    assert tails["marked-upstream"]["ratio"] > tails["unmarked-upstream"]["ratio"]
    first = content["rows"][0]
    assert (first["traffic"], first["metric"]) == ("marked-upstream", "delay_p99")
    sentence = content["headline"]["sentence"]
    assert sentence.startswith("The migrated service keeps the game marked-upstream at ")
    assert f"at {significant(first['after'], 2)} ms (P99, upstream)" in sentence
    assert (tmp_path / "out" / "study.toml").is_file()


def test_a_migration_is_told_as_on_its_page(sojourn: CommandLine, key: str, tmp_path: Path) -> None:
    asked = ("provision", "simulate", NAMES, "--aqp", TABLES, "--secret", key, "--mix", "1")
    asked += ("--duration", "5 s", "--seeds", "2", "--store", str(tmp_path / "store"))
    said = sojourn(*asked, "--out", str(tmp_path / "a"))
    assert said.status == 0, said.stderr
    page = (tmp_path / "a" / "report.html").read_text()
    first, grades = said.stderr.partition("report: ")[0].splitlines()[-2:]
    content = sojourn(*asked, "--out", str(tmp_path / "b"), "--no-figures", "--json").json()
    sentence = content["headline"]["sentence"]
    assert sentence in (first, *said.stdout.splitlines())
    assert sentence in unescape(page)
    assert set(content["headline"]["grades"]) == {"today's service", "the migrated service"}
    assert "Grades: " in said.stderr + said.stdout, grades


def test_several_files_are_simulated_beside_each_other(sojourn: CommandLine, key: str, tmp_path: Path) -> None:
    files = [str(CORPUS / f"own/{name}.cm") for name in ("names-100-20", "explicit-100-20")]
    done = sojourn(
        *("provision", "simulate", *files, "--aqp", TABLES, "--secret", key, "--mix", "1"),
        *("--duration", "5 s", "--seeds", "2", "--no-figures", "--json"),
        *("--out", str(tmp_path / "out"), "--store", str(tmp_path / "store")),
    )
    assert done.status == 0, done.stderr
    content = done.json()
    assert list(content["services"]) == ["names-100-20", "explicit-100-20"]
    assert set(content["headline"]["grades"]) == {"names-100-20", "explicit-100-20"}
    for row in content["rows"]:
        assert list(row["values"]) == ["names-100-20", "explicit-100-20"]
    # The file that `expand` wrote names the code points that the CMTS adds by itself, too.
    own = str(tmp_path / "explicit.cm")
    assert sojourn("provision", "expand", NAMES, "--aqp", TABLES, "--out", own, "--style", "explicit").status == 0
    again = sojourn("provision", "simulate", own, "--aqp", TABLES, "--duration", "1 s", "--seeds", "1", "--no-figures")
    assert again.status == 0, again.stderr
    twice = sojourn("provision", "simulate", files[0], files[0], "--secret", key)
    assert twice.status == 2
    assert "a file is named twice" in twice.stderr


@pytest.mark.parametrize("mix", range(1, 11))
@pytest.mark.parametrize("modem", ["3.0", "3.1-lld"])
def test_each_mix_and_modem_makes_a_valid_scenario(mix: int, modem: Modem) -> None:
    file = decode(NAMES, b"SOJOURN")
    service = expand(file, Path(TABLES).read_text(), modem=modem)
    document = {"schema": 1, "name": "x", "duration": "1 s"}
    document |= {"access": access(service), "traffic": traffic(mix)}
    assert check_scenario(tomli_w.dumps(document)) == []


SEVERAL = """schema = 1
[[tlv]]
network_access = 1
[[tlv]]
[tlv.upstream_service_flow]
service_flow_reference = 1
max_sustained_rate = "20 Mb/s"
max_traffic_burst = "250 kB"
aqm = { latency_histogram = [50, 100, 500] }
[[tlv]]
[tlv.upstream_service_flow]
service_flow_reference = 3
max_sustained_rate = "2 Mb/s"
max_traffic_burst = "20 kB"
scheduling_type = 7
guaranteed_grant_rate = "1 Mb/s"
guaranteed_request_interval = 1500
[[tlv]]
[tlv.downstream_service_flow]
service_flow_reference = 2
max_sustained_rate = "100 Mb/s"
max_traffic_burst = "1250 kB"
[[tlv]]
[tlv.downstream_service_flow]
service_flow_reference = 4
max_sustained_rate = "5 Mb/s"
[[tlv]]
[tlv.upstream_classifier]
classifier_reference = 1
service_flow_reference = 3
rule_priority = 5
ip = { protocol = 17, destination_port_start = 6000, destination_port_end = 6010 }
"""
"""Two service flows each way, and a rule for the games of each mix."""


def test_a_second_service_flow_is_simulated_or_told(sojourn: CommandLine, tmp_path: Path) -> None:
    service = expand(encode(SEVERAL, b"SOJOURN"))
    assert service.summary["upstream"] == "1 SF, docsis-pie, 20 Mb/s + 1 SF beside it"
    upstream = access(service)["upstream"]
    (flow,) = upstream["service_flow"]
    assert (flow["name"], flow["member"], flow["rate"]) == ("sf-3", False, "2000000 b/s")
    assert flow["proactive"]["request_interval"] == "1500 us"
    rule, others = upstream["classifier"]
    assert (rule["to"], rule["protocol"]) == ("sf-3", "udp")
    assert rule["destination_port"] == [6000, 6010]
    assert rule["priority"] > others.get("priority", 0)
    assert upstream["latency_histogram"]["edges"] == ["500 us", "1000 us", "5000 us"]
    assert left_out(service) == []
    (down,) = access(service)["downstream"]["service_flow"]
    assert (down["name"], down["member"], down["rate"]) == ("sf-4", False, "5000000 b/s")
    old = access(expand(encode(SEVERAL, b"SOJOURN"), modem="3.0"))
    assert old["upstream"]["link"]["kind"] == "docsis30-single"
    (flow,) = old["upstream"]["service_flow"]
    assert (flow["member"], flow["rate"], "proactive" in flow) == (False, "2000000 b/s", False)
    assert old["downstream"]["service_flow"][0]["name"] == "sf-4"
    file = tmp_path / "several.cm"
    file.write_bytes(encode(SEVERAL, b"SOJOURN").octets)
    table = sojourn("provision", "expand", str(file))
    assert "service flow 3" in table.stdout
    assert "protocol 17, destination port 6000 to 6010" in table.stdout
    asked = ("provision", "simulate", str(file), "--mix", "3", "--duration", "5 s", "--seeds", "1")
    asked += ("--before", "3.1", "--no-figures", "--json", "--store", str(tmp_path / "store"))
    done = sojourn(*asked, "--out", str(tmp_path / "out"))
    assert done.status == 0, done.stderr
    assert not any("left out" in note for note in done.json()["notes"])
    # A game with a service flow and grants of its own waits for no upload: a packet of 110 B takes some milliseconds.
    rows = {(row["traffic"], row["metric"]): row for row in done.json()["rows"]}
    assert rows["unmarked-upstream", "delay_p99"]["after"] < 5.0


AGGREGATES = """
[[tlv]]
[tlv.WAY_aggregate_service_flow]
aggregate_service_flow_reference = 10
max_sustained_rate = "20 Mb/s"
max_traffic_burst = "250 kB"
[[tlv]]
[tlv.WAY_aggregate_service_flow]
aggregate_service_flow_reference = 11
max_sustained_rate = "4 Mb/s"
max_traffic_burst = "50 kB"
low_latency = { low_latency_service_flow_reference = 4 }
[[tlv]]
[tlv.WAY_service_flow]
service_flow_reference = 1
aggregate_service_flow_reference = 10
[[tlv]]
[tlv.WAY_service_flow]
service_flow_reference = 2
aggregate_service_flow_reference = 10
[[tlv]]
[tlv.WAY_service_flow]
service_flow_reference = 3
aggregate_service_flow_reference = 11
[[tlv]]
[tlv.WAY_service_flow]
service_flow_reference = 4
aggregate_service_flow_reference = 11
[[tlv]]
[tlv.WAY_classifier]
classifier_reference = 1
service_flow_reference = 2
ip = { protocol = 17, destination_port_start = 6000, destination_port_end = 6010 }
[[tlv]]
[tlv.WAY_classifier]
classifier_reference = 2
service_flow_reference = 4
rule_priority = 3
ip = { protocol = 6 }
"""
"""A plain aggregate of two service flows, and one of two queues, to whose low-latency queue TCP goes."""


def _two_aggregates() -> bytes:
    down = AGGREGATES.replace("WAY", "downstream")
    for number in (4, 3, 2, 1):  # references are unique among both directions
        down = down.replace(f"service_flow_reference = {number}\n", f"service_flow_reference = {number + 4}\n")
        down = down.replace(
            f"low_latency_service_flow_reference = {number} ", "low_latency_service_flow_reference = 8 "
        )
    text = f"schema = 1\n[[tlv]]\nnetwork_access = 1\n{AGGREGATES.replace('WAY', 'upstream')}{down}"
    return encode(text, b"SOJOURN").octets


def test_explicit_aggregates_of_a_direction_run_beside_each_other(sojourn: CommandLine, tmp_path: Path) -> None:
    octets = _two_aggregates()
    file = tmp_path / "two.cm"
    file.write_bytes(octets)
    for modem in ("3.1-lld", "3.1", "3.0"):
        service = expand(decode(octets, b"SOJOURN"), modem=modem)
        tables = access(service)
        document = {"schema": 1, "name": "x", "duration": "1 s", "access": tables, "traffic": traffic(3)}
        assert check_scenario(tomli_w.dumps(document)) == [], modem
        for direction, first in (("upstream", 1), ("downstream", 5)):
            flows = {flow["name"]: flow for flow in tables[direction]["service_flow"]}
            named = [rule["to"] for rule in tables[direction]["classifier"]]
            further = f"sf-{first + 2}"
            if modem == "3.0":
                assert list(flows) == [further]
                assert (flows[further]["member"], flows[further]["rate"]) == (False, "4000000 b/s")
                continue
            assert list(flows) == [f"sf-{first + 1}", further]
            assert (flows[f"sf-{first + 1}"]["member"], flows[further]["aggregate"]) == (True, "asf-11")
            (aggregate,) = tables[direction]["aggregate"]
            assert (aggregate["name"], aggregate["rate"]) == ("asf-11", "4000000 b/s")
            has_pair = flows[further]["queue"]["kind"] == "docsis-dual-queue"
            assert has_pair == (modem == "3.1-lld")
            assert (f"{further}/low-latency" in named) == has_pair
        assert bool(left_out(service)) == (modem == "3.0")
    # The upload has the 4 Mb/s of its aggregate, and the games beside it have those of the first.
    asked = ("provision", "simulate", str(file), "--mix", "3", "--duration", "10 s", "--seeds", "1")
    asked += ("--before", "3.0", "--after", "3.1-lld", "--no-figures", "--json", "--store", str(tmp_path / "store"))
    done = sojourn(*asked, "--out", str(tmp_path / "out"))
    assert done.status == 0, done.stderr
    rows = {(row["traffic"], row["metric"]): row for row in done.json()["rows"]}
    assert rows["unmarked-upstream", "delay_p99"]["after"] < 12.0, "no upload is in front of it"


def test_unsolicited_grants_and_polls_of_a_file_are_those_of_the_link() -> None:
    pgs = 'scheduling_type = 7\nguaranteed_grant_rate = "1 Mb/s"\nguaranteed_request_interval = 1500\n'
    limits = 'max_sustained_rate = "2 Mb/s"\nmax_traffic_burst = "20 kB"\n'
    size = "unsolicited_grant_size = 150\nnominal_grant_interval = 2000\n"
    for scheduling, expected in (
        (f"scheduling_type = 6\n{size}", {"kind": "ugs", "rate": "600000 b/s", "interval": "2000 us"}),
        (
            f"scheduling_type = 5\n{size}grants_per_interval = 2\nnominal_polling_interval = 3000\n",
            {"kind": "ugs-ad", "rate": "1200000 b/s", "interval": "1000 us", "request_interval": "3000 us"},
        ),
        (
            f"{limits}scheduling_type = 4\nnominal_polling_interval = 4000\n",
            {"kind": "rtps", "request_interval": "4000 us"},
        ),
    ):
        text = SEVERAL.replace(limits + pgs, scheduling)
        tables = access(expand(encode(text)))
        (flow,) = tables["upstream"]["service_flow"]
        assert flow["proactive"] == expected
        document = {"schema": 1, "name": "x", "duration": "1 s", "access": tables, "traffic": traffic(1)}
        assert check_scenario(tomli_w.dumps(document)) == []


def test_activity_detection_that_is_forbidden_leaves_the_grants_as_they_are() -> None:
    text = SEVERAL.replace("_interval = 1500", "_interval = 1500\npgs_activity_detection_disable = 1")
    (flow,) = access(expand(encode(text)))["upstream"]["service_flow"]
    assert flow["proactive"] == {"kind": "basic", "rate": "1000000 b/s"}


def test_rules_of_a_profile_replace_those_for_ecn() -> None:
    tables = Path(TABLES).read_text()
    file = decode(NAMES, b"SOJOURN")
    assert "classifier" not in access(expand(file, tables, modem="3.1-lld"))["upstream"]
    own = tables.replace(
        'low_latency_scn = "tier-20-us-ll"', 'low_latency_scn = "tier-20-us-ll"\nclassifier = [{ tos = "a8 a8 fc" }]'
    )
    upstream = access(expand(file, own, modem="3.1-lld"))["upstream"]
    assert upstream["classifier"] == [
        {"to": "low-latency", "tos": [0xA8, 0xA8, 0xFC], "priority": 1},
        {"to": "classic"},
    ]


def test_a_burst_that_nobody_says_is_left_to_the_link() -> None:
    text = "schema = 1\n[[tlv]]\nnetwork_access = 1\n"
    for reference, way in enumerate(("upstream", "downstream"), start=1):
        text += f"[[tlv]]\n[tlv.{way}_service_flow]\nservice_flow_reference = {reference}\n"
        text += "max_sustained_rate = 50000000\n"
    silent = access(expand(encode(text)))["upstream"]
    assert silent["link"]["kind"] == "docsis31-upstream"
    assert "burst" not in silent["link"]
    said = access(expand(encode(text + "max_traffic_burst = 250000\n")))
    assert said["downstream"]["link"]["burst"] == "250000 B"
    document: dict[str, object] = {"schema": 1, "name": "x", "duration": "1 s", "traffic": traffic(1)}
    document["access"] = {"upstream": silent, "downstream": said["downstream"]}
    assert scenario_warnings(tomli_w.dumps(document)) == []


def test_a_rate_of_one_flow_of_an_aggregate_is_simulated_upstream_and_refused_downstream() -> None:
    tables = Path(TABLES).read_text()
    service = expand(decode(NAMES, b"SOJOURN"), tables, modem="3.1-lld")
    own = {"value": 4_000_000}
    service.content["upstream"]["low_latency"]["parameters"]["max_sustained_rate"] = own
    link = access(service)["upstream"]["link"]
    assert link["low_latency_rate"] == "4000000 b/s"
    assert "classic_rate" not in link
    service.content["downstream"]["classic"]["parameters"]["max_sustained_rate"] = own
    with pytest.raises(UsageError, match="downstream aggregate cannot be simulated"):
        access(service)


def test_a_service_is_written_as_another_file_or_refused_with_reasons(
    sojourn: CommandLine, key: str, tmp_path: Path
) -> None:
    out = tmp_path / "explicit.cm"
    asked = ("provision", "expand", NAMES, "--aqp", TABLES, "--secret", key, "--modem", "3.1-lld")
    done = sojourn(*asked, "--out", str(out))
    assert done.status == 0, done.stderr
    again = sojourn("provision", "expand", str(out), "--secret", key, "--modem", "3.1-lld", "--json")
    assert again.status == 0, again.stderr
    assert again.json()["summary"] == sojourn(*asked, "--json").json()["summary"]
    refused = sojourn(*asked, "--out", str(tmp_path / "legacy.cm"), "--style", "legacy")
    assert refused.status == 2
    assert "TLV 70: E-STYLE: two service flows that share a rate need an aggregate" in refused.stderr
    assert not (tmp_path / "legacy.cm").exists()
