"""Fixtures and settings that all tests share."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from support import CommandLine

# A busy machine is slow; that says nothing about the code.
settings.register_profile(
    "repository", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("repository")


@pytest.fixture
def sojourn(tmp_path: Path) -> CommandLine:
    """Return the command line, in an empty directory with an empty store."""
    return CommandLine(tmp_path)
