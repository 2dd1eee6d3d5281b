"""The points of the five documents name only what exists, and what they name of White 2013 does what it says."""

import importlib
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import sojourn._engine as _engine
from sojourn import Scenario, run
from sojourn.base.metrics import metrics
from sojourn.cli.app import COMMANDS, parser_of
from sojourn.study.library import builtin_names
from support import CommandLine

ROOT = Path(__file__).parents[1]
RECIPES = [file.stem for file in (ROOT / "python/sojourn/recipes").iterdir()]


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(ROOT / "tools"), *sys.path])
    return importlib.import_module("five_documents")


def unknown(asked: str, words: set[str], names: set[str]) -> str | None:
    """Say what is wrong with a command, a setting, or the name of a key or metric."""
    if asked.startswith("sojourn "):
        said = asked.removeprefix("sojourn ")
        found = [name for name in COMMANDS if f"{said} ".startswith(f"{name} ")]
        if not found:
            return f"{asked}: no command"
        study = said.removeprefix("study run ").split()[0]
        if "study run" in said and study not in (*builtin_names(), *RECIPES):
            return f"{asked}: no study"
        text = parser_of(max(found, key=len)).format_help()
        missing = [flag for flag in re.findall(r"--[a-z-]+", said) if flag not in text]
        return f"{asked}: no {missing}" if missing else None
    key, _, value = asked.partition(" = ")
    if value and value.strip('"') not in words:
        return f"{asked}: no such word"
    return None if key.rpartition(".")[2] in names | {"kind", "profile"} else f"{asked}: no name"


def test_whatever_a_point_names_exists(table: ModuleType) -> None:
    keys = _engine.scenario_keys()
    words = {word for row in keys for cell in row for word in re.findall(r'"([^"]+)"', cell)}
    names = {row[0].rpartition(".")[2] for row in keys} | set(metrics())
    files = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "crates").rglob("*.rs")]
    tests = set(re.findall(r"(?:def|fn) (\w+)", "\n".join(file.read_text() for file in files)))
    wrong: list[str] = []
    for point in table.read():
        wrong += [said for asked in point.asked if (said := unknown(asked, words, names))]
        wrong += [f"{point.number}: no test {test}" for test in point.tests if test not in tests]
        wrong += [] if (ROOT / "docs" / point.page).is_file() else [f"{point.number}: no page {point.page}"]
    assert wrong == []


def test_a_point_is_whole_by_a_test_or_says_what_is_missing(table: ModuleType) -> None:
    points = table.read()
    assert len({(point.document, point.point) for point in points}) == len(points)
    for point in points:
        assert point.whole in table.STATES, point
        assert bool(point.why) == (point.whole != "yes"), point
        assert point.tests or point.whole != "yes", point
    *documents, (_, every, *_states) = table.counts(points)
    assert len(documents) == 5
    assert sum(number for _, number, *_ in documents) == every == len(points)


def test_the_page_is_made_from_the_points(table: ModuleType) -> None:
    text = table.PAGE.read_text(encoding="utf-8")
    assert text == table.page(table.read(), text), "run tools/five_documents.py --write"


LINE = """
schema = 1
name = "line"
duration = "{duration}"
[access.upstream]
link = {{ kind = "serial", rate = "4 Mb/s" }}
queue = {queue}
[access.downstream]
link = {{ kind = "serial", rate = "40 Mb/s" }}
queue = {{ kind = "drop-tail", limit = "1 MB" }}
"""

UPLOAD = """
[[traffic]]
name = "upload"
app = { kind = "bulk", start = "2 s" }
stack = "linux-cubic"
rtt = "20 ms"
"""


def values(text: str) -> dict[tuple[str, str], float]:
    """Return the metrics of a run by subject and name."""
    table = run(Scenario.parse(text)).metrics
    return {(row["subject"], row["metric"]): row["value"] for row in table.iter_rows(named=True)}


def line(queue: str, more: str, duration: str = "20 s") -> str:
    """Return a scenario with this queue upstream."""
    return LINE.format(queue=queue, duration=duration) + more


def test_netalyzr_sees_the_buffer_that_there_is() -> None:
    # 240 kB at 4 Mb/s are 480 ms: Table 1 of White 2013 has that for Cox.
    load = '[[load]]\nname = "n"\ntest = "netalyzr"\nrtt = "20 ms"\nstack = "linux-cubic"\n'
    found = values(line('{ kind = "drop-tail", limit = "240 kB" }', load, "35 s"))
    assert found["n-upload", "speed_estimate"] == pytest.approx(4.0, rel=0.01)
    assert found["n-upload", "buffer_delay_estimate"] == pytest.approx(480, rel=0.02)
    assert found["n-upload", "buffer_estimate"] == pytest.approx(240, rel=0.02)
    # Downstream the tool sends no faster than half of the line: ">20000", as the table has it, and nothing of a buffer.
    assert found["n-download", "speed_above"] == pytest.approx(20.0, abs=1e-3)
    assert not {("n-download", "speed_estimate"), ("n-download", "buffer_estimate")} & set(found)
    assert ("n-upload", "speed_above") not in found


def test_connections_to_a_server_share_a_sub_flow_if_three_fields_make_it() -> None:
    uploads = UPLOAD.replace('"bulk"', '"bulk", lanes = 6') + "[record]\nflows = true\n"
    queue = '{{ kind = "sfq-codel", fields = "{}" }}'
    for fields in ("five", "three"):
        text = line(queue.format(fields), uploads, "4 s")
        flows = run(Scenario.parse(text)).tables["flows"]
        up = flows.filter(flows["direction"] == "upstream")
        assert len(up) == 6
        assert (up["sub_flow"].n_unique() == 1) == (fields == "three")


