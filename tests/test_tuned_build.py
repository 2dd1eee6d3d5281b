"""`make setup-tuned` lets the compiler watch `tools/exercise-engine.py`: it has to run as it is."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_command_that_tunes_the_build_runs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    program, script = project["tool"]["maturin"]["pgo-command"].split()
    assert program == "python"
    done = subprocess.run(
        [sys.executable, script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
