"""What is printed to be set is what was simulated: each block that a command prints or writes to be used again, read back, is the same scenario.

Lines for routers are read back by readers of tests, a CM configuration file by `sojourn provision`, scenarios and studies by `sojourn check`;
none may have anything to warn of. `docs/guides/what-to-set.md` has the table of blocks.
"""

import html
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from sojourn.advice.arms import AS_IS, WAYS, Arm, Line, modem_arms, operator_arms, router_arms
from sojourn.advice.blocks import blocks_of
from sojourn.advice.lines import LINES, line_scenario
from sojourn.advice.modem_file import better_file, line_of_file
from sojourn.base.toml_text import parse_toml
from sojourn.calibration.answer import Answer
from sojourn.calibration.calibrate import calibrated
from sojourn.calibration.files import write_calibration
from sojourn.calibration.side import Choices
from sojourn.homes.household import ACCESSES, CAN, Household, lines_to_set, study_files
from sojourn.provisioning import decode, encode, expand
from sojourn.provisioning.scenarios import access
from sojourn.scenario.scenario_file import Scenario, load_scenario
from sojourn.serve.lessons import Lesson, lessons
from sojourn.serve.teacher import teacher_body
from sojourn.study.library import load_study, recipe_names
from support import CommandLine
from support.blocks import Tables, read_tc, read_uci, sqm_commands

SECRET = b"a secret"

RATES = [("20 Mb/s", "200 Mb/s"), ("0.5 Mb/s", "6.016 Mb/s"), ("16.7 Mb/s", "333.333 Mb/s")]


def line_of(kind: str, up: str, down: str) -> Line:
    text = line_scenario(kind, up, down, rtt="25 ms", uses={"game": 1.0}, household="worst")
    return Line(Scenario.parse(text))


ATM = """
schema = 1
name = "atm"
duration = "10 s"
[access.upstream]
link = { kind = "serial", rate = "1 Mb/s" }
queue = { kind = "drop-tail", limit = "64 KB" }
framing = { kind = "atm", profile = "pppoe-llcsnap" }
[access.downstream]
link = { kind = "serial", rate = "16 Mb/s" }
queue = { kind = "drop-tail", limit = "640 KB" }
framing = { kind = "atm", profile = "pppoe-llcsnap" }
[[traffic]]
name = "game"
app = "online-game"
"""

ONE_WAY = ATM.replace(
    'framing = { kind = "atm", profile = "pppoe-llcsnap" }\n[[traffic]]', 'framing = "ethernet"\n[[traffic]]'
)
"""Cells upstream alone: the case for which SQM has one link layer too few."""


def filled(scenario: Scenario) -> dict[str, Any]:
    """Return a scenario with every default in place, as tables."""
    return parse_toml(scenario.canonical())


NAMED = {
    **{f"{kind} {up}": (kind, up, down) for kind in LINES for up, down in (RATES if kind != "lte" else RATES[:1])},
    "atm": ATM,
    "cells one way": ONE_WAY,
}
"""Lines by name: kind and rates, or a scenario."""


@pytest.mark.parametrize("name", NAMED)
def test_lines_for_routers_are_what_was_simulated(name: str) -> None:
    known = NAMED[name]
    line = Line(Scenario.parse(known)) if isinstance(known, str) else line_of(*known)
    for arm in router_arms([0.937], [0.86]):
        for counted in range(len(line.overheads("upstream"))):
            one = replace(arm, overhead=counted)
            simulated = filled(line.with_arm(one, duration_s=10.0, from_s=1.0))
            blocks = blocks_of(line, one, "sojourn advise\n; rm", "2026-11-28")
            assert set(blocks) == {"tc", "uci", *(["autorate"] if name.startswith("lte") else [])}
            assert "\n; rm" not in blocks["tc"]
            for target, text in (("tc", blocks["tc"]), ("uci", sqm_commands(read_uci(blocks["uci"])))):
                assert router_of(line, read_tc(text)) == simulated["link"], (target, one)
            if "autorate" in blocks:
                assert "# not simulated" in blocks["autorate"]


def router_of(line: Line, sides: Tables) -> list[object]:
    """Return the links of the line's scenario with a router, in canonical form."""
    tables = {**parse_toml(line.text), "path": ["router", "access"], "link": [{"name": "router", **sides}]}
    return filled(Scenario.parse(tomli_w.dumps(tables)))["link"]


