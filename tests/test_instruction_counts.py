"""What a packet-hop costs may not rise by stealth: instructions are counted, not time.

The counts of `benches/instructions.toml` are those of the release build with the pinned toolchain, which knows the hot
paths that were noted. A change that costs more for a good reason moves them, and says so in its commit; after larger
changes `make hot-paths` may bring them back.
"""

import importlib
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.whole

ROOT = Path(__file__).resolve().parents[1]
COUNTS = tomllib.loads((ROOT / "benches" / "instructions.toml").read_text(encoding="utf-8"))

CACHEGRIND = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind counts the instructions")
@pytest.mark.parametrize(
    "world",
    [
        "dumbbell" if world == "dumbbell" else pytest.param(world, marks=pytest.mark.slow)
        for world in sorted(COUNTS["instructions_per_packet_hop"])
    ],
)
def test_no_world_needs_more_instructions_than_it_did(world: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "tools" / "bench-speed"), *sys.path])
    # The start of Python is taken off, which takes that it is always the same.
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    measuring = importlib.import_module("speed_measure")
    monkeypatch.setattr(measuring, "INSTRUCTION_DURATIONS_S", tuple(COUNTS["durations_s"]))
    counted = measuring.count_instructions([world], CACHEGRIND)[world]
    known = COUNTS["instructions_per_packet_hop"][world]
    assert counted <= known * (1 + COUNTS["tolerance"]), f"{counted:.0f} instructions per packet-hop, {known} are known"


def test_every_bench_world_has_a_count() -> None:
    from sojourn.simulation.bench import world_names

    assert sorted(COUNTS["instructions_per_packet_hop"]) == sorted(world_names())
