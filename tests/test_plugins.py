"""Queue managers in files of the user's own compete in studies, and whatever they do ends in a sentence."""

import ctypes
import json
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn
from sojourn import run
from sojourn.base.errors import UsageError
from sojourn.plugins import PluginFailed, read_plugin, simulate_apart, try_plugins
from sojourn.plugins.controller_library import STRUCTS
from sojourn.plugins.library import REASONS
from sojourn.scenario.scenario_file import Scenario
from sojourn.store import Store
from sojourn.study.result import StudyResult
from support import CommandLine, write_scenario, write_study

ROOT = Path(__file__).parents[1]
HEADER = ROOT / "python/sojourn/plugins/sojourn_plugin.h"

FIFO = """
from collections import deque

class Fifo:
    limit = 50

    def __init__(self, random):
        self.line = deque()

    def enqueue(self, packet, now):
        if len(self.line) == self.limit:
            packet.drop("overlimit")
        else:
            self.line.append(packet)

    def dequeue(self, now):
        return self.line.popleft() if self.line else None
"""

IN_C = """
#include "sojourn_plugin.h"
#include <stdlib.h>
#include <string.h>

enum { ROOM = 50 };
typedef struct { uint64_t line[ROOM], first, count; } queue;

static void *create(const char *config, size_t length) {
    (void)config, (void)length;
    return calloc(1, sizeof(queue));
}

static int32_t enqueue(void *state, uint64_t now_ns, const sjq_meta *meta, uint64_t ticket, const sjq_host *host) {
    queue *q = state;
    (void)now_ns, (void)meta, (void)host;
    /* at arrival */
    if (q->count == ROOM) {
        host->dropped(host->user, ticket, SJQ_OVERLIMIT);
        return 1;
    }
    q->line[(q->first + q->count++) % ROOM] = ticket;
    return 0;
}

static int32_t dequeue(void *state, uint64_t now_ns, const sjq_host *host, uint64_t *ticket) {
    queue *q = state;
    (void)now_ns, (void)host;
    if (q->count == 0) return 0;
    *ticket = q->line[q->first];
    q->first = (q->first + 1) % ROOM;
    q->count--;
    /* at departure */
    return 1;
}

void destroy(void *state) { free(state); }

const sjq_plugin *sjq_plugin_v1(void) {
    static const sjq_plugin plugin = {sizeof(sjq_plugin), SJQ_PLUGIN_ABI, create, enqueue, dequeue, destroy};
    return &plugin;
}
"""


def queue_study(directory: Path, **changes: object) -> Path:
    """Write a study of a household whose upstream queue is a drop-tail queue of 50 packets."""
    own: dict[str, object] = {
        "matrix": [],
        "overlays": {},
        "seeds": {"first": 1, "count": 2},
        "axes": {"queue": {"key": "access.upstream.queue", "values": [{"kind": "drop-tail", "limit": "50 packets"}]}},
    }
    return write_study(directory, "1 s", **{**own, **changes})


def write_plugin(directory: Path, text: str = FIFO, name: str = "my_fifo.py") -> Path:
    path = directory / name
    path.write_text(text)
    return path


