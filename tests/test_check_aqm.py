"""Queue managers judged from outside: built-in ones keep their rows, and faults fail theirs."""

import csv
import json
import re
import resource
from pathlib import Path
from typing import Any

import pytest

import sojourn._engine as _engine
from sojourn.aqm import golden
from sojourn.aqm.page import place_in_band
from sojourn.aqm.scenarios import CELLS, LEFT_OUT, buffer_packets, scenario_text
from sojourn.aqm.suite import BAND, MEASURES, OWN, Manager, Measured, Result, characterise, known_managers, rows_of
from sojourn.judging.bands import Band
from sojourn.stats.estimate import Estimate
from support import CommandLine
from test_plugins import FIFO, IN_C, compiled, write_plugin

GONE_WRONG_S = 15
"""Processor time that a library which crashes, loops or lies may take until it is told."""


def failing(answer: dict[str, Any]) -> list[str]:
    """Return the rows of the only manager that fail."""
    (manager,) = answer["managers"]
    return [row["id"] for row in manager["rows"] if row["verdict"] == "fail"]


def told(sojourn: CommandLine, *arguments: str) -> tuple[int, list[str], str]:
    """Run the command without scenarios; return its status, the rows that fail and its sentence."""
    done = sojourn("check-aqm", *arguments, "--laws", "--json")
    answer = json.loads(done.stdout)
    return done.status, failing(answer), str(answer["headline"])


def test_a_manager_as_of_its_document_keeps_every_row(sojourn: CommandLine) -> None:
    status, failed, headline = told(sojourn, "codel")
    assert (status, failed) == (0, [])
    assert headline == "codel keeps all 9 rows of contract and law."


@pytest.mark.parametrize("kind", _engine.manager_kinds())
def test_every_kind_of_manager_has_the_buffer_of_a_scenario(kind: str) -> None:
    text = Manager(kind, kind).scenario(CELLS[0]).canonical()
    packets = buffer_packets(CELLS[0].rate_mbps, CELLS[0].rtt_ms)
    assert f'"{packets} packets"' in text or f'"{packets * 1500} B"' in text


def test_half_the_interval_breaks_the_control_law_alone(sojourn: CommandLine) -> None:
    status, failed, headline = told(sojourn, "codel", "--set", "interval=50ms")
    assert (status, failed) == (1, ["CD2"])
    assert headline.startswith("codel fails CD2: ")


def test_a_coupling_of_four_breaks_the_coupling_alone(sojourn: CommandLine) -> None:
    assert told(sojourn, "dualpi2", "--set", "coupling=4")[:2] == (1, ["DQ1"])


def test_a_plugin_in_python_is_judged_too(sojourn: CommandLine, tmp_path: Path) -> None:
    write_plugin(tmp_path, FIFO.replace("limit = 50", "limit = 1000"))
    assert told(sojourn, "--plugin", "my_fifo.py")[:2] == (0, [])
    status, failed, _ = told(sojourn, "--plugin", "my_fifo.py", "--as", "codel")
    assert (status, failed) == (1, ["CD2"])


def test_golden_traces_are_rows_where_they_are_asked_for(sojourn: CommandLine, tmp_path: Path) -> None:
    assert told(sojourn, "codel", "--trace", "golden") == (
        0, [], "codel keeps all 14 rows of contract and law.",
    )  # fmt: skip
    status, failed, _ = told(sojourn, "codel", "--set", "interval=50ms", "--trace", "golden")
    assert (status, failed) == (1, ["CD2", "GT1", "GT2"])
    trace = str(golden.FOLDER / "drop-tail-packets.sjt.xz")
    write_plugin(tmp_path, FIFO.replace("limit = 50", "limit = 100"))
    assert told(sojourn, "--plugin", "my_fifo.py", "--trace", trace)[:2] == (0, [])
    write_plugin(tmp_path, FIFO.replace("limit = 50", "limit = 99"))
    assert told(sojourn, "--plugin", "my_fifo.py", "--trace", trace)[:2] == (1, ["GT1"])
    done = sojourn("check-aqm", "--plugin", "my_fifo.py", "--laws", "--trace", "golden")
    assert (done.status, "no golden trace is one of a plugin" in done.stderr) == (2, True)


