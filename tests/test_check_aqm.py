"""Queue managers judged from outside: built-in ones keep their rows, and faults fail theirs."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

import sojourn._engine as _engine
from sojourn.aqm import golden
from sojourn.aqm.page import place_in_band
from sojourn.aqm.scenarios import CELLS, LEFT_OUT, buffer_packets, scenario_text
from sojourn.aqm.suite import BAND, MEASURES, OWN, Manager, Measured, Result, characterise, known_managers, rows_of
from sojourn.judging.bands import Band
from sojourn.plugins import check_apart, read_plugin
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
    assert headline == "codel keeps all 16 rows of contract and law."


@pytest.mark.parametrize("kind", _engine.manager_kinds())
def test_every_kind_of_manager_has_the_buffer_of_a_scenario(kind: str) -> None:
    text = Manager(kind, kind).scenario(CELLS[0]).canonical()
    packets = buffer_packets(CELLS[0].rate_mbps, CELLS[0].rtt_ms)
    assert f'"{packets} packets"' in text or f'"{packets * 1500} B"' in text


def test_half_the_interval_breaks_the_control_law(sojourn: CommandLine) -> None:
    status, failed, headline = told(sojourn, "codel", "--set", "interval=50ms")
    assert (status, failed) == (1, ["CD2", "CD3"])
    assert headline.startswith("codel fails CD2, and 1 more row: ")


def test_a_coupling_of_four_breaks_the_coupling_alone(sojourn: CommandLine) -> None:
    assert told(sojourn, "dualpi2", "--set", "coupling=4")[:2] == (1, ["DQ1"])


def test_a_plugin_in_python_is_judged_too(sojourn: CommandLine, tmp_path: Path) -> None:
    write_plugin(tmp_path, FIFO.replace("limit = 50", "limit = 1000"))
    assert told(sojourn, "--plugin", "my_fifo.py")[:2] == (0, [])
    status, failed, _ = told(sojourn, "--plugin", "my_fifo.py", "--as", "codel")
    assert (status, failed) == (1, ["CD2", "CD3", "GT1", "GT2"])


def test_a_manager_in_python_says_through_a_pipe_how_long_it_takes(sojourn: CommandLine, tmp_path: Path) -> None:
    # Each manager takes more than a second of waiting, and the first line comes after one.
    write_plugin(
        tmp_path, FIFO.replace("        self.waiting", "        __import__('time').sleep(1.2)\n        self.waiting", 1)
    )
    done = sojourn("check-aqm", "--plugin", "my_fifo.py", "--quick", "--only", "T1", "--json")
    assert done.status == 0, done.stderr
    assert re.search(r"my-fifo, contract and laws: \d+ % after \d+ s, about \d+ s left", done.stderr), done.stderr


def test_golden_traces_are_rows_unless_they_are_not_wanted(sojourn: CommandLine, tmp_path: Path) -> None:
    assert told(sojourn, "codel", "--trace", "none") == (
        0, [], "codel keeps all 11 rows of contract and law.",
    )  # fmt: skip
    status, failed, _ = told(sojourn, "codel", "--set", "interval=50ms", "--trace", "golden")
    assert (status, failed) == (1, ["CD2", "CD3", "GT1", "GT2"])
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
    "hides a packet": ("            self.line.append(packet)", "            if packet.length != 576:\n                self.line.append(packet)", "X2"),
    "keeps what it has": ("return self.line.popleft()", "return None", "X2"),
    "holds a packet when idle": (
        "return self.line.popleft()",
        "return self.line.popleft() if len(self.line) > 1 or now - self.line[0].arrived > 0.03 else None",
        "X2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_plugin_fails_its_row_alone(sojourn: CommandLine, tmp_path: Path, fault: str) -> None:
    before, after, row = FAULTS[fault]
    assert before in FIFO
    write_plugin(tmp_path, FIFO.replace(before, after), "bad.py")
    assert told(sojourn, "--plugin", "bad.py")[:2] == (1, [row])


CODEL = """from collections import deque

TARGET, INTERVAL, MTU = 0.005, 0.1, 1514


