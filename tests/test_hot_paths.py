"""Release builds are told which paths of the engine are hot, as noted with the pinned compiler and no other."""

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOOLCHAIN = tomllib.loads((ROOT / "rust-toolchain.toml").read_text(encoding="utf-8"))["toolchain"]
PINNED: str = TOOLCHAIN["channel"]


def flags(directory: Path, version: str, **environment: str) -> list[str]:
    """Return what a build in a copy of `tools` is told by a compiler that says it is `version`."""
    bin_directory = directory / "bin"
    bin_directory.mkdir()
    rustc = bin_directory / "rustc"
    rustc.write_text(f"#!/bin/sh\necho 'rustc {version} (0123456 2026-01-01)'\n")
    rustc.chmod(0o755)
    tools = directory / "a place" / "tools"
    shutil.copytree(ROOT / "tools", tools, ignore=shutil.ignore_patterns("__pycache__"))
    path = f"{bin_directory}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [tools / "release-flags"], env={"PATH": path, **environment}, capture_output=True, text=True, check=True
    )
    printed = done.stdout.rstrip("\n")
    return printed.split("\x1f") if printed else []


def test_the_pinned_compiler_is_told_what_was_noted_wherever_the_project_lies(tmp_path: Path) -> None:
    told = flags(tmp_path, PINNED, RUSTFLAGS="-Cforce-frame-pointers=yes -g")
    noted = tmp_path / "a place" / "tools" / f"hot-paths-{PINNED}.profdata"
    assert noted.is_file()
    assert told[:3] == ["-Cforce-frame-pointers=yes", "-g", f"-Cprofile-use={noted}"]


def test_another_compiler_is_told_nothing(tmp_path: Path) -> None:
    assert flags(tmp_path, "1.2.3") == []


def test_a_build_says_what_was_noted_and_takes_no_other(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    shutil.copytree(ROOT / "tools", tools, ignore=shutil.ignore_patterns("__pycache__"))
    noted = tools / f"hot-paths-{PINNED}.profdata"

    def asked() -> subprocess.CompletedProcess[str]:
        return subprocess.run([tools / "release-flags"], cwd=ROOT, capture_output=True, text=True, check=False)

    said = asked()
    assert said.returncode == 0
    assert f"sha256 {hashlib.sha256(noted.read_bytes()).hexdigest()} by tools/note" in said.stderr
    noted.write_bytes(noted.read_bytes()[:-1] + b"x")
    assert (asked().returncode, asked().stdout) == (1, "")


@pytest.mark.slow
def test_what_is_watched_runs() -> None:
    done = subprocess.run(
        [sys.executable, "tools/exercise-engine.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
