"""What `.cargo/mutants.toml` leaves out of the changes that `tools/mutants` tries.

The tool that makes the changes is no part of a test run: changes of the forms that the entries name are listed from the text of
the rules here, as cargo-mutants 27 words them.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CONFIG = tomllib.loads((ROOT / ".cargo/mutants.toml").read_text())
ENTRIES: list[str] = CONFIG["exclude_re"]

# One change of each operator suffices for most; comparisons have several.
OPERATORS = {
    "==": ["!="],
    "!=": ["=="],
    "<": ["==", ">", "<="],
    ">": ["==", "<", ">="],
    "<=": [">"],
    ">=": ["<"],
    "&&": ["||"],
    "||": ["&&"],
    "+": ["-", "*"],
    "-": ["+", "/"],
    "*": ["+", "/"],
    "/": ["%", "*"],
    "|": ["&", "^"],
}
OPERATOR = re.compile(r"(?<= )(" + "|".join(re.escape(word) for word in OPERATORS) + r")(?= |$)")
IMPLEMENTATION = re.compile(r"^impl(?:<.*?>)? (?:(?P<trait>\S+) for )?(?P<type>\w+)")
FUNCTION = re.compile(r"^ *(?:pub(?:\(\w+\))? )?(?:const )?fn (?P<name>\w+)(?:.*-> (?P<result>\S+) \{)?")
GUARD = re.compile(r"^ *.+ if (?P<condition>.+) =>")


def rules() -> list[Path]:
    """Return the files whose rules are changed."""
    found = {path for glob in CONFIG["examine_globs"] for path in ROOT.glob(glob)}
    return sorted(path for path in found if path.name != "tests.rs")


def changes(path: Path) -> Iterator[str]:
    """Yield changes of a file's rules: place, what is replaced, and the function."""
    of, function = "", ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line == "#[cfg(test)]":
            return
        if found := IMPLEMENTATION.match(line):
            of = f"<impl {found['trait']} for {found['type']}>::" if found["trait"] else f"{found['type']}::"
        elif line == "}":
            of = ""
        place = f"{path.relative_to(ROOT)}:{number}"
        if found := FUNCTION.match(line):
            function = of + found["name"]
            if found["result"] == "bool":
                yield from (f"{place}:9: replace {function} -> bool with {word}" for word in ("true", "false"))
        elif function and not line.lstrip().startswith(("//", "#")):
            if found := GUARD.match(line):
                condition = found["condition"]
                yield from (
                    f"{place}:9: replace match guard {condition} with {word} in {function}"
                    for word in ("true", "false")
                )
            if " => " in line:
                yield f"{place}:13: delete match arm {line.split(' => ')[0].strip()} in {function}"
            for found in OPERATOR.finditer(line.split(" // ")[0]):
                for other in OPERATORS[found[0]]:
                    yield f"{place}:{found.start() + 1}: replace {found[0]} with {other} in {function}"


CHANGES = {path: list(changes(path)) for path in rules()}


@pytest.mark.parametrize("entry", ENTRIES)
def test_each_entry_leaves_out_some_changes_of_one_file(entry: str) -> None:
    files = {path for path, some in CHANGES.items() if any(re.search(entry, change) for change in some)}
    assert len(files) == 1, f"{entry!r} is about {len(files)} files"
    (path,) = files
    assert not all(re.search(entry, change) for change in CHANGES[path])


@pytest.mark.parametrize("glob", CONFIG["examine_globs"])
def test_the_entries_leave_changes_to_try_in_each_file(glob: str) -> None:
    left_out = re.compile("|".join(f"(?:{entry})" for entry in ENTRIES))
    of_files = [some for path, some in CHANGES.items() if path in set(ROOT.glob(glob)) and some]
    assert of_files
    assert all(any(not left_out.search(change) for change in some) for some in of_files)
