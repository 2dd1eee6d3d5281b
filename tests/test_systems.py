"""What only some systems have is asked for where it is used, and missed without harm; see docs/concepts/systems.md."""

import ast
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sojourn.base import memory, output
from sojourn.base.errors import EnvironmentFailure

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python" / "sojourn"

SOME_SYSTEMS = {"resource", "fcntl", "termios", "pwd", "grp", "pty", "winreg", "msvcrt"}
"""Modules of Python's library that some systems lack."""


def imported_at_once(path: Path) -> Iterator[str]:
    """Return what a module imports when it is loaded, and not within a function."""
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += ast.iter_child_nodes(node)


@pytest.mark.whole
def test_no_module_needs_one_system_to_be_loaded() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix(): names
        for path in PACKAGE.rglob("*.py")
        if (names := SOME_SYSTEMS & set(imported_at_once(path)))
    }
    assert found == {}


def test_the_page_names_each_module_that_reads_files_of_linux() -> None:
    page = (ROOT / "docs" / "concepts" / "systems.md").read_text(encoding="utf-8")
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if '"/proc/' in text or "sched_getaffinity" in text:
            name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
            assert name in page or "collector" in name, name


def test_no_process_is_asked_by_a_signal_that_would_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows signal 0 is that of Ctrl-C."""

    def ended(*_: Any) -> None:  # noqa: ANN401 - whatever it is called with
        pytest.fail("a signal was sent")

    with monkeypatch.context() as patched:
        patched.setattr(os, "name", "nt")
        patched.setattr(os, "kill", ended)
        gone = output.owner_is_gone(output.owner())
    assert not gone


def test_memory_is_not_limited_where_the_system_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_: str) -> list[str]:
        return []

    monkeypatch.setattr(memory, "_lines", nothing)
    with monkeypatch.context() as patched:
        patched.setattr(os, "name", "nt")
        free = list(memory._free())  # pyright: ignore[reportPrivateUsage]
    assert free == []


def test_the_collector_says_that_it_needs_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    service = pytest.importorskip("sojourn.field.collector.service")
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(EnvironmentFailure, match=r"needs Linux.*this is darwin"):
        service.require_linux()


@pytest.mark.parametrize("name", ["test", "wheels"])
def test_the_files_for_public_runners_can_be_read_and_run_what_there_is(name: str) -> None:
    text = (ROOT / ".ci" / "github" / f"{name}.yml").read_text(encoding="utf-8")
    assert "Never run so far" in text
    jobs = yaml.safe_load(text)["jobs"]
    steps = [step.get("run", "") for job in jobs.values() for step in job["steps"]]
    for word in " ".join(steps).split():
        if word.startswith(("tests/", ".ci/", "tools/")):
            assert (ROOT / word).exists(), word
    for job in jobs.values():
        assert job["timeout-minutes"] > 0
