"""What Sojourn takes from others: told with the wheel, and asked about by `tools/audit`."""

import json
import os
import subprocess
import sys
import tomllib
from importlib.metadata import files
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_package_carries_a_bill_of_its_crates() -> None:
    listed = [path for path in files("sojourn") or [] if path.parent.name == "sboms"]
    assert listed
    bill = json.loads(Path(str(listed[0].locate())).read_text(encoding="utf-8"))
    assert bill["bomFormat"] == "CycloneDX"
    told = {(one["name"], one["version"]) for one in bill["components"]}
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))
    locked = {(one["name"], one["version"]) for one in lock["package"]}
    assert told <= locked
    assert {"sojourn-engine", "sojourn-queue", "pyo3"} <= {name for name, _ in told}


def test_what_cannot_be_asked_is_said_and_has_not_passed() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "audit"],
        env=os.environ | {"PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    lines = done.stdout.splitlines()
    assert lines.pop() == "0 passed, 0 found something, 10 not asked"
    assert len(lines) == 10
    assert sum(line.startswith("crates of fuzzing, ") for line in lines) == 4
    assert all(": not asked: " in line and "not installed" in line for line in lines)
