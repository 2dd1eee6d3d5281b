"""Transport libraries as stacks: real code under simulated time, with the same bits in every process, and bad libraries."""

import functools
import io
import itertools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import sojourn
from sojourn.base.errors import ScenarioError, UsageError
from sojourn.plugins import Plugin, PluginFailed, child, read_plugin, simulate_apart
from sojourn.scenario.scenario_file import Scenario
from support import CommandLine, write_study

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "tests/stacks/window.c"
CONTROLLERS = {"quinn": ("cubic", "reno", "bbr"), "s2n-quic": ("cubic", "bbr"), "smoltcp": ("default",)}
REAL = tuple(CONTROLLERS)

LINE = """
schema = 1
name = "line"
duration = "{duration}"
[access]
upstream = {{ link = {{ kind = "serial", rate = "{rate} Mb/s" }}, queue = {queue} }}
downstream = {{ link = {{ kind = "serial", rate = "100 Mb/s" }}, queue = {{ kind = "drop-tail", limit = "1000 packets" }} }}
[[traffic]]
name = "own"
app = {app}
rtt = "{rtt} ms"
stack = {{ kind = "library", name = "{name}"{controller} }}
"""
ENDLESS = '{ kind = "bulk", direction = "upstream" }'
FIFO = '{ kind = "drop-tail", limit = "100000 B" }'


def line(name: str, **changes: object) -> str:
    """Return a scenario with one flow of a library."""
    own: dict[str, object] = {
        "duration": "4 s",
        "rate": 10,
        "queue": FIFO,
        "app": ENDLESS,
        "rtt": 20,
        "name": name,
        "controller": "",
    }
    return LINE.format(**{**own, **changes})