class Codel:
    def __init__(self, random):
        self.line, self.bytes, self.limit = deque(), 0, 200
        self.first_above, self.drop_next = 0.0, 0.0
        self.count, self.last_count, self.dropping = 0, 0, False

    def enqueue(self, packet, now):
        if len(self.line) == self.limit:
            packet.drop("overlimit")
            return
        self.line.append(packet)
        self.bytes += packet.length

    def pull(self, now):
        if not self.line:
            self.first_above = 0.0
            return None, False
        packet = self.line.popleft()
        self.bytes -= packet.length
        if now - packet.arrived < TARGET - 1e-12 or self.bytes <= MTU:
            self.first_above = 0.0
        elif self.first_above == 0.0:
            self.first_above = now + INTERVAL
        elif now >= self.first_above:
            return packet, True
        return packet, False

    def dequeue(self, now):
        packet, late = self.pull(now)
        if self.dropping:
            self.dropping = late
            while self.dropping and now >= self.drop_next - 1e-12:
                packet.drop("target")
                self.count += 1
                packet, self.dropping = self.pull(now)
                if self.dropping:
                    self.drop_next += INTERVAL / self.count**0.5
        elif late:
            packet.drop("target")
            packet, _ = self.pull(now)
            self.dropping = True
            delta = self.count - self.last_count
            self.count = delta if delta > 1 and now - self.drop_next < 16 * INTERVAL else 1
            self.drop_next = now + INTERVAL / self.count**0.5
            self.last_count = self.count
        return packet
"""
"""CoDel as RFC 8289 section 5 spells it."""

PIE = """from collections import deque

