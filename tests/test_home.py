"""`sojourn home`: a household without a file, against a study made by hand."""

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from sojourn.homes.household import ACCESSES, Household, lines_to_set, study_files
from sojourn.homes.wireless import BANDS, WirelessHome
from sojourn.report.rival import rival_of
from sojourn.study.library import load_study
from sojourn.study.result import StudyResult
from support import CommandLine

BY_HAND = """
schema = 1
name = "by-hand"
scenario = "base.toml"
seeds = 3

[points.today]
[points.short]
overlays = ["short"]

[overlays.short.access.upstream.queue]
kind = "drop-tail"
limit = "50 ms"
[overlays.short.access.downstream.queue]
kind = "drop-tail"
limit = "50 ms"
"""
LINE = """
schema = 1
name = "line"
duration = "20 s"
traffic = [
  { name = "game", app = { kind = "online-game", start_jitter = "33 ms" }, rtt = "15 ms", dscp = 45 },
  { name = "upload", app = { kind = "bulk", start = "1 s", start_jitter = "1 s", lanes = 2 }, stack = "linux-cubic", rtt = "21 ms" },
  { name = "download", app = { kind = "bulk", direction = "downstream", start = "1 s", start_jitter = "1 s" }, stack = "linux-cubic", rtt = "21 ms" },
]
record = { datagrams = false }
measure = { from = "2 s" }

[access.upstream]
link = { kind = "serial", rate = "4 Mb/s", delay = "5 ms" }
framing = { kind = "ptm", profile = "pppoe-ptm" }
queue = { kind = "drop-tail", limit = "250 ms" }
[access.downstream]
link = { kind = "serial", rate = "16 Mb/s", delay = "5 ms" }
framing = { kind = "ptm", profile = "pppoe-ptm" }
queue = { kind = "drop-tail", limit = "250 ms" }
"""


def metrics(folder: Path, point: str) -> dict[tuple[int, str, str], float]:
    rows = StudyResult.load(folder).metrics.to_dicts()
    return {(row["seed"], row["subject"], row["metric"]): row["value"] for row in rows if row["point"] == point}


def test_a_home_is_the_study_that_one_would_write_by_hand(sojourn: CommandLine, tmp_path: Path) -> None:
    asked = ("--down", "16", "--up", "4", "--access", "dsl", "--for", "game", "--uploads", "2")
    done = sojourn("home", *asked, "--explain", "--out", "asked", "--json")
    assert done.status == 0, done.stderr
    (tmp_path / "study.toml").write_text(BY_HAND)
    (tmp_path / "base.toml").write_text(LINE)
    assert sojourn("study", "run", "study.toml", "--out", "hand", "--no-figures").status == 0
    for ours, theirs in (("today", "today"), ("buffer", "short")):
        assert metrics(tmp_path / "asked", ours) == metrics(tmp_path / "hand", theirs)
    content = done.json()
    page = (tmp_path / "asked" / "report.html").read_text(encoding="utf-8")
    sentence = content["headline"]["sentence"]
    assert sentence.replace("'", "&#39;") in page
    assert page.index('class="headline"') < page.index("<nav")
    assert content["set"]
    again = sojourn("study", "run", content["study"], "--out", "again", "--no-figures", "--json")
    assert again.status == 0, again.stderr
    assert again.json()["headline"] == content["headline"]
    assert again.json()["runs"]["computed"] == 0


@pytest.mark.parametrize("access", list(ACCESSES))
def test_each_access_makes_a_valid_study_and_lines_that_can_be_encoded(access: str, tmp_path: Path) -> None:
    home = Household(access, 200.0, 20.0, ("game", "call", "web", "video"), 3)
    for name, text in study_files(home).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    points = load_study(str(tmp_path / "study.toml")).points()
    assert [point.name for point in points] == home.settings
    assert ("low-latency" in home.settings) == (access == "docsis31")
    changes = [arm.changes for arm in home.arms.values()]
    assert changes == sorted(changes)  # the first of those that cannot be told apart changes least
    for setting in home.settings[1:]:
        lines = lines_to_set(home, setting)
        assert lines
        if setting == "CAKE":
            counted = {"docsis31": "overhead 28 mpu 74", "dsl": "overhead 30 mpu 0 ptm"}
            assert "cake bandwidth 19000kbit besteffort" in lines
            assert counted.get(access, "overhead 18 mpu 64") in lines
        if access.startswith("docsis") and setting != "CAKE":
            assert "buffer_control = { target = 125000 }" in lines  # 50 ms at 20 Mb/s
            assert "max_traffic_burst = 250000" in lines  # 100 ms