FAULTS = {
    "reorders": (
        "return self.line.popleft() if self.line else None",
        "return self.line.pop() if self.line else None",
        "X4",
    ),
    "reads a clock": (
        "if len(self.line) == self.limit:",
        "if len(self.line) == self.limit or __import__('time').perf_counter_ns() // 1000 % 4 == 0:",
        "X6",
    ),
    "hides a packet": ("            self.line.append(packet)", "            if packet.length != 576:\n                self.line.append(packet)", "X1"),
    "keeps what it has": ("return self.line.popleft()", "return None", "X1"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_plugin_fails_its_row_alone(sojourn: CommandLine, tmp_path: Path, fault: str) -> None:
    before, after, row = FAULTS[fault]
    assert before in FIFO
    write_plugin(tmp_path, FIFO.replace(before, after), "bad.py")
    assert told(sojourn, "--plugin", "bad.py")[:2] == (1, [row])


LIES = {
    "crashes": ("departure", "if (now_ns > 300000000) *(volatile int *)8 = 1;", "X1", "crashed: Segmentation fault"),
    "loops": ("arrival", "for (volatile int i = 0; now_ns > 300000000; i++) {}", "X1", "computed for 2 s in one call"),
    "waits": (
        "arrival",
        "extern unsigned sleep(unsigned); if (now_ns > 300000000) sleep(999);",
        "X1",
        "waited for 8 s in one call and was ended",
    ),
    "sends another ticket": ("departure", "*ticket += 1000;", "X1", "returned ticket 1000, which does not wait"),
    "marks what cannot be": (
        "departure",
        "host->marked(host->user, *ticket, SJQ_TARGET);",
        "X5",
        "was marked, and its packet is not ECN-capable",
    ),
    "takes memory": ("arrival", "memset(malloc(64), 1, 64);", "X8", "MB more"),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_library_that_crashes_loops_or_lies_gives_its_row(sojourn: CommandLine, tmp_path: Path, lie: str) -> None:
    place, line, row, said = LIES[lie]
    compiled(tmp_path, IN_C, **{place: line})
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = sojourn("check-aqm", "--plugin", "libmine.so", "--json", "--laws")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.status == 1, done.stderr
    if row != "X8":  # which is told after a hundred thousand packets
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        assert used < GONE_WRONG_S
    answer = json.loads(done.stdout)
    assert failing(answer) == [row]
    assert said in answer["headline"]
    assert "Traceback" not in done.stderr


def test_a_library_as_of_ours_keeps_every_row(sojourn: CommandLine, tmp_path: Path) -> None:
    compiled(tmp_path, IN_C)
    assert told(sojourn, "--plugin", "libmine.so")[:2] == (0, [])


def test_the_page_says_first_what_came_of_it_and_names_every_section(sojourn: CommandLine, tmp_path: Path) -> None:
    done = sojourn("check-aqm", "pie", "--quick", "--out", "out")
    assert done.status == 0, done.stderr
    page = (tmp_path / "out" / "report.html").read_text()
    first = page.index('class="headline"')
    assert first < page.index("<table")
    assert "pie keeps all 9 rows of contract and law, and " in page[first : first + 300]
    assert "SVG" in page
    answer = json.loads((tmp_path / "out" / "result.json").read_text())
    assert {one["id"] for one in answer["managers"][0]["scenarios"]} > {"T1", "C3", "K1"}
    for section, _, _ in LEFT_OUT:
        assert f"Section {section}," in page


def test_several_managers_stand_on_one_page(sojourn: CommandLine, tmp_path: Path) -> None:
    done = sojourn("check-aqm", "sfq", "red", "--laws", "--out", "out")
    assert done.status == 0, done.stderr
    page = (tmp_path / "out" / "report.html").read_text()
    assert "<h1>2 queue managers</h1>" in page
    assert "2 managers keep all of " in page


def test_what_cannot_be_asked_is_told_before_anything_runs(sojourn: CommandLine) -> None:
    for arguments, said in (
        ((), "nothing to judge"),
        (("coddle",), '"coddle" is no queue manager'),
        (("codel", "--as", "pi"), '--as: "pi" is no queue manager'),
        (("codel", "--only", "Z9"), '--only: "Z9" is no scenario'),
        (("codel", "--set", "target=soon"), "target"),
        (("--plugin", "absent.py"), "absent.py"),
    ):
        done = sojourn("check-aqm", *arguments)
        assert done.status == 2, (arguments, done.stderr)
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_sections_of_the_document_are_shown_or_left_out_with_a_reason() -> None:
    """RFC 7928, the table of section 13, and the sections that it points to."""
    asked = (
        """3.1 4.3.2 4.4 4.5 4.6 5.1.1 5.1.2 5.2 5.3 5.4 6.2 7.2 8.2.2 8.2.3 8.2.4 8.2.5 8.2.6 8.3 9.1 9.2 10.2 11 12"""
    )
    shown = {cell.section for cell in CELLS} | {section for section, _, _ in LEFT_OUT}
    assert set(asked.split()) == shown


def test_the_band_is_what_the_engine_gives() -> None:
    cells = [cell for cell in CELLS if cell.item in ("T1", "F2", "C2")]
    band = known_managers().values
    for name in ("codel", "dualpi2"):
        manager = Manager(name, name)
        measured = characterise(manager, cells, 5, 120.0, 2)
        for item, measure, _, value in rows_of(Result(manager, measured=measured)):
            assert float(value) == band[item, measure][name], (name, item, measure)


def test_the_band_is_that_of_the_specification() -> None:
    """Its table has one seed and the start of each run, so the order of size is what stays: within a third and 3 ms."""
    band = known_managers().values
    for item, name, utilisation, mean_ms in (
        ("T1", "drop-tail", 0.991, 55.2),
        ("T1", "codel", 0.779, 1.5),
        ("T1", "pie", 0.860, 7.8),
        ("T3", "dualpi2", 0.937, 8.2),
        ("C1", "fq-codel", 0.966, 7.9),
        ("C2", "pie", 0.981, 16.3),
        ("C2", "cobalt", 0.948, 6.8),
        ("C3", "docsis-pie", 0.983, 12.2),
    ):
        assert band[item, "utilisation"][name] == pytest.approx(utilisation, abs=0.06), (item, name)
        assert band[item, "sojourn_mean"][name] == pytest.approx(mean_ms, rel=1 / 3, abs=3), (item, name)


def test_every_scenario_has_a_band_of_all_its_measures() -> None:
    band = known_managers().values
    for cell in CELLS:
        for measure in [*(name for name, _, _ in MEASURES), *([OWN] if cell.own else [])]:
            assert set(BAND) <= set(band[cell.item, measure]), (cell.item, measure)


def test_only_a_whole_interval_outside_stands_beside_the_band() -> None:
    cell = CELLS[0]
    known = {(cell.item, "utilisation"): dict.fromkeys(BAND, 0.8) | {"codel": 0.9}}
    band = Band(known, BAND)
    for low, value, high, expected in (
        (0.70, 0.75, 0.79, "below"),
        (0.70, 0.75, 0.81, "in band"),
        (0.85, 0.95, 0.97, "in band"),
        (0.91, 0.95, 0.97, "above"),
    ):
        measured = Measured(cell, {"utilisation": Estimate(value, low, high, 5)})
        assert place_in_band(measured, "utilisation", band)[0] == expected


def test_buffers_are_a_path_of_the_longest_round_trip() -> None:
    """Vector V-23 of RFC 7928's section 3.2: 467 packets at 560 ms, 834 at 100 Mb/s, 84 else."""
    found = {
        cell.item: re.findall(r"limit = \"(\d+) packets\"", scenario_text(cell, Manager("codel", "codel").queue(cell)))
        for cell in CELLS
    }
    assert (found["T1"][0], found["F1"][0], found["K1"][0]) == ("84", "467", "834")


def test_the_band_has_no_other_rows() -> None:
    path = Path(known_managers.__code__.co_filename).with_name("band.csv")
    with path.open(encoding="utf-8", newline="") as file:
        assert {row["manager"] for row in csv.DictReader(file)} == {*BAND, "drop-tail"}


def test_what_does_not_come_to_its_end_has_no_number() -> None:
    cells = [cell for cell in CELLS if cell.item == "T2a"]  # its transfers begin after 30 s
    (measured,) = characterise(Manager("codel", "codel"), cells, 1, 20.0, 1)
    assert measured.values[OWN].value is None
    assert measured.values["utilisation"].value is not None