def test_what_a_table_of_tc_cannot_count_is_said() -> None:
    line = line_of("dsl", "20 Mb/s", "200 Mb/s")
    blocks = blocks_of(line, Arm("router", "fq-codel", 0.95, 0.9), "sojourn advise", "2026-11-28")
    assert line.router_side(Arm("router", "fq-codel", 0.95, 0.9), "upstream").kbit == 18707  # 19000 x 64/65
    for text in blocks.values():
        assert "no code words of PTM" in text
    assert "PTM" not in blocks_of(line, Arm("router", "cake", 0.95, 0.9), "sojourn advise", "2026-11-28")["tc"]


def provisioned(text: str, sojourn: CommandLine, directory: Path, modem: str) -> dict[str, Any]:
    """Encode a file and show it; return the access link that it stands for. Our own tools have nothing to warn of."""
    (directory / "modem.toml").write_text(text)
    (directory / "key").write_bytes(SECRET)
    out = str(directory / "modem.cm")
    for command in (
        ("encode", str(directory / "modem.toml"), "--secret", str(directory / "key"), "--out", out),
        ("show", out, "--secret", str(directory / "key")),
    ):
        done = sojourn("provision", *command)
        assert done.status == 0, done.stderr
        assert "warning" not in done.stderr, done.stderr
    return access_of(Path(out).read_bytes(), modem)


def access_of(octets: bytes, modem: str) -> dict[str, Any]:
    configuration = decode(octets, SECRET)
    assert configuration.issues == []
    service = expand(configuration, modem=modem)  # pyright: ignore[reportArgumentType]
    assert service.issues == []
    return access(service)


def with_file(line: Line, found: dict[str, Any], *, is_dual: bool) -> dict[str, object]:
    """Return the access of the line's scenario with what a file says, in canonical form; kinds of links are the line's."""
    document = parse_toml(line.text)
    for way in WAYS:
        link = {key: value for key, value in found[way]["link"].items() if key != "kind"}
        if not is_dual:
            link.pop("map_interval", None)
        document["access"][way] |= {"queue": found[way]["queue"], "link": document["access"][way]["link"] | link}
    return filled(Scenario.parse(tomli_w.dumps(document)))["access"]


@pytest.mark.parametrize("kind", ["docsis31", "docsis30"])
def test_files_for_cable_modems_are_what_was_simulated(kind: str, sojourn: CommandLine, tmp_path: Path) -> None:
    for up, down in (*RATES, ("1 Gb/s", "8 Gb/s"))[: 4 if kind == "docsis31" else 3]:
        line = line_of(kind, up, down)
        arms = [*operator_arms(line, has_two_queues=kind == "docsis31"), *modem_arms(line)]
        for number, arm in enumerate(arms):
            text = blocks_of(line, arm, "sojourn advise", "2026-11-28")["docsis"]
            modem, is_dual = line.modem(arm), arm.kind == "docsis-dual-queue"
            if number in (0, len(arms) - 1) or is_dual:
                found = provisioned(text, sojourn, tmp_path, modem)
            else:
                found = access_of(encode(text, SECRET).octets, modem)
            simulated = filled(line.with_arm(arm, duration_s=10.0, from_s=1.0))["access"]
            assert with_file(line, found, is_dual=is_dual) == simulated, (up, arm)
            assert ("1 ms was simulated" in text) == is_dual


SENTENCE = re.compile(
    r"(Modem, upstream|Access node, downstream): a buffer of (\d+) B, "
    r"(no queue management|PIE \(RFC 8033\) with a target of (\d+) ms)\."
)


@pytest.mark.parametrize("kind", ["dsl", "pon", "lte"])
def test_words_for_modems_that_are_set_by_hand_are_what_was_simulated(kind: str) -> None:
    line = line_of(kind, "20 Mb/s", "200 Mb/s")
    for arm in modem_arms(line):
        blocks = blocks_of(line, arm, "sojourn advise", "2026-11-28")
        assert set(blocks) == {"modem"}
        document = parse_toml(line.text)
        for way, queue in in_words(blocks["modem"]).items():
            document["access"][way]["queue"] = queue
        simulated = filled(line.with_arm(arm, duration_s=10.0, from_s=1.0))["access"]
        assert filled(Scenario.parse(tomli_w.dumps(document)))["access"] == simulated


