"""Fixtures and settings that all tests share."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from support import CommandLine

# A busy machine is slow; that says nothing about the code.
settings.register_profile("repository", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("repository")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the end what was not tested, and why; `tools/verify.py` says it again as its last words."""
    places: dict[str, set[str]] = {}
    skipped: list[pytest.TestReport] = terminalreporter.getreports("skipped")
    for report in skipped:
        told = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
        reason = told.removeprefix("Skipped: ")
        places.setdefault(reason, set()).add(report.nodeid.split("[")[0])
    for reason, tests in sorted(places.items()):
        first, *others = sorted(tests)
        more = f" and {len(others)} more" if others else ""
        terminalreporter.write_line(f"NOT TESTED: {reason} ({first}{more})")


PROGRAMS = frozenset(
    {"CommandLine", "Popen", "asyncio", "multiprocessing", "run_study", "socket", "subprocess", "threading"}
)
"""Names in a module of tests that start programs, servers or studies."""

WHOLE = frozenset({"address", "browser", "server", "site", "sojourn"})
"""Fixtures that do."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that start programs, servers, browsers or studies."""
    for item in items:
        if isinstance(item, pytest.Function) and (WHOLE & set(item.fixturenames) or PROGRAMS & set(vars(item.module))):
            item.add_marker("whole")


@pytest.fixture
def sojourn(tmp_path: Path) -> CommandLine:
    """Return the command line, in an empty directory with an empty store."""
    return CommandLine(tmp_path)
