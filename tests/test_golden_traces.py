"""Golden traces of queue managers: those that come along replay to the letter, and a fault is named by its line."""

import gzip
import json
import lzma
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import sojourn._engine as _engine
from sojourn.aqm.golden import COURSES, FOLDER, LARGEST, RUNS, golden_traces, made_anew, read_golden, replay
from sojourn.base.errors import UsageError
from sojourn.plugins import read_plugin
from support import CommandLine
from test_plugins import FIFO, IN_C, compiled, write_plugin

NAMES = [*COURSES, *(f"{kind}-run" for kind in RUNS)]

LONGEST_TEXT = 400_000
"""Bytes of a trace that comes along. Source: the specification of the format."""


def golden(name: str) -> str:
    return read_golden(FOLDER / f"{name}.sjt.xz")


def without_version(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.startswith("= made-by"))


def test_there_is_a_trace_of_each_name_and_no_other() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(f"{n}.sjt.xz" for n in NAMES)


def test_every_kind_of_manager_has_one() -> None:
    assert {line.split()[0] for line, _ in COURSES.values()} == set(_engine.manager_kinds())


@pytest.mark.parametrize("name", NAMES)
def test_each_trace_replays_to_the_letter_and_is_small(name: str) -> None:
    text = golden(name)
    replayed = replay(text)
    assert (replayed.difference, replayed.line) == ("", 0)
    assert replayed.calls > 2000
    assert len(text) < LONGEST_TEXT
    assert "\n= made-by sojourn " in text


@pytest.mark.parametrize("name", ["codel", "pie", "docsis-dual-queue", "fq-codel-run"])
def test_traces_are_those_that_the_tool_writes(name: str) -> None:
    assert without_version(made_anew(name)) == without_version(golden(name))


