"""Congestion controllers seen from outside: stacks keep the rows that can fail, and faults fail theirs."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sojourn.cli import run_command
from sojourn.congestion import general, heist, l4s, rules, states
from sojourn.congestion.general.alone import jain
from sojourn.congestion.general.managed import answered
from sojourn.congestion.general.paths import LATEST_S
from sojourn.congestion.scenario import Cell, Run, buffer_packets
from sojourn.congestion.suite import BAND, SUITES, Controller, chosen, known_controllers, stack_kinds
from sojourn.judging.bands import place_of
from sojourn.stats.estimate import Estimate
from support import CommandLine

CAN_FAIL = "G1b,G1c,G6-reno-10-10-1,G6-reno-10-40-1,G6-cubic-10-40-4,G11a,G15,G16,G19,G20"
"""Scenarios of each row that can fail, those that cost little."""


KEPT = ("G1", "G6", "G11", "G15", "G16", "G17", "G18", "G19", "G20")
"""Rows of these."""

PAGE = "G2-10-40-0.25,G2-10-40-1,G6a,G11a,H1a"
"""Scenarios of a page with all its parts."""


Told = Callable[..., tuple[int, list[str], dict[str, Any]]]


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Told:
    """Return what runs scenarios once, in this process: status, rows that fail, and the whole answer."""
    monkeypatch.chdir(tmp_path)

    def ask(*arguments: str) -> tuple[int, list[str], dict[str, Any]]:
        status = run_command(["check-cc", *arguments, "--seeds", "1", "--json"])
        said = capsys.readouterr()
        assert said.out, said.err
        assert "Traceback" not in said.err
        answer = json.loads(said.out)
        (one,) = answer["controllers"]
        return status, [row["id"] for row in one["rows"] if row["verdict"] == "fail"], answer

    return ask


@pytest.mark.parametrize("stack", ["reno", "cubic"])
def test_reno_and_cubic_keep_every_row(told: Told, stack: str) -> None:
    status, failed, answer = told(stack, "--only", CAN_FAIL)
    assert (status, failed) == (0, [])
    verdicts = {row["id"]: row["verdict"] for row in answer["controllers"][0]["rows"]}
    assert {item for item, verdict in verdicts.items() if verdict == "pass"} == set(KEPT)
    assert answer["headline"].startswith(f"linux-{stack} keeps all 9 rows that can fail, and ")


FAULTS = {
    "gives almost nothing back at a loss": (
        ("ns2-linux-cubic", "--set", "controller.beta=1023"),
        "G1b,G1c,G6-reno-10-10-1,G6-reno-10-40-1,G15",
        ["G1", "G6"],  # half of its packets lost do not stop it either
    ),
    "is ECN-capable and looks at no mark": (
        ("bbr1", "--set", "ecn=classic"),
        "G1b,G6-reno-10-40-1,G11a,G15",
        ["G11"],
    ),
    "does not grow after a loss": (
        ("ledbat", "--set", "controller.gain=0.001"),
        CAN_FAIL,
        ["G15", "G17"],
    ),
    "is CUBIC with a tenth of its C": (("cubic", "--set", "controller.scale=0.04"), "G16", ["G17"]),
    "is CUBIC with ten times its C": (("cubic", "--set", "controller.scale=4"), "G16", ["G17"]),
    "gives back a tenth at a loss": (("cubic", "--set", "controller.beta=0.9"), "G16", ["G16"]),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_fails_exactly_its_rows(told: Told, fault: str) -> None:
    stack, only, rows = FAULTS[fault]
    assert told(*stack, "--only", only)[:2] == (1, rows)


def test_bbr_that_bears_a_fifth_of_losses_loses_more(told: Told) -> None:
    lost: list[float] = []
    for setting in ("0.02", "0.2"):
        more = ("--set", f"controller.loss_threshold={setting}", "--only", "G3c")
        status, failed, answer = told("bbr3", *more)
        assert (status, failed) == (0, [])  # it warns
        (one,) = answer["controllers"]
        assert {row["id"] for row in one["rows"] if row["verdict"] == "warning"} == {"G3"}
        lost.append(one["scenarios"][0]["measures"]["lost"]["value"])
    assert lost[1] > 5 * lost[0]


def test_bbr_of_the_draft_keeps_all_of_its_cases(told: Told) -> None:
    draft = ("bbr3", "--set", "controller.drain_rounds=3")
    status, failed, answer = told(*draft, "--suite", "bbr")
    assert (status, failed) == (0, [])
    rows = {row["id"]: row["verdict"] for row in answer["controllers"][0]["rows"]}
    assert rows == {f"B{number}": "pass" for number in range(1, 23)}


def test_bbr_that_bears_a_fifth_of_losses_fails_exactly_the_cases_about_them(told: Told) -> None:
    of_states = ",".join(cell.item for cell in states.CELLS)
    mutant = ("bbr3", "--set", "controller.loss_threshold=0.2", "--only", of_states)
    assert told(*mutant)[:2] == (1, ["B2", "B6", "B21"])


def test_a_controller_without_states_has_rows_that_are_not_judged() -> None:
    from sojourn.congestion.suite import characterise

    reno = Controller("linux-reno")
    cells = chosen(reno, None, "B2,B5", None)
    measured = characterise(reno, cells, 1, 1, known_controllers()).measured
    assert all(value.value is None for one in measured for value in one.values.values())


def test_media_are_characterised_and_nothing_of_them_fails(told: Told) -> None:
    status, failed, answer = told("scream", "--only", "R1,R3")
    assert (status, failed) == (0, [])
    assert answer["headline"] == "scream is characterised in 2 scenarios, of which none can fail."
    values = {
        one["id"]: {name: value["value"] for name, value in one["measures"].items()}
        for one in answer["controllers"][0]["scenarios"]
    }
    assert values["R1"]["used"] > 80
    assert 0.5 < values["R3"]["rate"] < 2
    assert values["R3"]["frame_back"] > 50


def test_the_page_says_first_what_came_of_it(sojourn: CommandLine, tmp_path: Path) -> None:
    done = sojourn("check-cc", "bbr1", "--set", "ecn=classic", "--only", PAGE, "--seeds", "1", "--out", "out")
    assert done.status == 1, done.stderr
    page = (tmp_path / "out" / "report.html").read_text()
    first = page.index('class="headline"')
    assert first < page.index("<table")
    assert "bbr1 fails 1 of 2 rows: G11 (G11a, of the window given back at a mark: 0 %" in page[first : first + 200]
    assert "SVG" in page
    assert "buffer 0.25 BDP" in page
    assert "34.57 Mb/s" in page  # what Heist measured
    for section, _, question in general.QUESTIONS:
        assert f"section {section}" in page
        assert question in page
    answer = json.loads((tmp_path / "out" / "result.json").read_text())
    assert answer["schema"] == "sojourn-check 1"
    assert len(answer["controllers"][0]["scenarios"]) == 5


def test_several_controllers_stand_on_one_page(sojourn: CommandLine, tmp_path: Path) -> None:
    done = sojourn("check-cc", "reno", "bbr1", "--set", "ecn=classic", "--only", "G11a", "--seeds", "1", "--out", "out")
    assert done.status == 1, done.stderr
    page = (tmp_path / "out" / "report.html").read_text()
    assert "<h1>2 congestion controllers</h1>" in page
    assert "1 of 2 rows fail, of 1 of 2 controllers: bbr1 G11." in page


def test_what_cannot_be_asked_is_told_before_anything_runs(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, said in (
        ((), "nothing to characterise"),
        (("cubik",), '"cubik" is no stack'),
        (("reno", "--only", "Z9"), '--only: "Z9" is no scenario'),
        (("reno", "--suite", "specific"), '--suite: "specific" is no suite'),
        (("cubic", "--set", "controller.beta=2"), "beta"),
        (("cubic", "--set", "controller.gamma=2"), "gamma"),
        (("cubic", "--suite", "rtp"), "no scenario of these is for what was named"),
    ):
        assert run_command(["check-cc", *arguments]) == 2, arguments
        assert said in capsys.readouterr().err


def test_scenarios_are_those_of_the_document_and_of_its_kind() -> None:
    items = [cell.item for cells in SUITES.values() for cell in cells]
    assert len(set(items)) == len(items)
    assert set(general.QUICK) <= set(items)
    sections = {cell.section.removeprefix("RFC 9743 ") for cell in general.CELLS}
    asked = "5.1.1 5.1.2 5.1.3 5.1.4 5.1.5 5.2.1 5.2.2 5.2.3 6.2 6.4 7.1 7.3 7.4 7.5 7.7 7.8 7.9"
    assert sections == {*asked.split(), "RFC 9438 5.1", "RFC 5681 3.1", "RFC 5681 4.1"}
    of = {
        name: {cell.item[0] for _, cell in chosen(Controller(name), None, None, None)}
        for name in ("linux-reno", "bbr3", "prague", "scream")
    }
    assert of == {"linux-reno": {"G", "B"}, "bbr3": {"G", "B"}, "prague": {"G", "B", "L", "H"}, "scream": {"R"}}
    assert len(chosen(Controller("bbr3"), ["bbr"], None, None)) == 22


def test_every_scenario_is_valid_and_what_others_printed_has_its_place() -> None:
    of = {"rtp": "scream", "bbr": "bbr3"}
    for suite in ("bbr", "l4s", "heist", "rtp"):
        controller = Controller(of.get(suite, "prague"))
        for cell in SUITES[suite]:
            both = cell if cell.moment is None else cell.at(3.25)
            assert ("3.25 s" in controller.scenario(both).canonical()) == bool(cell.moment)
    numbers = {cell.item: len(cell.numbers) for cell in heist.CELLS}
    assert {item: len(printed) for item, printed in heist.PRINTED.items()}.items() <= numbers.items()
    assert set(numbers) - set(heist.PRINTED) == {"H1d"}  # "at least .99"


def test_every_stack_is_a_scenario() -> None:
    for kind in stack_kinds():
        controller = Controller(kind)
        for cell in (general.CELLS[0], l4s.CELLS[0]):
            assert f'kind = "{kind}"' in controller.scenario(cell).canonical()


def test_the_band_has_every_number() -> None:
    band = known_controllers()
    of_states = {cell.item for cell in states.CELLS}  # which Reno has none of
    for suite in ("general", "bbr", "l4s"):
        for cell in SUITES[suite]:
            for number in cell.numbers:
                if cell.item in of_states:
                    continue
                known = band.values.get((cell.item, number.name), {})
                assert set(known) <= set(BAND)
                if number.name not in (
                    "answered",
                    "given",
                    "growth",
                    "probes",
                    "estimate",
                ):  # which need marks, or a probe
                    assert {"linux-reno", "linux-cubic"} <= set(known), (cell.item, number.name)


def test_the_band_is_what_the_engine_gives() -> None:
    from sojourn.congestion.suite import characterise

    band = known_controllers()
    for name in ("linux-reno", "bbr3"):
        cells = chosen(Controller(name), None, "G2-10-40-1,G6-cubic-10-40-1,G15c", None)
        result = characterise(Controller(name), cells, 3, 2, band)
        for one in result.measured:
            for number, estimate in one.values.items():
                known = band.values[one.cell.item, number][name]
                assert estimate.value == pytest.approx(known, rel=1e-4), (one.cell.item, number)
                assert place_of(estimate, band.ends(one.cell.item, number)) == "in band"


def test_buffers_and_indices_are_those_worked_out_by_hand() -> None:
    """Vectors: 10 Mb/s and 40 ms are 33.3 packets; the index of the two rates that Heist prints as 0.823."""
    assert [buffer_packets(10.0, 40.0, products) for products in (0.25, 1.0, 4.0)] == [9, 34, 134]
    assert buffer_packets(0.064, 40.0, 1.0) == 4
    assert round(jain(pl.Series(heist.PRINTED["H1a"]).to_numpy()), 3) == 0.823
    assert round(jain(pl.Series(heist.PRINTED["H2a"]).to_numpy()), 3) == 0.534


def _run(**tables: pl.DataFrame) -> Run:
    cell = Cell("X", "", "", "", lambda _: "", (), series_ms=10.0, window_ms=5.0, from_s=0.0)
    return Run(cell, {}, lambda name: tables[name])


def test_marks_are_answered_if_the_window_falls_within_three_round_trips() -> None:
    """Marks at 1, 2, ... 6 s; the window falls 0.1 s after each of the first three: half of six."""
    cell_ms = 10
    marks = [100 * second for second in range(1, 7)]
    series = pl.DataFrame(
        {
            "link": ["upstream"] * 6,
            "traffic": ["own"] * 6,
            "start_ns": [mark * cell_ms * 1_000_000 for mark in marks],
            "marked_packets": [1] * 6,
        }
    )
    times = [5_000_000 * n for n in range(1400)]
    sizes = [10.0 - sum(at >= second * 1e9 + 1e8 for second in (1, 2, 3)) for at in times]
    windows = pl.DataFrame({"direction": ["upstream"] * len(times), "at_ns": times, "window_segments": sizes})
    run = _run(traffic_series=series, connection_series=windows)
    assert answered(run) == 50.0


def test_a_row_tells_the_worst_of_its_scenarios() -> None:
    values = {"G15a": {"down": Estimate(1.0), "up": Estimate(31.0)}, "G15c": {"recovery": Estimate(40.0)}}
    rows = {row.item: row for row in rules.judged("general", values, known_controllers())}
    assert (rows["G15"].verdict, rows["G1"].verdict) == ("fail", "not judged")
    assert rows["G15"].found == "G15c, until 90 % of the rate: 40 s, and 1 more"
    assert math.isclose(LATEST_S, 30.0)


RENO = """
class Reno:
    def __init__(self, segment, initial_window):
        assert (segment, initial_window) == (1448, 10)

    def on_congestion_avoidance(self, acked, ack):
        return ack.window + acked / ack.window

    def on_congestion(self, cause, base, window, now):
        return base / 2
