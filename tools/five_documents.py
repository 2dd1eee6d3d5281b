"""Write the table of what the five documents describe: each point, where a user asks for it, and the test that holds it.

usage: tools/five_documents.py [--write]

`specs/five-documents.csv` has a row for each point. Without arguments the counts are printed; `--write` writes
the tables of docs/concepts/five-documents.md. Standard library only.
"""

import csv
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "specs" / "five-documents.csv"
PAGE = ROOT / "docs" / "concepts" / "five-documents.md"
BEGIN, END = "<!-- points -->\n", "<!-- end of points -->\n"
STATES = {"yes": "whole", "part": "in part", "no": "absent"}


@cache
def crates() -> dict[str, str]:
    """Return the crate of each function in Rust."""
    found: dict[str, str] = {}
    for file in sorted((ROOT / "crates").rglob("*.rs")):
        for name in re.findall(r"fn (\w+)", file.read_text(encoding="utf-8")):
            found.setdefault(name, file.relative_to(ROOT / "crates").parts[0])
    return found


def in_crate(test: str) -> str:
    """Return the crate of a test in Rust, in brackets; nothing of one in Python."""
    return "" if test.startswith("test_") else f" (`{crates()[test]}`)"


@dataclass(frozen=True)
class Point:
    """One thing that a document describes."""

    number: int
    document: str
    section: str
    point: str
    asked: tuple[str, ...]
    """Commands, keys, words and metrics with which a user asks for it."""
    tests: tuple[str, ...]
    page: str
    """The page that explains it, from `docs`."""
    whole: str
    """`yes`, `part` or `no`."""
    why: str
    """The missing part, and the reason; empty if it is whole."""

    @property
    def row(self) -> str:
        """The point as a row of its document's table."""
        asked = ", ".join(f"`{name}`" for name in self.asked)
        tests = ", ".join(f"`{name}`{in_crate(name)}" for name in self.tests)
        state = STATES[self.whole] + (f": {self.why}" if self.why else "")
        return f"| {self.number} | {self.section} | [{self.point}](../{self.page}) | {asked} | {tests} | {state} |"


def read(path: Path = DATA) -> list[Point]:
    """Return the points in their order, counted from 1."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    return [
        Point(
            number,
            row["document"],
            row["section"],
            row["point"],
            tuple(row["asked"].split("; ")),
            tuple(row["tests"].split()),
            row["page"],
            row["whole"],
            row["why"],
        )
        for number, row in enumerate(rows, 1)
    ]


def counts(points: list[Point]) -> Iterator[tuple[str, int, int, int, int]]:
    """Return the counts of each document and of all: points, whole, in part, absent."""
    documents = dict.fromkeys(point.document for point in points)
    for name, chosen in [*((name, [p for p in points if p.document == name]) for name in documents), ("all", points)]:
        states = Counter(point.whole for point in chosen)
        yield name, len(chosen), states["yes"], states["part"], states["no"]


def tables(points: list[Point]) -> str:
    """Return the counts and one table for each document."""
    lines = ["| document | points | whole | in part | absent |", "|---|--:|--:|--:|--:|"]
    lines += [f"| {' | '.join(str(cell) for cell in row)} |" for row in counts(points)]
    for name in dict.fromkeys(point.document for point in points):
        lines += [
            "",
            f"## {name}",
            "",
            "| no. | section | point | asked for with | held by | whole |",
            "|--:|---|---|---|---|---|",
        ]
        lines += [point.row for point in points if point.document == name]
    return "\n".join([*lines, ""])


def page(points: list[Point], text: str) -> str:
    """Return the page with its tables made anew."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{tables(points)}\n{END}{after}"


def main(arguments: list[str]) -> int:
    """Print the counts, or write the page."""
    points = read()
    if "--write" in arguments:
        PAGE.write_text(page(points, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    for name, number, *states in counts(points):
        words = zip(states, STATES.values(), strict=True)
        print(f"{name}: {number} points, {', '.join(f'{count} {word}' for count, word in words)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
