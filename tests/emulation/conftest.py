"""Emulations that run for real, where the machine lets them; where not, one line says so."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.emulation import ROOTLESS, Rootless


def missing() -> str:
    """Say what this machine lacks; nothing if an emulation can run."""
    if not sys.platform.startswith("linux"):
        return "it runs on Linux only"
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "/dev/net/tun is not there or may not be opened"
    trial = [*(ROOTLESS if os.getuid() == 0 else []), "unshare", "-Urn", "true"]
    try:
        done = subprocess.run(trial, capture_output=True, text=True, check=False)
    except OSError as error:
        return f"unshare: {error}"
    return "" if done.returncode == 0 else f"no user namespaces: {done.stderr.strip()}"


MISSING = missing()


@pytest.fixture(autouse=True)
def _needs_emulation() -> None:
    if not MISSING:
        return
    if os.environ.get("SOJOURN_REQUIRE_EMULATION") == "1":
        pytest.fail(f"emulation is required here: {MISSING}")
    pytest.skip(f"the emulator with real packets: {MISSING}")


@pytest.fixture
def rootless(tmp_path: Path) -> Rootless:
    """Return the command line as a user without rights, in an empty directory."""
    return Rootless(tmp_path)
