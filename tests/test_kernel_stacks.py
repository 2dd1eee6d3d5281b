"""The TCP of a Linux kernel as a stack: runs in its guest with the same bits in every process, and what cannot be."""

import json
import math
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import sojourn
from sojourn.base.errors import RunError, ScenarioError
from sojourn.linux import virtual
from sojourn.linux.build import default_directory, kernels
from sojourn.plugins import simulate_apart
from sojourn.scenario.scenario_file import Scenario
from support import CommandLine, write_study
from support.emulation import ENDS_WITH_A_THREAD, ROOTLESS

needs_kernel = pytest.mark.skipif(not kernels(), reason="kernels as stacks: no kernel was built (sojourn linux build)")

LINE = """
schema = 1
name = "line"
duration = "{duration}"
[access]
upstream = {{ link = {{ kind = "serial", rate = "10 Mb/s" }}, queue = {queue} }}
downstream = {{ link = {{ kind = "serial", rate = "50 Mb/s" }}, queue = {{ kind = "drop-tail", limit = "1000 packets" }} }}
[[traffic]]
name = "own"
app = {app}
rtt = "20 ms"
stack = {stack}
"""
ENDLESS = '{ kind = "bulk", direction = "upstream" }'
FIFO = '{ kind = "drop-tail", limit = "100000 B" }'
CALL = """
[[traffic]]
name = "call"
app = { kind = "voice" }
rtt = "20 ms"
"""


def line(**changes: str) -> str:
    """Return a scenario with one flow of a kernel."""
    own = {"duration": "3 s", "queue": FIFO, "app": ENDLESS, "stack": '{ kind = "linux", controller = "cubic" }'}
    return LINE.format(**{**own, **changes})


@pytest.fixture(autouse=True)
def _kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOJOURN_KERNELS", str(default_directory()))


def made(text: str, seed: int = 1) -> dict[str, bytes]:
    """Return the tables of a run."""
    files = simulate_apart(Scenario.parse(text), seed, ())
    listing = json.loads(files.pop("run.json"))
    assert listing["statistics"]["simulated_s"] > 0
    return files


def numbers(text: str, seed: int = 1) -> dict[tuple[str, str], float]:
    """Return the metrics of a run."""
    run = sojourn.run(Scenario.parse(text), seed)
    return {(subject, metric): value for subject, metric, value, _ in run.metrics.rows()}


@needs_kernel
def test_the_same_seed_has_the_same_bits_in_two_guests_and_another_seed_differs() -> None:
    # The order of BBR's phases is random (tcp_bbr.c, bbr_reset_probe_bw_mode): the kernel's own draws follow the seed.
    text = line(stack='{ kind = "linux", controller = "bbr" }', duration="5 s") + CALL
    first, again, other = made(text), made(text), made(text, 2)
    assert first == again
    assert other["metrics.parquet"] != first["metrics.parquet"]


@needs_kernel
@pytest.mark.parametrize("direction", ["upstream", "downstream"])
def test_a_kernel_and_its_model_fill_a_line_alike_beside_a_call(direction: str) -> None:
    app = ENDLESS.replace("upstream", direction)
    texts = [line(app=app, duration="12 s", stack=stack) + CALL for stack in ('{ kind = "linux" }', '"linux-6-cubic"')]
    real, model = (numbers(text) for text in texts)
    # docs/results/emulation.md: utilisation within a point, mean waits within 5 %.
    assert real[direction, "utilisation"] == pytest.approx(model[direction, "utilisation"], abs=0.01)
    assert real[direction, "sojourn_mean"] == pytest.approx(model[direction, "sojourn_mean"], rel=0.05)
    assert 0 < real["call", "delay_p99"] < math.inf


@needs_kernel
def test_a_file_arrives_whole_and_its_connection_ends() -> None:
    app = '{ kind = "bulk", direction = "downstream", file = "300 kB", gap = "100 ms" }'
    found = numbers(line(app=app, duration="4 s"))
    assert found["own", "transfers_completed"] >= 5


@needs_kernel
def test_marks_reach_a_kernel_that_asks_for_ecn() -> None:
    codel = '{ kind = "codel", profile = "rfc8289", ecn = true }'
    stacks = ('{ kind = "linux", controller = "cubic", ecn = "classic" }', '{ kind = "linux", controller = "cubic" }')
    marked, dropped = (numbers(line(queue=codel, duration="6 s", stack=stack)) for stack in stacks)
    assert marked["upstream", "marked_packets"] > 0
    assert marked["upstream", "dropped_packets"] == 0
    assert dropped["upstream", "marked_packets"] == 0
    assert dropped["upstream", "dropped_packets"] > 0