"""


def plugin(directory: Path, text: str) -> tuple[str, str]:
    (directory / "mine.py").write_text(text)
    return "--plugin", "mine.py"


def test_reno_as_a_plugin_is_reno(told: Told, tmp_path: Path) -> None:
    wanted = ("--only", "G1c,G6-reno-10-40-1")
    _, _, ours = told("reno", *wanted)
    status, failed, theirs = told(*plugin(tmp_path, RENO), *wanted)
    assert (status, failed) == (0, [])
    (mine,), (known,) = theirs["controllers"], ours["controllers"]
    assert mine["scenarios"] == known["scenarios"]
    assert mine["controller"] == "mine"


MUTANTS = {
    "keeps its window whatever is lost": (
        "return base / 2",
        "return base\n\n    def on_ack(self, ack):\n        return 100.0",
        "G1c,G6-reno-10-10-1",
        ["G1", "G6"],
    ),
    "does not look at marks": (
        "return base / 2",
        "return window if cause == 'mark' else base / 2",
        "G11a,G6-reno-10-40-1",
        ["G11"],
    ),
    "stops after one loss": (
        "return ack.window + acked / ack.window",
        "return ack.window",
        "G15c,G6-reno-10-40-1",
        ["G15"],
    ),
    "gives a hundredth back at marks": (
        "return base / 2",
        "return 0.99 * base if cause == 'mark' else base / 2",
        "G11a",
        ["G11"],
    ),
    "quarters": ("return base / 2", "return base / 4", "G16", ["G16"]),
    "is deaf below one loss in a hundred": (
        "return base / 2",
        "rare, self.acked = self.acked > 100, 0\n        return base if rare and cause == 'loss' else base / 2\n\n"
        "    acked = 0\n\n    def on_ack(self, ack):\n        self.acked += ack.acked",
        "G16",
        ["G16", "G17"],
    ),
    "takes nothing back at a timeout": (
        "return base / 2",
        "return window if cause == 'timeout' else base / 2",
        "G16,G19",
        ["G19"],
    ),
    "begins with one after each rest": (
        "return base / 2",
        "return base / 2\n\n    def on_restart(self, idle, window):\n        return 1.0",
        "G16,G20",
        ["G20"],
    ),
    "doubles in congestion avoidance": ("acked / ack.window", "acked", "G16", ["G17", "G18"]),
    "grows by three in a round trip": ("acked / ack.window", "3 * acked / ack.window", "G16", ["G17", "G18"]),
    "raises": ("return base / 2", "return base / 0", "G6-reno-10-40-1", ["X"]),
    "gives no number": ("return base / 2", "return float('nan')", "G6-reno-10-40-1", ["X"]),
}  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_plugin_with_a_fault_fails_exactly_its_rows(told: Told, tmp_path: Path, mutant: str) -> None:
    before, after, only, rows = MUTANTS[mutant]
    assert before in RENO
    changed = plugin(tmp_path, RENO.replace(before, after))
    assert told(*changed, "--only", only)[:2] == (1, rows)


def test_a_plugin_is_judged_by_the_document_that_it_names(told: Told, tmp_path: Path) -> None:
    reno = plugin(tmp_path, RENO)
    for like, rows in (("reno", []), ("cubic", ["G16", "G17"]), ("bbr3", [])):
        assert told(*reno, "--only", "G16", "--as", like)[:2] == (int(bool(rows)), rows), like
    faster = plugin(tmp_path, RENO.replace("base / 2", "0.7 * base"))
    assert told(*faster, "--only", "G16")[:2] == (1, ["G17"])


def test_rows_that_a_document_lets_a_stack_break_say_so(told: Told) -> None:
    for stack, only, row, said in (
        ("quic", "G19", "G19", "RFC 9002 lets it"),
        ("bbr1", "G11a", "G11", "draft-ietf-ccwg-bbr lets it"),
        ("ns2-linux-cubic", "G16", "G16", "819/1024"),
        ("bbr3", "B4", "B4", "drain_rounds"),
        ("ns2-ledbat-25ms", "G15b", "G15", "RFC 6817 lets it"),
        ("bbr2", "B5", "B5", "older than this draft"),
    ):
        status, failed, answer = told(stack, "--only", only)
        assert (status, failed) == (0, []), stack
        (found,) = [one for one in answer["controllers"][0]["rows"] if one["id"] == row]
        assert (found["verdict"], said in found["found"]) == ("warning", True), found
        assert "its document lets it break" in answer["headline"]


def test_no_built_in_stack_fails_a_row_about_its_response_a_timeout_or_a_rest(told: Told) -> None:
    """Rows that a document lets a stack break are named with it in the guide, and no others break."""
    broken: set[tuple[str, str]] = set()
    for stack in stack_kinds():
        status, failed, answer = told(stack, "--only", "G16,G19,G20")
        assert (status, failed) == (0, []), stack
        rows = answer["controllers"][0]["rows"]
        broken |= {(stack, row["id"]) for row in rows if row["verdict"] == "warning"}
    page = (Path(__file__).parents[1] / "docs/guides/check-a-congestion-controller.md").read_text()
    table = page.split("| stack | row |")[1].split("\n\n")[0]
    named = {
        (stack, row)
        for line in table.splitlines()[2:]
        for stack in re.findall(r"`([^`]+)`", line.split("|")[1])
        for row in line.split("|")[2].replace(",", " ").split()
    }
    assert {(stack, row) for stack, row in named if row in ("G16", "G17", "G18", "G19", "G20")} == broken


def test_what_is_no_controller_is_told(told: Told, tmp_path: Path) -> None:
    for text, said in (
        ("class Other: pass", "no such class; it needs one class with on_congestion_avoidance(self, acked, ack)"),
        (RENO + "raise ValueError('no')", "cannot be loaded: ValueError: no"),
    ):
        status, _, answer = told(*plugin(tmp_path, text), "--only", "G1c")
        assert status == 1
        assert said in answer["headline"]
