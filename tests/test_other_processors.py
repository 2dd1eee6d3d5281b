"""The fixed worlds have the same bits on another processor, emulated by QEMU."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TARGET = "aarch64-unknown-linux-gnu"
LINKER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64-static"


def has_target() -> bool:
    """Return whether the compiler has the standard library of the other processor."""
    asked = ["rustc", "--print", "target-libdir", "--target", TARGET]
    folder = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    return bool(folder) and Path(folder).is_dir()


@pytest.mark.slow
def test_results_on_aarch64_are_those_of_x86() -> None:
    for program in (LINKER, EMULATOR):
        if shutil.which(program) is None:
            pytest.skip(f"no {program}: results on aarch64 are not compared")
    if not has_target():
        pytest.skip(f"no `rustup target add {TARGET}`: results on aarch64 are not compared")
    name = TARGET.upper().replace("-", "_")
    environment = os.environ | {
        f"CARGO_TARGET_{name}_LINKER": LINKER,
        f"CARGO_TARGET_{name}_RUNNER": f"{EMULATOR} -L /usr/aarch64-linux-gnu",
    }
    command = ["cargo", "test", "-p", "sojourn-engine", "--locked", "--target", TARGET, "--test", "main", "golden"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
