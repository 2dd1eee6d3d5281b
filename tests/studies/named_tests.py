"""Finds the tests that claims of a study name as `file::test`."""

import re
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]


def missing_tests(tests: Mapping[str, str]) -> list[str]:
    """Return what is wrong with the places that claims name, one sentence each."""
    problems: list[str] = []
    for claim, place in tests.items():
        file, _, name = place.partition("::")
        path = ROOT / file
        if not path.exists():
            problems.append(f"{claim}: {file} does not exist")
        elif not re.search(rf"\b(?:fn|def) {re.escape(name)}\b", path.read_text(encoding="utf-8")):
            problems.append(f"{claim}: {file} has no test {name}")
    return problems