def compiled(directory: Path, name: str = "libwindow.so", **replaced: str) -> Path:
    """Compile the stack of this test, with lines in place of its comments, or skip the test loudly without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler makes libraries as stacks")
    text = SOURCE.read_text()
    for place, code in replaced.items():
        text = text.replace(f"/* at {place} */", code)
    source = directory / "stack.c"
    source.write_text(text)
    command = [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    command += ["-I", str(ROOT / "python/sojourn/plugins"), "-o", str(directory / name), str(source)]
    subprocess.run(command, check=True)
    return directory / name


def built(name: str) -> Path:
    """Return the file of a real stack, or skip the test loudly."""
    path = ROOT / f"stacks/{name}/target/release/libsojourn_stack_{name.replace('-', '_')}.so"
    if not path.is_file():
        pytest.skip(f"no {name}: `make stacks` builds it")
    return path


def real(name: str) -> Plugin:
    plugin = read_plugin(built(name))
    plugin.announce()
    return plugin


@functools.cache
def _ours(directory: Path) -> Plugin:
    plugin = read_plugin(compiled(directory))
    plugin.announce()
    return plugin


def ours(tmp_path_factory: pytest.TempPathFactory) -> Plugin:
    return _ours(tmp_path_factory.getbasetemp())


def numbers(plugin: Plugin, text: str, seed: int = 1) -> dict[tuple[str, str], float]:
    """Return the metrics of a run in a process of its own."""
    import polars as pl

    plugin.announce()
    files = simulate_apart(Scenario.parse(text), seed, [plugin])
    rows = pl.read_parquet(io.BytesIO(files["metrics.parquet"])).rows()
    return {(row[0], row[1]): row[2] for row in rows}


def test_a_library_carries_an_upload_at_the_rate_of_the_line(tmp_path: Path) -> None:
    plugin = read_plugin(compiled(tmp_path))
    # 40 packets of 1,044 B on a line of 10 Mb/s take 33 ms, longer than the round trip of 20 ms: the line is busy.
    found = numbers(plugin, line("window"))
    assert 9.2 < found["own", "goodput"] < 10 * 1000 / 1044
    # The window that the round trip does not hold waits: 33.4 - 20 ms less the packet that is sent.
    assert 11 < found["upstream", "queue_delay_p50"] < 15
    assert found["upstream", "dropped_packets"] == 0


def test_windows_and_round_trips_are_recorded_as_the_library_tells_them(tmp_path: Path) -> None:
    plugin = read_plugin(compiled(tmp_path))
    text = line("window") + '[record]\nconnections = "100 ms"\n'
    plugin.announce()
    import polars as pl

    files = simulate_apart(Scenario.parse(text), 1, [plugin])
    table = pl.read_parquet(io.BytesIO(files["connection_series.parquet"]))
    assert table["window_segments"].unique().to_list() == pytest.approx([40_000 / 1437])
    assert table["round_trip_ns"].unique().to_list() == [1_000_000]


def test_transfers_end_one_after_another(tmp_path: Path) -> None:
    plugin = read_plugin(compiled(tmp_path))
    app = '{ kind = "bulk", direction = "downstream", file = "50 kB", gap = "100 ms" }'
    found = numbers(plugin, line("window", app=app))
    # A round trip for the connection, two for 50 packets in windows of 40, and a pause of 100 ms: some 160 ms.
    assert 20 <= found["own", "transfers_completed"] <= 28
    assert 0.05 < found["own", "transfer_time_median"] < 0.09


@pytest.mark.parametrize("name", ["window", *REAL])
def test_the_same_seed_gives_the_same_bits_in_three_processes(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    plugin = ours(tmp_path_factory) if name == "window" else real(name)
    controllers = [f', controller = "{word}"' for word in CONTROLLERS.get(name, ("default",))]
    for controller in controllers:
        text = line(name, controller=controller, duration="6 s")
        plugin.announce()
        scenario = Scenario.parse(text)
        first, *others = (simulate_apart(scenario, 7, [plugin]) for _ in range(3))
        first.pop("run.json")
        for other in others:
            other.pop("run.json")
            assert other == first, controller


def test_a_digest_stands_for_the_library_in_keys(tmp_path: Path) -> None:
    keys: list[str] = []
    for number in range(2):
        place = tmp_path / str(number)
        place.mkdir()
        plugin = read_plugin(compiled(place, state=f"told->lost += {number};"))
        plugin.announce()
        keys.append(Scenario.parse(line("window")).key(1))
    assert keys[0] != keys[1]


BAD = {
    "abi": ({"table": "table.abi = 2;"}, "version 2 of the interface in 96 bytes; this is version 1 with 96"),
    "small": ({"table": "table.size = 80;"}, "version 1 of the interface in 80 bytes; this is version 1 with 96"),
    "missing": ({"table": "table.read = 0;"}, "it has no read"),
    "past": ({"timeout": "if (e->now > 1000000000) return 1000;"}, "it asked to be called at 1000 ns; the time was "),
    "endless": (
        {"transmit": "if (now > 1000000000) return put(buffer, ACK, 0, 0, 0);"},
        "it sent more than 16384 datagrams at one time",
    ),
    "creeping": ({"timeout": "return e->now + 1;"}, "it asked to be called 100000 times, and sent nothing"),
    "large": (
        {"transmit": "if (now > 1000000000) return 4000000;"},
        "transmit returned a datagram of 4000000 bytes; there was room for 1472",
    ),
    "field": ({"transmit": "*ecn = 9;"}, "transmit returned the ECN field 9, which is none of 0 to 3"),
    "greedy": ({"write": "return length + 1;"}, "write took 16385 bytes of 16384"),
    "generous": ({"read": "bytes = room + 1;"}, "read returned 16385 bytes; there was room for 16384"),
    "boastful": ({"state": "told->acknowledged += 1 << 30;"}, "acknowledged bytes; "),
    "loop": ({"transmit": "while (now > 1000000000) e->now++;"}, "computed for 2 s in one call"),
    "crash": ({"transmit": "if (now > 1000000000) abort();"}, "crashed: Aborted"),
    "exit": ({"transmit": "if (now > 1000000000) exit(3);"}, "ended its process with status 3"),
    "closed": ({"open": "free(e); return NULL;"}, "open returned nothing"),
    "empty": ({"table": "return 0;"}, "sje_stack_v1 returned no table"),
}


def test_a_call_is_measured_by_the_processor_however_busy_the_machine_is(tmp_path: Path) -> None:
    # One call computes for 1.2 s, less than the 2 s of a call; beside twelve others it takes several times as long.
    code = "static int once; if (now > 1000000000 && !once) { once = 1; clock_t stop = clock() + 1.2 * CLOCKS_PER_SEC; "
    plugin = read_plugin(compiled(tmp_path, transmit=code + "while (clock() < stop); }"))
    plugin.announce()
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(12)]
    try:
        simulate_apart(Scenario.parse(line("window", duration="2 s")), 1, [plugin])
    finally:
        for one in busy:
            one.kill()
            one.wait()


@pytest.mark.parametrize(("returned", "is_called", "told"), [(5, True, 1), (5, False, 3), (None, True, 3)])
def test_only_a_call_under_way_uses_up_its_time(
    returned: int | None, is_called: bool, told: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What the engine computes between calls is none of theirs: three looks at the same share of the run.
    counts = itertools.count()
    calls = lambda: (next(counts) if returned is None else returned, is_called)  # noqa: E731
    monkeypatch.setattr(child, "_engine", SimpleNamespace(plugin_calls=calls))
    granted: list[int] = []
    monkeypatch.setattr(child, "_grant", granted.append)
    watch = child.Watch(io.BytesIO())
    for _ in range(3):
        watch(0.5)
    assert len(granted) == told


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_library_ends_its_run_in_one_sentence(fault: str, tmp_path: Path) -> None:
    changes, sentence = BAD[fault]
    plugin = read_plugin(compiled(tmp_path, **changes))
    plugin.announce()
    with pytest.raises(PluginFailed) as failed:
        simulate_apart(Scenario.parse(line("window")), 1, [plugin])
    told = failed.value.message
    assert told.startswith('the plugin "window"'), told
    assert sentence in told
    assert "\n" not in told


def test_a_command_with_a_bad_library_has_a_status_and_says_it_in_a_line(sojourn: CommandLine, tmp_path: Path) -> None:
    compiled(tmp_path, timeout="if (e->now > 1000000000) return 1000;")
    (tmp_path / "line.toml").write_text(line("window"))
    done = sojourn("run", "line.toml", "--plugin", "libwindow.so")
    assert done.status == 1
    assert done.stderr.splitlines()[-1].startswith(
        'error: the plugin "window" broke the rules: it asked to be called at 1000 ns; the time was '
    )


def problem(text: str) -> str:
    with pytest.raises(ScenarioError) as wrong:
        Scenario.parse(text)
    return str(wrong.value)


def test_check_says_in_a_sentence_what_a_library_cannot_carry(tmp_path: Path) -> None:
    assert 'no library "nothing" was given' in problem(line("nothing"))
    read_plugin(compiled(tmp_path)).announce()
    page = '{ kind = "web" }'
    assert "a library carries transfers of kind bulk, and not web" in problem(line("window", app=page))
    assert "cannot pause" in problem(line("window") + "paused = true\n")
    later = '[[change]]\nat = "1 s"\nset = { traffic.own.paused = true }\n'
    assert "cannot pause" in problem(line("window") + later)
    other = line("window", controller=', digest = "0123"')
    assert 'the library "window" that was given is another file' in problem(other)


def test_a_controller_that_the_library_does_not_have_is_named(tmp_path: Path) -> None:
    plugin = read_plugin(compiled(tmp_path))
    plugin.announce()
    text = line("window", controller=', controller = "vegas"')
    with pytest.raises(sojourn.SojournError) as failed:
        simulate_apart(Scenario.parse(text), 1, [plugin])
    assert 'the library "window" has no controller "vegas"' in str(failed.value)


def test_a_scenario_that_asks_for_a_library_does_not_run_without_it(sojourn: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "line.toml").write_text(line("window", controller=', digest = "0123"'))
    done = sojourn("run", "line.toml")
    assert done.status == 1
    assert 'the library "window" was not given to this run: give its file: --plugin FILE' in done.stderr


def test_an_option_puts_a_library_into_any_scenario(sojourn: CommandLine, tmp_path: Path) -> None:
    compiled(tmp_path)
    (tmp_path / "line.toml").write_text(line("window").replace('{ kind = "library", name = "window" }', '"quic"'))
    (tmp_path / "own.toml").write_text(line("window", controller=', controller = "fixed"'))
    by_option = sojourn("run", "line.toml", "--stack", "own=window:fixed", "--plugin", "libwindow.so", "--json").json()
    in_file = sojourn("run", "own.toml", "--plugin", "libwindow.so", "--json").json()
    assert by_option["metrics"] == in_file["metrics"]
    refused = sojourn("run", "line.toml", "--stack", "window:fixed")
    assert refused.status == 2
    assert '--stack: "window:fixed" is not ENTRY=STACK' in refused.stderr


def test_a_library_competes_as_one_more_value_of_an_axis_of_stacks(sojourn: CommandLine, tmp_path: Path) -> None:
    compiled(tmp_path)
    axes = {"stack": {"key": "traffic.bulk.stack", "values": ["quic"]}}
    write_study(tmp_path, "2 s", matrix=[], overlays={}, seeds={"first": 1, "count": 1}, axes=axes)
    done = sojourn("study", "run", "study.toml", "--plugin", "libwindow.so", "--no-figures", "--out", "out")
    assert done.status == 0, done.stderr
    assert "window" in (tmp_path / "out" / "summary.csv").read_text()


def test_a_library_that_no_stack_asks_for_is_refused(sojourn: CommandLine, tmp_path: Path) -> None:
    compiled(tmp_path)
    text = line("window").replace('{ kind = "library", name = "window" }', '"quic"')
    (tmp_path / "line.toml").write_text(text)
    done = sojourn("run", "line.toml", "--plugin", "libwindow.so")
    assert done.status == 2
    assert 'no stack of line is the library "window" (libwindow.so)' in done.stderr


LINES = int(os.environ.get("SOJOURN_STACK_LINES", "6"))
"""Random lines of the laws; 2,000 take half an hour of a core."""


@pytest.mark.parametrize("name", ["window", *REAL])
def test_laws_hold_over_random_lines_with_equal_bits_in_three_processes(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    # Never more than the rate, nothing lost on an unlimited queue, and each transfer ends.
    path = compiled(tmp_path_factory.mktemp("laws")) if name == "window" else built(name)
    command = [sys.executable, str(ROOT / "tests/stacks/laws.py"), str(path), name, str(LINES)]
    first, *others = (subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(3))
    assert len(first.splitlines()) == 1, first
    assert others == [first, first]


@pytest.mark.parametrize("name", ["quinn", "s2n-quic"])
def test_real_stacks_cost_at_most_ten_microseconds_a_packet(name: str) -> None:
    plugin = real(name)
    text = line(name, rate=100, rtt=20, duration="10 s", queue='{ kind = "drop-tail", limit = "250000 B" }')
    files = simulate_apart(Scenario.parse(text), 1, [plugin])
    statistics = json.loads(files["run.json"])["statistics"]
    # A packet passes a link and a wire, and nine of ten hops are of packets.
    microseconds = 2 * 1e6 * statistics["cpu_s"] / statistics["packet_hops"]
    print(f"{microseconds:.1f} us a packet")
    assert microseconds < 30  # chosen: three times 10 us is a slower machine, and not another algorithm


def test_a_plugin_that_is_no_library_is_not_taken_for_a_stack(tmp_path: Path) -> None:
    path = tmp_path / "libmine.so"
    path.write_bytes(b"\x7fELF and no more")
    assert not read_plugin(path).is_stack
    with pytest.raises(UsageError):
        read_plugin(tmp_path / "libnothing.so")


def test_controllers_of_libraries_are_characterised_by_their_names(sojourn: CommandLine, tmp_path: Path) -> None:
    compiled(tmp_path)
    cells = ("--only", "G2-10-40-1", "--seeds", "1", "--json")
    done = sojourn("check-cc", "window:fixed", "linux-reno", "--plugin", "libwindow.so", *cells)
    assert done.status == 0, done.stderr
    ours, _ = done.json()["controllers"]
    assert ours["controller"] == "window:fixed"
    refused = sojourn("check-cc", "quinn:bbr")
    assert refused.status == 2
    assert 'no library "quinn" was given' in refused.stderr


@pytest.mark.slow
def test_a_test_of_quinn_on_the_testbed_fails_where_its_window_is_broken() -> None:
    folder = built("quinn").parents[2]
    environment = {name: value for name, value in os.environ.items() if name != "RUSTFLAGS"}
    environment["CARGO_TARGET_DIR"] = str(folder / "target")
    command = ["cargo", "test", "--release", "--locked", "--offline", "--test", "testbed"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "a_window_of_four_times_its_size_fails_with_the_picture_of_its_queue ... ok" in done.stdout


def test_bbr_of_s2n_quic_holds_a_longer_queue_than_the_model_of_its_draft() -> None:
    # Its estimate is above the line: two acknowledgements share an interval (docs/results/stacks.md).
    plugin = real("s2n-quic")
    roomy = '{ kind = "drop-tail", limit = "200 kB" }'
    text = line("s2n-quic", rate=20, rtt=20, duration="20 s", queue=roomy, controller=', controller = "bbr"')
    own = numbers(plugin, text)["upstream", "queue_delay_p50"]
    model = text.replace('{ kind = "library", name = "s2n-quic", controller = "bbr" }', '"bbr2"')
    rows = sojourn.run(Scenario.parse(model)).metrics.rows()
    theirs = {(row[0], row[1]): row[2] for row in rows}["upstream", "queue_delay_p50"]
    assert own > 20
    assert own > 2 * theirs


def test_bbr_of_quinn_starves_reno_and_its_reno_does_not(sojourn: CommandLine) -> None:
    library = real("quinn").file
    path = ROOT / "stacks/quinn/target/release" / library
    done = sojourn(
        "check-cc",
        "quinn:bbr",
        "quinn:reno",
        "--plugin",
        str(path),
        "--only",
        "G6-reno-50-40-1",
        "--seeds",
        "1",
        "--json",
    )
    bbr, reno = done.json()["controllers"]
    verdicts = [{row["id"]: row["verdict"] for row in one["rows"]}["G6"] for one in (bbr, reno)]
    assert verdicts == ["fail", "pass"]
    assert done.status == 1
