"""Say which requirements of RFCs the code implements, where, and which test would notice.

usage: tools/clauses.py [--open] [--write]

`specs/*.toml` holds one file per document: its clauses in our words, their state, the places that implement
them and the tests that hold them. Every named place and test is looked up, so that a renamed function is
noticed. Without arguments the coverage of each document is printed; `--open` lists what is not implemented
or has no test; `--write` writes docs/reference/clauses.md. Exits with 1 if a name leads nowhere. Standard
library only.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "clauses.md"
STATES = ("implemented", "partly", "not implemented", "out of scope")
KEYS = {"section", "statement", "status", "where", "test", "reason"}


@dataclass(frozen=True)
class Clause:
    """One requirement, in our words."""

    section: str
    statement: str
    status: str
    where: tuple[str, ...]
    test: tuple[str, ...]
    reason: str

    @property
    def is_open(self) -> bool:
        """True if something is left to do: it is not implemented in full, or no test holds it."""
        if self.status == "out of scope":
            return False
        return self.status != "implemented" or not self.test


@dataclass(frozen=True)
class Document:
    """A document and its clauses."""

    file: str
    name: str
    title: str
    clauses: tuple[Clause, ...]

    def count(self, status: str) -> int:
        """Return how many clauses are in a state."""
        return sum(clause.status == status for clause in self.clauses)

    @property
    def tested(self) -> int:
        """How many clauses a test holds."""
        return sum(bool(clause.test) for clause in self.clauses)


def read(root: Path = ROOT) -> list[Document]:
    """Return the documents of `specs`, in the order of their names."""
    documents: list[Document] = []
    for path in sorted((root / "specs").glob("*.toml")):
        table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        clauses = tuple(
            Clause(
                section=clause["section"],
                statement=clause["statement"],
                status=clause["status"],
                where=tuple(clause.get("where", ())),
                test=tuple(clause.get("test", ())),
                reason=clause.get("reason", ""),
            )
            for clause in table["clause"]
            if not set(clause) - KEYS
        )
        if len(clauses) != len(table["clause"]):
            raise ValueError(f"{path}: a clause has a key that is not one of {sorted(KEYS)}")
        documents.append(Document(path.name, table["document"], table["title"], clauses))
    return documents


def problems(documents: list[Document], root: Path = ROOT) -> Iterator[str]:
    """Yield what is wrong: states that do not exist, missing reasons, names that lead nowhere."""
    for document in documents:
        for clause in document.clauses:
            at = f"{document.file}: section {clause.section}: {clause.statement!r}"
            if clause.status not in STATES:
                yield f"{at}: {clause.status!r} is not one of {', '.join(STATES)}"
            if clause.status in ("implemented", "partly") and not clause.where:
                yield f"{at}: where is it implemented?"
            if clause.status != "implemented" and not clause.reason:
                yield f"{at}: a reason is missing"
            if clause.status == "implemented" and not clause.test:
                yield f"{at}: no test; say `partly` and the reason"
            for place in clause.where:
                if not _declares(root, place):
                    yield f"{at}: {place} is not there"
            for test in clause.test:
                if not _tests(root, test):
                    yield f"{at}: there is no test {test}"


def _source(root: Path, place: str) -> tuple[str, str]:
    """Return the text of the file that `FILE: NAME` names, and the name."""
    file, _, name = place.partition(": ")
    path = root / file
    return (path.read_text(encoding="utf-8") if path.is_file() else ""), name


def _declares(root: Path, place: str) -> bool:
    """Return whether a file declares what is named: `function`, `Type`, or `Type::member`."""
    text, name = _source(root, place)
    kind = r"\b(?:fn|struct|enum|const|static|type|trait|def|class) "
    *owner, member = name.split("::")
    if owner and not re.search(rf"{kind}{owner[0]}\b|\bimpl\b[^{{]*\b{owner[0]}\b", text):
        return False
    variant = rf"^\s+{member}[,({{ ]" if owner else r"(?!)"
    return re.search(rf"{kind}{member}\b|{variant}", text, re.MULTILINE) is not None


def _tests(root: Path, place: str) -> bool:
    """Return whether a file has a test of that name."""
    text, name = _source(root, place)
    rust = rf"#\[test\]\s*(?:#\[[^\n]*\]\s*)*fn {name}\b"
    python = rf"^def {name}\b"
    return re.search(rf"{rust}|{python}", text, re.MULTILINE) is not None


def coverage(documents: list[Document]) -> list[tuple[str, ...]]:
    """Return one row per document: name, title, clauses, a count per state, how many a test holds."""
    return [
        (
            document.name,
            document.title,
            str(len(document.clauses)),
            *(str(document.count(status)) for status in STATES),
            str(document.tested),
        )
        for document in documents
    ]


def page(documents: list[Document]) -> str:
    """Return the page of the documentation."""
    lines = [
        "# Requirements and where they are met",
        "",
        "What documents ask for, in our words, section by section: which function does it and which test would",
        "notice if it did not. Made from `specs/*.toml` by `tools/clauses.py --write`; a test looks up every name.",
        "",
        f"| document | title | clauses | {' | '.join(STATES)} | with a test |",
        "|---|---|--:|" + "--:|" * (len(STATES) + 1),
    ]
    lines += [f"| {' | '.join(row)} |" for row in coverage(documents)]
    for document in documents:
        lines += ["", f"## {document.name}", "", "| section | requirement | state | test |"]
        lines += ["|---|---|---|---|"]
        for clause in document.clauses:
            state = clause.status + (f": {clause.reason}" if clause.reason else "")
            tests = ", ".join(f"`{test.partition(': ')[2]}`" for test in clause.test) or "–"
            places = ", ".join(f"`{place.partition(': ')[2]}`" for place in clause.where)
            what = clause.statement + (f" ({places})" if places else "")
            lines.append(f"| {clause.section} | {what} | {state} | {tests} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Do what the command line asks for."""
    if set(arguments) - {"--open", "--write"}:
        print(__doc__, file=sys.stderr)
        return 2
    documents = read()
    wrong = list(problems(documents))
    for line in wrong:
        print(f"error: {line}", file=sys.stderr)
    if "--write" in arguments:
        PAGE.write_text(page(documents), encoding="utf-8")
    elif "--open" in arguments:
        for document in documents:
            for clause in document.clauses:
                if clause.is_open:
                    print(f"{document.name} {clause.section}: {clause.statement} {clause.reason}")
    else:
        for name, title, *counts in coverage(documents):
            words = zip(("clauses", *STATES, "with a test"), counts, strict=True)
            print(f"{name}: {', '.join(f'{count} {word}' for word, count in words)} ({title})")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
