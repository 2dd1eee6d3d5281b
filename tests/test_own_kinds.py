"""Crates outside the workspace add kinds of their own and run scenario files that ask for them."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"

CHANGES = {
    "own-queue-manager": ("every = 50", "every = 1000000"),
    "own-controller": ("decrease = 0.5", "decrease = 0.9"),
    "own-link": ('noon = "5 s"', 'noon = "20 s"'),
    "own-application": ("burst = 20", "burst = 40"),
}
"""What to write instead in the scenario of each example so that more packets get through."""


def build(example: str) -> Path:
    """Build an example with the locked dependencies of the workspace, and return its program."""
    folder = EXAMPLES / example
    shutil.copy(ROOT / "Cargo.lock", folder / "Cargo.lock")
    target = ROOT / "target"  # the libraries of others are compiled there already
    subprocess.run(
        ["cargo", "build", "--quiet", "--offline"],
        cwd=folder,
        env={**os.environ, "CARGO_TARGET_DIR": str(target)},
        check=True,
    )
    return target / "debug" / example


def packet_hops(program: Path, scenario: Path) -> int:
    """Run a scenario file and return how many packets links have carried."""
    done = subprocess.run([program, scenario], capture_output=True, text=True, check=True)
    found = re.match(r"packet-hops: (\d+)", done.stdout)
    assert found, done.stdout
    return int(found[1])


def test_every_example_is_tested() -> None:
    assert {folder.name for folder in EXAMPLES.glob("own-*")} == set(CHANGES)


@pytest.mark.slow
@pytest.mark.parametrize("example", CHANGES)
def test_a_kind_from_outside_runs_and_its_keys_count(example: str, tmp_path: Path) -> None:
    program = build(example)
    scenario = EXAMPLES / example / "scenario.toml"
    text = scenario.read_text()
    before, after = CHANGES[example]
    assert before in text
    changed = tmp_path / "changed.toml"
    changed.write_text(text.replace(before, after))
    assert packet_hops(program, changed) > packet_hops(program, scenario) > 1000
