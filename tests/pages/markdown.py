"""Pages of the documentation as pieces: blocks of code, code within lines, links, headings, quotes."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]

MADE = ("docs/_build/", "docs/models/parameters/", "docs/reference/scenario-file.md")
"""Below `docs`, and not kept in git."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a page."""

    kind: str
    """`block` (fenced), `indented`, `code` (within a line), `link`, `heading`, `quote`."""
    info: str
    """The language of a block, the address of a link; of code, whether it stands in a `heading`."""
    text: str
    line: int


def pages() -> list[str]:
    """Return the pages for readers, below the root of the repository: README first."""
    found = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
    return ["README.md", *(page for page in found if not page.startswith(MADE))]


@cache
def pieces(page: str) -> list[Piece]:
    """Return the pieces of a page in their order."""
    tokens = MarkdownIt("commonmark").enable("table").parse((ROOT / page).read_text(encoding="utf-8"))
    return list(_pieces(tokens))


def _pieces(tokens: list[Token]) -> Iterator[Piece]:
    within: list[str] = []
    line = 1
    for token in tokens:
        if token.map:
            line = token.map[0] + 1
        within = [*within, token.type] if token.nesting == 1 else within[:-1] if token.nesting == -1 else within
        if token.type in ("fence", "code_block"):
            yield Piece("block" if token.type == "fence" else "indented", token.info.strip(), token.content, line)
        elif token.type == "inline":
            text = " ".join(_plain(token).split())
            if "heading_open" in within:
                yield Piece("heading", "", text, line)
            if "blockquote_open" in within:
                yield Piece("quote", "", text, line)
            yield from _inside(token, line, "heading" if "heading_open" in within else "")


def _plain(token: Token) -> str:
    return "".join(" " if child.type in ("softbreak", "hardbreak") else child.content for child in token.children or ())


def _inside(token: Token, first: int, place: str) -> Iterator[Piece]:
    line = first
    for child in token.children or ():
        if child.type in ("softbreak", "hardbreak"):
            line += 1
        elif child.type == "code_inline":
            yield Piece("code", place, " ".join(child.content.split()), line)
        elif child.type == "link_open":
            yield Piece("link", str(child.attrs.get("href", "")), "", line)
        elif child.type == "image":
            yield Piece("link", str(child.attrs.get("src", "")), "", line)