def compiled(directory: Path, text: str, name: str = "libmine.so", **replaced: str) -> Path:
    """Compile a library in C, with lines in place of its comments, or skip the test loudly where there is no compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler: plugins in C are not tested")
    for place, line in replaced.items():
        text = text.replace(f"/* at {place} */", line)
    source = directory / "mine.c"
    source.write_text(text)
    command = [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    command += ["-I", str(HEADER.parent), "-o", str(directory / name), str(source)]
    subprocess.run(command, check=True)
    return directory / name


def metrics_of(directory: Path, point: str) -> pl.DataFrame:
    table = pl.read_parquet(directory / "metrics.parquet")
    return table.filter(pl.col("point") == point).drop("point")


def test_a_plugin_competes_as_one_more_value_and_gives_the_same_bits_as_ours(
    sojourn: CommandLine, tmp_path: Path
) -> None:
    queue_study(tmp_path)
    write_plugin(tmp_path)
    done = sojourn("study", "run", "study.toml", "--plugin", "my_fifo.py", "--out", "out")
    assert done.status == 0, done.stderr
    ours, theirs = (metrics_of(tmp_path / "out", name) for name in ("drop-tail", "my-fifo"))
    assert theirs.equals(ours)
    drops = ours.filter(subject="upstream", metric="dropped_overlimit")["value"]
    assert min(drops) > 0
    assert "my-fifo" in (tmp_path / "out" / "summary.csv").read_text()
    assert "my-fifo" in (tmp_path / "out" / "report.html").read_text()


def test_its_runs_are_kept_by_the_digest_of_the_file(sojourn: CommandLine, tmp_path: Path) -> None:
    queue_study(tmp_path)
    plugin = write_plugin(tmp_path)
    command = ("study", "run", "study.toml", "--plugin", plugin.name, "--no-figures", "--json")
    first, again = (sojourn(*command, "--out", out).json()["runs"] for out in ("one", "two"))
    assert first == {"computed": 4, "reused": 0}
    assert again == {"computed": 0, "reused": 4}
    plugin.write_text(FIFO.replace("limit = 50", "limit = 20"))
    changed = sojourn(*command, "--out", "three").json()["runs"]
    assert changed == {"computed": 2, "reused": 2}
    drops = [
        metrics_of(tmp_path / out, "my-fifo").filter(subject="upstream", metric="dropped_overlimit")["value"]
        for out in ("one", "three")
    ]
    assert drops[0].to_list() != drops[1].to_list()
    manifest = json.loads((tmp_path / "three" / "manifest.json").read_text())
    digest = read_plugin(plugin).sha256
    assert manifest["plugins"] == {"my-fifo": {"file": "my_fifo.py", "sha256": digest, "added": True, "stack": False}}
    assert digest in (tmp_path / "three" / "report.html").read_text()


def test_a_library_in_c_gives_the_same_bits_as_ours(tmp_path: Path) -> None:
    scenario = sojourn.load_scenario(write_scenario(tmp_path))
    plugin = read_plugin(compiled(tmp_path, IN_C))
    plugin.announce()
    mine = scenario.with_settings({"access.upstream.queue": {"kind": "plugin", "name": "mine"}})
    files = simulate_apart(mine, 3, [plugin])
    theirs = pl.read_parquet(files["metrics.parquet"])
    ours = sojourn.run(scenario, seed=3).metrics
    assert theirs.equals(ours)
    assert ours.filter(subject="upstream", metric="dropped_overlimit")["value"].item() > 0


def test_a_report_is_made_again_without_the_plugin_and_nothing_of_it_runs(sojourn: CommandLine, tmp_path: Path) -> None:
    queue_study(tmp_path)
    plugin = write_plugin(tmp_path)
    done = sojourn("study", "run", "study.toml", "--plugin", plugin.name, "--out", "out")
    assert done.status == 0, done.stderr
    page = (tmp_path / "out" / "report.html").read_text()
    trap = f"open({str(tmp_path / 'ran')!r}, 'w').close()\n"
    for folder in (tmp_path, tmp_path / "out", tmp_path / "out" / "study"):
        folder.mkdir(exist_ok=True)
        (folder / "my_fifo.py").write_text(trap + FIFO)
        (folder / "sitecustomize.py").write_text(trap)
    for command in (
        ("report", "out"),
        ("compare", "out", "--by", "queue"),
        ("check", "study.toml"),
        ("study", "show", "study.toml"),
    ):
        done = sojourn(*command)
        assert done.status == 0, (command, done.stderr)
    assert not (tmp_path / "ran").exists()
    again = (tmp_path / "out" / "report.html").read_text()
    assert re.findall("my-fifo", again) == re.findall("my-fifo", page) != []


def test_a_study_may_name_the_plugin_itself(sojourn: CommandLine, tmp_path: Path) -> None:
    named = {"kind": "plugin", "name": "my-fifo"}
    axes = {"wish": {"key": "access.upstream.queue", "values": [named, "codel"]}}
    queue_study(tmp_path, axes=axes)
    write_plugin(tmp_path)
    done = sojourn("study", "run", "study.toml", "--out", "none")
    assert done.status == 2
    assert 'no plugin "my-fifo" was given' in done.stderr
    assert "--plugin FILE" in done.stderr
    done = sojourn("study", "run", "study.toml", "--plugin", "my_fifo.py", "--out", "out")
    assert done.status == 0, done.stderr
    assert StudyResult.load(tmp_path / "out").points["wish"].to_list() == ["my-fifo", "codel"]


def test_from_python_a_study_takes_plugins_too(tmp_path: Path) -> None:
    base = sojourn.load_scenario(write_scenario(tmp_path, duration="1 s"))
    axes = {"queue": {"key": "access.upstream.queue", "values": ["codel"]}}
    study = sojourn.Study(base, axes, name="own")
    store = Store(tmp_path / "store")
    result = study.run(out=tmp_path / "out", store=store, plugins=[write_plugin(tmp_path)])
    assert result.points["queue"].to_list() == ["codel", "my-fifo"]


@pytest.mark.parametrize("what", ["os.write(number, b'x' * 100)", "os.close(number)"])
def test_a_plugin_that_takes_low_descriptors_for_its_own_harms_nothing(tmp_path: Path, what: str) -> None:
    scenario = sojourn.load_scenario(write_scenario(tmp_path, duration="1 s"))
    files: list[dict[str, bytes]] = []
    for name, before in (("mine", ""), ("same", WRITES.replace("2048", "64").format(first=3, content="b'x'"))):
        text = before.replace("os.write(number, b'x')", what) + FIFO
        plugin = read_plugin(write_plugin(tmp_path, text, f"{name}.py"))
        plugin.announce()
        own = scenario.with_settings({"access.upstream.queue": {"kind": "plugin", "name": name}})
        files.append(simulate_apart(own, 1, [plugin]))
    assert files[0]["metrics.parquet"] == files[1]["metrics.parquet"]


def test_a_single_run_takes_plugins_too(sojourn: CommandLine, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    write_plugin(tmp_path)
    own = 'access.upstream.queue={ kind = "plugin", name = "my-fifo" }'
    mine = ("run", "household.toml", "--set", own, "--json")
    ours = sojourn("run", "household.toml", "--json").json()["metrics"]
    assert sojourn(*mine, "--plugin", "my_fifo.py").json()["metrics"] == ours
    kept = (*mine, "--plugin", "my_fifo.py", "--store", "kept")
    assert [sojourn(*kept).json()["from_store"] for _ in range(2)] == [False, True]
    done = sojourn(*mine, "--plugin", "my_fifo.py", "--out", "out", "--report")
    assert done.status == 0, done.stderr
    assert (tmp_path / "out" / "report.html").stat().st_size > 10_000
    done = sojourn(*mine)
    assert done.status == 2
    assert 'no plugin "my-fifo" was given' in done.stderr


def test_a_plugin_that_no_queue_of_a_run_is_is_refused_with_the_setting_that_puts_it_there(
    sojourn: CommandLine, tmp_path: Path
) -> None:
    write_scenario(tmp_path)
    write_plugin(tmp_path)
    write_plugin(tmp_path, FIFO, "other.py")
    plain = ("run", "household.toml", "--plugin", "my_fifo.py")
    done = sojourn(*plain)
    assert (done.status, done.stdout) == (2, "")
    assert 'is the plugin "my-fifo" (my_fifo.py)' in done.stderr
    setting = re.findall(r"--set '(.*?)'", done.stderr)[0]
    assert sojourn(*plain, "--set", setting).status == 0
    # Of two plugins, the one without a place is named.
    assert '"other" (other.py)' in sojourn(*plain, "--set", setting, "--plugin", "other.py").stderr
    with pytest.raises(UsageError, match='is the plugin "my-fifo"'):
        run(tmp_path / "household.toml", plugins=[tmp_path / "my_fifo.py"])


WRITES = """
import contextlib, os
for number in range({first}, 2048):
    with contextlib.suppress(OSError):
        os.write(number, {content})