@pytest.mark.parametrize("band", list(BANDS))
@pytest.mark.parametrize(("stations", "attic"), [(1, ""), (2, "mcs0"), (4, "mcs1"), (7, "")])
def test_each_home_behind_wifi_is_a_valid_study_in_which_all_devices_have_traffic(
    band: str, stations: int, attic: str, tmp_path: Path
) -> None:
    feels = ("game", "call", "web", "video")
    home = WirelessHome("dsl", 100.0, 20.0, feels, 1, "", band, stations, 2, attic)
    for name, text in home.study_files().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    points = {point.name: point.document for point in load_study(str(tmp_path / "study.toml")).points()}
    assert list(points) == home.settings
    for setting, document in points.items():
        channel = document["wifi"]["home"]
        assert set(channel["station"]) == set(home.devices)
        assert (home.devices[-1] == "attic") == bool(attic)
        assert len(channel["neighbour"]) == 2
        # Both queues stand where the setting says, and nothing of the other is left.
        is_set = setting in ("access-point", "both")
        assert channel["ap"]["profile"] == ("openwrt-2024" if is_set else "ath10k-2016-normal")
        assert ("queue" in channel["ap"]) == (not is_set)
        assert ("path" in document) == (setting in ("CAKE", "both"))
        assert {entry["via"] for entry in document["traffic"]} == {f"wifi.home.{device}" for device in home.devices}


def test_a_slow_wifi_is_named_as_the_narrow_place_and_a_fast_one_is_not(sojourn: CommandLine) -> None:
    asked = ("--access", "fibre", "--wifi", "5ghz", "--stations", "2", "--for", "game")
    slow = sojourn("home", "--down", "500", "--up", "50", *asked, "--attic", "mcs0", "--out", "slow")
    assert slow.status == 0, slow.stderr
    first, ping, shaper, *_ = slow.stdout.splitlines()
    assert first == "The Wi-Fi to the attic is the narrow place, not the line."
    assert "FQ-CoDel for each station in the access point, equal airtime" in ping
    assert shaper.startswith("A shaper on the line does not help behind a slow Wi-Fi")
    assert "The others get: the download of the attic " in slow.stdout
    assert "aql_txq_limit" in slow.stdout
    fast = sojourn("home", "--down", "16", "--up", "4", *asked, "--out", "fast", "--json")
    assert fast.status == 0, fast.stderr
    content = fast.json()
    assert content["sentences"][0] == "The line is the narrow place, not the Wi-Fi."
    assert not any("shaper on the line" in sentence for sentence in content["sentences"])
    assert content["setting"] in ("CAKE", "both")
    assert "cake bandwidth" in content["set"]


def test_words_of_wifi_without_a_channel_are_wrong_usage(sojourn: CommandLine) -> None:
    line = ("home", "--down", "16", "--up", "4", "--access", "dsl")
    for extra, message in (
        (("--attic", "mcs0"), "error: --attic is of a Wi-Fi channel\n  hint: add --wifi 5ghz"),
        (("--wifi", "5ghz", "--can", "modem"), "--can is of a line without Wi-Fi"),
        (("--wifi", "5ghz", "--stations", "1", "--attic", "mcs0"), "--attic needs a second device"),
        (("--wifi", "6ghz"), "6ghz"),
    ):
        done = sojourn(*line, *extra)
        assert done.status == 2
        assert message in done.stderr


def test_a_home_that_cannot_be_is_wrong_usage(sojourn: CommandLine) -> None:
    line = ("--down", "16", "--up", "4", "--access", "dsl")
    for extra, message in (
        (("--for", "gaem"), 'error: --for: "gaem" is not known\n  hint: did you mean "game"?'),
        (("--uploads", "0"), "at least 1"),
        (("--up", "0"), "out of range"),
    ):
        done = sojourn("home", *line, *extra)
        assert done.status == 2
        assert message in done.stderr