@needs_kernel
def test_a_command_runs_a_kernel_and_says_which_in_the_manifest(sojourn: CommandLine, tmp_path: Path) -> None:
    text = line(stack='"linux-cubic"')
    (tmp_path / "line.toml").write_text(text)
    done = sojourn("run", "line.toml", "--stack", "own=linux:bbr", "--report", "--out", "out")
    assert done.status == 0, done.stderr
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["clock"] == "virtual"
    assert manifest["kernel"]["digest"] == kernels()[0].digest
    assert manifest["kernel"]["configuration"] == kernels()[0].configuration_digest
    assert (tmp_path / "out" / "report.html").stat().st_size > 10_000
    # The guest's clock says 3 s: the run's time is that of the host.
    assert manifest["statistics"]["wall_s"] != pytest.approx(3.0, abs=1e-6)


@needs_kernel
def test_a_kernel_is_a_value_of_an_axis_and_its_digest_is_in_the_key(sojourn: CommandLine, tmp_path: Path) -> None:
    values = ["linux-6-cubic", {"kind": "linux", "controller": "cubic"}]
    axes = {"stack": {"key": "traffic.bulk.stack", "values": values}}
    write_study(tmp_path, "2 s", matrix=[], overlays={}, seeds={"first": 1, "count": 1}, axes=axes)
    done = sojourn("study", "run", "study.toml", "--no-figures", "--out", "out")
    assert done.status == 0, done.stderr
    assert "linux" in (tmp_path / "out" / "summary.csv").read_text()
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert [kernel["digest"] for kernel in manifest["kernels"]] == [kernels()[0].digest]
    one = Scenario.parse(line())
    other = one.canonical().replace(kernels()[0].digest, "0" * 64)
    assert kernels()[0].digest in one.canonical()
    assert one.kernel == kernels()[0].digest
    assert one.key(1) != Scenario.parse(line(stack='"linux-6-cubic"')).key(1)
    with pytest.raises(ScenarioError, match="of this machine is another one"):
        Scenario.parse(other)


def problem(text: str) -> str:
    """Return what `check` says."""
    with pytest.raises(ScenarioError) as wrong:
        Scenario.parse(text)
    return str(wrong.value)


@needs_kernel
def test_check_says_in_a_sentence_what_a_kernel_cannot_carry() -> None:
    assert "a kernel carries transfers of kind bulk, and not web" in problem(line(app='{ kind = "web" }'))
    assert "a kernel sends all that it has taken, and cannot pause" in problem(line() + "paused = true\n")
    assert 'there is no kernel "7.0"' in problem(line(stack='{ kind = "linux", kernel = "7.0" }'))
    said = problem(line(stack='{ kind = "linux", controller = "compound" }'))
    assert 'has no controller "compound"' in said
    second = line().partition("[[traffic]]")[2].replace('"own"', '"other"')
    second = second.replace('controller = "cubic"', f'digest = "{"1" * 64}"')
    assert "a run has one kernel, and no library beside it" in problem(f"{line()}[[traffic]]{second}")


@needs_kernel
def test_a_kernel_takes_no_plugin_beside_it() -> None:
    text = line(queue='{ kind = "plugin", name = "beside-a-kernel", digest = "01" }')
    with pytest.raises((RunError, ScenarioError)) as failed:
        simulate_apart(Scenario.parse(text), 1, ())
    assert "takes no plugin" in str(failed.value)