def test_queues_of_a_direction_take_the_same_fields(sojourn: CommandLine, tmp_path: Path) -> None:
    scenario = tmp_path / "line.toml"
    shared = '[[link]]\nname = "far"\nupstream.link = { kind = "serial", rate = "9 Mb/s" }\n'
    shared += 'upstream.queue = { kind = "fq-codel" }\n'
    shared += 'downstream.link = { kind = "serial", rate = "90 Mb/s" }\n'
    shared += 'downstream.queue = { kind = "drop-tail", limit = "1 MB" }\n'
    text = line('{ kind = "sfq", fields = "three" }', shared + UPLOAD)
    scenario.write_text(text.replace("rtt =", 'path = ["access", "far"]\nrtt ='))
    done = sojourn("check", str(scenario))
    assert done.status == 2
    assert "the fq-codel of link.far.upstream tells flows apart by five" in done.stderr


def test_a_cloud_game_is_judged_by_its_budget_and_scored() -> None:
    game = '[[traffic]]\nname = "game"\napp = { kind = "cloud-game", profile = "1080p" }\n'
    queue = '{ kind = "drop-tail", limit = "100 kB" }'
    near = values(line(queue, game + 'rtt = "20 ms"\n', "30 s"))
    far = values(line(queue, game + 'rtt = "200 ms"\n', "30 s"))
    printed = values(line(queue, game + 'rtt = "120 ms"\n', "30 s"))
    assert near["game", "game_over_budget"] == 0
    assert near["game", "game_mos"] == pytest.approx(4.64 - 0.76 * 20 / 120, abs=0.05)
    # White 2013 4.1.3 prints 3.88 at 120 ms; the line itself takes some milliseconds more.
    assert printed["game", "game_mos"] == pytest.approx(3.88, abs=0.05)
    assert far["game", "game_over_budget"] == 100
    assert far["game", "game_mos"] == pytest.approx(4.64 - 0.76 * 200 / 120, abs=0.1)


def test_presses_that_are_lost_cost_a_cloud_game_what_is_printed() -> None:
    game = '[[traffic]]\nname = "game"\napp = { kind = "cloud-game", profile = "1080p" }\nrtt = "120 ms"\n'
    queue = '{ kind = "drop-tail", limit = "100 kB" }'
    lossy = '[[access.upstream.conditions]]\nat = "0 s"\nloss = 0.01\n'
    found = values(line(queue, lossy + game, "20 s"))
    assert found["game", "game_mos"] == pytest.approx(3.63, abs=0.06)


def test_a_listener_that_adapts_hears_what_a_fixed_one_throws_away() -> None:
    # An upload fills 100 kB, 200 ms, and so most packets are more than 60 ms later than the fastest.
    call = '[[traffic]]\nname = "call"\napp = { kind = "voice", playout = "adaptive" }\n'
    call += 'rtt = "20 ms"\n'
    found = values(line('{ kind = "drop-tail", limit = "100 kB" }', call + UPLOAD, "30 s"))
    assert found["call", "late_adaptive"] < 0.5 * found["call", "late"]
    assert 150 < found["call", "playout_delay"] < 400
    assert found["call", "mos_adaptive"] > found["call", "mos"]


def test_a_listener_that_adapts_is_no_worse_where_nothing_is_late() -> None:
    call = '[[traffic]]\nname = "call"\napp = { kind = "voice", playout = "adaptive" }\nrtt = "20 ms"\n'
    web = '[[traffic]]\nname = "page"\napp = { kind = "web", profile = "white2013" }\nstack = "linux-reno"\n'
    for beside in ("", web):
        found = values(line('{ kind = "drop-tail", limit = "100 kB" }', call + beside, "30 s"))
        assert found["call", "late_adaptive"] <= found["call", "late"]
        assert found["call", "mos_adaptive"] >= found["call", "mos"] - 1e-3


def test_the_delay_that_a_capture_tells_is_that_of_the_run(sojourn: CommandLine, tmp_path: Path) -> None:
    scenario = tmp_path / "line.toml"
    scenario.write_text(line('{ kind = "drop-tail", limit = "100 kB" }', UPLOAD, "12 s"))
    told = sojourn("run", str(scenario), "--pcap", str(tmp_path / "c"), "--json")
    assert told.status == 0, told.stderr
    file = tmp_path / "c" / "access-subscriber.pcapng"
    done = sojourn("capture", "delay", str(file), "--json")
    assert done.status == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["connections"], found["peers"], found["home"]) == (1, 1, "192.168.0.2")
    truth = values(scenario.read_text())
    # Downstream nothing waits: there and back is what waits upstream.
    for name, metric in (("p50", "delay_p50"), ("p95", "delay_p95")):
        shortest = truth["upload", "delay_min"]
        assert found["quantiles_ms"][name] == pytest.approx(truth["upload", metric] - shortest, rel=0.1)
    said = sojourn("capture", "delay", str(file)).stdout
    assert said.startswith("Half of the packets waited ")
    nobody = sojourn("capture", "delay", str(file), "--home", "10.9.9.9")
    assert nobody.status == 2
    assert "no connection of 10.9.9.9 has a round trip" in nobody.stderr