def test_a_home_writes_a_file_that_provision_takes_and_obeys_whose_knobs_are_turned(
    sojourn: CommandLine, tmp_path: Path
) -> None:
    line = ("--down", "16M", "--up", "4mbit", "--access", "docsis31", "--for", "game")
    for can, settings in (("router", {"today", "CAKE"}), ("operator", {"today", "buffer", "PIE", "low-latency"})):
        done = sojourn("home", *line, "--can", can, "--out", can, "--json")
        assert done.status == 0, done.stderr
        assert set(StudyResult.load(tmp_path / can).metrics["point"].unique()) == settings
        assert (tmp_path / can / "modem.toml").exists() == (can == "operator")
        content = done.json()
        headline = content["headline"]
        assert content["setting"] in settings - {"today"}
        assert (headline["rival"] == "") == (can == "router")
        assert any(" needs a " in fact or " must be " in fact for fact in headline["facts"])
        page = (tmp_path / can / "report.html").read_text(encoding="utf-8")
        assert all(fact.replace("'", "&#39;") in page for fact in headline["facts"])
    (tmp_path / "key").write_text("a secret")
    file = ("operator/modem.toml", "--secret", "key", "--out", "modem.cm")
    made = sojourn("provision", "encode", *file)
    assert made.status == 0
    assert "warning" not in made.stderr
    assert done.json()["set"] == (tmp_path / "operator" / "modem.toml").read_text()


def test_the_rival_is_the_nearest_and_costs_are_those_of_all_seeds() -> None:
    def of(game: float, call: float, down: Sequence[float]) -> dict[tuple[str, str], dict[int, float]]:
        return {
            ("game", "delay_round_trip_p99"): dict.fromkeys((1, 2, 3), game),
            ("call", "delay_p99"): dict.fromkeys((1, 2, 3), call),
            ("download", "goodput_downstream"): dict(enumerate(down, start=1)),
        }

    settings = {
        "low": of(4.7, 49.0, [140, 120, 150]),
        "PIE": of(50.0, 47.0, [160, 160, 160]),
        "CAKE": of(7.6, 7.5, [155, 157, 149]),
    }
    values = {(name, *key): seeds for name, measures in settings.items() for key, seeds in measures.items()}
    names = {"low": "Low Latency DOCSIS", "PIE": "PIE", "CAKE": "CAKE in a router"}
    found = rival_of(values, "low", names)
    assert found is not None
    # One of three seeds has the download the other way round: its cost is not told.
    assert found.sentence == (
        "The nearest rival is CAKE in a router: the game at 7.6 ms for 4.7. "
        "Low Latency DOCSIS costs beside it: the call at 49 ms for 7.5."
    )
    assert rival_of(values, "CAKE", {"CAKE": "CAKE in a router"}) is None
    other = rival_of(values, "CAKE", names)
    assert other is not None
    assert other.sentence.endswith("CAKE in a router costs nothing beside it that all runs agree on.")


def test_the_page_has_a_row_of_what_the_sentence_speaks_of_and_no_interval_beyond_the_line(
    sojourn: CommandLine, tmp_path: Path
) -> None:
    done = sojourn("home", "--down", "16M", "--up", "4M", "--access", "docsis31", "--out", "out", "--json")
    assert done.status == 0, done.stderr
    result = StudyResult.load(tmp_path / "out")
    table = (tmp_path / "out" / "tables" / "summary.csv").read_text(encoding="utf-8").splitlines()
    rows = {line.partition(":")[0].strip('"') for line in table}
    assert rows >= {"game", "call", "page", "upload", "download"}
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for grade in set(done.json()["headline"]["grades"].values()):
        assert re.search(rf">{grade}</span>[^<]*<small>felt worst by ", page), grade
    for metric, rate in (("goodput", 4.0), ("goodput_downstream", 16.0)):
        of_rate = result.summary.filter(pl.col("metric") == metric)
        ends = of_rate["high"].drop_nulls().to_list()
        assert ends
        assert max(ends) <= 1.01 * rate  # a burst of 100 ms in 20 s
