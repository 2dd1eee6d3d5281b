"""The study of the DSL line runs what the slides describe, and its closed-form claims hold."""

import csv
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sojourn import _engine
from sojourn.answers.open_study import OpenStudy
from sojourn.api.run import run
from sojourn.published.akhtar2013.study import Session, windows
from sojourn.scenario.scenario_file import Scenario
from sojourn.study.library import Study, load_study
from studies.named_tests import missing_tests

FOLDER = Path(__file__).parents[2] / "python/sojourn/published/akhtar2013"

LINE = 8e6
"""Bits per second of the line."""


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study("akhtar2013")


@pytest.fixture(scope="module")
def points(study: Study) -> dict[str, dict[str, Any]]:
    return {
        point.name: tomllib.loads(_engine.Scenario.parse(point.text).canonical())
        for point in study.points()
        if point.name.startswith(("published/", "modern/"))
    }


def printed(name: str) -> list[dict[str, str]]:
    with (FOLDER / "printed" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def offered(load: str) -> tuple[float, float]:
    """Mb/s of pages and of downloads, as the slide has them."""
    (row,) = (row for row in printed("loads") if row["load_level"] == load)
    pages = float(row["web_pages_per_period"]) * float(row["web_page_kbytes"]) * 8e-3
    files = float(row["pd_files_per_period"]) * float(row["pd_file_mbytes"]) * 8
    return pages / float(row["web_period_s"]), files / float(row["pd_period_s"])


def traffic(point: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {entry["name"]: entry for entry in point["traffic"]}


def test_the_medium_load_has_the_printed_mix() -> None:
    # A13-01: 15, 50, 35 %.
    pages, files = offered("medium")
    shares = [100e6 * pages / LINE, 100 - 100e6 * (pages + files) / LINE, 100e6 * files / LINE]
    assert shares == pytest.approx([15.3, 52.1, 32.6], abs=0.05)


def test_a_doubled_reply_fills_the_initial_window() -> None:
    # A13-04.
    assert -(-7200 // 1460) == 5
    assert -(-2 * 7200 // 1460) == 10


def test_the_loads_are_those_of_the_slide(points: dict[str, dict[str, Any]]) -> None:
    # A13-13.
    assert [offered(row["load_level"])[0] for row in printed("loads")] == pytest.approx(
        [0.61, 1.22, 1.22, 1.84], abs=0.005
    )
    assert [offered(row["load_level"])[1] for row in printed("loads")] == pytest.approx(
        [1.74, 2.61, 3.47, 4.34], abs=0.005
    )
    for row in printed("loads"):
        entries = traffic(points[f"published/{row['load_level'].replace('_', '-')}-red"])
        assert entries["video"]["app"]["sessions"] == int(row["has_sessions"])
        assert entries["web"]["app"]["users"] == int(row["web_pages_per_period"])
        assert entries["download"]["app"]["sources"] == int(row["pd_files_per_period"])


def test_the_managers_have_the_printed_parameters(points: dict[str, dict[str, Any]]) -> None:
    # A13-08, A13-10; the rule of RED is tested beside it.
    queues = {
        name: points[f"published/medium-{name}"]["access"]["downstream"]["queue"]
        for name in ("taildrop", "red", "codel")
    }
    assert {name: queue["limit"] for name, queue in queues.items()} == dict.fromkeys(queues, "120 packets")
    assert (queues["codel"]["target"], queues["codel"]["interval"]) == ("5 ms", "100 ms")
    assert queues["red"]["max_probability"] == 0.04


def test_all_options_have_the_same_schedules(study: Study, points: dict[str, dict[str, Any]]) -> None:
    # A13-52: streams of random numbers are named by what they are for, see the engine; what asks for them is equal.
    for load in ("low", "medium", "high", "very-high"):
        options = [point for name, point in points.items() if f"/{load}-" in name]
        assert len(options) == 7
        for option in options:
            assert option["traffic"] == options[0]["traffic"]
    assert study.definition.seeds.count == 10
    entries = traffic(points["published/medium-red"])
    assert entries["video"]["app"]["stagger"] == "10 s"


def test_a_moving_average_is_of_all_chunks_of_its_window() -> None:
    ended = np.array([1.0, 29.0, 31.0, 59.0])
    video = Session(ended, ended, np.array([3e6, 6e6, 9e6, 12e6]), np.array([1.0, 2.0, 3.0, 4.0]), ended)
    # Windows that begin at 0, 2, …, 30 s: of 30 s each, the first and the last as side by side.
    (moving,), (apart,) = (windows([video], "throughput", 60.0, *step) for step in ((2.0,), ()))
    assert moving.tolist() == pytest.approx([0.3, *[0.5] * 14, 0.7])
    assert apart.tolist() == pytest.approx([0.3, 0.7])
    (levels,) = windows([video], "level", 60.0, 2.0)
    assert levels.tolist() == pytest.approx([1.5, *[2.5] * 14, 3.5])


@pytest.mark.slow
def test_the_headline_of_a_quick_run_has_numbers_of_its_cells(tmp_path: Path) -> None:
    from sojourn.cli.app import execute

    out = tmp_path / "out"
    command = ["study", "run", "akhtar2013", "--quick", "--no-figures"]
    assert execute([*command, "--out", str(out), "--store", str(tmp_path / "store")]) == 0
    found = re.search(r'<p class="headline">(.*?)</p>', (out / "report.html").read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    numbers = re.findall(r"\d+\.\d+", found[1])
    (medium, *_) = csv.reader((out / "tables" / "summary.csv").read_text(encoding="utf-8").splitlines()[1:])
    assert numbers
    assert set(numbers) <= set(medium)
    claims = pl.read_csv(out / "claims.csv").filter(pl.col("use") != "unit")
    assert set(claims.filter(pl.col("verdict") != "not-run")["id"]) <= {"A13-21", "A13-45"}


@pytest.mark.slow
def test_the_networks_buffer_stands_beside_the_clients(tmp_path: Path) -> None:
    from sojourn.cli.app import execute

    out = tmp_path / "out"
    command = ["study", "run", "akhtar2013", "--points", "observed/*", "--seeds", "1", "--duration", "60 s"]
    assert execute([*command, "--out", str(out), "--store", str(tmp_path / "store")]) == 0
    drawing = (out / "figures" / "network-buffer.svg").read_text(encoding="utf-8")
    assert all(words in drawing for words in ("client buffer in s", "network buffer in packets", "tail-drop", "RED"))


def test_one_overlap_can_drain_a_client() -> None:
    # A13-54: at half of the lowest level 30 s last for 60 s, less than a download's 270 s.
    assert 30 / (1 - 0.5) == 60 < 270


def test_the_stack_is_that_of_the_slide(points: dict[str, dict[str, Any]]) -> None:
    # A13-58.
    for entry in traffic(points["published/medium-red"]).values():
        stack = entry["stack"]
        assert stack["controller"]["kind"] == "reno"
        assert stack["initial_window"] == 10
        assert stack["timeout"]["minimum"] == "200 ms"
        assert stack["nagle"] is False
        assert stack["idle_restart"] == {"kind": "rfc2861", "floor": 10}


def test_videos_have_the_printed_levels(points: dict[str, dict[str, Any]]) -> None:
    # A13-60.
    levels = [float(row["video_bitrate_mbps"]) for row in printed("levels")]
    app = traffic(points["published/medium-red"])["video"]["app"]
    assert [rate_mbps(rate) for rate in app["ladder"]] == levels
    assert (app["chunk"], app["buffer"]) == ("2 s", "30 s")


def rate_mbps(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"Mb/s": 1.0, "kb/s": 1e-3}[unit]


RAMP = """
schema = 1
name = "ramp"
duration = "20 s"
[access.upstream]
link = { kind = "serial", rate = "8 Mb/s" }
queue = { kind = "KIND", profile = "akhtar2013" }
[access.downstream]
link = { kind = "serial", rate = "8 Mb/s" }
queue = { kind = "drop-tail", limit = "1 s" }
[[traffic]]
name = "ramp"
app = { kind = "constant-rate", packet = "1500 B", interval = "1485 us" }
rtt = "20 ms"
[record]
series = "10 ms"
"""


def first_loss_ms(kind: str) -> float:
    """Longest wait in the bin of the first loss: the queue grows by 1 % of the line."""
    series = run(Scenario.parse(RAMP.replace("KIND", kind))).tables["series"]
    rows = series.filter(pl.col("link") == "upstream").sort("start_ns")
    lossy = np.flatnonzero(rows["dropped_packets"].to_numpy() > 0)
    return float(rows["sojourn_max_ns"].to_numpy()[lossy[0]]) / 1e6


def test_a_page_of_the_slides_is_fourteen_average_requests(study: Study) -> None:
    # A13-22: beside the time until a page is complete.
    fourteen = study.definition.measures["plt_14"]
    assert (fourteen.metric, fourteen.times) == ("object_time_mean", 14)
    (point,) = (point for point in study.points() if point.name == "idle/40ms")
    scenario = Scenario.parse(point.text).with_settings("duration=120 s", "record.objects=true")
    finished = run(scenario)
    found = finished.metrics.filter(metric="object_time_mean", subject="web")["value"].to_list()
    took = finished.tables["objects"].drop_nulls("ended_ns")
    each = (took["ended_ns"] - took["started_ns"]).cast(pl.Float64).mean()
    assert isinstance(each, float)
    assert found == pytest.approx([each / 1e9])


def test_codel_acts_on_a_tenth_of_a_second_and_red_on_an_average() -> None:
    # A13-42: 5 ms kept for 100 ms; an average of 20 packets, 30 ms.
    assert 5 < first_loss_ms("codel") < 10
    assert first_loss_ms("red") > 30


def test_nothing_is_lost_outside_the_bottleneck(study: Study) -> None:
    # A13-62: there is no other link that could lose, but the way back.
    (point,) = (point for point in study.points() if point.name == "published/very-high-taildrop")
    finished = run(Scenario.parse(point.text).with_settings("duration=60 s"))
    lost = finished.metrics.filter(metric="dropped_packets", subject="upstream")["value"]
    assert lost.to_list() == [0.0]


def test_named_tests_exist() -> None:
    assert missing_tests(load_study("akhtar2013").definition.tests) == []


def test_each_claim_is_there_once_and_the_assumptions_say_where_they_are_from(study: Study) -> None:
    identifiers = [claim.identifier for claim in study.definition.claim]
    assert sorted(identifiers) == [f"A13-{number:02d}" for number in range(1, 63)]
    assert all(one.origin in ("documented", "chosen", "fitted") for one in study.definition.assumption)
    assert [one.what for one in study.definition.assumption if one.origin == "fitted"] == ["Schedules of downloads"]
    OpenStudy.of(study)


def test_the_module_is_short() -> None:
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in FOLDER.glob("*.py"))
    assert lines <= 600


DOWNLOADS = """
schema = 1
name = "downloads"
duration = "6000 s"
[access.upstream]
link = { kind = "serial", rate = "1 Gb/s" }
queue = { kind = "drop-tail", limit = "1 s" }
[access.downstream]
link = { kind = "serial", rate = "1 Gb/s" }
queue = { kind = "drop-tail", limit = "1 s" }
[[traffic]]
name = "download"
app = { kind = "pd", profile = "akhtar2013", sources = 5, library = LIBRARY, size = { kind = "pareto", mean = "38 kB", cv = 1.5 } }
stack = "akhtar2013"
rtt = "60 ms"
"""

ONE_OF_EACH = (1, 3, 4, 5, 11, 17)
"""One seed for each of the six schedules that a run draws from."""


def test_the_schedules_offer_the_printed_loads(points: dict[str, dict[str, Any]]) -> None:
    # What the library was fitted to. Videos a thousandth as long are drawn as the whole ones are, and come at once.
    library = traffic(points["published/medium-red"])["download"]["app"]["library"]
    scenario = Scenario.parse(DOWNLOADS.replace("LIBRARY", str(library)))
    offered_bits = np.zeros((len(ONE_OF_EACH), 5))
    for number, seed in enumerate(ONE_OF_EACH):
        videos = run(scenario, seed=seed).tables["pd_sessions"]
        for source, length in videos.select("source", "bytes").iter_rows():
            offered_bits[number, source] += length * 8e3
    assert len({bits.sum() for bits in offered_bits}) == 6
    for sources in (2, 3, 4, 5):
        mean = offered_bits[:, :sources].sum(axis=1).mean() / 6000
        assert mean == pytest.approx(sources * 38e6 * 8 / 350, rel=0.02)