ALPHA, BETA, REFERENCE, UPDATE, BURST = 0.125, 1.25, 0.015, 0.015, 0.15
SCALES = ((1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (1e-1, 2))


class Pie:
    def __init__(self, random):
        self.random, self.line, self.bytes, self.limit = random, deque(), 0, 200
        self.probability, self.delay, self.old, self.burst, self.due = 0.0, 0.0, 0.0, BURST, UPDATE

    def update(self, now):
        while self.due <= now + 1e-12:
            self.due += UPDATE
            scale = next((by for below, by in SCALES if self.probability < below), 1)
            change = (ALPHA * (self.delay - REFERENCE) + BETA * (self.delay - self.old)) / scale
            if self.burst > 0:
                self.probability = 0.0
            else:
                self.probability += min(change, 0.02) if self.probability >= 0.1 else change
            if self.delay <= 0 and self.old <= 0:
                self.probability *= 0.98
            self.probability = min(max(self.probability, 0.0), 1.0)
            self.burst = self.burst - UPDATE if self.burst - UPDATE > 1e-9 else 0.0
            if self.probability == 0 and self.delay < REFERENCE / 2 and self.old < REFERENCE / 2:
                self.burst = BURST
            self.old = self.delay

    def enqueue(self, packet, now):
        self.update(now)
        if len(self.line) == self.limit:
            packet.drop("overlimit")
            return
        low = self.old < REFERENCE / 2 and self.probability < 0.2
        if self.burst <= 0 and not low and self.bytes > 2048 and self.random.random() < self.probability:
            packet.drop("early")
            return
        self.line.append(packet)
        self.bytes += packet.length

    def dequeue(self, now):
        self.update(now)
        if not self.line:
            return None
        packet = self.line.popleft()
        self.bytes -= packet.length
        self.delay = now - packet.arrived if self.line else 0.0
        return packet
"""
"""PIE as RFC 8033 section 4 spells it, with updates that are made up for at each call."""

FLOWS = """
from collections import deque

QUEUES, QUANTUM = 1024, 1514


class Flows:
    def __init__(self, random):
        self.queues, self.deficits = [deque() for _ in range(QUEUES)], [0] * QUEUES
        self.new, self.old, self.limit = deque(), deque(), 1000

    def place(self, packet):
        return packet.flow * QUEUES >> 32

    def enqueue(self, packet, now):
        place = self.place(packet)
        self.queues[place].append(packet)
        if place not in self.new and place not in self.old:
            self.deficits[place] = QUANTUM
            self.new.append(place)
        if sum(map(len, self.queues)) > self.limit:
            longest = max(self.queues, key=len)
            for _ in range(min(64, len(longest) // 2)):
                longest.popleft().drop("fat_flow")

    def dequeue(self, now):
        while self.new or self.old:
            turns = self.new or self.old
            place = turns[0]
            if self.deficits[place] <= 0:
                self.deficits[place] += QUANTUM
                self.old.append(turns.popleft())
            elif not self.queues[place]:
                turns.popleft()
                if turns is self.new and self.old:
                    self.old.append(place)
            else:
                packet = self.queues[place].popleft()
                self.deficits[place] -= packet.length
                return packet
        return None
"""
"""Flow queues as RFC 8290 section 4 has them, without CoDel inside."""


def broken(tmp_path: Path, text: str, like: str, rows: list[str]) -> list[str]:
    """Return those of the rows that a plugin of this text breaks, and with a question mark those that are not judged."""
    plugin = read_plugin(write_plugin(tmp_path, text, "mine.py"))
    plugin.announce()
    found: list[tuple[str, str, str]] = []
    check_apart(Manager(plugin.name, like, plugin=plugin).scenario(None), plugin, like, rows, found.append)
    marks = {"pass": None, "fail": "", "not judged": "?"}
    judged = [(row, marks[verdict]) for row, (verdict, _, _) in zip(rows, found, strict=True)]
    return [f"{row}{mark}" for row, mark in judged if mark is not None]


@pytest.mark.parametrize(("text", "kind", "rows"), [(CODEL, "codel", 13), (PIE, "pie", 12)], ids=["codel", "pie"])
def test_a_plugin_that_follows_its_document_keeps_every_row_with_a_limit_of_its_own(
    sojourn: CommandLine, tmp_path: Path, text: str, kind: str, rows: int
) -> None:
    write_plugin(tmp_path, text, "mine.py")
    said = f"mine keeps all {rows} rows of contract and law."
    assert told(sojourn, "--plugin", "mine.py", "--as", kind) == (0, [], said)


RESUMED = "delta if delta > 1 and now - self.drop_next < 16 * INTERVAL else 1"

ROWS = {"codel": ("CD",), "pie": ("PI",), "fq-codel": ("FQ",), "drop-tail": ("NQ",)}
"""Rows of the document; those of every manager take longer."""

LATER: dict[str, tuple[str, str, str, str, list[str]]] = {
    "follows the document": (CODEL, "codel", "", "", []),
    "forgets its count": (CODEL, "codel", RESUMED, "1", ["CD3"]),
    "forgets it within 8 intervals": (CODEL, "codel", "16 * INTERVAL", "8 * INTERVAL", ["CD3"]),
    "never forgets it": (CODEL, "codel", "< 16 * INTERVAL", "< 1e9", ["CD3"]),
    "resumes at the count less two": (CODEL, "codel", "delta = self.count - self.last_count", "delta = self.count - 2", ["CD3"]),
    "has the gains of the document": (PIE, "pie", "", "", []),
    "updates each 16 ms": (PIE, "pie", "0.015, 0.015, 0.15", "0.015, 0.016, 0.15", ["PI1"]),
    "aims at 16 ms": (PIE, "pie", "0.015, 0.015, 0.15", "0.016, 0.015, 0.15", ["PI1"]),
    "doubles its gains": (PIE, "pie", "0.125, 1.25", "0.25, 2.5", ["PI1"]),
    "draws from a generator of its own": (
        PIE, "pie", "self.random, self.line", "self.random, self.line = __import__('random').Random(1), 0\n        self.own, self.line", ["PI1?", "PI2?"],
    ),
    "has 1024 queues": (FLOWS, "fq-codel", "", "", ["FQ3?"]),
    "has 16 queues": (FLOWS, "fq-codel", "QUEUES, QUANTUM = 1024", "QUEUES, QUANTUM = 16", ["FQ1", "FQ3?", "FQ4"]),
    "hashes addresses alone": (FLOWS, "fq-codel", "packet.flow * QUEUES >> 32", "7", ["FQ1", "FQ2", "FQ3?", "FQ4"]),
    "drops one packet of 100,000 early": (
        FIFO, "drop-tail", "if len(self.line) == self.limit:", "self.seen = getattr(self, 'seen', 0) + 1\n        if self.seen % 100_000 == 0:", ["NQ1"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", LATER)
def test_a_fault_that_shows_later_fails_its_rows(tmp_path: Path, fault: str) -> None:
    text, kind, before, after, rows = LATER[fault]
    assert before in text
    laws = [row for row, _, _ in _engine.check_rows(kind) if row[:2] in ROWS[kind]]
    assert broken(tmp_path, text.replace(before, after, 1), kind, laws) == rows


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
    "takes 16 B a packet": ("arrival", "memset(malloc(16), 1, 16);", "X8", "MB more"),
    "takes 8 B a packet of what it has": (
        "arrival",
        "static char *p, *e; if (p == e) e = (p = malloc(65536)) + 65536; memset(p, 1, 8), p += 8;",
        "X8",
        "2.4 MB more",
    ),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_library_that_crashes_loops_or_lies_gives_its_row(sojourn: CommandLine, tmp_path: Path, lie: str) -> None:
    place, line, row, said = LIES[lie]
    compiled(tmp_path, IN_C, **{place: line})
    done = sojourn("check-aqm", "--plugin", "libmine.so", "--json", "--laws")
    assert done.status == 1, done.stderr
    if row != "X8":  # which is told after a hundred thousand packets
        assert done.processor_s < GONE_WRONG_S
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
    assert "pie keeps all 12 rows of contract and law, and " in page[first : first + 300]
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
