"""Notes as HTML: CommonMark with tables, without markup of their own, by markdown-it-py."""

from __future__ import annotations

from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token


def render(text: str, *, level: int = 3) -> str:
    """Render notes; their `#` becomes a heading of the given level, `##` one below it.

    Examples
    --------
    >>> print(render("## What *is* known", level=2), end="")
    <h3>What <em>is</em> known</h3>
    """
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, level + int(token.tag[1]) - 1)}"
        elif token.type == "th_open":
            token.attrSet("scope", "col")
    return str(parser.renderer.render(tokens, parser.options, {}))


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("table_open", _open_table)
    parser.add_render_rule("table_close", _close_table)
    return parser


def _open_table(_renderer: object, _tokens: list[Token], _place: int, *_rest: Any) -> str:  # noqa: ANN401
    return '<div class="scroll"><table class="plain">\n'


def _close_table(_renderer: object, _tokens: list[Token], _place: int, *_rest: Any) -> str:  # noqa: ANN401
    return "</table></div>\n"
