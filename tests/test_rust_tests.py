"""Tests in Rust run: Cargo looks for none by itself where one program holds all tests of a crate."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAMS = sorted(ROOT.glob("crates/*/tests/main.rs"))


def test_there_are_such_programs() -> None:
    assert len(PROGRAMS) >= 6


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.parts[-3])
def test_the_program_of_a_crate_names_each_file_of_its_tests(program: Path) -> None:
    package = tomllib.loads((program.parents[1] / "Cargo.toml").read_text())
    programs = {test["name"] for test in package["test"]}
    files = {path.stem for path in program.parent.glob("*.rs")} - programs
    folders = {path.parent.name for path in program.parent.glob("*/mod.rs")}
    assert set(re.findall(r"^mod (\w+);", program.read_text(), re.MULTILINE)) == files | folders


@pytest.mark.parametrize("example", sorted(ROOT.glob("examples/own-*")), ids=lambda path: path.name)
def test_each_example_is_run(example: Path) -> None:
    package = tomllib.loads((example / "Cargo.toml").read_text())
    assert [test["path"] for test in package["test"]] == ["../runs.rs"]


def without_doctests() -> list[Path]:
    """Return the crates whose documentation is not searched for examples, which takes seconds each."""
    manifests = ROOT.glob("crates/*/Cargo.toml")
    found = [path.parent for path in manifests if "doctest = false" in path.read_text()]
    return sorted(found)


@pytest.mark.parametrize("crate", without_doctests(), ids=lambda path: path.name)
def test_no_example_in_the_documentation_of_a_crate_is_left_out(crate: Path) -> None:
    fence = re.compile(r"^\s*//[/!]\s*```(?!text)\w*$", re.MULTILINE)
    sources = [path for path in crate.glob("src/**/*.rs") if path.name != "main.rs"]
    opened = [path for path in sources if fence.search(path.read_text())]
    assert opened == [], "say doctest = true"


def test_the_extension_module_has_no_tests_in_rust_since_none_would_be_run() -> None:
    crate = ROOT / "crates" / "sojourn-python"
    tested = [path for path in crate.glob("src/**/*.rs") if "#[test]" in path.read_text()]
    assert tested == []
    manifest = (ROOT / "crates" / "sojourn-testkit" / "Cargo.toml").read_text()
    others = [test["path"] for test in tomllib.loads(manifest)["test"]]
    assert others == [f"../sojourn-python/tests/{path.name}" for path in crate.glob("tests/*.rs")]
