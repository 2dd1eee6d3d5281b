"""A run that needs more memory than it may take is refused or stopped, in words; nothing aborts."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tomli_w

import sojourn._engine as _engine
from sojourn.base.errors import MemoryExceeded
from sojourn.base.memory import budget
from sojourn.base.quantities import size_bytes
from sojourn.scenario.scenario_file import load_scenario
from sojourn.simulation.engine import simulate
from support import HOUSEHOLD, CommandLine, words_only, write_scenario, write_study

DIRECTION = {
    "link": {"kind": "serial", "rate": "10 Mb/s"},
    "queue": {"kind": "fq-codel", "limit": "1000 packets", "queues": 65_536},
}
OWN_QUEUES: dict[str, Any] = {
    "name": "family",
    "count": 500,
    "access": {"upstream": DIRECTION, "downstream": DIRECTION},
    "traffic": [{"name": "call", "app": {"kind": "voice", "start_jitter": "1 s"}}],
}
"""Homes with access links of their own, each with many queues: no bound of a key is exceeded."""


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"duration": "86400 s", "record": {"series": "10 ms"}}, "time series"),
        ({"duration": "3600 s", "traffic": [{"name": "call", "app": {"kind": "voice"}}]}, "a row per datagram"),
        (
            {"traffic": [{"name": "lanes", "app": {"kind": "constant-rate", "lanes": 10_000}}]},
            "delays of each stream of datagrams",
        ),
        (
            {"traffic": [{"name": "bulk", "app": {"kind": "bulk", "lanes": 1_000_000}, "stack": "linux-cubic"}]},
            "connections",
        ),
        (
            {
                "traffic": [
                    {
                        "name": "web",
                        "app": {
                            "kind": "web",
                            "users": 9_000,
                            "connections_per_server": 1,
                            "page": {"kind": "generated", "servers": 100, "objects_per_server": 10_000},
                        },
                        "stack": "linux-cubic",
                    }
                ]
            },
            'users and their objects (most of it for "web")',
        ),
    ],
)
def test_a_run_that_is_known_to_need_more_is_refused_before_it_begins(
    sojourn: CommandLine, tmp_path: Path, changes: dict[str, Any], what: str
) -> None:
    write_scenario(tmp_path, **changes)
    interval = ["--set", "traffic.call.app.interval=1 us"] if what.startswith("a row") else []
    done = sojourn("run", "household.toml", "--memory", "400MB", *interval)
    assert done.status == 1, done.stderr
    assert words_only(done)
    assert what in done.stderr
    assert "the budget is 400 MB" in done.stderr
    assert "--memory" in done.stderr


def test_homes_with_many_queues_of_their_own_are_refused_before_they_are_built(
    sojourn: CommandLine, tmp_path: Path
) -> None:
    document = {key: value for key, value in HOUSEHOLD.items() if key != "traffic"}
    (tmp_path / "homes.toml").write_text(tomli_w.dumps({**document, "home": [OWN_QUEUES]}))
    done = sojourn("run", "homes.toml", "--memory", "400MB")
    assert done.status == 1, done.stderr
    assert words_only(done)
    assert "sub-queues of queue managers" in done.stderr
    assert "fewer queues, bins or buckets" in done.stderr


def test_a_run_that_turns_out_to_need_more_is_stopped(tmp_path: Path) -> None:
    # Files of one packet, handed over without a pause: a row each, and nobody knows how many there will be.
    path = write_scenario(
        tmp_path,
        duration="100000 s",
        record={"series": "off", "datagrams": False},
        traffic=[
            {
                "name": "files",
                "app": {"kind": "bulk", "file": "1 kB", "lanes": 50},
                "stack": "linux-cubic",
                "rtt": "2 ms",
            }
        ],
    )
    settings = [f"access.{way}.link.rate=1 Gb/s" for way in ("upstream", "downstream")]
    scenario = load_scenario(path, settings)
    with pytest.raises(MemoryExceeded) as raised:
        simulate(scenario.compiled, 1, memory=30_000_000)
    assert "records and packets take" in raised.value.message
    assert "the budget is 30 MB" in raised.value.message


FAST = {"packet": "1500 B", "interval": "1 us", "playout": "adaptive"}
GROWING: dict[str, dict[str, Any]] = {
    "bulk": {"file": "1 GB", "period": "1 ms", "reuse_connection": True, "lanes": 100},
    "constant-rate": {**FAST, "is_call": True},
    "voice": FAST,
    "game": {**FAST, "is_call": True},
    "probe": {"interval": "1 ms"},
    "pd": {"gap": "100 ms", "sources": 2, "start_jitter": "0 s"},
    "web-akhtar": {"gap": "1 ps", "start_jitter": "0 s"},
}
"""Applications that keep more and more on a line that carries next to nothing."""

BOUNDED = {
    "online-game": "packets are forgotten when they leave",
    "web": "the next page waits for the one before it",
    "has": "the next chunk waits for the one before it",
    "has-ll": "a player has one segment on its way",
    "web-3gpp": "the next page waits for the one before it",
    "cloud-game": "frames are given up two seconds after their capture",
    "video-call": "frames are given up two seconds after their capture",
    "adaptive-video": "frames are given up two seconds after their capture",
    "capture": "the list of packets is known before the run",
}
"""Applications whose memory is known before the run, and why."""

DRIVEN = """
import json, resource, sys
from sojourn.base.errors import MemoryExceeded
from sojourn.scenario.scenario_file import load_scenario
from sojourn.simulation.engine import simulate
scenario = load_scenario(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
ended = "it ran to its end"
try:
    simulate(scenario.compiled, 1, memory=int(sys.argv[2]))
except MemoryExceeded as error:
    ended = error.message
print(json.dumps([ended, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024]))
"""


def test_every_kind_of_application_grows_up_to_the_budget_or_is_known_to_be_bounded() -> None:
    rows = [row[2] for row in _engine.scenario_keys() if row[0] == "traffic.NAME.app"]
    kinds = sorted(row.split('"')[1] for row in rows if row.startswith("kind ="))
    assert sorted([*GROWING, *BOUNDED]) == kinds


@pytest.mark.parametrize("kind", GROWING)
def test_memory_of_an_application_counts_towards_the_budget(tmp_path: Path, kind: str) -> None:
    budget = 40_000_000
    line = {"link": {"kind": "serial", "rate": "10 kb/s"}, "queue": {"kind": "drop-tail", "limit": "10 packets"}}
    entry = {"name": "it", "app": {"kind": kind, **GROWING[kind]}, "rtt": "2 ms"}
    connects = kind in ("bulk", "pd", "web-akhtar")
    path = write_scenario(
        tmp_path,
        duration="20000 s",
        record={"series": "off", "datagrams": False, "histograms": False},
        access={"upstream": line, "downstream": line},
        traffic=[entry | ({"stack": "linux-cubic"} if connects else {})],
    )
    command = [sys.executable, "-c", DRIVEN, str(path), str(budget)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    ended, taken = json.loads(done.stdout)
    assert "the budget is 40 MB" in ended
    # What grows doubles its room, and a run is weighed every 65,536 steps.
    assert taken < 4 * budget, f"{taken:,} B"


def test_one_run_that_is_too_large_does_not_end_the_others_of_a_study(sojourn: CommandLine, tmp_path: Path) -> None:
    axes = {"lanes": {"key": "traffic.call.app.lanes", "values": [1, 9_000]}}
    write_study(tmp_path, "100 ms", overlays={}, matrix=[], axes=axes, keep=[], seeds=1)
    done = sojourn("study", "run", "study.toml", "--memory", "500MB")
    assert done.status == 1, done.stderr
    assert words_only(done)
    assert "1 of 2 runs failed" in done.stderr
    assert "is too large" in done.stderr
    assert len(sojourn.stored_runs()) == 1


def test_a_budget_is_shared_and_a_wish_is_kept() -> None:
    assert budget(4, 1000) == 250
    assert budget() > 1_000_000
    assert size_bytes("1.5 GB") == 1_500_000_000


def test_a_size_without_unit_is_refused_in_words(sojourn: CommandLine, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    done = sojourn("run", "household.toml", "--memory", "8")
    assert done.status == 2
    assert words_only(done)