def in_words(text: str) -> Tables:
    found: Tables = {}
    for sentence in text.splitlines():
        read = SENTENCE.fullmatch(sentence)
        assert read, sentence
        queue: dict[str, Any] = {"kind": "drop-tail", "limit": f"{read[2]} B"}
        if read[4]:
            queue = {"kind": "pie", "limit": f"{read[2]} B", "reference": f"{read[4]} ms"}
        found["upstream" if read[1].startswith("Modem") else "downstream"] = queue
    return found


@pytest.mark.parametrize("can", ["", *CAN])
@pytest.mark.parametrize("kind", list(ACCESSES))
def test_what_a_home_is_told_to_set_is_what_its_study_simulates(
    kind: str, can: str, sojourn: CommandLine, tmp_path: Path
) -> None:
    home = Household(kind, 200.0, 20.0, ("game",), can=can)
    for name, text in study_files(home).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    points = {point.name: point for point in load_study(str(tmp_path / "study.toml")).points()}
    notes = (tmp_path / "notes.md").read_text()
    assert set(points) == {"today", *home.arms}
    for setting, arm in home.arms.items():
        simulated = filled(Scenario.parse(points[setting].text))
        text = lines_to_set(home, setting)
        assert text.strip() in notes
        if arm.who == "router":
            tc, uci = text.split("# The same on OpenWrt:\n")
            for one in (tc, sqm_commands(read_uci(uci))):
                assert router_of(home.line, read_tc(one)) == simulated["link"]
        elif kind.startswith("docsis"):
            is_dual = setting == "low-latency"
            found = provisioned(text, sojourn, tmp_path, home.line.modem(arm))
            assert with_file(home.line, found, is_dual=is_dual) == simulated["access"], setting
        else:
            document = parse_toml(home.line.text)
            for way, queue in in_words(text).items():
                document["access"][way]["queue"] = queue
            assert filled(Scenario.parse(tomli_w.dumps(document)))["access"] == simulated["access"]


TIER = """
schema = 1
[[tlv]]
network_access = 1
[[tlv]]
[tlv.upstream_service_flow]
service_flow_reference = 1
qos_parameter_set_type = 7
max_sustained_rate = "5 Mb/s"
max_traffic_burst = "62500 B"
[[tlv]]
[tlv.downstream_service_flow]
service_flow_reference = 2
qos_parameter_set_type = 7
max_sustained_rate = "20 Mb/s"
peak_traffic_rate = "40 Mb/s"
"""


def test_a_better_configuration_file_is_what_was_simulated(tmp_path: Path) -> None:
    (tmp_path / "tier.cm").write_bytes(encode(TIER, SECRET).octets)
    before, line = line_of_file(tmp_path / "tier.cm", SECRET, rtt="25 ms", uses={"game": 1.0}, household="worst")
    for arm in (AS_IS, *operator_arms(line, has_two_queues=False)):
        made = better_file(before, line, arm)
        assert made.issues == []
        found = access_of(made.octets, "3.1")
        simulated = filled(line.with_arm(arm, duration_s=10.0, from_s=1.0))["access"]
        assert with_file(line, found, is_dual=False) == simulated, arm


BASE = {"Mb/s": 1e6, "b/s": 1.0, "ms": 1e-3, "us": 1e-6, "s": 1.0, "B": 1.0, "kB": 1e3, "MB": 1e6}


def amount_of(text: str) -> float:
    number, unit = text.split()
    return float(number) * BASE[unit]


@pytest.fixture(scope="module")
def measured() -> dict[str, Answer]:
    """Fits of one measured upload: behind PIE as a shaper has it, and with all that a cable line has."""
    (path,) = (Path(__file__).parent / "field/files").glob("tcp_upload*96KB_rep_1*.flent.gz")
    return {
        access: calibrated([path], access, "up", Choices(families, runs=400, statistics="all"))
        for access, families in (("ethernet", ("pie",)), ("docsis31", ("drop-tail",)))
    }