@pytest.mark.parametrize("name", ["codel", "docsis-dual-queue"])
def test_one_changed_byte_in_any_line_of_outputs_is_found_and_named(name: str) -> None:
    lines = golden(name).split("\n")
    outputs = [place for place, line in enumerate(lines) if line.startswith("< ")]
    for place in outputs[:: len(outputs) // 60]:
        line = lines[place]
        last = line[-1]
        other = {"-": "7", "9": "8"}.get(last, "9" if last.isdigit() else "l" if last == "c" else "")
        changed = line[:-1] + other if other else line.replace("overlimit", "early")
        if changed == line or not other:
            changed = "< s -"
        text = "\n".join([*lines[:place], changed, *lines[place + 1 :]])
        assert replay(text).line == place + 1, changed


def test_another_manager_ends_at_the_first_line_that_differs(sojourn: CommandLine) -> None:
    done = sojourn("golden", "replay", "--golden", "codel", "--manager", "codel interval=50ms")
    assert done.status == 1
    lines = done.stdout.splitlines()
    assert lines[0].split(": ", 1)[1].startswith('the trace says "< ')
    number = lines[0].split(":")[1]
    assert next(line for line in lines if line.startswith("->")).split()[1] == number
    done = sojourn("trace-replay", "--golden", "codel")
    assert done.status == 0
    assert done.stdout.count(": the same over ") == len(golden_traces("codel"))


def test_json_is_one_object(sojourn: CommandLine) -> None:
    path = str(FOLDER / "drop-tail-packets.sjt.xz")
    done = sojourn("golden", "replay", path, "--json")
    (trace,) = json.loads(done.stdout)["traces"]
    assert trace["same"] is True
    assert trace["manager"].startswith('drop-tail limit="100 packets"')


def test_a_plugin_in_python_and_one_in_c_are_replayed(tmp_path: Path) -> None:
    write_plugin(tmp_path, FIFO.replace("limit = 50", "limit = 100"))
    plugin = read_plugin(tmp_path / "my_fifo.py")
    assert replay(golden("drop-tail-packets"), plugin=plugin).difference == ""
    library = read_plugin(compiled(tmp_path, IN_C.replace("50", "100")))
    assert replay(golden("drop-tail-packets"), plugin=library).difference == ""
    shorter = read_plugin(compiled(tmp_path, IN_C, "libshorter.so"))
    differs = replay(golden("drop-tail-packets"), plugin=shorter)
    assert 'the trace says "< e ' in differs.difference
    assert differs.difference.endswith(' overlimit"')


RANDOM = """
class Fiftieth:
    def __init__(self, random):
        self.random, self.line = random, []

    def enqueue(self, packet, now):
        if self.random.random() < 0.3:
            packet.drop("early")
        else:
            self.line.append(packet)

    def dequeue(self, now):
        return self.line.pop(0) if self.line else None
"""

DRAWN = """sojourn-trace 1
= manager red
= draws recorded
> u 0x1.8p-1
> a 0 1 1500 1 0 0 - 0
< e 1
> u 0x1p-3
> a 0 2 1500 1 0 0 - 0
< d 2 early
> o 5
< s 1
< q 0 0
"""


def test_a_plugin_draws_the_numbers_of_the_trace(tmp_path: Path) -> None:
    (tmp_path / "fiftieth.py").write_text(RANDOM)
    plugin = read_plugin(tmp_path / "fiftieth.py")
    assert replay(DRAWN, plugin=plugin).difference == ""
    swapped = DRAWN.replace("0x1p-3", "0x1p-1")
    assert replay(swapped, plugin=plugin).line == 9
    short = DRAWN.replace("> u 0x1p-3\n", "")
    with pytest.raises(Exception, match="draws more numbers than the trace has"):
        replay(short, plugin=plugin)


def test_other_random_numbers_follow_the_same_law_and_another_law_does_not() -> None:
    text = golden("pie")
    assert replay(text, how="law").difference == ""  # with a random stream of its own
    endless = replay(text, line='drop-tail limit="1000 packets"', how="law")
    assert re.search("(drops|marks) in a second, and there were 0: ", endless.difference)


def test_a_recorded_trace_replays(sojourn: CommandLine) -> None:
    root = Path(__file__).parents[1]
    scenario = root / "scenarios" / "dumbbell-codel.toml"
    done = sojourn(
        "golden", "record", str(scenario), "--set", "duration=2s", "--direction", "downstream", "--out", "mine.sjt.xz"
    )
    assert done.status == 0, done.stderr
    assert "packets" in done.stderr
    assert sojourn("golden", "replay", "mine.sjt.xz").status == 0


NO_TRACES: dict[str, tuple[Callable[[], bytes], str]] = {
    "text": (lambda: b"nothing", 'line 1: a trace begins with "sojourn-trace 1"'),
    "bytes": (lambda: b"\xff\xfe", "it is damaged"),
    "gzip, cut": (lambda: gzip.compress(b"sojourn-trace 1\n")[:-9], "it is cut off"),
    "gzip, damaged": (lambda: b"\x1f\x8b\x08rubbish", "it is damaged"),
    "xz, cut": (lambda: lzma.compress(b"sojourn-trace 1\n")[:-9], "it is cut off"),
    "xz, damaged": (lambda: b"\xfd7zXZ\0rubbish", "it is damaged"),
    "xz, huge": (lambda: lzma.compress(b"\n" * (LARGEST + 1), preset=1), "it unpacks to more than 64 MiB"),
    "gzip, huge": (lambda: gzip.compress(b"\n" * (LARGEST + 1)), "it unpacks to more than 64 MiB"),
    "a manager of too many queues": (lambda: b"sojourn-trace 1\n= manager fq-codel queues=4000000000\n", "queues: "),
}
"""Files that are no traces, made when they are wanted (gzip writes the time), and what is said of them."""


@pytest.mark.parametrize("name", NO_TRACES)
def test_a_file_that_is_no_trace_is_refused_in_a_sentence(sojourn: CommandLine, tmp_path: Path, name: str) -> None:
    content, said = NO_TRACES[name]
    (tmp_path / "x.sjt").write_bytes(content())
    done = sojourn("golden", "replay", "x.sjt")
    assert done.status == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_what_cannot_be_asked_is_told(sojourn: CommandLine) -> None:
    for arguments, said in [
        ((), "no trace is named"),
        (("--golden", "codle"), 'no golden trace of "codle"'),
        (("--golden", "pie", "--law", "--slack", "1us"), "compared in one way"),
        (("--golden", "codel", "--manager", "codel traget=1ms"), "did you mean target?"),
        (("missing.sjt",), "missing.sjt"),
    ]:
        done = sojourn("golden", "replay", *arguments)
        assert (done.status, said in done.stderr) == (2, True), done.stderr
    with pytest.raises(UsageError, match="no golden trace"):
        golden_traces("nothing")
