"""Advice: the race against its own promises, the cliff, the lines to paste by parsers of their own, and the command."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sojourn.advice.answer import Advice, advise
from sojourn.advice.arms import AS_IS, FULL_FRAMES, WAYS, Arm, Line, modem_arms, operator_arms, recommended_ms
from sojourn.advice.blocks import autorate_block, autorate_next, blocks_of
from sojourn.advice.cliff import find_cliff
from sojourn.advice.lines import HOUSEHOLDS, LINES, line_scenario
from sojourn.advice.measured import measured_line
from sojourn.advice.race import Losses, OutOfTime, Table, ocba_shares, race
from sojourn.advice.said import sentence
from sojourn.advice.search import Standing
from sojourn.advice.uses import read_uses, users_of
from sojourn.base.errors import UsageError
from sojourn.calibration.calibrate import calibrate
from sojourn.calibration.line import ACCESSES, Guess, unknowns_of
from sojourn.calibration.line_text import scenario_text
from sojourn.calibration.measurement import Load
from sojourn.calibration.table import drawn
from sojourn.provisioning import decode, diff, encode
from sojourn.scenario.scenario_file import Scenario, check_scenario
from sojourn.store import Store
from support import CommandLine
from support.blocks import read_tc

DUMBBELL = """
schema = 1
name = "dumbbell"
duration = "60 s"
[access.upstream]
link = { kind = "serial", rate = "2 Mb/s" }
queue = { kind = "drop-tail", limit = "64 KB" }
[access.downstream]
link = { kind = "serial", rate = "100 Mb/s" }
queue = { kind = "drop-tail", limit = "1000 packets" }
[[traffic]]
name = "upload"
app = { kind = "bulk", start_jitter = "1 s" }
stack = "linux-cubic"
rtt = "30 ms"
[[traffic]]
name = "call"
app = { kind = "voice", start_jitter = "20 ms" }
rtt = "40 ms"
"""


def of_table(table: Table) -> Losses:
    return lambda alive, seeds: table[list(alive)][:, list(seeds)]


def gaussian(random: np.random.Generator, means: Sequence[float] | Table, spread: float) -> Table:
    """Losses with luck in common, as paired seeds have it, and some of their own."""
    common = random.normal(0, 0.3, (1, 64))
    return np.array(means)[:, None] + common + random.normal(0, spread, (len(means), 64))


def test_the_best_setting_is_hardly_ever_dismissed() -> None:
    # Acceptance (c): at most 5 % of 200 races; the others are 0 to 30 % worse.
    random = np.random.default_rng(35)
    means = np.log(1 + np.concatenate([[0.0], np.linspace(0.0, 0.3, 9)]))
    lost = 0
    for _ in range(200):
        found = race(10, of_table(gaussian(random, means, 0.05)), tolerance=0.01)
        lost += 0 not in found.group and 1 not in found.group
        assert found.runs <= 640
    assert lost <= 10


def test_two_copies_of_a_setting_are_in_one_group() -> None:
    # Acceptance (d).
    random = np.random.default_rng(1)
    for _ in range(50):
        table = gaussian(random, random.uniform(0, 0.5, 6), 0.1)
        table[4] = table[1]
        found = race(6, of_table(table))
        assert (1 in found.group) == (4 in found.group)
        assert (1 in found.equal) == (4 in found.equal) or found.best in (1, 4)


def test_a_race_costs_what_the_vector_says() -> None:
    # D5: 24 settings, nine leave after four seeds, the others are equal after eight: 24 x 4 + 15 x 4 runs instead of 384.
    random = np.random.default_rng(2)
    means = np.array([0.0] * 15 + [1.0] * 9)
    table = means[:, None] + random.normal(0, 0.005, (24, 64))
    table[:15, ::2] += 0.012 * np.arange(15)[:, None] / 15
    found = race(24, of_table(table))
    assert (found.runs, found.stop) == (24 * 4 + 15 * 4, "equal")
    assert found.group == tuple(range(15))
    assert set(found.out.values()) == {1}


def test_shares_of_the_next_runs_are_those_of_the_vector() -> None:
    # D4.
    shares = ocba_shares([7.5, 8.1, 9.0, 12, 60], [0.4, 0.5, 2, 4, 8])
    assert [round(100 * share, 1) for share in shares] == [16.8, 17.6, 45.0, 20.0, 0.6]
    random = np.random.default_rng(3)
    table = gaussian(random, np.log([7.5, 8.1, 9.0, 12, 60]), 0.05)
    found = race(5, of_table(table), sampler="ocba")
    assert 0 in found.group
    assert 4 not in found.group


def test_a_race_ends_when_the_time_is_up_and_names_whom_it_could_not_judge() -> None:
    random = np.random.default_rng(4)
    table = gaussian(random, [0.0, 0.02, 2.0], 0.2)
    found = race(3, of_table(table), is_out_of_time=lambda: True)
    assert found.stop == "budget"
    assert set(found.undecided) | {found.best} >= {0, 1}
    assert found.runs == 6


def test_the_clock_is_looked_at_within_a_round() -> None:
    # 40 settings of which none is worse: a round has four seeds, the next one eight.
    table = gaussian(np.random.default_rng(5), [0.0] * 40, 0.2)
    for looks, runs in ((0, 80), (1, 120), (2, 160), (4, 200)):
        left = [True] * looks
        found = race(40, of_table(table), is_out_of_time=lambda left=left: not left.pop() if left else True)
        assert (found.runs, found.stop) == (runs, "budget")

    def cut(alive: Sequence[int], seeds: range) -> Table:
        if seeds.start >= 3:
            raise OutOfTime
        return of_table(table)(alive, seeds)

    assert race(40, cut).runs == 120


@pytest.mark.parametrize("edge", [0.81, 0.9, 0.95, 0.98])
def test_the_cliff_is_found_to_a_hundredth(edge: float) -> None:
    asked: list[float] = []

    def delays_of(shares: Sequence[float]) -> list[float]:
        asked.extend(shares)
        return [7.5 if share < edge - 1e-9 else 104.0 for share in shares]

    found = find_cliff("upstream", "IP", (0.8, 0.89, 0.98), delays_of)
    assert found.edge == pytest.approx(edge)
    assert found.most == pytest.approx(max(edge - 0.02, 0.8))
    assert len(asked) <= 8


def test_without_a_cliff_the_last_share_that_was_tried_is_near_enough() -> None:
    found = find_cliff("upstream", "IP", (0.8, 0.98), lambda shares: [7.5] * len(shares))
    assert found.edge is None
    assert found.most == pytest.approx(0.97)


def test_uses_are_read_and_refused() -> None:
    assert read_uses("call:2, web") == {"call": 2.0, "web": 0.5}
    for text, what in (("gmae", "not known"), ("game:-1", "no weight"), (" ,", "no use")):
        with pytest.raises(UsageError, match=what):
            read_uses(text)
    with pytest.raises(UsageError, match="no traffic for game"):
        users_of(Scenario.parse(DUMBBELL).document, {"game": 1.0})


def test_what_a_run_costs_follows_the_formulas() -> None:
    users = {user.name: user for user in users_of(Scenario.parse(DUMBBELL).document, {"call": 1.0, "bulk": 1.0})}
    call = users["call"].loss({"call.missed": 3.0, "call.delay_up": 20.0}, 20.0)
    assert call == pytest.approx(math.log(4) + math.log(2))
    assert users["call"].loss({"call.missed": 0.0, "call.delay_up": 9.0}, 20.0) == 0.0
    assert users["upload"].loss({"upload.goodput_up": 8.0}, 20.0) == pytest.approx(-math.log(8))


@pytest.mark.parametrize("line", LINES)
def test_every_line_and_household_is_a_scenario_that_a_router_can_stand_before(line: str) -> None:
    for household in HOUSEHOLDS:
        uses = read_uses("call,game,web")
        text = line_scenario(line, "20 Mb/s", "200 Mb/s", rtt="25 ms", uses=uses, household=household)
        assert check_scenario(text) == []
        asked = Line(Scenario.parse(text))
        for arm in (Arm("router", "cake", 0.93, 0.9), Arm("router", "pie", 0.93, 0.9, 1), AS_IS):
            run = asked.with_arm(arm, duration_s=23.0, from_s=3.0)
            assert run.duration_s == 23.0
            for own in operator_arms(asked, has_two_queues=True) if line == "docsis31" else []:
                asked.with_arm(own, duration_s=23.0, from_s=3.0)


def test_tlvs_are_the_octets_of_the_vectors_and_decode_to_the_same() -> None:
    # D8.
    def octets(words: str) -> str:
        head = "schema = 1\n[[tlv]]\n[tlv.upstream_service_flow]\n"
        return encode(head + words, seal=False).octets.hex(" ")

    assert "23 06 02 04 00 00 c3 50" in octets("buffer_control = { target = 50000 }")
    assert "28 03 02 01 0f" in octets("aqm = { classic_latency_target = 15 }")
    assert "28 03 01 01 01" in octets("aqm = { disable = 1 }")
    text = line_scenario("docsis31", "20 Mb/s", "200 Mb/s", rtt="25 ms", uses={"game": 1.0}, household="worst")
    asked = Line(Scenario.parse(text))
    for arm in operator_arms(asked, has_two_queues=True):
        block = blocks_of(asked, arm, "sojourn advise", "2026-11-25")["docsis"]
        made = encode(block, seal=False)
        again = decode(made.octets)
        assert encode(again.text, seal=False).octets == made.octets
        assert [issue for issue in made.issues if issue.is_error] == []


def test_rates_of_cake_autorate_follow_its_rule() -> None:
    # D9.
    def told(average_ms: float, *, bloated: bool, loaded: bool) -> int:
        rate = autorate_next(20_000, average_ms, is_bloated=bloated, is_loaded=loaded, base_kbps=15_000)
        return round(rate)

    assert told(45, bloated=True, loaded=True) == 17_400
    assert told(15, bloated=False, loaded=True) == 20_600
    assert told(5, bloated=False, loaded=True) == 20_800
    assert told(5, bloated=False, loaded=False) == 19_800
    rates = {"upstream": [10.0] * 60, "downstream": [100.0] * 60}
    lines = dict(line.split("=") for line in autorate_block(rates, 12.0).splitlines())
    assert lines["min_ul_shaper_rate_kbps"] == "9000"
    assert lines["base_dl_shaper_rate_kbps"] == "93000"
    assert lines["max_dl_shaper_rate_kbps"] == "98000"
    assert lines["ul_owd_delta_delay_thr_ms"] == "42.0"


def test_a_line_that_varies_gets_lines_for_cake_autorate() -> None:
    times = " ".join(["4", *["+4"] * 200, "+2*2"])
    trace = f'{{ kind = "trace", opportunity = "1500 B", opportunities = "{times}" }}'
    text = DUMBBELL.replace('{ kind = "serial", rate = "2 Mb/s" }', trace)
    asked = Line(Scenario.parse(text))
    assert asked.rates_mbps["upstream"] == pytest.approx(3.0, rel=0.02)
    blocks = blocks_of(asked, Arm("router", "cake", 0.9, 0.9), "sojourn advise", "2026-11-25")
    assert set(blocks) == {"tc", "uci", "autorate"}
    lines = dict(line.split("=") for line in blocks["autorate"].splitlines() if "=" in line)
    assert 2500 < int(lines["min_ul_shaper_rate_kbps"]) < int(lines["max_ul_shaper_rate_kbps"]) < 3300
    assert lines["base_dl_shaper_rate_kbps"] == "93000"


TIER = """
schema = 1
[[tlv]]
network_access = 1
[[tlv]]
max_cpe = 4
[[tlv]]
[tlv.upstream_service_flow]
service_flow_reference = 1
qos_parameter_set_type = 7
max_sustained_rate = "1 Mb/s"
max_traffic_burst = "25 kB"
buffer_control = { target = 31250 }
aqm = { disable = 1 }
[[tlv]]
[tlv.downstream_service_flow]
service_flow_reference = 2
qos_parameter_set_type = 7
max_sustained_rate = "4 Mb/s"
max_traffic_burst = "25 kB"
aqm = { disable = 1 }
"""


def test_a_configuration_file_becomes_a_better_one(sojourn: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "tier.cm").write_bytes(encode(TIER, b"a secret").octets)
    (tmp_path / "secret").write_bytes(b"a secret")
    asked = ("tier.cm", "--for", "game", "--budget", "3", "--secret", "secret", "--out", "page")
    done = sojourn("advise", *asked, "--json")
    assert done.status == 0, done.stderr
    content = done.json()
    made = decode(tmp_path / "page" / "better.cm", b"a secret")
    assert dict(made.integrity)["cmts_mic"] == "good"
    assert made.text == content["blocks"]["docsis"]
    assert [issue for issue in made.issues if issue.is_error] == []
    before = decode(tmp_path / "tier.cm", b"a secret")
    changed = {row.path for row in diff(before, made)}
    assert changed
    assert all("35" in path or "40" in path for path in changed), changed


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> Advice:
    store = Store(tmp_path_factory.mktemp("advice"))
    scenario = Scenario.parse(DUMBBELL)
    return advise(scenario, uses="call", screen_s=4.0, budget_s=20.0, store=store, jobs=2)


def test_a_call_behind_a_deep_buffer_gets_flow_queues(answer: Advice) -> None:
    assert answer.setting.kind in ("cake", "fq-codel", "codel")
    assert answer.sentence.startswith("Set ")
    assert "call's delay one way (P99) falls from" in answer.sentence
    assert not any("times worse" in text for text in answer.sentences)
    shown = answer.as_json()
    before, after = (
        next(row for row in shown["confirmed"] if "99 %" in row["measure"])["values"][name]["value"]
        for name in ("as it is", answer.setting.name)
    )
    assert after < 0.2 * before
    assert shown["second"]["verdict"] in ("equal", "undecided", "worse")
    assert read_tc(answer.blocks["tc"])["upstream"]


def test_nothing_is_called_as_good_while_it_is_not_decided(answer: Advice) -> None:
    others = [Standing(AS_IS, 1.0, "taken"), Standing(answer.setting, 0.5, "undecided")]
    open_ = replace(answer.found, taken=AS_IS, standings=others, stop="the time was up")
    told = sentence(open_, answer.line, answer.users)
    assert told.startswith("Leave it as it is for now")
    assert "the time was up" in told
    equal = replace(open_, standings=[others[0], Standing(answer.setting, 1.0, "equal")])
    assert "no setting that was tried is better" in sentence(equal, answer.line, answer.users)


def test_no_interval_of_a_goodput_goes_beyond_the_line(answer: Advice) -> None:
    runs = [{"goodput_up": rate, "goodput_down": 50.0} for rate in (0.2, 1.9, 1.95)]
    wide = replace(answer, found=replace(answer.found, confirmed=dict.fromkeys(answer.found.confirmed, runs)))
    row = next(row for row in wide.rows() if row[0] == "goodput upstream")
    assert all(cell.endswith("to 2)") for cell in row[2:]), row


def test_what_cures_nothing_is_said_and_not_sold(answer: Advice) -> None:
    def with_delays(before: float, after: float) -> str:
        runs = {
            arm: [{"call.delay_up": before if arm == AS_IS else after, "goodput_up": 8.4}] * 5
            for arm in answer.found.confirmed
        }
        found = replace(answer.found, confirmed=runs)
        return sentence(found, answer.line, answer.users)

    assert with_delays(1134.0, 949.0).startswith("No setting cures this line: the delay is elsewhere. With CAKE")
    assert "falls from 1134 to 949 ms" in with_delays(1134.0, 949.0)
    for before, after in ((1134.0, 399.0), (2000.0, 900.0), (60.0, 50.0)):
        assert with_delays(before, after).startswith("Set ")


@pytest.mark.parametrize("rate", ["0.1 Mb/s", "0.5 Mb/s", "1.2 Mb/s", "20 Mb/s"])
@pytest.mark.parametrize("line", ["docsis31", "docsis30", "dsl"])
def test_a_slow_line_has_settings_of_a_modem_that_hold_its_packets(line: str, rate: str) -> None:
    text = line_scenario(line, rate, "6 Mb/s", rtt="25 ms", uses={"game": 1.0}, household="worst")
    asked = Line(Scenario.parse(text))
    arms = modem_arms(asked)
    for arm in [*arms, *(operator_arms(asked, has_two_queues=line == "docsis31") if asked.is_docsis else [])]:
        simulated = asked.with_arm(arm, duration_s=5.0, from_s=1.0)
        assert (asked.buffer_bytes(arm, "upstream") or FULL_FRAMES) >= FULL_FRAMES
        kinds = {str(simulated.document["access"][way]["queue"]["kind"]) for way in WAYS}
        assert asked.is_docsis or "docsis-pie" not in kinds
    behind = {arm.limit_ms("upstream") for arm in arms if arm.kind.endswith("pie")}
    assert behind == {recommended_ms(asked.rates_mbps["upstream"]), 250}


def test_a_group_has_everybody_who_cannot_be_told_apart(answer: Advice) -> None:
    verdicts = [one.verdict for one in answer.found.standings]
    assert verdicts.count("taken") == 1
    assert verdicts[0] == "taken"
    assert AS_IS in [one.arm for one in answer.found.standings if one.verdict == "worse"]


def test_a_measured_line_is_asked_for_all_that_it_may_be(tmp_path: Path) -> None:
    upload = next((Path(__file__).parent / "field" / "files").glob("tcp_upload*96KB_rep_1*"))
    calibrate([upload], "ethernet", runs=400, jobs=2).write(tmp_path / "line")
    store = Store(tmp_path / "store")
    found = advise(measured=tmp_path / "line", uses="call", screen_s=3.0, budget_s=2.0, store=store, jobs=2)
    assert found.sentence.startswith("Set ")
    assert found.line.rates_mbps["upstream"] == pytest.approx(5.0, rel=0.08)
    assert any("another of 20 lines" in text for text in found.assumed)
    lines = measured_line([tmp_path / "line"], None, rtt=None, uses={"call": 1.0}, household="quiet", jobs=1)
    assert len(lines.members) == 20
    assert 0.8 < lines.slower["upstream"] <= 1.0
    rates = {one.router_mbps(Arm("router", "cake", 0.9, 0.9), "upstream") for one in lines.members}
    assert len(rates) == 1
    own = {replace(one, told_mbps=None).rates_mbps["upstream"] for one in lines.members}
    assert len(own) > 10


def test_a_cable_line_that_was_measured_both_ways_can_be_asked_for(tmp_path: Path) -> None:
    cable, guess = ACCESSES["docsis31"], Guess(10.0, 25.0, 50.0)
    up, down = (Load(way, 1, 5.0, 10.0, 200.0, 84, "receiver") for way in ("up", "down"))
    (tmp_path / "ensemble").mkdir()
    (tmp_path / "manifest.json").write_text('{"kind": "calibration", "sentence": "as drawn."}')
    ours = drawn(unknowns_of(cable, up, guess), 5, 1, families=("drop-tail",))
    theirs = drawn(unknowns_of(cable, down, Guess(50.0, 25.0, 10.0)), 5, 2, families=("pie",))
    for number, (one, other) in enumerate(zip(ours, theirs, strict=True), start=1):
        there = (other.family, other.values)
        text = scenario_text(cable, up, guess, one.family, one.values, other_way=there)
        (tmp_path / "ensemble" / f"{number:02d}.toml").write_text(text)
    lines = measured_line([tmp_path], None, rtt=None, uses={"game": 1.0}, household="worst", jobs=1)
    assert lines.told[0] == "Measured: as drawn."
    median = float(np.median([one.values["rate"] for one in ours]))
    for line in lines.members:
        assert line.is_docsis
        assert line.side("downstream")["queue"]["kind"] == "docsis-pie"
        assert line.rates_mbps["upstream"] == pytest.approx(median, rel=1e-6)
        assert [one.bytes for one in line.overheads("upstream")] == [28, 18, 0]
        scenario = line.with_arm(Arm("router", "cake", 0.95, 0.9), duration_s=5.0, from_s=1.0)
        assert scenario.document["path"] == ["router", "access"]


def test_a_slower_line_has_its_cliff_sooner() -> None:
    cliff = find_cliff("upstream", "IP", (0.8, 0.89, 0.98), lambda shares: [7.0 + 90 * (s > 0.955) for s in shares])
    slow = cliff.scaled(0.95)
    assert cliff.edge == 0.96
    assert slow.edge == pytest.approx(0.912)
    assert slow.most == pytest.approx(0.892)
    assert slow.plateau_ms == cliff.plateau_ms


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((), "advice needs a line"),
        (("--measured", ".", "--up", "5M"), "says its own rates"),
        (("--measured", "gone.flent"), "what kind of line was measured"),
        (("--measured", "gone.flent", "--line", "dsl"), "gone.flent"),
        (("--line", "docsis13", "--up", "5M", "--down", "50M"), "not known"),
        (("--line", "dsl", "--up", "fast", "--down", "50M"), "not a bit rate"),
        (("--line", "dsl", "--up", "5M", "--down", "50M", "--for", "gaming"), "not known"),
        (("--line", "dsl", "--up", "5M", "--down", "50M", "--can", "operator"), "DOCSIS"),
        (("--line", "dsl", "--up", "5M", "--down", "50M", "--tolerance", "x"), "no share"),
        (("--line", "dsl", "--up", "5M", "--down", "50M", "--budget", "0 s"), "no span"),
        (("missing.toml",), "missing.toml"),
    ],
)
def test_questions_without_sense_are_refused_in_a_sentence(
    sojourn: CommandLine, arguments: Sequence[str], what: str
) -> None:
    done = sojourn("advise", *arguments)
    assert done.status == 2
    assert what in done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_says_the_answer_first_and_writes_the_page(sojourn: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "home.toml").write_text(DUMBBELL)
    done = sojourn("advise", "home.toml", "--for", "call", "--can", "modem", "--budget", "4", "--out", "page")
    assert done.status == 0, done.stderr
    first = done.stdout.splitlines()[0]
    assert first.startswith("Set ")
    page = (tmp_path / "page" / "report.html").read_text(encoding="utf-8")
    assert first.replace("'", "&#39;") in page
    assert (tmp_path / "page" / "advice.json").exists()
    assert "another" not in done.stdout


ATTIC = """
schema = 1
name = "attic"
duration = "20 s"
[access.upstream]
link = { kind = "serial", rate = "50 Mb/s" }
queue = { kind = "drop-tail", limit = "250 ms" }
[access.downstream]
link = { kind = "serial", rate = "500 Mb/s" }
queue = { kind = "drop-tail", limit = "100 ms" }
[wifi.home.ap]
profile = "ath10k-2016-normal"
queues = "device"
queue = { kind = "drop-tail", limit = "1000 packets" }
[wifi.home.station.laptop]
rate = "mcs9"
[wifi.home.station.attic]
rate = "mcs0"
[[traffic]]
name = "game"
app = { kind = "online-game", start_jitter = "33 ms" }
rtt = "15 ms"
via = "wifi.home.laptop"
[[traffic]]
name = "download"
app = { kind = "bulk", direction = "downstream" }
stack = "linux-cubic"
rtt = "21 ms"
via = "wifi.home.attic"
"""


def test_a_shaper_on_the_line_is_not_sold_for_a_slow_wifi(tmp_path: Path) -> None:
    found = advise(
        Scenario.parse(ATTIC), uses="game", budget_s=12, screen_s=10, store=Store(tmp_path / "store"), jobs=2
    )
    told = [text for text in found.sentences if "Wi-Fi" in text]
    assert told == [
        "The Wi-Fi to the attic is the narrow place, not the line. A shaper on the line does not help behind a slow Wi-Fi; "
        "queues by station in the access point do."
    ]
    assert found.blocks == {}
