"""Run the checks and tests of the repository, in the order in which they fail fastest.

usage: tools/verify.py [lint|test|all|night]

`night` runs the tests that are marked slow: whole runs and studies, all pages, the wheel, SLURM and PostgreSQL.

The closing line counts tests: `N passed, M failed`, summed over Cargo and pytest. A lint, format or type
check that fails counts as one failure; one that passes is no test and is not counted. Standard library only.
"""

import os
import re
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"

CARGO_RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed;")
NOT_TESTED = "NOT TESTED: "
"""How a line begins that says what could not be tested on this machine; it is said again at the end."""
DESELECTED = re.compile(r"\b(\d+) deselected\b")
PYTEST_RESULT = re.compile(r"(\d+) (passed|failed|errors?)\b")


@dataclass(frozen=True)
class Step:
    """One command of the run."""

    name: str
    command: list[str]
    kind: str
    """`lint`, `cargo` or `pytest`: how to read its output."""


SIDE_BY_SIDE = ["-n", str((os.cpu_count() or 1) + 1), "--dist", "worksteal"]
"""One more than processors: some tests wait for servers, terminals and clocks, a quarter of the time in all."""

PYTEST = [str(BIN / "python"), "-m", "pytest", "-q", *SIDE_BY_SIDE, "-m"]

LINT = [
    Step("cargo fmt", ["cargo", "fmt", "--all", "--check"], "lint"),
    Step("ruff format", [str(BIN / "ruff"), "format", "--check", "--quiet", "."], "lint"),
    Step("ruff check", [str(BIN / "ruff"), "check", "--quiet", "."], "lint"),
    Step("words", [str(BIN / "python"), "tools/check-words"], "lint"),
    Step("pyright", [str(BIN / "pyright")], "lint"),
    Step(
        "clippy",
        [
            "cargo",
            "clippy",
            "--quiet",
            "--keep-going",
            "--workspace",
            "--all-targets",
            "--all-features",
            "--locked",
            "--",
            "-D",
            "warnings",
        ],
        "lint",
    ),
]
TEST = [
    # The extension module has no tests in Rust; with it, Python's and Arrow's libraries would be compiled once more.
    Step(
        "cargo test",
        [*("cargo", "test", "--workspace", "--exclude", "sojourn-python"), *("--locked", "--no-fail-fast")],
        "cargo",
    ),
    Step("pytest", [*PYTEST, "not slow", "--durations=10"], "pytest"),
]
NIGHT = [Step("pytest", [*PYTEST, "slow", "--durations=30"], "pytest")]


def count(kind: str, line: str) -> tuple[int, int]:
    """Return tests passed and failed that a line of output reports."""
    if kind == "cargo":
        found = CARGO_RESULT.match(line)
        return (int(found[1]), int(found[2])) if found else (0, 0)
    if kind == "pytest" and re.search(r" in [\d.]+s", line):
        passed = failed = 0
        for number, word in PYTEST_RESULT.findall(line):
            if word == "passed":
                passed += int(number)
            else:
                failed += int(number)
        return passed, failed
    return 0, 0


def processor_seconds() -> float:
    """Return the processor time of all commands that have ended, in s; a busy machine does not lengthen it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(step: Step, untested: list[str]) -> tuple[int, int]:
    """Run a step with its output shown, and return tests passed and failed; `untested` gets lines about tests that were left out."""
    print(f"== {step.name}", flush=True)
    began, used = time.monotonic(), processor_seconds()
    environment = os.environ | {
        "PYO3_PYTHON": str(BIN / "python"),
        "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1",
        "CARGO_TERM_COLOR": "never",
    }
    # Where bytecode is not kept, each of a thousand commands compiles the libraries anew: a second for tables alone.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    passed = failed = 0
    try:
        process = subprocess.Popen(
            step.command,
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    except FileNotFoundError:
        print(f"{step.command[0]} is not there; run: make setup")
        return 0, 1
    assert process.stdout is not None
    with process.stdout as output:
        for line in output:
            print(line, end="", flush=True)
            if line.startswith(NOT_TESTED):
                untested.append(line.strip())
            if what_is_left := DESELECTED.search(line):
                untested.append(f"{NOT_TESTED}{what_is_left[1]} tests of the other call: make test, make test-night")
            more_passed, more_failed = count(step.kind, line)
            passed += more_passed
            failed += more_failed
    status = process.wait()
    if status != 0 and failed == 0:
        failed = 1
    word = "ok" if status == 0 else f"FAILED (status {status})"
    took = f"{time.monotonic() - began:.0f} s, processors {processor_seconds() - used:.0f} s"
    print(f"== {step.name}: {word}, {took}", flush=True)
    return passed, failed


def main(what: str) -> int:
    """Run the steps and print the closing line; return the exit status."""
    steps = {"lint": LINT, "test": TEST, "all": LINT + TEST, "night": NIGHT}[what]
    passed = failed = 0
    broken: list[str] = []
    untested: list[str] = []
    for step in steps:
        step_passed, step_failed = run(step, untested)
        passed += step_passed
        failed += step_failed
        if step_failed:
            broken.append(step.name)
    print(f"processors: {processor_seconds():.0f} s")
    if broken:
        print(f"failed: {', '.join(broken)}")
    if what == "lint":
        print("lint failed" if failed else "lint passed")
    else:
        print(f"{passed} passed, {failed} failed")
    for line in untested:
        print(line)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "all"))
