"""Modules inside a crate do not know each other in a circle; Cargo sees to the crates themselves.

A submodule is a part of the module around it: what it takes from there counts no more than what a function takes from its
file. Only the root of a crate is a module like any other.
"""

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

CRATES = Path(__file__).parents[1] / "crates"

Module = tuple[str, ...]

COMMENT = re.compile(r"//[^\n]*")
TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
FOR_TESTS = re.compile(r"#\[cfg\((?:any\()?test\b[^\]]*\]")
USE = re.compile(r"^[ \t]*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", re.MULTILINE)
MOD = re.compile(r"\bmod \w+;")
PATH = re.compile(r"(?<![\w:])([a-z_]\w*(?:::\w+)+)")


def without_tests(text: str) -> str:
    """Return source text without comments, texts, and what is compiled for tests alone."""
    text = TEXT.sub('""', COMMENT.sub("", text))
    while found := FOR_TESTS.search(text):
        end = found.end()
        depth = 0
        while end < len(text):
            depth += (text[end] == "{") - (text[end] == "}")
            end += 1
            if depth == 0 and text[end - 1] in ";}":
                break
        text = text[: found.start()] + text[end:]
    return text


def branches(tree: str, stem: Module = ()) -> Iterator[tuple[Module, str]]:
    """Return each path of a `use` and the name that it is given, without those that are globs."""
    head, brace, rest = tree.strip().partition("{")
    steps, _, name = head.partition(" as ")
    path = (*stem, *(step.strip() for step in steps.split("::") if step.strip()))
    if not brace:
        if path[-1] == "self":
            path = path[:-1]
        if path[-1] != "*":
            yield path, name.strip() or path[-1]
        return
    depth, start = 0, 0
    inner = rest[: rest.rindex("}")] + ","
    for place, letter in enumerate(inner):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            if part := inner[start:place].strip():
                yield from branches(part, path)
            start = place + 1


class Crate:
    """The modules of a crate, and what each passes on of others."""

    def __init__(self, source: Path) -> None:
        self.code: dict[Module, str] = {}
        for file in source.rglob("*.rs"):
            parts = file.relative_to(source).with_suffix("").parts
            if {"tests", "testing"} & set(parts) or parts == ("main",):
                continue
            module = parts[:-1] if parts[-1] in {"mod", "lib"} else parts
            self.code[module] = without_tests(file.read_text(encoding="utf-8"))
        self.passed_on: dict[Module, dict[str, Module]] = {module: {} for module in self.code}
        for module, code in self.code.items():
            for public, tree in USE.findall(code):
                for path, name in branches(tree) if public else ():
                    if target := self.absolute(module, path):
                        self.passed_on[module][name] = target

    def absolute(self, module: Module, path: Module) -> Module | None:
        """Return a path from the root of the crate; None for one of another crate."""
        if path[0] == "crate":
            return path[1:]
        base, rest = module, path
        while rest and rest[0] in {"self", "super"}:
            base, rest = base[:-1] if rest[0] == "super" else base, rest[1:]
        if rest != path:
            return (*base, *rest)
        return (*module, *path) if (*module, path[0]) in self.code else None

    def home(self, path: Module) -> Module:
        """Return the module in which what a path names is defined."""
        module: Module = ()
        for place, step in enumerate(path):
            if (*module, step) in self.code:
                module = (*module, step)
            elif further := self.passed_on[module].get(step):
                return self.home((*further, *path[place + 1 :]))
            else:
                break
        return module

    def known_to(self, module: Module) -> set[Module]:
        """Return the modules whose names a module uses; what it only passes on does not count."""
        code = self.code[module]
        body = MOD.sub("", USE.sub("", code))
        paths = [tuple(path.split("::")) for path in PATH.findall(body)]
        for public, tree in USE.findall(code):
            for path, name in branches(tree):
                if not public or re.search(rf"\b{name}\b", body):
                    paths.append(path)
        found = (self.absolute(module, path) for path in paths)
        around = {module[:depth] for depth in range(1, len(module) + 1)}
        return {self.home(path) for path in found if path} - around - {module}

    def circle(self) -> str:
        """Return a circle of modules, each of which uses names of the one before; empty without one."""
        try:
            TopologicalSorter({module: self.known_to(module) for module in self.code}).prepare()
        except CycleError as error:
            return " → ".join("::".join(("crate", *module)) for module in error.args[1])
        return ""


@pytest.mark.parametrize("crate", sorted(path.name for path in CRATES.iterdir()))
def test_no_modules_of_a_crate_know_each_other_in_a_circle(crate: str) -> None:
    assert Crate(CRATES / crate / "src").circle() == ""


LOWER = "pub struct Lower;\n"
UPPER = "use crate::lower::Lower;\npub fn upper(_: Lower) {}\n"


@pytest.mark.parametrize(
    ("root", "lower"),
    [
        ("", "use crate::upper::upper;\n"),
        ("", "pub fn lower() { crate::upper::upper(Lower) }\n"),
        ("pub use upper::upper;\n", "use crate::{Lower as Other, upper};\n"),
        ("pub use upper::upper as other;\n", "use super::{other};\n"),
    ],
    ids=["use", "path", "through the root", "renamed"],
)
def test_a_circle_is_found(tmp_path: Path, root: str, lower: str) -> None:
    (tmp_path / "lib.rs").write_text(f"mod lower;\nmod upper;\n{root}", encoding="utf-8")
    (tmp_path / "upper.rs").write_text(UPPER, encoding="utf-8")
    (tmp_path / "lower.rs").write_text(LOWER, encoding="utf-8")
    assert Crate(tmp_path).circle() == ""
    (tmp_path / "lower.rs").write_text(LOWER + lower, encoding="utf-8")
    assert set(Crate(tmp_path).circle().split(" → ")) == {"crate::lower", "crate::upper"}


def test_what_tests_alone_use_is_no_circle(tmp_path: Path) -> None:
    (tmp_path / "lib.rs").write_text("mod lower;\nmod upper;\n", encoding="utf-8")
    (tmp_path / "upper.rs").write_text(UPPER, encoding="utf-8")
    tests = "#[cfg(test)]\nmod tests {\n    use crate::upper::upper;\n}\n"
    (tmp_path / "lower.rs").write_text(LOWER + tests, encoding="utf-8")
    assert Crate(tmp_path).circle() == ""