"""


MISTAKES = {
    "raises": (
        FIFO.replace("return self.line.popleft()", "return 1 / 0"),
        'the plugin "bad" failed: ZeroDivisionError: division by zero',
        "bad.py:17, in dequeue",
    ),
    "computes for ever": (
        FIFO.replace("return self.line.popleft()", "[None for _ in iter(int, 1)]; return None"),
        'the plugin "bad" computed for 2 s in one call, past 0',
        "",
    ),
    "computes for ever whatever signals say": (
        "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\n"
        + FIFO.replace("self.line.append(packet)", "while True: pass"),
        'the plugin "bad" computed for 2 s in one call, past 0',
        "",
    ),
    "writes into all descriptors": (
        WRITES.format(first=3, content="b'x' * 100") + FIFO,
        'the plugin "bad" wrote into a descriptor of the process that is not its own',
        "",
    ),
    "writes lines of JSON into all descriptors": (
        WRITES.format(first=3, content='b\'{"files": {"a": -1}}\\n[{"share": 7}]\\n\'') + FIFO,
        'the plugin "bad" wrote into a descriptor of the process that is not its own',
        "",
    ),
    "promises a file without end": (
        WRITES.format(first=3, content='b\'{"files": {"a": 99999999999999}}\\n\'') + FIFO,
        'the plugin "bad" wrote into a descriptor of the process that is not its own',
        "",
    ),
    "takes all memory": (
        FIFO.replace("self.line.append(packet)", "self.line.extend(bytes(1 << 24) for _ in range(9999))"),
        'the plugin "bad" failed: MemoryError',
        "",
    ),
    "leaves the program": (
        FIFO.replace("return self.line.popleft()", "raise SystemExit(0)"),
        "the plugin left the program: SystemExit: 0",
        "",
    ),
    "ends the process": (
        FIFO.replace("return self.line.popleft()", "print('so long', flush=True) or __import__('os')._exit(0)"),
        'the plugin "bad" ended its process with status 0',
        "so long",
    ),
    "hides a packet": (
        FIFO.replace("return self.line.popleft()", "return None"),
        "dequeue returned None, and 1 packets wait",
        "",
    ),
    "is no Python": ("class Fifo\n", 'the plugin "bad" is not Python: bad.py:1: ', ""),
    "has no class": ("x = 1\n", 'the plugin "bad" has no such class; it needs one', ""),
    "has two classes": (
        FIFO + "class More(Fifo): pass\n",
        "has 2 classes with enqueue and dequeue: Fifo, More",
        "",
    ),
    "cannot be made": (
        FIFO.replace("self.line = deque()", "self.line = nothing"),
        'the plugin "bad" cannot be loaded: NameError: name \'nothing\' is not defined (bad.py:8',
        "",
    ),
    "imports from beside it": (
        "import helper\n" + FIFO,
        "ModuleNotFoundError: No module named 'helper'",
        "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_ends_the_study_in_a_sentence(sojourn: CommandLine, tmp_path: Path, mistake: str) -> None:
    text, said, hint = MISTAKES[mistake]
    queue_study(tmp_path, seeds={"first": 1, "count": 3})
    write_plugin(tmp_path, text, "bad.py")
    write_plugin(tmp_path, "", "helper.py")
    done = sojourn("study", "run", "study.toml", "--plugin", "bad.py", "--out", "out", "--jobs", "1")
    assert done.status == 1
    assert said in done.stderr
    assert hint in done.stderr
    assert len([line for line in done.stderr.splitlines() if line.startswith("error: ")]) == 1
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


LIES = {
    "writes where nothing is": (
        "departure",
        "if (now_ns > 300000000) *(volatile int *)8 = 1;",
        'the plugin "mine" crashed: Segmentation fault, past ',
    ),
    "computes for ever": (
        "arrival",
        "for (volatile int i = 0; now_ns > 300000000; i++) {}",
        'the plugin "mine" computed for 2 s in one call',
    ),
    "takes all memory": (
        "arrival",
        "for (;;) memset(malloc(1 << 24), 1, 1 << 24);",
        'the plugin "mine" crashed: Segmentation fault',
    ),
    "sends another ticket": (
        "departure",
        "*ticket += 1000;",
        "dequeue returned ticket 1000, which does not wait here",
    ),
    "drops what it sends": (
        "departure",
        "host->dropped(host->user, *ticket, SJQ_TARGET);",
        "dequeue returned ticket 0, which does not wait here",
    ),
    "refuses without a word": (
        "arrival",
        "return 1;",
        "enqueue said that ticket 0 is refused, and did not drop it",
    ),
    "marks what is not ECN-capable": (
        "departure",
        "host->marked(host->user, q->line[q->first], SJQ_TARGET);",
        "was marked, and its packet is not ECN-capable",
    ),
    "knows reasons that nobody has": (
        "departure",
        "host->dropped(host->user, q->line[q->first], 77);",
        "was dropped for reason 77, which there is none of",
    ),
    "answers with another number": (
        "arrival",
        "return -5;",
        "enqueue returned -5, which is neither 0 (kept) nor 1 (refused)",
    ),
    "ends the process": ("arrival", "exit(0);", 'the plugin "mine" ended its process with status 0'),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_library_that_crashes_loops_or_lies_is_one_sentence(tmp_path: Path, lie: str) -> None:
    place, line, said = LIES[lie]
    scenario = sojourn.load_scenario(write_scenario(tmp_path, duration="1 s"))
    plugin = read_plugin(compiled(tmp_path, IN_C, **{place: line}))
    plugin.announce()
    mine = scenario.with_settings({"access.upstream.queue": {"kind": "plugin", "name": "mine"}})
    with pytest.raises(PluginFailed) as caught:
        simulate_apart(mine, 1, [plugin])
    assert said in caught.value.message
    assert sojourn.run(scenario).metrics.height > 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("SJQ_PLUGIN_ABI, create", "2, create"), "has version 2 of the interface in 40 bytes"),
        (("sizeof(sjq_plugin), S", "8, S"), "has version 1 of the interface in 8 bytes"),
        (("dequeue, destroy}", "dequeue, NULL}"), "has no destroy"),
        (("    return &plugin;", "    (void)plugin; return NULL;"), "returned no table"),
        (("sjq_plugin_v1(void) {", "sjq_plugin_v1(void);\nconst sjq_plugin *other(void) {"), "exports no sjq_plugin_v1"),
        (("return calloc(1, sizeof(queue));", "return NULL;"), "create returned nothing"),
    ],
)  # fmt: skip
def test_a_library_of_another_interface_is_refused_before_a_run(
    tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    assert change[0] in IN_C
    plugin = read_plugin(compiled(tmp_path, IN_C.replace(*change)))
    with pytest.raises(PluginFailed) as caught:
        try_plugins([plugin])
    assert said in caught.value.message


def test_what_is_no_library_is_refused_before_a_run(tmp_path: Path) -> None:
    path = tmp_path / "libmine.so"
    path.write_bytes(b"\x7fELF and no more")
    with pytest.raises(PluginFailed, match='the plugin "mine" cannot be loaded: '):
        try_plugins([read_plugin(path)])


def test_the_order_of_sets_is_the_same_in_each_run(tmp_path: Path) -> None:
    text = FIFO.replace("packet.drop", "[packet.drop, packet.mark][hash('some text') % 2]; packet.drop").replace(
        "limit = 50", "limit = 5 + hash('some text') % 40"
    )
    plugin = read_plugin(write_plugin(tmp_path, text))
    plugin.announce()
    scenario = sojourn.load_scenario(write_scenario(tmp_path, duration="1 s"))
    mine = scenario.with_settings({"access.upstream.queue": {"kind": "plugin", "name": "my-fifo"}})
    runs = [simulate_apart(mine, 1, [plugin])["metrics.parquet"] for _ in range(2)]
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("fifo.txt", "neither Python nor a shared library"),
        ("größe.py", "is no name for a plugin"),
        ("missing.py", "no such file"),
    ],
)
def test_a_file_that_is_no_plugin_is_refused(tmp_path: Path, name: str, said: str) -> None:
    if name != "missing.py":
        write_plugin(tmp_path, FIFO, name)
    with pytest.raises(UsageError, match=said):
        read_plugin(tmp_path / name)


def test_a_plugin_that_has_no_place_is_refused(sojourn: CommandLine, tmp_path: Path) -> None:
    write_study(tmp_path, "1 s")
    write_plugin(tmp_path)
    done = sojourn("study", "run", "study.toml", "--plugin", "my_fifo.py")
    assert done.status == 2
    assert 'no place for the plugin "my-fifo"' in done.stderr
    assert '{ kind = "plugin", name = "my-fifo" }' in done.stderr
    write_plugin(tmp_path, FIFO, "codel.py")
    queue_study(tmp_path, axes={"queue": {"key": "access.upstream.queue", "values": ["codel"]}})
    done = sojourn("study", "run", "study.toml", "--plugin", "codel.py")
    assert done.status == 2
    assert 'has a queue manager "codel" already' in done.stderr
    done = sojourn("study", "run", "study.toml", "--plugin", "my_fifo.py", "--cluster", "tcp://x")
    assert done.status == 2
    assert "exclude each other" in done.stderr


def test_an_interrupt_ends_the_process_of_a_plugin(sojourn: CommandLine, tmp_path: Path) -> None:
    import signal

    slow = "open(MARK, 'w').close(); import time; return time.sleep(60)"
    text = FIFO.replace("return self.line.popleft()", slow)
    queue_study(tmp_path)
    write_plugin(tmp_path, f"MARK = {str(tmp_path / 'begun')!r}\n{text}", "slow.py")
    running = sojourn.start("study", "run", "study.toml", "--plugin", "slow.py", "--jobs", "1")
    deadline = time.monotonic() + 60
    while not (tmp_path / "begun").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(1)
    began = time.monotonic()
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=30)
    assert running.returncode == 3, said
    assert time.monotonic() - began < 10
    assert "interrupted" in said


GENTLE = (ROOT / "examples/c-plugin/gentle.c").read_text()

UPLOAD = """
schema = 1
name = "upload"
duration = "1.5 s"

