"""What lies in the user's directory is data: none of it is imported."""

import subprocess
import sys
from pathlib import Path

from sojourn.process.isolated import python_command

TRAP = "raise SystemExit('code from the current directory ran')\n"


def trap(directory: Path) -> None:
    for name in ("numpy", "random", "json", "pickle", "matplotlib", "sojourn"):
        (directory / f"{name}.py").write_text(TRAP)


def test_other_processes_import_nothing_from_the_current_directory(tmp_path: Path) -> None:
    trap(tmp_path)
    statements = "import json, random, numpy, sojourn.report.drawing_files; print('drawn')"
    done = subprocess.run(python_command(statements), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "drawn\n"), done.stderr


def test_the_module_run_by_name_imports_nothing_more_from_the_current_directory(tmp_path: Path) -> None:
    trap(tmp_path)
    (tmp_path / "sojourn.py").unlink()  # Python itself finds this one first
    done = subprocess.run(
        [sys.executable, "-m", "sojourn", "study", "list"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "white2012" in done.stdout