def test_without_a_kernel_one_sentence_has_the_command_that_builds_it(tmp_path: Path) -> None:
    # A process of its own: others have looked for kernels before.
    environment = {**os.environ, "SOJOURN_KERNELS": str(tmp_path / "none")}
    given = f'{{ kind = "linux", digest = "{"0" * 64}" }}'
    for text, sentence in (
        (line(), "there is no kernel for virtual time yet"),
        (line(stack=given), "is not on this machine"),
    ):
        (tmp_path / "line.toml").write_text(text)
        command = [sys.executable, "-m", "sojourn", "run", "line.toml"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert sentence in done.stderr
        assert "sojourn linux build" in done.stderr


@needs_kernel
def test_packets_of_a_guest_are_not_written_beside_the_run(sojourn: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "line.toml").write_text(line())
    done = sojourn("run", "line.toml", "--pcap", "packets")
    assert done.status == 2
    assert "--pcap and --qlog do not reach into the guest" in done.stderr


@needs_kernel
def test_the_controller_of_a_kernel_is_characterised_by_its_name(sojourn: CommandLine) -> None:
    done = sojourn("check-cc", "linux:reno", "--only", "G1c", "--seeds", "1", "--json")
    assert done.status == 0, done.stderr
    assert done.json()["headline"].startswith(f"Linux {kernels()[0].name}'s Reno keeps the row that can fail")


@needs_kernel
def test_a_user_without_rights_gets_the_run_of_root_to_microseconds(tmp_path: Path) -> None:
    (tmp_path / "line.toml").write_text(line(duration="1 s"))
    command = [sys.executable, "-P", "-m", "sojourn", "run", "line.toml", "--json"]
    prefixes: list[list[str]] = [[], ROOTLESS] if os.getuid() == 0 else [[]]
    said: list[dict[str, float]] = []
    for prefix in prefixes:
        done = subprocess.run([*prefix, *command], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        rows = json.loads(done.stdout)["metrics"]
        said.append({f"{row['subject']} {row['metric']}": row["value"] for row in rows if row["value"] is not None})
    # The kernel's own work comes at other times for another user, and each look at the clock passes 0.3 us.
    assert all(metrics == pytest.approx(said[0], rel=1e-4) for metrics in said)


def ended(code: str) -> virtual.Ended:
    """Return the end of a program in Python that runs in a guest, as a run of a kernel does."""
    began = time.monotonic()

    def look(_said: bytes) -> None:
        assert time.monotonic() < began + 600, "the guest does not end"

    command = [sys.executable, "-I", "-S", "-c", textwrap.dedent(code)]
    return virtual.run(kernels()[0], command, {"PATH": "/usr/bin:/bin"}, 1, look=look)


@needs_kernel
def test_a_guest_ends_after_a_thread_that_ends_last_and_has_entries_of_proc() -> None:
    # The end of the process is reported before the entries are dropped, to process 1, which has the higher priority.
    assert ended(ENDS_WITH_A_THREAD).status == 0


@needs_kernel
def test_a_guest_reaps_what_its_command_leaves_and_passes_its_status_on() -> None:
    code = """
        import os, sys, time
        left, write = os.pipe()
        child = os.fork()
        if child == 0:
            orphan = os.fork()
            if orphan != 0:
                os.write(write, str(orphan).encode())
            os._exit(0)
        os.waitpid(child, 0)
        time.sleep(0.1)
        try:
            os.kill(int(os.read(left, 9)), 0)
        except ProcessLookupError:
            sys.exit(7)
    """
    assert ended(code).status == 7
    assert ended("import os; os.kill(os.getpid(), 15)").status == 128 + 15


@needs_kernel
def test_a_guest_that_hangs_ends_with_a_sentence_and_one_whose_clock_steps_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(virtual, "HANGS_S", 1.0)
    with pytest.raises(virtual.Hanging, match="computed for 1 s without a step of its clock: it hangs"):
        ended("while True: pass")
    reads = ended("import time; end = time.monotonic() + 0.16\nwhile time.monotonic() < end: pass")
    assert reads.status == 0
    assert reads.processor_s > 2, "too short to tell"


@needs_kernel
def test_a_program_that_looks_at_the_clock_does_not_spin_though_nothing_else_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(virtual, "SPINS_S", 1.0)
    # Above process 1, so that it does not beat: as on a busy machine, where a look at the clock takes ten times as long.
    code = """
        import os, time
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(60))
        end = time.monotonic() + 0.16
        while time.monotonic() < end: pass
    """
    command = [sys.executable, "-I", "-S", "-c", textwrap.dedent(code)]
    done = virtual.run(kernels()[0], command, {"PATH": "/usr/bin:/bin"}, 1, as_root=True)
    assert done.status == 0
    assert done.processor_s > 2, "too short to tell"


@needs_kernel
def test_a_kernel_without_the_symbol_of_its_clock_is_not_judged() -> None:
    program = kernels()[0].program
    assert virtual.address_of(program, virtual.CLOCK) != 0
    assert virtual.address_of(program, b"no_such_symbol") == 0


def test_a_page_that_ends_with_zeros_is_taken_for_a_stack_only_if_it_names_a_file() -> None:
    stack = b"\x01\x02\0PATH=/usr/bin\0/usr/bin/python3.11"
    assert virtual.file_of_stack(stack + bytes(9)) == "/usr/bin/python3.11"
    assert virtual.file_of_stack(stack + bytes(8)) == ""
    for other in (b"", b"\x10\0\xab", b"\0\x07/", b"\0word"):
        assert virtual.file_of_stack(other + bytes(9)) == ""