[access.upstream]
link = { kind = "serial", rate = "2 Mb/s" }
queue = { kind = "drop-tail", limit = "6 packets" }

[access.downstream]
link = { kind = "serial", rate = "20 Mb/s" }
queue = { kind = "drop-tail", limit = "50 packets" }

[record]
connections = "10 ms"

[[traffic]]
name = "own"
app = "bulk"
stack = { kind = "linux-reno", controller = { kind = "plugin", name = "mine" } }
rtt = "20 ms"
"""

GENTLE_IN_PYTHON = """
class Gentle:
    def __init__(self, segment, initial_window):
        self.phase = "start"

    def on_congestion_avoidance(self, acked, ack):
        return ack.window + acked / ack.window

    def on_congestion(self, cause, base, window, now):
        self.phase = "avoidance"
        return base / 2 if cause == "timeout" else 0.875 * base

    def state(self):
        return self.phase, None, None
"""


def controlled(plugin: Path) -> pl.DataFrame:
    """Run an upload that a plugin controls; return its looks at the connection."""
    read = read_plugin(plugin)
    read.announce()
    files = simulate_apart(Scenario.parse(UPLOAD), 1, [read], is_controller=True)
    return pl.read_parquet(files["connection_series.parquet"])


def test_a_controller_in_c_does_what_it_does_in_python_and_tells_its_state(tmp_path: Path) -> None:
    in_c = controlled(compiled(tmp_path, GENTLE))
    assert in_c.equals(controlled(write_plugin(tmp_path, GENTLE_IN_PYTHON, "mine.py")))
    assert in_c["phase"].cast(pl.String).unique(maintain_order=True).to_list() == ["start", "avoidance"]
    # An eighth less at each loss, and no more than half at once.
    sizes = in_c["threshold_segments"].drop_nulls().unique(maintain_order=True).to_list()
    assert len(sizes) > 3


LIES_OF_CONTROLLERS = {
    "crashes": ("congestion", "*(volatile int *)8 = 1;", 'the plugin "mine" crashed: Segmentation fault'),
    "gives no number": (
        "congestion",
        "return 0.0 / (cause - cause);",
        "on_congestion returned NaN, which is no window and no rate",
    ),
    "gives less than nothing": (
        "avoidance",
        "window->size = -1e9;",
        "on_congestion_avoidance returned -1",
    ),
    "has too long a word": (
        "state",
        "memset(told->phase, 'x', sizeof told->phase); told->phase[31] = (char)200; return;",
        "state told a phase that is no word of ASCII",
    ),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES_OF_CONTROLLERS)
def test_a_controller_in_c_that_crashes_or_lies_is_one_sentence(tmp_path: Path, lie: str) -> None:
    place, line, said = LIES_OF_CONTROLLERS[lie]
    text = GENTLE.replace(f"/* at {place} */", line).replace(f"/* in {place} */", line)
    assert text != GENTLE
    with pytest.raises(PluginFailed) as caught:
        controlled(compiled(tmp_path, text))
    assert said in caught.value.message


def test_the_header_and_its_adapter_have_the_same_layout(tmp_path: Path) -> None:
    asserts: list[str] = []
    for name, kind in STRUCTS.items():
        asserts.append(f'_Static_assert(sizeof({name}) == {ctypes.sizeof(kind)}, "{name}");')
        fields: Any = kind._fields_
        for field, *_ in fields:
            offset = getattr(kind, field).offset
            asserts.append(f'_Static_assert(offsetof({name}, {field}) == {offset}, "{field}");')
    compiled(tmp_path, GENTLE + "\n".join(asserts))


def test_a_library_of_one_kind_is_none_of_the_other(tmp_path: Path) -> None:
    with pytest.raises(PluginFailed, match="exports no sjq_plugin_v1"):
        try_plugins([read_plugin(compiled(tmp_path, GENTLE))])


def test_reasons_have_the_numbers_of_the_header_and_the_words_of_the_records(tmp_path: Path) -> None:
    text = FIFO.replace('packet.drop("overlimit")', 'packet.drop("tired")')
    plugin = read_plugin(write_plugin(tmp_path, text))
    plugin.announce()
    scenario = sojourn.load_scenario(write_scenario(tmp_path, duration="1 s"))
    mine = scenario.with_settings({"access.upstream.queue": {"kind": "plugin", "name": "my-fifo"}})
    with pytest.raises(PluginFailed) as caught:
        simulate_apart(mine, 1, [plugin])
    assert caught.value.message.endswith(f"known: {', '.join(REASONS)}")
    listed = re.findall(r"SJQ_(\w+) = (\d+)", HEADER.read_text())
    assert len(listed) == 7
    assert [(REASONS[int(number)].upper(), number) for _, number in listed] == listed


def test_the_example_in_c_keeps_small_packets_short(tmp_path: Path) -> None:
    source = (ROOT / "examples/c-plugin/small_first.c").read_text()
    plugin = read_plugin(compiled(tmp_path, source, "libsmall_first.so"))
    plugin.announce()
    scenario = sojourn.load_scenario(write_scenario(tmp_path))
    own = {"kind": "plugin", "name": "small-first"}
    files = simulate_apart(scenario.with_settings({"access.upstream.queue": own}), 1, [plugin])
    after, before = pl.read_parquet(files["metrics.parquet"]), sojourn.run(scenario).metrics
    worst, first = (table.filter(subject="call", metric="delay_p99")["value"].item() for table in (after, before))
    assert worst < 5 < first
    assert after.filter(subject="upstream", metric="dropped_target")["value"].item() > 0
