"""Drivers of other simulators: what they print, and what is said where they are missing."""

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

PEERS = Path(__file__).resolve().parents[2] / "benches" / "peers"


@pytest.fixture
def drivers(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(PEERS), *sys.path])
    return importlib.import_module("peer_drivers")


@pytest.fixture
def worlds(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(PEERS), *sys.path])
    return importlib.import_module("peer_worlds")


def test_the_line_of_json_is_found_among_what_else_a_simulator_says(drivers: ModuleType) -> None:
    # ns-2 prints what its TCP module was told, behind the result and without a line of its own.
    output = 'starting\n{"throughput_mbps": 4.9, "losses": 3, "logging": true}cmd select_ca cubic\n'
    assert drivers.parse(output) == {"throughput_mbps": 4.9, "losses": 3.0, "logging": 1.0}


def test_an_empty_object_is_a_run_in_which_nothing_was_measured(drivers: ModuleType) -> None:
    assert drivers.parse("{}\n") == {}


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("", "got 0"),
        ("nothing here\n", "got 0"),
        ('{"a": 1}\n{"a": 2}\n', "got 2"),
        ('{"a": 1\n', "not JSON"),
        ('{"a": "fast"}\n', "a is no number"),
    ],
)
def test_output_without_one_result_is_an_error(drivers: ModuleType, output: str, words: str) -> None:
    with pytest.raises(drivers.DriverError, match=words):
        drivers.parse(output)


def test_absent_simulators_are_skipped_with_a_reason(
    drivers: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    peers = drivers.find_peers(tmp_path)
    assert "apt-get install ns2" in peers["ns-2"].skipped
    assert "apt-get install pkgconf g++ libns3-dev" in peers["ns-3"].skipped


def test_a_driver_that_cannot_be_compiled_is_skipped_with_the_compiler_s_words(
    drivers: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, script in {"pkg-config": "echo 3.99", "g++": "echo 'no such header' >&2; exit 1"}.items():
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin")
    assert drivers.find_peers(tmp_path)["ns-3"].skipped.endswith("no such header")


def test_the_command_says_one_line_for_each_absent_simulator_and_writes_nothing(tmp_path: Path) -> None:
    page = tmp_path / "agreement.md"
    done = subprocess.run(
        [sys.executable, str(PEERS / "compare.py"), "--out", str(page)],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert [line.split(":")[0] for line in lines[:2]] == ["skipped ns-2", "skipped ns-3"]
    assert len(lines) == 3
    assert not page.exists()


def test_a_failing_driver_is_an_error_with_its_last_words(drivers: ModuleType) -> None:
    with pytest.raises(drivers.DriverError, match="no such queue"):
        drivers.run([sys.executable, "-c", "import sys; sys.exit('no such queue')"])


def test_processor_time_of_a_driver_is_that_of_its_process(drivers: ModuleType) -> None:
    busy = "import time\nwhile time.process_time() < 0.3: pass\nprint('{}')"
    measured = drivers.run_alone([sys.executable, "-c", busy])
    assert 0.3 <= measured.cpu_s < 3.0
    assert measured.values == {}


def test_every_world_is_a_valid_scenario_with_the_peer_s_own_rules(worlds: ModuleType) -> None:
    from sojourn import _engine

    assert len(worlds.WORLDS) == len(set(worlds.WORLDS))
    for world in worlds.WORLDS:
        assert _engine.check(worlds.scenario(world, 10.0)) == []
        assert _engine.check(worlds.scenario(world, 10.0, measure=False)) == []


@pytest.mark.parametrize(("peer", "queue"), [("ns-2", "drop-tail"), ("ns-3", "codel")])
def test_our_driver_fills_the_line_and_prints_every_quantity(
    drivers: ModuleType, worlds: ModuleType, peer: str, queue: str
) -> None:
    world = worlds.World(peer, queue, 1)
    command = drivers.command(None, world, seed=1, duration_s=20.0, warm_up_s=5.0, measure=True)
    values = drivers.run(command)
    assert 4.5 < values["throughput_mbps"] <= 5.01
    assert 0.0 < values["delay_p50_ms"] <= values["delay_p95_ms"] < 1100.0
    # 15 s of a packet every 20 ms.
    assert abs(values["stream_packets"] + values["stream_losses"] - 750) <= 50


def test_the_tuned_ns2_prints_what_the_other_prints(drivers: ModuleType, worlds: ModuleType, tmp_path: Path) -> None:
    peer = drivers.find_peers(tmp_path)["ns-2"]
    if peer.skipped:
        pytest.skip(peer.skipped)
    printed = [
        drivers.run(
            drivers.command(
                peer,
                worlds.World("ns-2", "drop-tail", 1, tuned=tuned),
                seed=1,
                duration_s=20.0,
                warm_up_s=5.0,
                measure=True,
            )
        )
        for tuned in (False, True)
    ]
    assert printed[0] == printed[1]
    assert printed[0]["losses"] > 0


def test_what_a_user_types_is_timed_from_its_start_to_its_end(
    drivers: ModuleType, worlds: ModuleType, tmp_path: Path
) -> None:
    file = tmp_path / "dumbbell.toml"
    world = worlds.World("ns-2", "drop-tail", 1)
    file.write_text(worlds.scenario(world, 1.0, measure=False), encoding="utf-8")
    assert 0.0 < drivers.typed_s(file, 1) < 5.0
    with pytest.raises(drivers.DriverError, match="no-such-file"):
        drivers.typed_s(tmp_path / "no-such-file.toml", 1)