@pytest.mark.parametrize(("access", "ways"), [("ethernet", 1), ("docsis31", 2)])
def test_a_line_that_was_measured_is_the_one_that_its_files_have(
    access: str, ways: int, measured: dict[str, Answer], sojourn: CommandLine, tmp_path: Path
) -> None:
    (side,) = measured[access].sides
    down = replace(side, measured=replace(side.measured, load=replace(side.measured.load, direction="down")))
    answer = replace(measured[access], sides=(side, down)[:ways])
    write_calibration(answer, tmp_path / "line")
    names = ["calibrated.toml", "ensemble.toml", *(f"ensemble/{number:02d}.toml" for number in range(1, 21))]
    checked = sojourn("check", *(str(tmp_path / "line" / name) for name in names))
    assert checked.status == 0, checked.stderr
    assert "warning" not in checked.stderr

    text = (tmp_path / "line/calibrated.toml").read_text()
    document = parse_toml(text)
    document["traffic"] = {entry["name"]: entry for entry in document["traffic"]}
    told = re.findall(r"^# ([\w.]+): calibrated: .*?, ([\d.]+ \S+) \[", text, re.MULTILINE)
    assert len(told) >= 2 + ways
    printed = "\n".join(answer.lines())
    for path, value in told:
        at: Any = document
        for part in path.split("."):
            at = at[part]
        assert amount_of(at) == pytest.approx(amount_of(value), rel=0.005, abs=0.5e-6), path
        assert value in printed

    points = {point.labels["line"]: point for point in load_study(str(tmp_path / "line/ensemble.toml")).points()}
    for number, member in enumerate(answer.ensemble(), 1):
        point = filled(Scenario.parse(points[f"{number:02d}"].text))
        assert {**point, "name": ""} == {**filled(Scenario.parse(member)), "name": ""}


@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.name)
def test_settings_that_a_lesson_prints_are_its_runs(lesson: Lesson) -> None:
    """Words such as `limit 8 KB`, with what all runs share, make the run; a label stands for one set of settings alone."""
    rows = re.findall(r'<tr><td class="text">[^<]*</td><td class="text">([^<]*)</td>', teacher_body(lesson))
    assert len(rows) == len(lesson.claims)
    labels: dict[str, str] = lesson.about.get("labels", {})
    runs = list(lesson.runs.values())
    shared = {path: value for path, value in runs[0].items() if all(run.get(path) == value for run in runs)}
    for claim, printed in zip(lesson.claims, rows, strict=True):
        run = dict(lesson.runs[claim.run])
        words = html.unescape(printed)
        if words in labels.values():
            meant = {frozenset(lesson.runs[name].items()) for name, label in labels.items() if label == words}
            assert meant == {frozenset(run.items())}
        else:
            pairs = [part.split(" ", 1) for part in words.split(", ")]
            paths = {path.rpartition(".")[2]: path for path in run}
            assert {**shared, **{paths[key]: value for key, value in pairs}} == run
        scenario = load_scenario(str(lesson.scenario), [f"{path}={value}" for path, value in run.items()])
        assert scenario.warnings == []


@pytest.mark.parametrize("name", recipe_names())
def test_a_recipe_that_is_copied_is_the_one_that_is_run(name: str, sojourn: CommandLine, tmp_path: Path) -> None:
    assert sojourn("recipe", "copy", name, str(tmp_path / "mine")).status == 0
    own, mine = (load_study(one).points() for one in (name, str(tmp_path / "mine")))
    assert [(point.name, point.text) for point in mine] == [(point.name, point.text) for point in own]


@pytest.mark.parametrize("style", ["explicit", "legacy"])
def test_a_file_that_expand_writes_gives_the_service_that_simulate_simulates(
    style: str, sojourn: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "tier.cm").write_bytes(encode(TIER, SECRET).octets)
    (tmp_path / "key").write_bytes(SECRET)
    out = str(tmp_path / "again.cm")
    asked = ("provision", "expand", str(tmp_path / "tier.cm"), "--secret", str(tmp_path / "key"))
    done = sojourn(*asked, "--out", out, "--style", style)
    assert done.status == 0
    assert "warning" not in done.stderr
    assert access_of(Path(out).read_bytes(), "3.1") == access_of((tmp_path / "tier.cm").read_bytes(), "3.1")
